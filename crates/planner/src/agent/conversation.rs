//! What has been said: before the run, and in it.

use domain::{Fault, Kind};
use serde_json::Value;

/// One message of the conversation that a caller brings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    pub role: Role,
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    User,
    Assistant,
}

impl Message {
    pub fn user(text: impl Into<String>) -> Self {
        Self { role: Role::User, text: text.into() }
    }

    pub fn assistant(text: impl Into<String>) -> Self {
        Self { role: Role::Assistant, text: text.into() }
    }
}

/// One entry of the transcript that the model is sent.
#[derive(Debug)]
pub(crate) enum Entry {
    Said(Message),
    /// A reply of this run, in its dialect.
    Reply(Value),
    /// What became of the calls of the reply before.
    Results(Vec<CallResult>),
}

#[derive(Debug)]
pub(crate) struct CallResult {
    pub id: String,
    pub text: String,
    pub is_error: bool,
}

/// The transcript at its beginning. Messages without text are left out: no model takes them.
pub(crate) fn begin(messages: &[Message]) -> Result<Vec<Entry>, Fault> {
    if messages.last().is_none_or(|last| last.role != Role::User || last.text.trim().is_empty()) {
        return Err(Fault::new(Kind::Invalid, "request.messages", "the last message is not a user's question")
            .hint("end the conversation with what the user asks"));
    }
    Ok(messages.iter().filter(|message| !message.text.trim().is_empty()).cloned().map(Entry::Said).collect())
}
