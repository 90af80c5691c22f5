//! Literals and identifiers that come out of the renderer as they went in.

use super::refuse::{Walk, at, at_ident, clip, refuse};
use crate::names::is_quotable;
use sqlparser::ast::{BinaryOperator, Expr, Ident, Value, ValueWithSpan};

/// A quoted name may hold anything that cannot end its quotes.
pub fn identifier(ident: &Ident) -> Walk {
    let Ident { value, quote_style, span: _ } = ident;
    let fits_quotes = match quote_style {
        None | Some('"') => true,
        Some('`') => !value.contains('`'),
        Some('[') => !value.contains([']', '[']),
        Some(_) => false,
    };
    if fits_quotes && is_quotable(value) {
        return Ok(());
    }
    let message = format!("the name `{}` holds characters or quotes that are not allowed", clip(value));
    Err(at_ident(
        refuse("sql.identifier", message, "use names as the schema writes them, in double quotes if needed"),
        ident,
    ))
}

/// What a value may be where the grammar needs a plain literal (`DATE '…'`, `ESCAPE '…'`).
pub fn plain(value: &ValueWithSpan) -> Walk {
    let ValueWithSpan { value: inner, span } = value;
    let fine = match inner {
        Value::Number(..) | Value::Boolean(_) | Value::Null => true,
        Value::SingleQuotedString(text) => !needs_split(text),
        _ => false,
    };
    if fine { Ok(()) } else { Err(at(not_allowed(inner), *span)) }
}

/// A literal in an expression; text that the renderer would garble is put together from pieces.
///
/// The renderer takes `\'` and `''` inside a string for quotes that are escaped already and leaves
/// them alone, so that `a\' OR 1=1 --` would end its own quotes.
pub fn in_expression(value: &ValueWithSpan) -> Walk<Option<Expr>> {
    match &value.value {
        Value::SingleQuotedString(text) if needs_split(text) => Ok(Some(split(text))),
        _ => plain(value).map(|()| None),
    }
}

fn needs_split(text: &str) -> bool {
    text.contains("''") || text.contains("\\'")
}

/// How many pieces are put together in one chain. A chain leans left, one level for each.
const CHAIN: usize = 16;

fn split(text: &str) -> Expr {
    let literal = |text: &str| Expr::Value(Value::SingleQuotedString(text.to_owned()).into());
    let mut pieces = vec![literal(text.split('\'').next().unwrap_or_default())];
    for piece in text.split('\'').skip(1) {
        pieces.extend(["'", piece].into_iter().filter(|part| !part.is_empty()).map(literal));
    }
    // Thousands of quotes must not make a tree thousands of levels deep.
    while pieces.len() > CHAIN {
        pieces = pieces.chunks(CHAIN).map(|chunk| chain(chunk.to_vec())).collect();
    }
    chain(pieces)
}

/// `('a' || 'b' || …)`.
fn chain(pieces: Vec<Expr>) -> Expr {
    let joined = pieces.into_iter().reduce(|left, right| {
        let (left, right) = (Box::new(left), Box::new(right));
        Expr::BinaryOp { left, op: BinaryOperator::StringConcat, right }
    });
    Expr::Nested(Box::new(joined.unwrap_or(Expr::Value(Value::Null.into()))))
}

fn not_allowed(value: &Value) -> domain::Fault {
    let message = format!("the literal `{}` is not allowed", clip(&value.to_string()));
    refuse("sql.literal", message, "write numbers, 'text', TRUE, FALSE or NULL, and no placeholders")
}
