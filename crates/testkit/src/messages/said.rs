//! What the model says on one turn, and what goes wrong while it does.

use std::time::Duration;

#[derive(Debug, Clone, Default)]
pub struct Said {
    pub(super) blocks: Vec<Block>,
    pub(super) stop: Option<&'static str>,
    pub(super) usage: Usage,
    pub(super) error: Option<Failure>,
    pub(super) upset: Option<Upset>,
    pub(super) pace: Duration,
    pub(super) unknowns: bool,
    expected: Option<String>,
}

#[derive(Debug, Clone)]
pub(super) enum Block {
    Thinking {
        text: String,
        signature: String,
    },
    Text(String),
    /// The input as text: a model may write what is no JSON.
    Tool {
        id: String,
        name: String,
        input: String,
    },
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Usage {
    pub input: u64,
    pub output: u64,
    pub cache_write: u64,
    pub cache_read: u64,
}

impl Default for Usage {
    fn default() -> Self {
        Self { input: 20, output: 10, cache_write: 0, cache_read: 0 }
    }
}

/// An answer that is an error from its first byte.
#[derive(Debug, Clone)]
pub(super) struct Failure {
    pub status: u16,
    pub message: String,
    pub headers: Vec<(String, String)>,
    pub code: Option<String>,
}

/// What happens to a stream after so many of its events.
#[derive(Debug, Clone)]
pub(super) enum Upset {
    Cut(usize),
    Error(usize, String),
    Stall(usize),
}

impl Said {
    pub fn text(text: &str) -> Self {
        Self::default().and_text(text)
    }

    pub fn thinking(text: &str, signature: &str) -> Self {
        let mut reply = Self::default();
        reply.blocks.push(Block::Thinking { text: text.into(), signature: signature.into() });
        reply
    }

    pub fn tool(id: &str, name: &str, input: &serde_json::Value) -> Self {
        Self::default().and_tool(id, name, input)
    }

    /// A tool call whose input is this text.
    pub fn garbled_tool(id: &str, name: &str, input: &str) -> Self {
        let mut reply = Self::default();
        reply.blocks.push(Block::Tool { id: id.into(), name: name.into(), input: input.into() });
        reply
    }

    /// An error instead of an answer.
    pub fn error(status: u16, message: &str) -> Self {
        let failure = Failure { status, message: message.into(), headers: Vec::new(), code: None };
        Self { error: Some(failure), ..Self::default() }
    }

    /// A 429 as the API sends it.
    pub fn rate_limited(retry_after: &str) -> Self {
        Self::error(429, "this request would exceed your rate limit")
            .header("retry-after", retry_after)
            .header("anthropic-ratelimit-requests-limit", "50")
            .header("anthropic-ratelimit-requests-remaining", "0")
            .header("anthropic-ratelimit-requests-reset", "2026-11-16T00:00:00Z")
    }

    pub fn and_text(mut self, text: &str) -> Self {
        self.blocks.push(Block::Text(text.into()));
        self
    }

    pub fn and_tool(mut self, id: &str, name: &str, input: &serde_json::Value) -> Self {
        self.blocks.push(Block::Tool { id: id.into(), name: name.into(), input: input.to_string() });
        self
    }

    /// Only for a request whose last message holds this text; another one is refused.
    pub fn when(mut self, text: &str) -> Self {
        self.expected = Some(text.into());
        self
    }

    /// Another stop reason than `end_turn` or `tool_use`, in the words of the Messages API.
    pub fn stop(mut self, reason: &'static str) -> Self {
        self.stop = Some(reason);
        self
    }

    pub fn usage(mut self, input: u64, output: u64, cache_write: u64, cache_read: u64) -> Self {
        self.usage = Usage { input, output, cache_write, cache_read };
        self
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.error.as_mut().expect("an error").headers.push((name.into(), value.into()));
        self
    }

    /// `details.error_code` of an error.
    pub fn code(mut self, code: &str) -> Self {
        self.error.as_mut().expect("an error").code = Some(code.into());
        self
    }

    /// The connection breaks after so many events.
    pub fn cut_after(mut self, events: usize) -> Self {
        self.upset = Some(Upset::Cut(events));
        self
    }

    /// An `error` event of this type after so many events.
    pub fn error_after(mut self, events: usize, kind: &str) -> Self {
        self.upset = Some(Upset::Error(events, kind.into()));
        self
    }

    /// Nothing more comes after so many events, until the client leaves.
    pub fn stall_after(mut self, events: usize) -> Self {
        self.upset = Some(Upset::Stall(events));
        self
    }

    /// A pause before each event.
    pub fn slowly(mut self, pause: Duration) -> Self {
        self.pace = pause;
        self
    }

    /// Events and blocks that no client knows yet, among those it does.
    pub fn with_unknowns(mut self) -> Self {
        self.unknowns = true;
        self
    }

    pub(super) fn expected(&self) -> Option<&str> {
        self.expected.as_deref()
    }

    pub(super) fn tool_ids(&self) -> impl Iterator<Item = String> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Tool { id, .. } => Some(id.clone()),
            _ => None,
        })
    }

    pub(super) fn stop_reason(&self) -> &'static str {
        let default = if self.tool_ids().next().is_some() { "tool_use" } else { "end_turn" };
        self.stop.unwrap_or(default)
    }
}

/// A text in the pieces that a stream brings it in.
pub(super) fn pieces(text: &str) -> Vec<String> {
    text.chars().collect::<Vec<_>>().chunks(8).map(|piece| piece.iter().collect()).collect()
}
