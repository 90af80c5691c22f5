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

    /// Some servers send calls whole, and leave the index out or always say 0: then a new id is a new call.
    fn add(&mut self, part: CallPart) {
        let id = part.id.filter(|id| !id.is_empty());
        let current = part.index.unwrap_or(self.calls.len().saturating_sub(1));
        let another = match (&id, self.calls.get(current)) {
            (Some(id), Some(call)) => !call.id.is_empty() && call.id != *id,
            _ => false,
        };
        let index = if another { self.calls.len() } else { current };
        if index >= MOST_CALLS {
            return;
        }
        if index >= self.calls.len() {
            self.calls.resize_with(index + 1, Function::default);
        }
        let Some(call) = self.calls.get_mut(index) else { return };
        if let Some(id) = id {
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

#[cfg(test)]
mod tests {
    use super::*;

    struct Deaf;

    impl Hear for Deaf {
        fn text(&mut self, _: &str) {}
        fn used(&mut self, _: Usage) {}
    }

    #[test]
    fn calls_are_put_together_as_servers_send_them() {
        let part = |index: Option<u64>, id: Option<&str>, name: &str, arguments: &str| json!({"index": index, "id": id, "function": {"name": name, "arguments": arguments}});
        let cases = [
            (
                "in pieces, two at a time",
                vec![
                    part(Some(0), Some("a"), "f", ""),
                    part(Some(1), Some("b"), "g", ""),
                    part(Some(0), None, "", "{\"x\""),
                    part(Some(1), None, "", "{}"),
                    part(Some(0), None, "", ":1}"),
                ],
                vec![("a", "f", json!({"x": 1})), ("b", "g", json!({}))],
            ),
            (
                "whole, without an index",
                vec![part(None, Some("a"), "f", "{}"), part(None, Some("b"), "g", "{}")],
                vec![("a", "f", json!({})), ("b", "g", json!({}))],
            ),
            (
                "whole, all of them the first",
                vec![part(Some(0), Some("a"), "f", "{}"), part(Some(0), Some("b"), "g", "{}")],
                vec![("a", "f", json!({})), ("b", "g", json!({}))],
            ),
            ("without an id", vec![part(Some(0), None, "f", "")], vec![("call_0", "f", json!({}))]),
        ];
        for (what, parts, expected) in cases {
            let mut reader = Reader::default();
            for part in parts {
                let data = json!({"choices": [{"delta": {"tool_calls": [part]}}]}).to_string();
                reader.take(&Event { data }, &mut Deaf).unwrap();
            }
            let end = json!({"choices": [{"delta": {}, "finish_reason": "stop"}]}).to_string();
            reader.take(&Event { data: end }, &mut Deaf).unwrap();
            let calls = reader.finish().unwrap().calls;
            let seen: Vec<_> =
                calls.iter().map(|call| (call.id.as_str(), call.name.as_str(), call.input.clone().unwrap())).collect();
            assert_eq!(seen, expected, "{what}");
        }
    }
}
