//! Puts a message together from its events. What is not known is passed over: the API may add to it any day.

use crate::model::sse::Event;
use crate::model::{Call, Failure, Hear, Reply, Stop, Usage, set, stream_failure, tool_input};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Incoming {
    MessageStart {
        message: Started,
    },
    ContentBlockStart {
        index: u64,
        content_block: Value,
    },
    ContentBlockDelta {
        index: u64,
        delta: Added,
    },
    MessageDelta {
        delta: Ended,
        #[serde(default)]
        usage: Counted,
    },
    MessageStop,
    Error {
        error: ApiError,
    },
    #[serde(other)]
    Unknown,
}

#[derive(Deserialize)]
struct Started {
    #[serde(default)]
    usage: Counted,
}

#[derive(Deserialize)]
#[serde(tag = "type")]
enum Added {
    #[serde(rename = "text_delta")]
    Text { text: String },
    #[serde(rename = "thinking_delta")]
    Thinking { thinking: String },
    #[serde(rename = "signature_delta")]
    Signature { signature: String },
    #[serde(rename = "input_json_delta")]
    InputJson { partial_json: String },
    #[serde(other)]
    Unknown,
}

#[derive(Deserialize)]
struct Ended {
    stop_reason: Option<String>,
}

/// Cumulative: a figure replaces the one before, and one that is missing leaves it.
#[derive(Default, Deserialize)]
struct Counted {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct ApiError {
    #[serde(rename = "type")]
    kind: String,
}

enum Block {
    Text(String),
    /// As it came, with what its deltas have added: it must go back unmodified.
    Thinking(Value),
    Tool {
        id: String,
        name: String,
        input: String,
    },
}

#[derive(Default)]
pub(crate) struct Reader {
    blocks: BTreeMap<u64, Block>,
    usage: Usage,
    stop: Option<String>,
    ended: bool,
}

impl Reader {
    pub fn usage(&self) -> Usage {
        self.usage
    }

    pub fn take(&mut self, event: &Event, hear: &mut dyn Hear) -> Result<(), Failure> {
        // An event of a known type in a form that we don't know is no better than an unknown one.
        match serde_json::from_str(&event.data).unwrap_or(Incoming::Unknown) {
            Incoming::MessageStart { message } => self.count(&message.usage),
            Incoming::ContentBlockStart { index, content_block } => self.open(index, content_block, hear),
            Incoming::ContentBlockDelta { index, delta } => self.fill(index, delta, hear),
            Incoming::MessageDelta { delta, usage } => {
                self.count(&usage);
                self.stop = delta.stop_reason.or(self.stop.take());
            }
            Incoming::MessageStop => self.ended = true,
            Incoming::Error { error } => return Err(stream_failure(&error.kind)),
            Incoming::Unknown => {}
        }
        Ok(())
    }

    pub fn is_whole(&self) -> bool {
        self.ended
    }

    /// The message, if all of it came.
    pub fn finish(self) -> Result<Reply, Failure> {
        if !self.ended {
            return Err(Failure::cut());
        }
        let stop = match self.stop.as_deref() {
            Some("max_tokens") => Stop::MaxTokens,
            Some("model_context_window_exceeded") => Stop::ContextFull,
            Some("pause_turn") => Stop::Paused,
            Some("refusal") => Stop::Refused,
            _ => Stop::End,
        };
        let (mut content, mut calls) = (Vec::new(), Vec::new());
        for block in self.blocks.into_values() {
            match block {
                // The API takes no empty text, not even its own.
                Block::Text(part) if part.is_empty() => {}
                Block::Text(part) => content.push(json!({"type": "text", "text": part})),
                Block::Thinking(block) => content.push(block),
                Block::Tool { id, name, input } => {
                    let input = tool_input(input);
                    let shown = input.clone().unwrap_or_else(|_| json!({}));
                    content.push(json!({"type": "tool_use", "id": id, "name": name, "input": shown}));
                    calls.push(Call { id, name, input });
                }
            }
        }
        // There is nothing to go on from.
        let stop = if content.is_empty() && stop == Stop::Paused { Stop::End } else { stop };
        Ok(Reply { echo: json!({"role": "assistant", "content": content}), calls, stop })
    }

    fn open(&mut self, index: u64, block: Value, hear: &mut dyn Hear) {
        let part = |key: &str| block.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let block = match block.get("type").and_then(Value::as_str) {
            Some("text") => {
                let text = part("text");
                if !text.is_empty() {
                    hear.text(&text);
                }
                Block::Text(text)
            }
            Some("thinking" | "redacted_thinking") => Block::Thinking(block),
            Some("tool_use") => Block::Tool { id: part("id"), name: part("name"), input: String::new() },
            _ => return,
        };
        self.blocks.insert(index, block);
    }

    fn fill(&mut self, index: u64, delta: Added, hear: &mut dyn Hear) {
        match (self.blocks.get_mut(&index), delta) {
            (Some(Block::Text(text)), Added::Text { text: more }) => {
                hear.text(&more);
                text.push_str(&more);
            }
            (Some(Block::Tool { input, .. }), Added::InputJson { partial_json }) => input.push_str(&partial_json),
            (Some(Block::Thinking(block)), Added::Thinking { thinking }) => append(block, "thinking", &thinking),
            (Some(Block::Thinking(block)), Added::Signature { signature }) => append(block, "signature", &signature),
            _ => {}
        }
    }

    fn count(&mut self, counted: &Counted) {
        let replace = |figure: &mut u64, with: Option<u64>| *figure = with.unwrap_or(*figure);
        replace(&mut self.usage.input, counted.input_tokens);
        replace(&mut self.usage.output, counted.output_tokens);
        replace(&mut self.usage.cache_write, counted.cache_creation_input_tokens);
        replace(&mut self.usage.cache_read, counted.cache_read_input_tokens);
    }
}

fn append(block: &mut Value, key: &str, more: &str) {
    match block.get_mut(key) {
        Some(Value::String(text)) => text.push_str(more),
        _ => set(block, key, json!(more)),
    }
}
