//! Literals: what their text stands for, and whether it is well formed.
//!
//! The tokenizer is told to leave escapes alone, so that they are read here, exactly as the flavour defines them.

use super::kind::Kind;
use super::refuse::{invalid, refuse};
use super::tree::{Node, Typed};
use super::types::Type;
use crate::sql::refuse::clip;
use domain::{Fault, Flavour};
use sqlparser::ast::Value;

pub fn lower(flavour: Flavour, value: &Value) -> Result<Typed, Fault> {
    match value {
        Value::Null => Ok(Typed::new(Node::Null, Kind::Any)),
        Value::Boolean(b) => Ok(Typed::bool(Node::Bool(*b))),
        Value::Number(digits, false) => number(digits),
        Value::Placeholder(name) => Err(parameter(name)),
        Value::SingleQuotedByteStringLiteral(_)
        | Value::DoubleQuotedByteStringLiteral(_)
        | Value::TripleSingleQuotedByteStringLiteral(_)
        | Value::TripleDoubleQuotedByteStringLiteral(_)
        | Value::HexStringLiteral(_) => Err(bytes()),
        _ => text(flavour, value).map(|text| Typed::new(Node::Text(text), Kind::Text)),
    }
}

/// The text that a string literal stands for.
pub fn text(flavour: Flavour, value: &Value) -> Result<String, Fault> {
    use Value as V;
    let text = match (flavour, value) {
        (Flavour::DuckDb, V::SingleQuotedString(raw)) => Ok(raw.replace("''", "'")),
        (Flavour::BigQuery, V::SingleQuotedString(raw)) => unescape(raw, "'"),
        (Flavour::BigQuery, V::DoubleQuotedString(raw)) => unescape(raw, "\""),
        (Flavour::BigQuery, V::TripleSingleQuotedString(raw)) => unescape(raw, "'''"),
        (Flavour::BigQuery, V::TripleDoubleQuotedString(raw)) => unescape(raw, "\"\"\""),
        (Flavour::BigQuery, V::SingleQuotedRawStringLiteral(raw) | V::DoubleQuotedRawStringLiteral(raw)) => {
            as_written(raw)
        }
        (
            Flavour::BigQuery,
            V::TripleSingleQuotedRawStringLiteral(raw) | V::TripleDoubleQuotedRawStringLiteral(raw),
        ) => as_written(raw),
        _ => Err(literal(&value.to_string(), "write numbers, 'text', TRUE, FALSE or NULL")),
    }?;
    match text.contains('\0') {
        true => Err(literal("\\0", "text may not hold a NUL character")),
        false => Ok(text),
    }
}

pub fn bytes() -> Fault {
    refuse("bytes_literal_raw", "a predicate may not hold raw bytes", "compare bytes with CAST('text' AS BYTES)")
}

pub fn parameter(name: &str) -> Fault {
    let message = format!("the parameter `{}` is not allowed", clip(name));
    refuse("parameter", message, "write the value itself").detail("parameter", clip(name))
}

fn literal(what: &str, hint: &str) -> Fault {
    invalid("literal", format!("the literal `{}` is not allowed", clip(what)), hint)
}

fn number(digits: &str) -> Result<Typed, Fault> {
    let plain = digits.replace('_', "");
    let (mantissa, exponent) = match plain.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent.trim_start_matches(['+', '-']))),
        None => (plain.as_str(), None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all_digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let well_formed = all_digits(whole) && all_digits(fraction) && whole.len() + fraction.len() > 0;
    if !well_formed || exponent.is_some_and(|e| e.is_empty() || e.len() > 3 || !all_digits(e)) {
        return Err(literal(digits, "write a plain decimal number"));
    }
    let kind = if mantissa.contains('.') || exponent.is_some() { Kind::Number } else { Kind::Integer };
    Ok(Typed::new(Node::Number(plain), kind))
}

/// A raw string. Before its last quote a backslash would keep it open, and the tokenizer does not know.
fn as_written(raw: &str) -> Result<String, Fault> {
    let backslashes = raw.len() - raw.trim_end_matches('\\').len();
    match backslashes % 2 {
        0 => Ok(raw.to_owned()),
        _ => Err(literal(raw, "a raw string may not end in an odd number of backslashes")),
    }
}

/// The escapes of BigQuery. A bare quote inside would end the literal there: two literals in a row are an error.
fn unescape(raw: &str, quote: &str) -> Result<String, Fault> {
    let mut text = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(c) = rest.chars().next() {
        if rest.starts_with(quote) {
            return Err(literal(raw, "write a quote inside text as \\'"));
        }
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
        if c != '\\' {
            text.push(c);
            continue;
        }
        let (meant, after) = escape(rest).ok_or_else(|| literal(raw, "it holds an escape that does not exist"))?;
        text.push(meant);
        rest = after;
    }
    Ok(text)
}

/// What follows a backslash: the character meant, and the rest.
fn escape(rest: &str) -> Option<(char, &str)> {
    let c = rest.chars().next()?;
    let after = rest.get(c.len_utf8()..)?;
    let coded = |skip: usize, digits: usize, radix: u32| {
        let code = rest.get(skip..skip + digits)?;
        let all = code.chars().all(|c| c.is_digit(radix));
        let code = all.then(|| u32::from_str_radix(code, radix).ok()).flatten()?;
        Some((char::from_u32(code)?, rest.get(skip + digits..)?))
    };
    let meant = match c {
        'a' => '\u{7}',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\u{b}',
        '\\' | '?' | '"' | '\'' | '`' => c,
        'x' | 'X' => return coded(1, 2, 16),
        'u' => return coded(1, 4, 16),
        'U' => return coded(1, 8, 16),
        '0'..='3' => return coded(0, 3, 8),
        _ => return None,
    };
    Some((meant, after))
}

/// A text literal where a date, a time or a moment is meant.
pub fn as_temporal(flavour: Flavour, literal: &mut Typed, kind: Kind) {
    let Node::Text(text) = &mut literal.node else { return };
    let to = match (kind, flavour) {
        (Kind::Date, _) => Type::Date,
        (Kind::Time, _) => Type::Time,
        (_, Flavour::BigQuery) => Type::Timestamp,
        (_, Flavour::DuckDb) => Type::Datetime,
    };
    *literal = Typed::new(Node::Temporal(to, std::mem::take(text)), kind);
}

/// `DATE '2026-01-31'`: the text must look like one.
pub fn temporal(to: Type, text: String) -> Result<Typed, Fault> {
    if looks_like(to.kind(), &text) {
        return Ok(Typed::new(Node::Temporal(to, text), to.kind()));
    }
    Err(literal(&text, "write DATE '2026-01-31', TIMESTAMP '2026-01-31 12:30:00' or TIME '12:30:00'"))
}

/// Whether it is a text literal that stands for a date, a moment or a time.
pub fn reads_as(arg: &Typed, kind: Kind) -> bool {
    matches!(&arg.node, Node::Text(text) if looks_like(kind, text))
}

fn looks_like(kind: Kind, text: &str) -> bool {
    let fits = match kind {
        Kind::Date => is_date(text),
        Kind::Moment => is_date(text.split([' ', 'T', 't']).next().unwrap_or_default()),
        Kind::Time => text.starts_with(|c: char| c.is_ascii_digit()) && text.contains(':'),
        _ => false,
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, ' ' | ':' | '.' | '+' | '-' | '/' | '_');
    fits && text.len() <= 64 && text.chars().all(plain)
}

fn is_date(text: &str) -> bool {
    let mut numbers = text.splitn(3, '-').map(|n| n.parse::<i16>().ok().filter(|_| !n.starts_with(['+', '-'])));
    let (Some(Some(year)), Some(Some(month)), Some(Some(day))) = (numbers.next(), numbers.next(), numbers.next())
    else {
        return false;
    };
    let (month, day) = (i8::try_from(month).unwrap_or(0), i8::try_from(day).unwrap_or(0));
    jiff::civil::Date::new(year, month, day).is_ok()
}
