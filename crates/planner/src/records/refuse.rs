//! What is refused, in the words of a fault, and what is refused before anything is read.

use super::router::{Instruction, Intent};
use super::spans::Span;
use super::words::{Shape, Word, words};
use super::{Index, Trouble, read, write};
use crate::offline::sql;
use domain::{Fault, Kind};

/// What an instruction may not be, whatever it is about.
pub(crate) fn outright(index: &Index, text: &str, instruction: &Instruction) -> Option<Trouble> {
    if is_code(text) {
        return Some(Trouble::Code);
    }
    if let Some(word) = overreach(&instruction.spans) {
        return Some(Trouble::Overreach(word));
    }
    match instruction.intent() {
        Intent::Write => write::forbidden(index, instruction),
        Intent::Read => read::is_aggregate(&instruction.spans).then_some(Trouble::Aggregate),
    }
}

/// Statements of SQL; what is quoted is a text.
fn is_code(text: &str) -> bool {
    const SHAPES: [&[&str]; 11] = [
        &["drop", "table"],
        &["drop", "database"],
        &["delete", "from"],
        &["truncate", "table"],
        &["alter", "table"],
        &["create", "table"],
        &["union", "select"],
        &["union", "all", "select"],
        &["or", "1", "=", "1"],
        &["where", "1", "=", "1"],
        &["select", "*", "from"],
    ];
    let words: Vec<Word> = words(text).into_iter().filter(|w| w.shape != Shape::Quoted).collect();
    let unquoted: Vec<&str> = words.iter().map(|w| w.lower.as_str()).collect();
    let shaped = SHAPES.iter().any(|shape| unquoted.windows(shape.len()).any(|w| w == *shape));
    let changes = unquoted.first() == Some(&"update") && unquoted.get(2) == Some(&"set");
    let written: Vec<&str> = words.iter().map(|w| w.text.as_str()).collect();
    shaped || changes || sql::in_message(&written.join(" ")).is_some()
}

/// Words for what no contract gives to anybody, where no contract has them.
fn overreach(spans: &[Span]) -> Option<String> {
    const WORDS: &str = "\
        ignore bypass disregard override overrule pretend jailbreak sudo admin administrator superuser root password \
        passwords credential credentials secret secrets tenant tenants prompt permissions privileges";
    let plain = spans.iter().filter(|s| s.senses.is_empty() && s.literal().is_none());
    plain.map(Span::lower).find(|lower| WORDS.split_whitespace().any(|word| word == lower))
}

/// The refusal of a trouble that no question helps with.
pub(crate) fn fault(trouble: &Trouble) -> Fault {
    let not_understood = |code: &str, message: String| Fault::new(Kind::NotUnderstood, code, message);
    let invalid = |code: &str, message: &str| Fault::new(Kind::Invalid, code, message);
    match trouble {
        Trouble::Unknown(words) => {
            let quoted: Vec<String> = words.iter().map(|w| format!("`{w}`")).collect();
            not_understood(
                "records.not_understood",
                format!("no resource, field or value is called {}", quoted.join(", ")),
            )
            .hint("use the names of the contract, and put texts in quotes")
        }
        Trouble::Delete => {
            invalid("records.delete", "rows are not deleted here").hint("change the row's state instead")
        }
        Trouble::Bulk => invalid("records.bulk", "a change is of one row, which its key names")
            .hint("send one instruction for each row, with its id"),
        Trouble::Several => {
            invalid("records.several", "one instruction is one step").hint("send one instruction for each step")
        }
        Trouble::Aggregate => invalid("records.aggregate", "rows are read here, figures over them are not reckoned")
            .hint("ask for the rows, or ask the analyst for the figure"),
        Trouble::Code => invalid("records.code", "instructions are words, not statements")
            .hint("say in words what is to be read or changed"),
        Trouble::Overreach(word) => {
            invalid("records.overreach", &format!("nothing here is done for the word `{word}`"))
                .hint("contracts say what a role may do; no instruction changes that")
        }
        Trouble::Unsaid(what) => invalid("records.unsaid", &format!("a plan cannot say {what}"))
            .hint("say it with the fields and values of the contract"),
        Trouble::Unfit { field, text } => invalid("records.value", &format!("`{text}` is no value of `{field}`")),
        _ => not_understood("records.not_understood", "the instruction is not clear".to_owned()),
    }
}
