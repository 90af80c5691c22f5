//! From messages to a question and the turns before it.

use super::request::{Message, invalid};
use domain::{Fault, Kind, Turn};

#[derive(Debug)]
pub struct Conversation {
    pub question: String,
    /// Everything before it, oldest first.
    pub history: Vec<Turn>,
}

/// Nothing of the thread is left out. Words of a `system` or `developer` message are the caller's as well: the house's
/// own instructions are not theirs to replace, so that they count as something said before.
pub fn read(messages: &[Message], most_chars: usize) -> Result<Conversation, Fault> {
    let mut history: Vec<Turn> = Vec::new();
    let mut last = None;
    for (at, message) in messages.iter().enumerate() {
        let text = message.text(at)?;
        last = Some(message.role.as_str());
        match message.role.as_str() {
            "user" => {
                check_length(&text, at, most_chars)?;
                history.push(said(text));
            }
            "system" | "developer" => history.push(said(text)),
            "assistant" => match history.last_mut() {
                Some(turn) if turn.answer.is_empty() => turn.answer = text,
                _ => history.push(Turn { answer: text, ..said(String::new()) }),
            },
            "tool" | "function" => return Err(unsupported_role(at, &message.role)),
            other => return Err(invalid(format!("`messages[{at}].role` is `{}`", shown(other)))),
        }
    }
    match (last, history.pop()) {
        (Some("user"), Some(Turn { question, .. })) if !question.trim().is_empty() => {
            Ok(Conversation { question, history })
        }
        (Some("user"), _) => Err(invalid("the last message is empty".to_owned())),
        _ => Err(invalid("the last message must have the role `user`".to_owned())),
    }
}

fn said(question: String) -> Turn {
    Turn { question, plan: None, clarification: None, answer: String::new() }
}

fn check_length(text: &str, at: usize, most: usize) -> Result<(), Fault> {
    if text.chars().count() <= most {
        return Ok(());
    }
    let message = format!("`messages[{at}]` is longer than {most} characters");
    Err(Fault::new(Kind::Invalid, "input_too_long", message).hint("ask in fewer words"))
}

fn unsupported_role(at: usize, role: &str) -> Fault {
    let message = format!("`messages[{at}]` has the role `{role}`");
    Fault::new(Kind::Invalid, "unsupported_parameter", message).hint("the analyst calls no tools of its clients")
}

fn shown(role: &str) -> String {
    role.chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn conversation(messages: Value) -> Result<Conversation, Fault> {
        let messages: Vec<Message> = serde_json::from_value(messages).unwrap();
        read(&messages, 20)
    }

    #[test]
    fn everything_before_the_question_is_its_history() {
        let five = conversation(json!([
            { "role": "system", "content": "be brief" },
            { "role": "user", "content": [{ "type": "text", "text": "orders" }, { "type": "text", "text": "by tier" }] },
            { "role": "assistant", "content": "pro: 3", "refusal": null },
            { "role": "user", "content": "thanks" },
            { "role": "user", "content": "and by month?", "name": "ann" },
        ]))
        .unwrap();
        assert_eq!(five.question, "and by month?");
        let turns: Vec<_> = five.history.iter().map(|t| (t.question.as_str(), t.answer.as_str())).collect();
        assert_eq!(turns, [("be brief", ""), ("orders\nby tier", "pro: 3"), ("thanks", "")]);
    }

    #[test]
    fn what_is_no_conversation_is_refused() {
        let image = json!([{ "type": "image_url", "image_url": { "url": "x" } }]);
        for (messages, code) in [
            (json!([]), "invalid_messages"),
            (json!([{ "role": "user", "content": "  " }]), "invalid_messages"),
            (json!([{ "role": "user" }]), "invalid_messages"),
            (json!([{ "role": "user", "content": 7 }]), "invalid_messages"),
            (json!([{ "role": "user", "content": image }]), "invalid_messages"),
            (json!([{ "role": "assistant", "content": "hello" }]), "invalid_messages"),
            (json!([{ "role": "oracle", "content": "hello" }]), "invalid_messages"),
            (json!([{ "role": "tool", "content": "hello" }]), "unsupported_parameter"),
            (json!([{ "role": "user", "content": "x".repeat(21) }]), "input_too_long"),
            (
                json!([{ "role": "user", "content": "x".repeat(21) }, { "role": "user", "content": "y" }]),
                "input_too_long",
            ),
        ] {
            assert_eq!(conversation(messages.clone()).unwrap_err().code, code, "{messages}");
        }
        assert!(conversation(json!([{ "role": "user", "content": "ä".repeat(20) }])).is_ok(), "characters, not bytes");
    }
}
