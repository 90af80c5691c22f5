//! The agent CLI `claude` as a planner: a child process that we tell what to answer, and whose only tools are those of
//! an MCP server of ours that it starts in turn.
//!
//! [`command`] is how it is started, [`frames`] what it says, [`report`] what we make of it, [`process`] how it ends;
//! [`doctor`] asks it whether it is well, [`reach`] whether another user could run it.

mod command;
mod doctor;
mod frames;
mod process;
mod reach;
mod report;

pub use command::McpServer;

use crate::agent::{Caps, Event, Finished, Message, begin};
use crate::model::Failure;
use domain::{Fault, Kind};
use frames::Frame;
use process::Process;
use report::Report;
use serde_json::json;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// How long the CLI may take to say that it is there.
const GREETING: Duration = Duration::from_secs(60);

/// Phrases of the CLI and of Node that hold nothing of a prompt: of what it says of its troubles, the log has these and no
/// more.
const KNOWN: [&str; 17] = [
    "api key",
    "log in",
    "login",
    "authentication",
    "credit balance",
    "rate limit",
    "overloaded",
    "too long",
    "unknown option",
    "mcp",
    "certificate",
    "connection error",
    "econnrefused",
    "eacces",
    "enoent",
    "enospc",
    "out of memory",
];

/// The agent CLI with its model and caps. One serves any number of runs at a time, each in a process of its own.
pub struct ClaudeCode {
    program: PathBuf,
    model: String,
    key: Option<String>,
    caps: Caps,
    /// The user and group that it runs as, if not this process's.
    user: Option<(u32, u32)>,
    /// What kept it from running as another user.
    barrier: Option<PathBuf>,
}

impl ClaudeCode {
    /// `program` is `claude`, looked for on the `PATH`, or a path. Without a key the CLI uses its own login.
    pub fn new(program: impl Into<PathBuf>, model: impl Into<String>, key: Option<String>, caps: Caps) -> Self {
        Self { program: program.into(), model: model.into(), key, caps, user: None, barrier: None }
    }

    /// Runs it as another user, which only root can, where that user could run both it and the MCP server. Else it runs as
    /// this process does, and [`Self::barrier`] tells why.
    pub fn as_user(self, user: (u32, u32), server: &Path) -> Self {
        let barrier = [self.program.as_path(), server].into_iter().find_map(|program| reach::barrier(program, user));
        Self { user: barrier.is_none().then_some(user), barrier, ..self }
    }

    pub fn user(&self) -> Option<(u32, u32)> {
        self.user
    }

    /// The place that its user would have had to pass, and could not.
    pub fn barrier(&self) -> Option<&Path> {
        self.barrier.as_deref()
    }

    pub fn model(&self) -> &str {
        &self.model
    }

    /// Runs to the end, like [`crate::Agent::run`]. Dropping the future ends the CLI and what it has started.
    pub async fn run(
        &self,
        system: &[String],
        messages: &[Message],
        server: &McpServer,
        hear: &mut (dyn FnMut(Event) + Send),
    ) -> Finished {
        let until = Instant::now() + Duration::from_secs(self.caps.seconds.into());
        let mut report = Report::new(hear);
        let walked = match begin(messages) {
            Ok(_) => timeout_at(until, self.walk(system, messages, server, &mut report)).await,
            Err(fault) => Ok(Err(fault.into())),
        };
        match walked {
            Ok(Ok(())) => report.finish(),
            Ok(Err(failure)) => report.fail(failure),
            Err(_) => report.fail(self.too_late().into()),
        }
    }

    async fn walk(
        &self,
        system: &[String],
        messages: &[Message],
        server: &McpServer,
        report: &mut Report<'_>,
    ) -> Result<(), Failure> {
        let (command, private) = self.command(system, server)?;
        let mut process = Process::start(command, private)?;
        process.say(&json!({ "type": "control_request", "request_id": "req_1_67617465",
            "request": { "subtype": "initialize", "hooks": null } }));
        if greeted(&mut process, report).await? {
            return Ok(());
        }
        process.say(&json!({ "type": "user", "session_id": "", "parent_tool_use_id": null, "client_composed": true,
            "message": { "role": "user", "content": prompt(messages) } }));
        process.say_no_more();
        while let Some(frame) = process.next().await? {
            if report.take(frame)? {
                return Ok(());
            }
        }
        Err(Failure::cut())
    }

    fn too_late(&self) -> Fault {
        Fault::new(Kind::Timeout, "model.timeout", format!("no answer within {} seconds", self.caps.seconds))
    }
}

/// Waits until the CLI has taken up the conversation; true if it has ended it by then.
async fn greeted(process: &mut Process, report: &mut Report<'_>) -> Result<bool, Failure> {
    let greeting = async {
        loop {
            match process.next().await? {
                Some(Frame::ControlResponse { response }) if response.subtype == "success" => return Ok(false),
                Some(Frame::ControlResponse { .. }) | None => return Err(Failure::cut()),
                Some(frame) => {
                    if report.take(frame)? {
                        return Ok(true);
                    }
                }
            }
        }
    };
    tokio::time::timeout(GREETING, greeting).await.unwrap_or_else(|_| Err(Failure::unreachable()))
}

/// The CLI takes one message of the user: what was said before stands above it.
fn prompt(messages: &[Message]) -> String {
    let said: Vec<&Message> = messages.iter().filter(|message| !message.text.trim().is_empty()).collect();
    let Some((question, before)) = said.split_last() else { return String::new() };
    if before.is_empty() {
        return question.text.clone();
    }
    let turns: Vec<String> = before
        .iter()
        .map(|message| match message.role {
            crate::Role::User => format!("User: {}", message.text),
            crate::Role::Assistant => format!("Assistant: {}", message.text),
        })
        .collect();
    format!("The conversation so far:\n\n{}\n\nThe user's question now:\n\n{}", turns.join("\n\n"), question.text)
}

/// The key is never shown.
impl fmt::Debug for ClaudeCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClaudeCode").field("program", &self.program).field("model", &self.model).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn earlier_turns_stand_above_the_question() {
        let alone = [Message::user("How many?")];
        assert_eq!(prompt(&alone), "How many?");
        let thread = [
            Message::user("Orders?"),
            Message::assistant("200."),
            Message::user(" "),
            Message::user("And last month?"),
        ];
        assert_eq!(
            prompt(&thread),
            "The conversation so far:\n\nUser: Orders?\n\nAssistant: 200.\n\nThe user's question now:\n\nAnd last month?"
        );
    }

    #[test]
    fn the_key_is_not_shown() {
        let cli = ClaudeCode::new("claude", "claude-sonnet-5-5", Some("sk-secret".into()), Caps::default());
        assert!(!format!("{cli:?}").contains("secret"));
    }
}
