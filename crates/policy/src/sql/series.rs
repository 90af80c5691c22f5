//! Results whose size an argument decides: only sizes that can be seen beforehand.

use super::functions::{argument, unbounded};
use super::moments;
use super::refuse::Walk;
use super::walk::Walker;
use domain::Dialect;
use sqlparser::ast::{Expr, FunctionArg, UnaryOperator, Value, ValueWithSpan};

/// The longest text or list that one call may make of nothing.
pub const MAX: u64 = 10_000;
/// Rows of a series in FROM are streamed, so that time limits hold them.
const MAX_ROWS: u64 = 1_000_000;

impl Walker<'_> {
    /// The length of `generate_series` or `range`: of numbers or of moments, written out in either case.
    pub(super) fn series(&mut self, name: &str, args: &[FunctionArg], streamed: bool) -> Walk<u64> {
        let most = if streamed { MAX_ROWS } else { MAX };
        if let [start, end, step] = args
            && let Some(step) = argument(step).filter(|step| number(step).is_none())
        {
            let length = self.step(step).and_then(|step| moments::steps(argument(start)?, argument(end)?, step));
            let hint = format!("write out both ends and the step (an interval), for at most {most} steps");
            return length.filter(|length| *length <= most).ok_or_else(|| unbounded(name).hint(hint));
        }
        let constants: Option<Vec<i64>> = args.iter().map(constant).collect();
        let length = match constants.as_deref() {
            Some([end]) => end.unsigned_abs(),
            Some([start, end]) => end.abs_diff(*start),
            Some([start, end, step]) if *step != 0 => end.abs_diff(*start) / step.unsigned_abs(),
            _ => return Err(unbounded(name)),
        };
        if length > most { Err(unbounded(name)) } else { Ok(length) }
    }

    /// Postgres takes a text for the interval that it spells.
    fn step(&self, step: &Expr) -> Option<moments::Span> {
        match step {
            Expr::Value(ValueWithSpan { value: Value::SingleQuotedString(text), span: _ })
                if self.dialect == Dialect::Postgres =>
            {
                moments::spelled(text)
            }
            step => moments::span(step),
        }
    }
}

/// A whole number written out.
pub fn constant(arg: &FunctionArg) -> Option<i64> {
    number(argument(arg)?)
}

pub fn number(expr: &Expr) -> Option<i64> {
    match expr {
        Expr::Value(ValueWithSpan { value: Value::Number(digits, _), span: _ }) => digits.parse().ok(),
        Expr::Nested(inner) => number(inner),
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => number(expr).map(i64::wrapping_neg),
        _ => None,
    }
}

/// The greatest width that a constant format asks for; none if it is not constant or asks for more
/// than it shows (`%*d`, `{:{}}`).
pub fn widths(arg: &FunctionArg) -> Option<u64> {
    let Some(Expr::Value(ValueWithSpan { value: Value::SingleQuotedString(format), span: _ })) = argument(arg) else {
        return None;
    };
    let mut depth = 0;
    for c in format.chars() {
        match c {
            '*' => return None,
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth > 1 {
            return None;
        }
    }
    let runs = format.split(|c: char| !c.is_ascii_digit()).filter(|run| !run.is_empty());
    let numbers: Option<Vec<u64>> = runs.map(|run| run.parse().ok()).collect();
    let numbers = numbers?;
    let fits = numbers.iter().all(|n| *n <= MAX) && numbers.iter().sum::<u64>() <= 10 * MAX;
    fits.then(|| numbers.into_iter().max().unwrap_or(1))
}
