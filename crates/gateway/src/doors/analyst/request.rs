//! What an OpenAI client sends. What we don't know is ignored; what would change the meaning of the answer, and is not
//! supported, is refused.

use domain::{Fault, Kind};
use serde::Deserialize;
use serde_json::Value;

/// More of an end user's name is not kept.
const MOST_USER_CHARS: usize = 256;

#[derive(Debug, Deserialize)]
pub struct CompletionRequest {
    pub model: String,
    pub messages: Vec<Message>,
    pub stream: Option<bool>,
    pub stream_options: Option<StreamOptions>,
    n: Option<i64>,
    tools: Option<Vec<Value>>,
    functions: Option<Vec<Value>>,
    response_format: Option<Value>,
    modalities: Option<Vec<String>>,
    user: Option<String>,
    /// What newer clients send instead of `user`.
    safety_identifier: Option<String>,
}

#[derive(Debug, Deserialize)]
pub struct StreamOptions {
    pub include_usage: Option<bool>,
}

#[derive(Debug, Deserialize)]
pub struct Message {
    pub role: String,
    #[serde(default)]
    content: Value,
}

impl CompletionRequest {
    pub fn is_streamed(&self) -> bool {
        self.stream == Some(true)
    }

    pub fn wants_usage(&self) -> bool {
        self.stream_options.as_ref().is_some_and(|options| options.include_usage == Some(true))
    }

    /// Whom the caller asks for.
    pub fn end_user(&self) -> Option<String> {
        let named = self.user.as_deref().or(self.safety_identifier.as_deref())?.trim();
        (!named.is_empty()).then(|| named.chars().take(MOST_USER_CHARS).collect())
    }

    pub fn refuse_unsupported(&self) -> Result<(), Fault> {
        let some = |list: &Option<Vec<Value>>| list.as_ref().is_some_and(|list| !list.is_empty());
        let format = self.response_format.as_ref().and_then(|format| format.get("type")).and_then(Value::as_str);
        let (field, only) = if self.n.is_some_and(|n| n != 1) {
            ("n", "there is one answer: leave it out, or send 1")
        } else if some(&self.tools) {
            ("tools", "the analyst has its own tools and calls no others: leave it out")
        } else if some(&self.functions) {
            ("functions", "the analyst has its own tools and calls no others: leave it out")
        } else if self.response_format.is_some() && format != Some("text") {
            ("response_format", "answers are text: leave it out, or send `{\"type\": \"text\"}`")
        } else if self.modalities.as_ref().is_some_and(|wanted| wanted.iter().any(|m| m != "text")) {
            ("modalities", "answers are text: leave it out, or send `[\"text\"]`")
        } else {
            return Ok(());
        };
        let message = format!("`{field}` is not supported as it was sent");
        Err(Fault::new(Kind::Invalid, "unsupported_parameter", message).hint(only))
    }
}

impl Message {
    /// The text, whether it was sent as such or in parts. `at` is its place, for errors.
    pub fn text(&self, at: usize) -> Result<String, Fault> {
        match &self.content {
            Value::Null => Ok(String::new()),
            Value::String(text) => Ok(text.clone()),
            Value::Array(parts) => {
                let texts: Result<Vec<&str>, Fault> =
                    parts.iter().enumerate().map(|(i, part)| text_of_part(part, at, i)).collect();
                Ok(texts?.join("\n"))
            }
            _ => Err(invalid(format!("`messages[{at}].content` is neither text nor a list of parts"))),
        }
    }
}

fn text_of_part(part: &Value, at: usize, i: usize) -> Result<&str, Fault> {
    let kind = part.get("type").and_then(Value::as_str).unwrap_or_default();
    // Assistants' refusals come back as parts of their own.
    let key = if kind == "refusal" { "refusal" } else { "text" };
    match part.get(key).and_then(Value::as_str) {
        Some(text) if matches!(kind, "text" | "refusal") => Ok(text),
        _ => {
            let shown: String = kind.chars().take(40).collect();
            let message = format!("`messages[{at}].content[{i}]` has the type `{shown}`: only `text` is read");
            Err(invalid(message))
        }
    }
}

pub fn invalid(message: String) -> Fault {
    Fault::new(Kind::Invalid, "invalid_messages", message)
}
