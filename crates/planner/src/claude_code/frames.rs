//! What the CLI says, a line at a time. What we do not know is left out, not fatal.

use crate::Usage;
use serde::Deserialize;
use serde_json::Value;

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Frame {
    System(System),
    /// A whole message of the model: its tool calls.
    Assistant {
        message: Said,
    },
    /// What the tools gave.
    User {
        message: Said,
    },
    /// An event of the Messages API, as it came in.
    StreamEvent {
        event: StreamEvent,
    },
    ControlResponse {
        response: ControlResponse,
    },
    Result(Box<Outcome>),
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
pub(super) struct System {
    #[serde(default)]
    pub subtype: String,
    #[serde(default)]
    pub tools: Vec<String>,
    #[serde(default)]
    pub mcp_servers: Vec<ServerState>,
}

#[derive(Debug, Deserialize)]
pub(super) struct ServerState {
    pub name: String,
    #[serde(default)]
    pub status: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct ControlResponse {
    pub subtype: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct Said {
    #[serde(default)]
    pub content: Content,
}

/// Text alone, or blocks.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Content {
    Blocks(Vec<Block>),
    Text(String),
}

impl Default for Content {
    fn default() -> Self {
        Self::Blocks(Vec::new())
    }
}

impl Content {
    pub fn blocks(self) -> Vec<Block> {
        match self {
            Self::Blocks(blocks) => blocks,
            Self::Text(text) => vec![Block::Text { text }],
        }
    }

    /// All text in it.
    pub fn text(self) -> String {
        let text = |block| if let Block::Text { text } = block { Some(text) } else { None };
        self.blocks().into_iter().filter_map(text).collect()
    }
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Block {
    Text {
        text: String,
    },
    ToolUse {
        id: String,
        name: String,
        #[serde(default)]
        input: Value,
    },
    ToolResult {
        tool_use_id: String,
        #[serde(default)]
        content: Content,
        #[serde(default)]
        is_error: Option<bool>,
    },
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum StreamEvent {
    MessageStart {
        message: Started,
    },
    ContentBlockDelta {
        delta: Delta,
    },
    /// `usage` is that of the message so far, not what is new.
    MessageDelta {
        #[serde(default)]
        usage: Tokens,
    },
    MessageStop,
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
pub(super) struct Started {
    #[serde(default)]
    pub usage: Tokens,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Delta {
    TextDelta {
        text: String,
    },
    #[serde(other)]
    Other,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
pub(super) struct Tokens {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
}

impl Tokens {
    /// These figures, where they are given, over those of before.
    pub fn over(self, before: Usage) -> Usage {
        Usage {
            input: self.input_tokens.unwrap_or(before.input),
            output: self.output_tokens.unwrap_or(before.output),
            cache_write: self.cache_creation_input_tokens.unwrap_or(before.cache_write),
            cache_read: self.cache_read_input_tokens.unwrap_or(before.cache_read),
        }
    }
}

/// How it ended. A failure of the API is a `success` with `is_error` and `api_error_status`.
#[derive(Debug, Deserialize)]
pub(super) struct Outcome {
    pub subtype: String,
    #[serde(default)]
    pub is_error: bool,
    pub num_turns: Option<u32>,
    pub total_cost_usd: Option<f64>,
    #[serde(default)]
    pub usage: Option<Tokens>,
    #[serde(default)]
    pub result: Option<String>,
    #[serde(default)]
    pub errors: Vec<Value>,
    pub api_error_status: Option<u16>,
}
