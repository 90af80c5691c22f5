//! A script for a finding, by a model.

use super::{Prompt, list, object, text};
use crate::finding::Finding;
use domain::{Manifest, Network, ScriptProposal, Timeout};
use serde::Deserialize;
use serde_json::json;

const SYSTEM: &str = include_str!("script.md");

/// What a script may use on this device.
#[derive(Debug, Clone, Default)]
pub struct Room {
    pub commands: Vec<String>,
    pub writable: Vec<String>,
    pub network: bool,
    pub max_timeout_seconds: u64,
}

/// What the model may say of a manifest. It gets defaults for the rest: least is best.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    script: String,
    rollback: Option<String>,
    intent: String,
    network: Network,
    writable_paths: Vec<String>,
    timeout_seconds: u64,
}

/// The question about one finding; with what policy had to say about the script before, if there was one.
pub fn ask_script(finding: &Finding, room: &Room, refused: Option<(&ScriptProposal, &[String])>) -> Prompt {
    let writable = if room.writable.is_empty() { "none".to_owned() } else { room.writable.join(", ") };
    let mut question = format!(
        "Finding, as data:\n{}\n\nThis device: directories that may be writable: {writable}; \"network\" {}; \
         \"timeout_seconds\" from 1 to {}.\n",
        serde_json::to_string(finding).unwrap_or_default(),
        if room.network { "may be `host`" } else { "must be `none`" },
        room.max_timeout_seconds,
    );
    if let Some((before, violations)) = refused {
        question += &format!(
            "\nThis script was refused:\n{}\n\nFor these reasons:\n- {}\nWrite another one.\n",
            before.script,
            violations.join("\n- "),
        );
    }
    Prompt {
        system: format!("{SYSTEM}\nCommands: {}\n", room.commands.join(" ")),
        question,
        schema: object(json!({
            "script": text(), "rollback": {"type": ["string", "null"]}, "intent": text(),
            "network": {"enum": ["none", "host"]}, "writable_paths": list(text()),
            "timeout_seconds": {"type": "integer"},
        })),
    }
}

/// The proposal: as untrusted as any.
pub fn read_script(answer: &str) -> Result<ScriptProposal, String> {
    let answer: Answer = serde_json::from_str(answer.trim()).map_err(|e| format!("not a valid answer: {e}"))?;
    let manifest = Manifest {
        network: answer.network,
        writable_paths: answer.writable_paths,
        timeout_seconds: Timeout(answer.timeout_seconds),
        ..Manifest::default()
    };
    Ok(ScriptProposal { script: answer.script, rollback: answer.rollback, intent: answer.intent, manifest })
}
