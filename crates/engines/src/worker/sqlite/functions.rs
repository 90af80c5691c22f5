//! Functions that policy allows over SQLite and that SQLite itself lacks.

use regex::{Regex, RegexBuilder};
use rusqlite::functions::{Aggregate, Context, FunctionFlags};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Result};
use std::error::Error;

/// Memory that one compiled pattern may take. Matching takes time linear in the text, whatever the pattern.
const PATTERN_BYTES: usize = 1024 * 1024;

pub fn register(connection: &Connection) -> Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_aggregate_function("median", 1, flags, Median)?;
    connection.create_aggregate_function("variance", 1, flags, Spread(|variance| variance))?;
    connection.create_aggregate_function("stddev", 1, flags, Spread(f64::sqrt))?;
    connection.create_scalar_function("regexp", 2, flags, regexp)
}

/// `text REGEXP pattern`, which SQLite calls as `regexp(pattern, text)`.
fn regexp(context: &Context<'_>) -> Result<Option<bool>> {
    let compile = |pattern: ValueRef<'_>| -> std::result::Result<_, Box<dyn Error + Send + Sync>> {
        let Some(pattern) = pattern.as_str_or_null()? else { return Ok(None) };
        Ok(Some(RegexBuilder::new(pattern).size_limit(PATTERN_BYTES).build()?))
    };
    let pattern = context.get_or_create_aux::<Option<Regex>, _, _>(0, compile)?;
    let text = match context.get_raw(1) {
        ValueRef::Null => return Ok(None),
        ValueRef::Integer(number) => number.to_string().into(),
        ValueRef::Real(number) => number.to_string().into(),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => String::from_utf8_lossy(bytes),
    };
    Ok(pattern.as_ref().as_ref().map(|pattern| pattern.is_match(&text)))
}

/// The middle of a group's numbers.
struct Median;

impl Aggregate<Vec<f64>, Option<f64>> for Median {
    fn init(&self, _: &mut Context<'_>) -> Result<Vec<f64>> {
        Ok(Vec::new())
    }

    fn step(&self, context: &mut Context<'_>, numbers: &mut Vec<f64>) -> Result<()> {
        numbers.extend(number(context)?);
        Ok(())
    }

    fn finalize(&self, _: &mut Context<'_>, numbers: Option<Vec<f64>>) -> Result<Option<f64>> {
        let mut numbers = numbers.unwrap_or_default();
        numbers.sort_by(f64::total_cmp);
        let middle = numbers.len() / 2;
        let upper = numbers.get(middle).copied();
        if numbers.len() % 2 == 1 {
            return Ok(upper);
        }
        let lower = middle.checked_sub(1).and_then(|i| numbers.get(i)).copied();
        Ok(lower.zip(upper).map(|(a, b)| f64::midpoint(a, b)))
    }
}

/// The sample variance of a group's numbers, or what is made of it, by Welford's method.
struct Spread(fn(f64) -> f64);

#[derive(Default)]
struct Moments {
    count: f64,
    mean: f64,
    squares: f64,
}

impl Aggregate<Moments, Option<f64>> for Spread {
    fn init(&self, _: &mut Context<'_>) -> Result<Moments> {
        Ok(Moments::default())
    }

    fn step(&self, context: &mut Context<'_>, moments: &mut Moments) -> Result<()> {
        if let Some(number) = number(context)? {
            moments.count += 1.0;
            let before = number - moments.mean;
            moments.mean += before / moments.count;
            moments.squares += before * (number - moments.mean);
        }
        Ok(())
    }

    fn finalize(&self, _: &mut Context<'_>, moments: Option<Moments>) -> Result<Option<f64>> {
        let moments = moments.unwrap_or_default();
        Ok((moments.count > 1.0).then(|| (self.0)(moments.squares / (moments.count - 1.0))))
    }
}

/// The argument; NULL does not count.
fn number(context: &Context<'_>) -> Result<Option<f64>> {
    context.get::<Option<f64>>(0)
}
