//! One model behind HTTP: a request in, a streamed reply out. Two dialects say how both are written
//! (`claude`, `openai`); everything else is the same for them.

mod failure;
mod send;
pub(crate) mod sse;

pub(crate) use failure::{Failure, api_failure, stream_failure};

use crate::agent::{Entry, Tool};
use crate::{claude, openai};
use domain::{Fault, Kind};
use serde_json::Value;
use std::fmt;
use std::ops::AddAssign;
use std::time::Duration;

/// How a server wants to be spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// Anthropic's Messages API.
    Claude,
    /// Chat completions, as vLLM, Ollama, llama.cpp and many others serve them.
    OpenAi,
}

/// A model that can be asked.
pub struct Model {
    http: reqwest::Client,
    dialect: Dialect,
    base_url: String,
    key: Option<Secret>,
    name: String,
}

/// Never shown, not even by `Debug`.
struct Secret(String);

/// Tokens, as providers bill them: four kinds, four rates.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Input that was neither written to a cache nor read from one.
    pub input: u64,
    pub output: u64,
    pub cache_write: u64,
    pub cache_read: u64,
}

impl Usage {
    /// All that was read, from a cache or not.
    pub fn prompt(&self) -> u64 {
        self.input.saturating_add(self.cache_write).saturating_add(self.cache_read)
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
        self.cache_read = self.cache_read.saturating_add(other.cache_read);
    }
}

/// One turn that is asked of the model.
pub(crate) struct Request<'a> {
    pub model: &'a str,
    /// Parts of the system prompt, none of them empty; each ends a prefix that is worth caching.
    pub system: &'a [String],
    pub transcript: &'a [Entry],
    pub tools: &'a [Tool],
    /// Whether it may call tools on this turn.
    pub may_call: bool,
    /// A last word to the model, after the transcript.
    pub note: Option<&'a str>,
    pub max_tokens: u64,
    /// JSON Schema that the answer must keep to, where it is not free text.
    pub schema: Option<&'a Value>,
}

/// One turn of the model.
#[derive(Debug)]
pub(crate) struct Reply {
    /// The message in its dialect, to be sent back as it came.
    pub echo: Value,
    pub calls: Vec<Call>,
    pub stop: Stop,
}

/// A tool that the model wants called.
#[derive(Debug)]
pub(crate) struct Call {
    pub id: String,
    pub name: String,
    /// The input, or the text that should have been a JSON object.
    pub input: Result<Value, String>,
}

/// Why the model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    End,
    /// It wants to go on, and its message sent back.
    Paused,
    MaxTokens,
    ContextFull,
    Refused,
}

/// Who is told what comes in, while it comes in.
pub(crate) trait Hear: Send {
    fn text(&mut self, text: &str);
    /// What one call has used, also one that failed.
    fn used(&mut self, usage: Usage);
}

impl Model {
    pub const CLAUDE_URL: &str = "https://api.anthropic.com";

    /// `base_url` is without `/v1/messages` for Claude, and ends in `/v1` for others, as their own clients have it.
    pub fn new(dialect: Dialect, base_url: &str, key: Option<String>, name: impl Into<String>) -> Result<Self, Fault> {
        // The one provider that is linked; an earlier call has done it already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder()
            .connect_timeout(Duration::from_secs(10))
            // A redirect would carry the key elsewhere.
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|_| Fault::internal("model.client"))?;
        if !reqwest::Url::parse(base_url).is_ok_and(|url| ["http", "https"].contains(&url.scheme())) {
            let message = format!("`{base_url}` is not the URL of a server");
            return Err(
                Fault::new(Kind::Invalid, "model.url", message).hint("write it like `http://127.0.0.1:11434/v1`")
            );
        }
        let base_url = base_url.trim_end_matches('/').to_owned();
        Ok(Self { http, dialect, base_url, key: key.map(Secret), name: name.into() })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    pub(crate) fn body(&self, request: &Request<'_>) -> Value {
        match self.dialect {
            Dialect::Claude => claude::body(request),
            Dialect::OpenAi => openai::body(request),
        }
    }
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Model").field("dialect", &self.dialect).field("name", &self.name).finish_non_exhaustive()
    }
}

/// Sets a field of a JSON object.
pub(crate) fn set(object: &mut Value, key: &str, value: Value) {
    if let Some(object) = object.as_object_mut() {
        object.insert(key.to_owned(), value);
    }
}

/// Reads the input of a tool call: an object, or nothing at all for none.
pub(crate) fn tool_input(text: String) -> Result<Value, String> {
    if text.trim().is_empty() {
        return Ok(Value::Object(serde_json::Map::new()));
    }
    serde_json::from_str(&text).ok().filter(Value::is_object).ok_or(text)
}
