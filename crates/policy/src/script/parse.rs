//! Text → syntax tree, by brush: within bounds, since a parser must not be what falls over.

use super::refuse::refuse;
use brush_parser::ast::Program;
use brush_parser::{ParseError, Parser, ParserOptions};
use domain::Fault;
use std::panic::catch_unwind;

const MAX_BYTES: usize = 64 * 1024;
const MAX_LINES: usize = 1_000;
/// Brackets of all kinds, open at the same time. The parser tries several readings of each.
const MAX_NESTING: usize = 8;
/// `${` within `${`. Where one is not closed, each takes the parser five times as long as the one around it.
const MAX_EXPANSIONS: usize = 4;
/// `${` and `$(` that nothing closes: mistakes, but for one in quotes. The parser tries each in many ways.
const MAX_UNCLOSED: usize = 1;
/// Blocks within blocks: the parser reads what is inside of one more than once.
const MAX_BLOCKS: usize = 8;
const MAX_LINE: usize = 4_096;
/// For what the bounds above leave.
const STACK: usize = 64 * 1024 * 1024;

pub fn options() -> ParserOptions {
    ParserOptions::default()
}

/// Runs `work` where deep trees have room.
pub fn with_stack<T>(work: impl FnOnce() -> T) -> T {
    stacker::grow(STACK, work)
}

pub fn parse(text: &str) -> Result<Program, Fault> {
    bounded(text)?;
    program(text)
}

fn program(text: &str) -> Result<Program, Fault> {
    match caught(|| Parser::new(text.as_bytes(), &options()).parse_program()) {
        Some(parsed) => parsed.map_err(|error| syntax(&error)),
        None => Err(refuse("syntax", 0, "script", "cannot be read to its end", "write plain bash")),
    }
}

/// The parser's result, or none where it panics on a text. The bounds keep it from that as far as such texts are known.
pub fn caught<T>(parse: impl FnOnce() -> T + std::panic::UnwindSafe) -> Option<T> {
    catch_unwind(parse).ok()
}

/// A line may go on in the next one, between words. Within a word shells and parsers do not agree on what is joined:
/// `$` and `(` with such an end of a line between them run a command for the one and are text for the other.
pub fn unbroken(text: &str) -> Result<(), Fault> {
    let lines: Vec<&str> = text.split('\n').collect();
    let broken = lines.iter().zip(lines.iter().skip(1)).position(|(line, next)| {
        let before = line.strip_suffix('\\');
        let glued = |line: &str| !line.is_empty() && !line.ends_with([' ', '\t']) && !next.starts_with([' ', '\t']);
        before.is_some_and(|line| glued(line) || next.trim_start().starts_with('#'))
    });
    match broken {
        Some(at) => {
            let hint = "put a space before the backslash, and no comment after it";
            Err(refuse("broken_word", at + 1, "\\", "breaks a line within a word", hint))
        }
        None => Ok(()),
    }
}

fn syntax(error: &ParseError) -> Fault {
    refuse("syntax", 0, "script", &format!("is no shell script: {}", short(error)), "write plain bash")
}

fn short(error: &ParseError) -> String {
    error.to_string().chars().filter(|c| !c.is_control() && *c != '`').take(120).collect()
}

/// Refuses what no useful script is.
fn bounded(text: &str) -> Result<(), Fault> {
    let too = |code: &str, what: String, hint: &str| Err(refuse(code, 0, "script", &what, hint));
    let wide = text.lines().any(|line| line.len() > MAX_LINE);
    if text.len() > MAX_BYTES || text.lines().count() > MAX_LINES || wide {
        let what =
            format!("is longer than {MAX_BYTES} bytes or {MAX_LINES} lines, or has a line of more than {MAX_LINE}");
        return too("too_long", what, "do less in one script");
    }
    if text.trim().is_empty() {
        return too("empty", "is empty".to_owned(), "write at least one command");
    }
    if let Some(odd) = text.chars().find(|c| c.is_control() && *c != '\n' && *c != '\t') {
        let what = format!("has the character U+{:04X}", odd as u32);
        return too("control_character", what, "use line feeds and tabs only");
    }
    if let Some(odd) = text.chars().find(|c| is_invisible(*c)) {
        let what = format!("has the invisible character U+{:04X}", odd as u32);
        return too("invisible_character", what, "an approver must see all that runs");
    }
    let joined = text.replace("\\\n", "");
    if has_nameless_document(&joined) {
        let what = "has a here-document that ends at an empty word".to_owned();
        return too("syntax", what, "name its end: <<'EOF'");
    }
    if has_open_bracket_behind_document(&joined) {
        let what = "opens a `$(`, `${` or `$[` behind a here-document and closes it on another line".to_owned();
        return too("syntax", what, "close it on the same line, or put it before the here-document");
    }
    if has_oversized_number(&joined) {
        let what = "has a number before `<` or `>`, after `~` or in `{1..9}` that no shell can count to".to_owned();
        return too("too_long", what, "use a smaller number");
    }
    let Nesting { brackets, expansions, unclosed } = nesting(text);
    if expansions > MAX_EXPANSIONS {
        let what = format!("nests `${{` deeper than {MAX_EXPANSIONS}");
        return too("too_deep", what, "use a variable for what is inside");
    }
    if brackets <= MAX_NESTING && unclosed > MAX_UNCLOSED {
        let what = "has several `${` or `$(` that are not closed".to_owned();
        return too("syntax", what, "close each of them");
    }
    if brackets > MAX_NESTING {
        return too("too_deep", format!("nests brackets deeper than {MAX_NESTING}"), "use plainer constructs");
    }
    if blocks(text) > MAX_BLOCKS {
        return too(
            "too_deep",
            format!("nests blocks deeper than {MAX_BLOCKS}"),
            "use functions, or do less in one script",
        );
    }
    Ok(())
}

/// Text that reads otherwise than it runs: directions of writing, widths of zero, spaces that are none.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{a0}' | '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

/// A here-document that ends at nothing: `<<""`. The parser waits for that end for ever, at the end of the text.
fn has_nameless_document(text: &str) -> bool {
    text.match_indices("<<").any(|(at, operator)| {
        let behind = text.get(at + operator.len()..).unwrap_or_default();
        let behind = behind.strip_prefix('-').unwrap_or(behind).trim_start_matches([' ', '\t']);
        let is_end = |c: char| c.is_whitespace() || "<>|&;()".contains(c);
        let word = behind.split(is_end).next().unwrap_or_default();
        word.len() > 1 && word.chars().all(|c| matches!(c, '\'' | '"' | '\\'))
    })
}

/// An expansion that begins behind `<<` and does not end on its line: `cat <<EOF $(ls`. The parser looks for its end behind
/// the document, and falls over where there is none.
fn has_open_bracket_behind_document(text: &str) -> bool {
    let behind_document = text.lines().filter_map(|line| line.split_once("<<"));
    behind_document.flat_map(|(_, rest)| rest.match_indices('$').map(|(at, _)| rest.get(at + 1..))).flatten().any(
        |rest| {
            rest.starts_with(['(', '{', '['])
                && rest.matches(['(', '{', '[']).count() > rest.matches([')', '}', ']']).count()
        },
    )
}

/// Digits that stand where the parser reads a number, of a descriptor (`2>`), of a directory (`~+1`) or of a sequence
/// (`{1..9}`), and are too many for it: it falls over them.
fn has_oversized_number(text: &str) -> bool {
    const DESCRIPTOR: usize = 9;
    const COUNT: usize = 18;
    let mut rest = text;
    let mut read = 0;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let digits = rest.get(start..).unwrap_or_default();
        let length = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        let (before, after) = (text.get(..read + start).unwrap_or_default(), digits.get(length..).unwrap_or_default());
        let before = before.strip_suffix(['+', '-']).unwrap_or(before);
        let is_descriptor = after.starts_with(['<', '>']);
        let is_count = before.ends_with(['~', '{']) || before.ends_with("..") || after.starts_with("..");
        if is_descriptor && length > DESCRIPTOR || is_count && length > COUNT {
            return true;
        }
        read += start + length;
        rest = after;
    }
    false
}

/// Brackets that are open at the same time, quoted or not: more than there are, never fewer. In `${x:-)}` the `)` closes
/// nothing.
struct Nesting {
    /// Of all kinds.
    brackets: usize,
    /// `${` alone.
    expansions: usize,
    /// `${` and `$(` that nothing closes.
    unclosed: usize,
}

fn nesting(text: &str) -> Nesting {
    let mut open: Vec<(char, bool)> = Vec::new();
    let expansions = |open: &[(char, bool)], of: &[char]| {
        open.iter().filter(|(closing, is_expansion)| *is_expansion && of.contains(closing)).count()
    };
    let mut most = Nesting { brackets: 0, expansions: 0, unclosed: 0 };
    let mut before = ' ';
    for c in text.chars() {
        match c {
            '(' => open.push((')', before == '$')),
            '{' => open.push(('}', before == '$')),
            '[' => open.push((']', false)),
            _ if open.last().is_some_and(|(closing, _)| *closing == c) => drop(open.pop()),
            _ => {}
        }
        before = c;
        most.brackets = most.brackets.max(open.len());
        most.expansions = most.expansions.max(expansions(&open, &['}']));
        if most.brackets > MAX_NESTING {
            break;
        }
    }
    most.unclosed = expansions(&open, &['}', ')']);
    most
}

/// How many blocks are open at most, by the words that open and close them where a command may begin.
fn blocks(text: &str) -> usize {
    const OPEN: [&str; 8] = ["if", "while", "until", "for", "case", "select", "{", "coproc"];
    const CLOSE: [&str; 4] = ["fi", "done", "esac", "}"];
    const GO_ON: [&str; 10] = ["then", "do", "else", "elif", "if", "while", "until", "in", "!", "{"];
    let (mut open, mut most) = (0_usize, 0);
    for line in text.lines() {
        let mut at_command = true;
        let mut before = "";
        for word in line.split_whitespace() {
            let bare = word.trim_matches(['(', ')', ';']);
            if at_command && OPEN.contains(&bare) {
                open += 1;
            } else if at_command && CLOSE.contains(&bare) {
                open = open.saturating_sub(1);
            }
            // Negated again and again: nobody means that.
            most = most.max(if word == "!" && before == "!" { usize::MAX } else { open });
            at_command = GO_ON.contains(&bare) || word.ends_with([';', '|', '&', '(', ')']);
            before = word;
        }
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Found by fuzzing: brush-parser 0.4 unwraps a character that is not there.
    const FALLS_OVER: &str = "ca| <<EOF<,jo$($(c/h @x)$\nEOF";

    #[test]
    fn a_text_that_the_parser_falls_over_is_refused() {
        assert_eq!(program(FALLS_OVER).unwrap_err().code, "script.syntax");
        assert!(has_open_bracket_behind_document(FALLS_OVER));
    }
}
