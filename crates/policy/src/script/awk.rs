//! Programs for awk: to compute and to print.

use super::arguments::{Call, Checker};
use super::programs::not_literal;
use super::words::Argument;

/// What reaches beyond the program and its input.
const CALLS: [&str; 14] = [
    "system",
    "getline",
    "close",
    "fflush",
    "ENVIRON",
    "PROCINFO",
    "nextfile",
    "include",
    "load",
    "namespace",
    "ARGV",
    "ARGC",
    "SYMTAB",
    "FUNCTAB",
];

/// Programs that run commands, or write or read files by themselves, are refused.
pub fn awk(checker: &mut Checker<'_>, call: &Call<'_>) {
    let mut words = call.words.iter();
    let mut program = None;
    while let Some(word) = words.next() {
        let text = word.prefix();
        match text.as_str() {
            "-F" | "-v" => words.next().into_iter().for_each(|value| one_word(checker, call, value)),
            _ if text.starts_with("-F") || text.starts_with("-v") => one_word(checker, call, word),
            _ if text.starts_with('-') && text != "-" => {
                let hint = "use -F and -v only";
                checker.refuse("option_not_allowed", call.line, &text, "is no option that `awk` may have", hint);
            }
            _ => {
                program = Some(word);
                break;
            }
        }
    }
    let Some(program) = program else { return };
    let Some(text) = program.literal().filter(|_| !program.has_wildcard()) else {
        return not_literal(checker, call, program);
    };
    if awk_reaches_out(&text) {
        let hint = "compute and print only: no system(), getline, pipes or files";
        checker.refuse("program_not_allowed", call.line, &text, "does more in awk than compute and print", hint);
    }
    words.for_each(|file| checker.read(call.line, file));
}

/// What stands before the program must not become one: several words, or a name of a file that a pattern finds.
fn one_word(checker: &mut Checker<'_>, call: &Call<'_>, word: &Argument) {
    if word.splits || word.has_wildcard() {
        let hint = "put it in quotes";
        checker.refuse("option_not_certain", call.line, &word.raw, "may turn out to be more than a value", hint);
    }
}

/// Text of strings and patterns left out, so that `"a|b"` is no pipe; what is in doubt counts as reaching out.
fn awk_reaches_out(program: &str) -> bool {
    let Some(code) = without_strings(program) else { return true };
    let words: Vec<&str> = code.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).collect();
    let piped = code.replace("||", "").contains('|') || code.contains('@');
    let printed_to = joined(&code).split([';', '{', '}', '\n']).any(|statement| {
        // A condition before `print` may compare; after it the sign is a file.
        statement
            .find("print")
            .is_some_and(|at| outside_brackets(statement.get(at..).unwrap_or_default()).contains('>'))
    });
    piped || printed_to || words.iter().any(|word| CALLS.contains(word))
}

/// A statement goes on in the next line behind these.
fn joined(code: &str) -> String {
    let mut joined = String::new();
    for line in code.split_inclusive('\n') {
        let text = line.trim_end();
        let goes_on = text.is_empty() || text.ends_with(',') || text.ends_with("&&") || text.ends_with("||");
        joined.push_str(if goes_on { text } else { line });
    }
    joined
}

/// `print (a > b)` compares.
fn outside_brackets(text: &str) -> String {
    let mut depth = 0_usize;
    text.chars()
        .filter(|c| {
            match c {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                _ => return depth == 0,
            }
            false
        })
        .collect()
}

/// The program without its strings, patterns and comments. None where one does not end: what follows is not certain.
fn without_strings(program: &str) -> Option<String> {
    let mut code = String::new();
    let mut characters = program.chars();
    let mut brackets = Vec::new();
    let mut after_condition = false;
    while let Some(c) = characters.next() {
        match c {
            '(' => brackets.push(is_condition(&code)),
            ')' => after_condition = brackets.pop().unwrap_or(true),
            _ => {}
        }
        match c {
            '"' => skip(&mut characters, '"')?,
            '\\' if characters.as_str().starts_with('\n') => {
                characters.next();
                code.push(' ');
                continue;
            }
            // Some read a pattern there and some divide.
            '/' if is_doubtful(&code, after_condition) => return None,
            '/' if begins_pattern(&code) => skip(&mut characters, '/')?,
            '#' => {
                let _ = characters.by_ref().find(|c| *c == '\n');
                code.push('\n');
                continue;
            }
            _ => {
                code.push(c);
                continue;
            }
        }
        // An operand stood here.
        code.push('0');
    }
    Some(code)
}

fn skip(characters: &mut std::str::Chars<'_>, end: char) -> Option<()> {
    while let Some(c) = characters.next() {
        match c {
            '\\' => drop(characters.next()),
            // A slash in brackets would not end a pattern: too clever to be read twice.
            '[' if end == '/' && characters.as_str().split(']').next().is_some_and(|set| set.contains(['/', '"'])) => {
                return None;
            }
            _ if c == end => return Some(()),
            _ => {}
        }
    }
    None
}

/// `if (x) /y/` and `x++ /y/`.
fn is_doubtful(before: &str, after_condition: bool) -> bool {
    let before = before.trim_end();
    before.ends_with("++") || before.ends_with("--") || (before.ends_with(')') && after_condition)
}

fn is_condition(before: &str) -> bool {
    let before = before.trim_end();
    let word = before.rsplit(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).next().unwrap_or_default();
    ["if", "while", "for", "switch"].contains(&word)
}

/// A slash divides after an operand, and begins a pattern anywhere else.
fn begins_pattern(before: &str) -> bool {
    const WORDS: [&str; 9] = ["print", "printf", "return", "in", "case", "else", "do", "exit", "delete"];
    let before = before.trim_end_matches([' ', '\t']);
    let word = before.rsplit(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).next().unwrap_or_default();
    let operand = before.ends_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | ')' | ']' | '$' | '.'));
    !operand || WORDS.contains(&word)
}
