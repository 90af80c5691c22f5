//! The only hands that a model has.

use super::CallResult;
use crate::model::Call;
use domain::{Fault, Kind};
use futures_util::future::BoxFuture;
use serde_json::Value;

/// One tool as the model is told of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    pub name: String,
    pub description: String,
    /// A JSON Schema of an object.
    pub input_schema: Value,
}

/// The tools of one run, bound to its caller. Every call goes through the one path.
pub trait Tools: Send + Sync {
    fn list(&self) -> Vec<Tool>;

    /// Calls one of the list. A fault is told to the model, and it may try again, unless it ends the run.
    fn call<'a>(&'a self, name: &'a str, input: Value) -> BoxFuture<'a, Result<String, Fault>>;

    /// Whether nothing that the model could do would help.
    fn ends_run(&self, fault: &Fault) -> bool {
        !fault.kind.model_can_fix()
    }
}

/// What became of a call.
pub(super) struct Called {
    pub result: CallResult,
    pub fault: Option<Fault>,
    pub cut: bool,
}

/// Calls a tool, if it is one of those offered and its input can be read.
pub(super) async fn call(tools: &dyn Tools, offered: &[Tool], call: &Call, most: usize) -> Called {
    let outcome = match &call.input {
        _ if !offered.iter().any(|tool| tool.name == call.name) => Err(unknown(&call.name, offered)),
        Err(text) => Err(malformed(text)),
        Ok(input) => tools.call(&call.name, input.clone()).await,
    };
    let (text, fault) = match outcome {
        Ok(text) => (text, None),
        Err(fault) => (format!("{} [{}]\nhint: {}", fault.message, fault.code, fault.hint), Some(fault)),
    };
    let (text, cut) = capped(text, most);
    // An empty result reads like a missing one.
    let text = if text.is_empty() { "(nothing)".to_owned() } else { text };
    let result = CallResult { id: call.id.clone(), text, is_error: fault.is_some() };
    Called { result, fault, cut }
}

fn unknown(name: &str, offered: &[Tool]) -> Fault {
    let names: Vec<&str> = offered.iter().map(|tool| tool.name.as_str()).collect();
    Fault::new(Kind::NotFound, "tool.unknown", format!("there is no tool `{name}`"))
        .hint(format!("there are: {}", names.join(", ")))
}

fn malformed(text: &str) -> Fault {
    let shown: String = text.chars().take(200).collect();
    Fault::new(Kind::Invalid, "tool.input", format!("the input is not a JSON object: `{shown}`"))
        .hint("send the input again as one JSON object")
}

/// The beginning of a text, and a word about the rest.
fn capped(mut text: String, most: usize) -> (String, bool) {
    let whole = text.len();
    if whole <= most {
        return (text, false);
    }
    let end = (0..=most).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    text.truncate(end);
    text.push_str(&format!("\n[cut: the first {end} of {whole} bytes; ask for fewer rows or columns, or aggregate]"));
    (text, true)
}

#[cfg(test)]
mod tests {
    use super::capped;

    #[test]
    fn a_cut_falls_between_characters_and_is_said() {
        let cases = [("abc", 3, "abc", false), ("abcd", 3, "abc", true), ("aää", 4, "aä", true), ("ä", 1, "", true)];
        for (text, most, kept, cut) in cases {
            let (shown, was_cut) = capped(text.to_owned(), most);
            assert_eq!(shown.split("\n[cut: ").next(), Some(kept), "{text}");
            assert_eq!((was_cut, shown.contains("[cut: ")), (cut, cut), "{text}");
        }
    }
}
