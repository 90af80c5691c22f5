//! Results whose size an argument decides: only sizes that can be seen beforehand.

use super::functions::{argument, unbounded};
use super::refuse::Walk;
use super::walk::Walker;
use sqlparser::ast::{DateTimeField, Expr, FunctionArg, Interval, UnaryOperator, Value, ValueWithSpan};

/// The longest text or list that one call may make of nothing.
pub const MAX: u64 = 10_000;
/// Rows of a series in FROM are streamed, so that time limits hold them.
const MAX_ROWS: u64 = 1_000_000;

impl Walker<'_> {
    /// The length of `generate_series` or `range`: constants, or steps of an interval.
    pub(super) fn series(&mut self, name: &str, args: &[FunctionArg], streamed: bool) -> Walk<u64> {
        if let [_, _, step] = args
            && let Some(Expr::Interval(interval)) = argument(step)
            && (streamed || is_day_or_longer(interval))
        {
            return Ok(1);
        }
        let constants: Option<Vec<i64>> = args.iter().map(constant).collect();
        let length = match constants.as_deref() {
            Some([end]) => end.unsigned_abs(),
            Some([start, end]) => end.abs_diff(*start),
            Some([start, end, step]) => end.abs_diff(*start) / step.unsigned_abs().max(1),
            _ => return Err(unbounded(name)),
        };
        if length > if streamed { MAX_ROWS } else { MAX } { Err(unbounded(name)) } else { Ok(length) }
    }
}

/// A whole number written out.
pub fn constant(arg: &FunctionArg) -> Option<i64> {
    number(argument(arg)?)
}

fn number(expr: &Expr) -> Option<i64> {
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

/// Whole days at least: then even all of history is a list of bearable length.
fn is_day_or_longer(interval: &Interval) -> bool {
    use DateTimeField as F;
    match (&interval.leading_field, interval.value.as_ref()) {
        (Some(field), _) => matches!(
            field,
            F::Day | F::Days | F::Week(None) | F::Weeks | F::Month | F::Months | F::Quarter | F::Year | F::Years
        ),
        (None, Expr::Value(ValueWithSpan { value: Value::SingleQuotedString(text), span: _ })) => {
            let words: Vec<&str> = text.split_whitespace().collect();
            let units = ["day", "days", "week", "weeks", "month", "months", "quarter", "quarters", "year", "years"];
            let whole = |count: &str| count.parse::<u32>().is_ok_and(|n| n > 0);
            matches!(words.as_slice(), [count, unit] if whole(count) && units.contains(&unit.to_lowercase().as_str()))
        }
        _ => false,
    }
}
