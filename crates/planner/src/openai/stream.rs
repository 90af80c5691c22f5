//! Puts a message together from its chunks.

use crate::model::sse::Event;
use crate::model::{Call, Failure, Hear, Reply, Stop, Usage, set, stream_failure, tool_input};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Default, Deserialize)]
#[serde(default)]
struct Chunk {
    choices: Vec<Choice>,
    usage: Option<Counted>,
    error: Option<Value>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Choice {
    delta: Delta,
    finish_reason: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Delta {
    content: Option<String>,
    refusal: Option<String>,
    tool_calls: Option<Vec<CallPart>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CallPart {
    index: Option<usize>,
    id: Option<String>,
    function: FunctionPart,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct FunctionPart {
    name: Option<String>,
    arguments: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Counted {
    prompt_tokens: u64,
    completion_tokens: u64,
    prompt_tokens_details: Option<Details>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Details {
    cached_tokens: Option<u64>,
}

#[derive(Default)]
struct Function {
    id: String,
    name: String,
    arguments: String,
}

#[derive(Default)]
pub(crate) struct Reader {
    text: String,
    calls: Vec<Function>,
    refused: bool,
    usage: Usage,
    finish: Option<String>,
}

/// More calls in one message than any model makes; an index beyond it is passed over.
const MOST_CALLS: usize = 64;

impl Reader {
    pub fn usage(&self) -> Usage {
        self.usage
    }

    pub fn take(&mut self, event: &Event, hear: &mut dyn Hear) -> Result<(), Failure> {
        let Ok(chunk) = serde_json::from_str::<Chunk>(&event.data) else { return Ok(()) };
        if let Some(error) = chunk.error.filter(|error| !error.is_null()) {
            return Err(stream_failure(error.get("type").and_then(Value::as_str).unwrap_or_default()));
        }
        if let Some(counted) = chunk.usage {
            self.count(&counted);
        }
        let Some(choice) = chunk.choices.into_iter().next() else { return Ok(()) };
        if let Some(text) = choice.delta.content.filter(|text| !text.is_empty()) {
            hear.text(&text);
            self.text.push_str(&text);
        }
        self.refused |= choice.delta.refusal.is_some_and(|refusal| !refusal.is_empty());
        choice.delta.tool_calls.unwrap_or_default().into_iter().for_each(|part| self.add(part));
        self.finish = choice.finish_reason.or(self.finish.take());
        Ok(())
    }

    /// A reason to finish is the end, since not every server says `[DONE]`.
    pub fn is_whole(&self) -> bool {
        self.finish.is_some()
    }

    /// The message, if all of it came.
    pub fn finish(mut self) -> Result<Reply, Failure> {
        let stop = match self.finish.as_deref() {
            None => return Err(Failure::cut()),
            _ if self.refused => Stop::Refused,
            Some("content_filter") => Stop::Refused,
            Some("length") => Stop::MaxTokens,
            _ => Stop::End,
        };
        // Some servers give calls no id; results must name one.
        for (index, call) in self.calls.iter_mut().enumerate().filter(|(_, call)| call.id.is_empty()) {
            call.id = format!("call_{index}");
        }
        let mut echo = json!({"role": "assistant", "content": self.text});
        if !self.calls.is_empty() {
            set(&mut echo, "tool_calls", self.calls.iter().map(Function::echo).collect());
        }
        let call = |call: Function| Call { id: call.id, name: call.name, input: tool_input(call.arguments) };
        Ok(Reply { echo, calls: self.calls.into_iter().map(call).collect(), stop })
    }

    /// Some servers send a call whole and leave the index out: then a new id is a new call.
    fn add(&mut self, part: CallPart) {
        let begins = part.id.as_ref().is_some_and(|id| self.calls.last().is_none_or(|last| last.id != *id));
        let next = if begins { self.calls.len() } else { self.calls.len().saturating_sub(1) };
        let index = part.index.unwrap_or(next);
        if index >= MOST_CALLS {
            return;
        }
        if index >= self.calls.len() {
            self.calls.resize_with(index + 1, Function::default);
        }
        let Some(call) = self.calls.get_mut(index) else { return };
        if let Some(id) = part.id.filter(|id| !id.is_empty()) {
            call.id = id;
        }
        call.name.push_str(&part.function.name.unwrap_or_default());
        call.arguments.push_str(&part.function.arguments.unwrap_or_default());
    }

    fn count(&mut self, counted: &Counted) {
        let cached = counted.prompt_tokens_details.as_ref().and_then(|d| d.cached_tokens).unwrap_or_default();
        let input = counted.prompt_tokens.saturating_sub(cached);
        self.usage = Usage { input, output: counted.completion_tokens, cache_write: 0, cache_read: cached };
    }
}

impl Function {
    /// Servers read the arguments again, so that those which are no JSON must not go back.
    fn echo(&self) -> Value {
        let arguments = tool_input(self.arguments.clone()).map_or("{}".to_owned(), |input| input.to_string());
        json!({"id": self.id, "type": "function", "function": {"name": self.name, "arguments": arguments}})
    }
}
