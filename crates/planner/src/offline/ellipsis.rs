//! Words that a question leaves out: "first and last name" has its noun once, for both.

use super::lexicon::Lexicon;
use super::text::{Token, stem};

/// Writes the words out where the schema has a name for each.
pub(crate) fn write_out(lexicon: &Lexicon, tokens: Vec<Token>) -> Vec<Token> {
    let mut written: Vec<Token> = Vec::with_capacity(tokens.len());
    let mut rest = tokens.as_slice();
    while let [first, tail @ ..] = rest {
        match tail {
            [and, second, noun, ..]
                if and.lower == "and" && named(lexicon, first, noun) && named(lexicon, second, noun) =>
            {
                written.extend([first.clone(), noun.clone()]);
            }
            // "first, middle and last name".
            [comma, second, rest @ ..]
                if comma.lower == ","
                    && let Some(noun) = shared_noun(lexicon, rest)
                    && named(lexicon, first, noun)
                    && named(lexicon, second, noun) =>
            {
                written.extend([first.clone(), noun.clone()]);
            }
            [noun, ..] if first.lower == "full" && is_full_name(lexicon, first, noun) => {
                for word in ["first", "name", "and", "last"] {
                    written.push(Token {
                        text: word.to_owned(),
                        lower: word.to_owned(),
                        stem: stem(word),
                        shape: first.shape,
                    });
                }
            }
            _ => written.push(first.clone()),
        }
        rest = tail;
    }
    written
}

/// The noun at the end of ", and last name" or "and last name".
fn shared_noun<'t>(lexicon: &Lexicon, rest: &'t [Token]) -> Option<&'t Token> {
    let joined = |t: &&Token| matches!(t.lower.as_str(), "," | "and");
    let skip = rest.iter().take_while(joined).count();
    match rest.get(skip..)? {
        [last, noun, ..] if skip > 0 && named(lexicon, last, noun) => Some(noun),
        _ => None,
    }
}

fn named(lexicon: &Lexicon, adjective: &Token, noun: &Token) -> bool {
    !lexicon.get(&[&adjective.stem, &noun.stem], &[&adjective.lower, &noun.lower]).is_empty()
}

/// "full name" where there is a first and a last name, and no full one.
fn is_full_name(lexicon: &Lexicon, full: &Token, noun: &Token) -> bool {
    let has = |word: &str| !lexicon.get(&[word, "name"], &[word, "name"]).is_empty();
    noun.stem == "name" && !named(lexicon, full, noun) && has("first") && has("last")
}
