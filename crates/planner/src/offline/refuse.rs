//! Refusals: what was not understood, and what to do about it.

use super::Index;
use super::catalog::TableId;
use super::draft::Draft;
use super::english::is_stop;
use super::query::Trouble;
use super::text::{Shape, Token};
use domain::{Fault, Kind};

fn refusal(code: &str, message: String, hint: impl Into<String>) -> Fault {
    Fault::new(Kind::NotUnderstood, code, message).hint(hint)
}

/// A refusal before anything was read: nothing to read, or not in English.
pub(crate) fn unreadable(tokens: &[Token]) -> Option<Fault> {
    let words: Vec<&Token> = tokens.iter().filter(|t| t.shape == Shape::Word).collect();
    let chatter = ["hello", "hi", "hey", "thanks", "thank", "ok", "okay", "bye", "help", "good", "morning", "test"];
    let content = |t: &&&Token| !is_stop(&t.lower) && !chatter.contains(&t.lower.as_str());
    let nothing = tokens.iter().all(|t| t.shape == Shape::Mark)
        || (!words.is_empty() && words.iter().filter(content).count() == 0);
    if nothing && !tokens.iter().any(|t| matches!(t.shape, Shape::Number | Shape::Quoted)) {
        return Some(refusal(
            "plan.not_a_question",
            "there is no question about the data in this".to_owned(),
            "ask for a number or a list, for example how many rows a table has",
        ));
    }
    foreign(&words).then(|| {
        refusal("plan.other_language", "only questions in English are understood so far".to_owned(), "ask in English")
    })
}

/// Function words of other languages that are not English words.
const FOREIGN: &str = "\
    avec bitte combien cual cuantas cuantos cuál cuáles cuántas cuántos dans das del der des die dos een est für gli \
    haben het hoeveel ist las les los mit moi montre mostra muestra nach os por pour pro quais qual quale quali \
    quantas quante quanti quantos que quel quelle quelles quels qué sind sono sont una und une viel viele von welche \
    welcher welches welke wie wurden zeig zeige zijn";

fn foreign(words: &[&Token]) -> bool {
    let letters: Vec<char> = words.iter().flat_map(|t| t.lower.chars()).filter(|c| c.is_alphabetic()).collect();
    let other_script = letters.iter().filter(|c| !is_latin(**c)).count() * 2 > letters.len();
    let foreign = words.iter().filter(|t| FOREIGN.split_whitespace().any(|w| w == t.lower)).count();
    let english = words.iter().filter(|t| is_stop(&t.lower)).count();
    other_script || (foreign >= 2 && foreign > english)
}

fn is_latin(c: char) -> bool {
    ('\u{0}'..='\u{24f}').contains(&c)
}

/// A refusal because of words that no rule could use.
pub(crate) fn unexplained(index: &Index, draft: &Draft) -> Option<Fault> {
    if let Some((value, column)) = draft.absent.first() {
        return Some(refusal(
            "plan.not_in_data",
            format!("there is no `{value}` in {column}"),
            "check the spelling, or ask for the different values of that column",
        ));
    }
    let words: Vec<String> = draft.beyond.iter().chain(&draft.unexplained).map(|w| format!("`{w}`")).collect();
    if words.is_empty() {
        return None;
    }
    Some(refusal("plan.words_not_understood", format!("not understood here: {}", words.join(", ")), hint(index)))
}

/// A refusal because the question is understood and the data or the plan language has no answer.
pub(crate) fn trouble(index: &Index, trouble: &Trouble) -> Fault {
    let name = |t: &TableId| index.catalog.table(*t).name.as_str();
    match trouble {
        Trouble::Unbound(text) => {
            refusal("plan.not_in_data", format!("nothing in the data fits `{text}` here"), hint(index))
        }
        Trouble::Apart(a, b) => refusal(
            "plan.not_in_data",
            format!("nothing ties `{}` and `{}` together", name(a), name(b)),
            "ask about one of them, or have a join added to the contract",
        ),
        Trouble::CountedTwice(a, b) => refusal(
            "plan.counted_twice",
            format!("joined with `{}`, rows of `{}` would be counted more than once", name(b), name(a)),
            "ask for a measure of the finer table, or without the break-down",
        ),
        Trouble::Unsupported(what) => refusal(
            "plan.not_expressible",
            format!("{what} is not possible without a model yet"),
            "ask for one thing at a time",
        ),
        other => {
            refusal("plan.words_not_understood", format!("the question is not clear: {}", plain(other)), hint(index))
        }
    }
}

fn plain(trouble: &Trouble) -> &'static str {
    match trouble {
        Trouble::NothingAsked => "it does not say what to show",
        Trouble::RankedByWhat(_) | Trouble::PopularByWhat(_) | Trouble::GroupsByWhat(_) | Trouble::ChangeInWhat => {
            "it does not say what to rank by"
        }
        _ => "it has more than one meaning",
    }
}

/// What there is to ask about.
fn hint(index: &Index) -> String {
    let tables: Vec<String> =
        index.catalog.tables().take(6).map(|t| format!("`{}`", index.catalog.table(t).name)).collect();
    format!("ask with the names of tables and columns; there are {}", tables.join(", "))
}
