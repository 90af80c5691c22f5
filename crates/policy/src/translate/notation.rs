//! The last step to an engine's text: how it writes names, text and values.
//!
//! A statement is rendered in one notation (names in double quotes, text in single quotes, `$1` for values) and read in
//! tokens. Each is written again as the engine reads it, and a token that has no rule is refused.

use super::no_translation;
use crate::sql::dialect;
use crate::sql::refuse::Walk;
use domain::{Dialect, Fault, Value};
use sqlparser::tokenizer::{Token, Tokenizer, Whitespace};

/// How one engine writes what engines write differently.
pub trait Notation {
    /// A name in its quotes.
    fn name(&self, name: &str) -> Walk<String>;
    /// Text in its quotes.
    fn text(&self, text: &str) -> Walk<String>;
    /// What stands for the n-th value, from 1.
    fn value(&self, number: usize) -> Walk<String>;
}

/// Text in our notation, written in the engine's.
pub fn written(text: &str, notation: &impl Notation) -> Walk<String> {
    let tokens = Tokenizer::new(dialect::of(Dialect::DuckDb), text).tokenize();
    let mut out = String::with_capacity(text.len() + 64);
    for token in tokens.map_err(|_| Fault::internal("sql.notation"))? {
        out.push_str(&one(&token, notation)?);
    }
    Ok(out)
}

fn one(token: &Token, notation: &impl Notation) -> Walk<String> {
    Ok(match token {
        Token::EOF => String::new(),
        Token::Whitespace(Whitespace::Space | Whitespace::Newline | Whitespace::Tab) => " ".to_owned(),
        Token::Word(word) => match word.quote_style {
            None => word.value.clone(),
            Some('"') => notation.name(&word.value)?,
            Some(_) => return Err(no_translation(&word.to_string())),
        },
        Token::SingleQuotedString(text) => notation.text(text)?,
        Token::Placeholder(name) => match name.strip_prefix('$').and_then(|n| n.parse().ok()) {
            Some(number) => notation.value(number)?,
            None => return Err(no_translation(name)),
        },
        Token::Number(digits, false) if digits.bytes().all(|b| b.is_ascii_digit() || b".eE+-".contains(&b)) => {
            digits.clone()
        }
        Token::Comma | Token::LParen | Token::RParen | Token::Period | Token::Eq | Token::Neq | Token::Lt => {
            token.to_string()
        }
        Token::Gt | Token::LtEq | Token::GtEq | Token::Plus | Token::Minus | Token::Mul | Token::Div | Token::Mod => {
            token.to_string()
        }
        Token::StringConcat | Token::Ampersand | Token::Pipe | Token::Tilde => token.to_string(),
        other => return Err(no_translation(&other.to_string())),
    })
}

/// A value as a literal: for engines that take no parameters.
pub fn literal(value: &Value, text: impl FnOnce(&str) -> Walk<String>) -> Walk<String> {
    Ok(match value {
        Value::Null => "NULL".to_owned(),
        Value::Bool(true) => "TRUE".to_owned(),
        Value::Bool(false) => "FALSE".to_owned(),
        // In parentheses, since `- -1` would begin a comment.
        Value::Int(number) if *number < 0 => format!("({number})"),
        Value::Int(number) => number.to_string(),
        Value::Float(number) if number.is_finite() => format!("CAST('{number:e}' AS DOUBLE)"),
        Value::Float(_) => return Err(no_translation("a number without end")),
        Value::Text(value) => text(value)?,
    })
}

/// Text in single quotes in which a backslash escapes: Spark's way and BigQuery's.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('\'');
    for c in text.chars() {
        match c {
            '\\' | '\'' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c => out.push(c),
        }
    }
    out.push('\'');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Plain;

    impl Notation for Plain {
        fn name(&self, name: &str) -> Walk<String> {
            Ok(format!("`{name}`"))
        }
        fn text(&self, text: &str) -> Walk<String> {
            Ok(escaped(text))
        }
        fn value(&self, number: usize) -> Walk<String> {
            Ok(format!("@p{number}"))
        }
    }

    #[test]
    fn names_text_and_values_are_written_anew() {
        let said =
            written(r#"SELECT "a b", 'it''s \ "x"' FROM "main"."t" WHERE x >= $12 AND y <> -1.5e3"#, &Plain).unwrap();
        assert_eq!(said, r#"SELECT `a b`, 'it\'s \\ "x"' FROM `main`.`t` WHERE x >= @p12 AND y <> -1.5e3"#);
    }

    #[test]
    fn what_has_no_rule_is_refused() {
        for text in
            ["SELECT 1; SELECT 2", "SELECT $$x$$", "SELECT a -- b", "SELECT /* x */ 1", "SELECT `a`", "SELECT X'00'"]
        {
            assert!(written(text, &Plain).is_err(), "{text}");
        }
    }
}
