//! How a statement is refused: the rule, the offending part, what would be allowed, and where.

use domain::{Fault, Kind};
use sqlparser::ast::{Ident, Spanned};
use sqlparser::tokenizer::Span;

pub type Walk<T = ()> = Result<T, Fault>;

/// Nobody may do this in SQL.
pub fn refuse(code: &str, message: impl Into<String>, hint: impl Into<String>) -> Fault {
    Fault::new(Kind::SqlPolicy, code, message).hint(hint)
}

/// The statement is not well formed, or names what does not exist.
pub fn invalid(code: &str, message: impl Into<String>, hint: impl Into<String>) -> Fault {
    Fault::new(Kind::Invalid, code, message).hint(hint)
}

/// A kind of syntax that the walk does not know or does not want.
pub fn syntax_not_allowed(what: &str) -> Fault {
    refuse(
        "sql.syntax_not_allowed",
        format!("`{}` is not allowed here", clip(what)),
        "use plain SELECT syntax: joins, CTEs, windows, set operations, subqueries",
    )
}

/// Refuses unless the condition holds.
pub fn ensure(holds: bool, what: &str) -> Walk {
    if holds { Ok(()) } else { Err(syntax_not_allowed(what)) }
}

/// Adds the place, if the parser knows it.
pub fn at(fault: Fault, span: Span) -> Fault {
    if span.start.line == 0 || fault.span.is_some() { fault } else { fault.at(span.start.line, span.start.column) }
}

/// Adds the place of a node, unless a part of it has been named already.
pub fn at_node(fault: Fault, node: &impl Spanned) -> Fault {
    if fault.span.is_some() { fault } else { at(fault, node.span()) }
}

pub fn at_ident(fault: Fault, ident: &Ident) -> Fault {
    at(fault, ident.span)
}

/// The offending part, short enough for a message and without what would break its backticks.
pub fn clip(text: &str) -> String {
    const MAX: usize = 80;
    let mut short: String = text.chars().take(MAX).map(|c| if c == '`' || c.is_control() { ' ' } else { c }).collect();
    if text.chars().count() > MAX {
        short.push('…');
    }
    short
}
