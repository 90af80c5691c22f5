//! Runbooks: scripts that somebody has thought through, with typed parameters.

use crate::finding::RunbookCall;
use domain::{Manifest, ScriptProposal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One file of `data/runbooks`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Runbook {
    pub id: String,
    pub title: String,
    /// What it is for, in words for the approver; `{{name}}` stands for a parameter here and below.
    pub intent: String,
    #[serde(default)]
    pub parameters: BTreeMap<String, Parameter>,
    #[serde(default)]
    pub manifest: Manifest,
    pub script: String,
    #[serde(default)]
    pub rollback: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Parameter {
    pub kind: ParameterKind,
    pub describe: String,
    #[serde(default)]
    pub default: Option<String>,
}

/// What a value must look like. None of them can hold a character that a shell takes for more than itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ParameterKind {
    /// An absolute path without `..`.
    Path,
    /// The name of a unit of systemd, or of a file.
    Unit,
    /// A name or an address of a machine.
    Host,
    /// An address in numbers.
    Ip,
    /// A whole number.
    Number,
}

impl ParameterKind {
    fn accepts(self, value: &str) -> bool {
        let made_of = |more: &str| value.chars().all(|c| c.is_ascii_alphanumeric() || more.contains(c));
        let sized = !value.is_empty() && value.len() <= 200 && !value.starts_with('-');
        sized
            && match self {
                Self::Path => value.starts_with('/') && made_of("/._-") && !value.split('/').any(|part| part == ".."),
                Self::Unit => made_of("@._-"),
                Self::Host => made_of("._-:"),
                Self::Ip => value.parse::<std::net::IpAddr>().is_ok(),
                Self::Number => value.len() <= 9 && value.bytes().all(|b| b.is_ascii_digit()),
            }
    }
}

/// Why a runbook can't be used so.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RunbookError {
    #[error("no runbook `{0}` (hint: list the runbooks)")]
    Unknown(String),
    #[error("runbook `{runbook}` needs the parameter `{name}`")]
    Missing { runbook: String, name: String },
    #[error("runbook `{runbook}` has no parameter `{name}`")]
    Surplus { runbook: String, name: String },
    #[error("parameter `{name}` of runbook `{runbook}` must be a {kind:?}")]
    Wrong { runbook: String, name: String, kind: ParameterKind },
}

/// All runbooks by id.
#[derive(Debug)]
pub struct Library(BTreeMap<String, Runbook>);

impl Library {
    /// Those that come with the house.
    pub fn built_in() -> Result<Self, String> {
        Self::parse(include_str!("../data/runbooks.yaml"))
    }

    pub fn parse(yaml: &str) -> Result<Self, String> {
        let runbooks: Vec<Runbook> =
            serde_saphyr::from_str(yaml).map_err(|e| format!("the runbooks can't be read: {e}"))?;
        Ok(Self(runbooks.into_iter().map(|runbook| (runbook.id.clone(), runbook)).collect()))
    }

    pub fn iter(&self) -> impl Iterator<Item = &Runbook> {
        self.0.values()
    }

    /// The proposal: untrusted like any other, and checked like any other.
    pub fn propose(&self, call: &RunbookCall) -> Result<ScriptProposal, RunbookError> {
        let runbook = self.0.get(&call.id).ok_or_else(|| RunbookError::Unknown(call.id.clone()))?;
        let values = runbook.values(&call.parameters)?;
        let fill = |text: &str| {
            values.iter().fold(text.to_owned(), |text, (name, value)| text.replace(&format!("{{{{{name}}}}}"), value))
        };
        let mut manifest = runbook.manifest.clone();
        manifest.writable_paths = manifest.writable_paths.iter().map(|path| fill(path)).collect();
        Ok(ScriptProposal {
            script: fill(&runbook.script),
            manifest,
            rollback: runbook.rollback.as_deref().map(fill),
            intent: fill(&runbook.intent),
        })
    }
}

impl Runbook {
    fn values(&self, given: &BTreeMap<String, String>) -> Result<BTreeMap<String, String>, RunbookError> {
        let runbook = || self.id.clone();
        if let Some(name) = given.keys().find(|name| !self.parameters.contains_key(*name)) {
            return Err(RunbookError::Surplus { runbook: runbook(), name: name.clone() });
        }
        let value = |(name, parameter): (&String, &Parameter)| {
            let value = given.get(name).or(parameter.default.as_ref());
            let value = value.ok_or_else(|| RunbookError::Missing { runbook: runbook(), name: name.clone() })?;
            match parameter.kind.accepts(value) {
                true => Ok((name.clone(), value.clone())),
                false => Err(RunbookError::Wrong { runbook: runbook(), name: name.clone(), kind: parameter.kind }),
            }
        };
        self.parameters.iter().map(value).collect()
    }
}
