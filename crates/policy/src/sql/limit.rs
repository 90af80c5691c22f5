//! The cap on rows of the whole result.

use super::build;
use super::refuse::{Walk, at_node, refuse};
use domain::Dialect;
use sqlparser::ast::{Expr, LimitClause, Query, SetExpr, UnaryOperator, Value, ValueWithSpan};

/// A cap that few results come near.
const FAR: u64 = 1_000_000;

/// Sets the outer LIMIT to what was asked for, or to one more than the cap, whichever is less: the
/// row beyond the cap tells the engine that there were more.
///
/// Every engine stops at the cap by itself; a LIMIT only saves it work. Where the cap is far it costs some of them work:
/// DuckDB gathers the rows of its threads for it, which takes a fifth of the time of a small scan, and Sail those of all
/// its workers. Ballista works a statement out before it gives a row: it needs to be told.
pub fn cap(query: &mut Query, rows: u64, engine: Dialect) -> Walk {
    let streams = matches!(engine, Dialect::DuckDb | Dialect::Spark);
    if streams && rows >= FAR && query.limit_clause.is_none() && query.order_by.is_none() {
        return Ok(());
    }
    unwrap_parentheses(query);
    if let SetExpr::Values(_) = query.body.as_ref() {
        // VALUES takes no LIMIT of its own everywhere.
        let inner = std::mem::replace(query, build::nothing());
        *query = build::wrapped(inner);
    }
    let most = rows.saturating_add(1);
    let limit = match &mut query.limit_clause {
        None => {
            query.limit_clause = Some(build::limit(most));
            return Ok(());
        }
        Some(LimitClause::LimitOffset { limit: limit @ None, .. }) => {
            *limit = Some(build::number(most));
            return Ok(());
        }
        Some(LimitClause::LimitOffset { limit: Some(limit), .. } | LimitClause::OffsetCommaLimit { limit, .. }) => {
            limit
        }
    };
    match asked(limit) {
        Some(n) => *limit = build::number(n.min(most)),
        None => {
            let fault = refuse(
                "sql.limit",
                format!("the outermost LIMIT `{}` is not a number", super::refuse::clip(&limit.to_string())),
                "write LIMIT with a plain number",
            );
            return Err(at_node(fault, &*limit));
        }
    }
    Ok(())
}

/// The number of rows asked for; a negative one means all.
fn asked(limit: &Expr) -> Option<u64> {
    match limit {
        Expr::Value(ValueWithSpan { value: Value::Number(digits, _), span: _ }) => digits.parse().ok(),
        Expr::Value(ValueWithSpan { value: Value::Null, span: _ }) => Some(u64::MAX),
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => asked(expr).map(|_| u64::MAX),
        _ => None,
    }
}

/// `(SELECT …)` is `SELECT …`.
fn unwrap_parentheses(query: &mut Query) {
    while query.with.is_none() && query.order_by.is_none() && query.limit_clause.is_none() {
        match query.body.as_mut() {
            SetExpr::Query(inner) => {
                let inner = std::mem::replace(inner.as_mut(), build::nothing());
                *query = inner;
            }
            _ => return,
        }
    }
}
