//! The sentence of the answer, written from the result.

mod figures;

use domain::ResultColumn;
use domain::plan::{DateUnit, Direction, Expr, QueryPlan};
use figures::{cell, figure, number, period};
use serde_json::Value;

/// A result and the question that it answers.
#[derive(Debug, Clone, Copy)]
pub struct AnswerInput<'a> {
    pub question: &'a str,
    /// The question as it was understood.
    pub reading: &'a str,
    /// The plan that ran, where there was one.
    pub plan: Option<&'a QueryPlan>,
    pub columns: &'a [ResultColumn],
    /// The first rows of the result.
    pub rows: &'a [Vec<Value>],
    pub row_count: u64,
    /// True when a limit cut the result.
    pub truncated: bool,
    /// Resources of which the caller sees only some rows.
    pub filtered_by: &'a [String],
}

/// One or a few sentences: the figure, the extremes, the trend, the share of the first; what was
/// cut, and whose rows were counted.
pub fn sentence(input: &AnswerInput<'_>) -> String {
    let mut text = body(input);
    if input.truncated {
        text += &format!(" Only the first {} rows are shown; there are more.", number(input.row_count as f64));
    }
    if !input.filtered_by.is_empty() {
        text += &format!(" Counting only the rows of {} that you may see.", input.filtered_by.join(", "));
    }
    if let Some(note) = note(input.reading) {
        text += &format!(" Note: {note}.");
    }
    text
}

fn body(input: &AnswerInput<'_>) -> String {
    let reading = without_note(input.reading);
    match (input.row_count, input.columns, input.rows) {
        (0, _, _) | (_, _, []) => empty(reading),
        (1, [only], [row]) => single(only, row, reading),
        (1, columns, [row]) => one_row(columns, row, reading),
        (_, columns, rows) => many(input, columns, rows, reading),
    }
}

/// What is in the brackets at the end of a reading: the reader must know it.
fn note(reading: &str) -> Option<String> {
    let notes = reading.get(notes_at(reading)? + 2..)?.strip_suffix(')')?;
    Some(notes.replace(") (", "; "))
}

fn without_note(reading: &str) -> &str {
    notes_at(reading).and_then(|at| reading.get(..at)).unwrap_or(reading)
}

/// Where the notes of a reading begin.
fn notes_at(reading: &str) -> Option<usize> {
    let begins = ["the data ends", super::decide::CUT_SHORT, super::compile::TIED];
    begins.iter().filter_map(|words| reading.find(&format!(" ({words}"))).min()
}

/// A query of the caller's own has no reading.
fn named(reading: &str) -> &str {
    if reading.is_empty() { "this query" } else { reading }
}

fn empty(reading: &str) -> String {
    format!("There are no rows for {}.", named(reading))
}

fn single(column: &ResultColumn, row: &[Value], reading: &str) -> String {
    match row.first() {
        None | Some(Value::Null) => format!("There is no value: no rows for {}.", named(reading)),
        Some(value) => format!("{}: {}.", capital(reading), cell(value, column)),
    }
}

fn one_row(columns: &[ResultColumn], row: &[Value], reading: &str) -> String {
    let parts =
        columns.iter().zip(row).map(|(column, value)| format!("{} {}", words(&column.name), cell(value, column)));
    format!("{}: {}.", capital(reading), parts.collect::<Vec<_>>().join(", "))
}

fn many(input: &AnswerInput<'_>, columns: &[ResultColumn], rows: &[Vec<Value>], reading: &str) -> String {
    let opening = format!("{}: {} rows.", capital(reading), number(input.row_count as f64));
    let is_change = |name: &str| input.plan.is_some_and(|p| p.changes.iter().any(|change| change.alias == name));
    let figure = columns.iter().rposition(|c| c.kind.is_numeric() && !is_change(&c.name));
    let Some(measure) = figure.filter(|_| is_summed_up(input.plan)) else {
        return opening;
    };
    let unit = bucket(input.plan);
    let named =
        |(label, value): (String, f64)| (unit.map_or_else(|| label.clone(), |unit| period(&label, unit)), value);
    let points: Vec<(String, f64)> = rows.iter().filter_map(|row| point(columns, row, measure)).map(named).collect();
    let Some(column) = columns.get(measure) else { return opening };
    if points.len() < 2 || points.len() as u64 != input.row_count {
        return opening;
    }
    match unit {
        Some(unit) => format!("{opening} {}", trend(&points, unit)),
        None => format!("{opening} {}", extremes(input.plan, &points, column)),
    }
}

/// The row's label (everything but the measure) and its measure.
fn point(columns: &[ResultColumn], row: &[Value], measure: usize) -> Option<(String, f64)> {
    let value = figure(row.get(measure)?)?;
    let others = columns.iter().zip(row).enumerate().filter(|(at, (c, _))| *at != measure && !c.kind.is_numeric());
    let label: Vec<String> = others.map(|(_, (column, value))| cell(value, column)).collect();
    Some((label.join(", "), value))
}

fn is_summed_up(plan: Option<&QueryPlan>) -> bool {
    plan.is_some_and(|p| p.select.iter().any(|s| matches!(s.expr, Expr::Aggregate(_) | Expr::Arithmetic(_))))
}

/// The unit of time that the rows are in the order of, when they are by time alone.
fn bucket(plan: Option<&QueryPlan>) -> Option<DateUnit> {
    let [only] = plan?.group_by.as_slice() else { return None };
    match only {
        Expr::DateTrunc(trunc) => Some(trunc.unit),
        _ => None,
    }
}

fn trend(points: &[(String, f64)], unit: DateUnit) -> String {
    let (Some((first, from)), Some((last, to))) = (points.first(), points.last()) else { return String::new() };
    let unit = super::output::unit_name(unit);
    let change = match from.partial_cmp(&0.0) {
        Some(std::cmp::Ordering::Greater) => format!(" ({:+.1} %)", (to - from) / from * 100.0),
        _ => String::new(),
    };
    let verb = if to > from {
        "rose"
    } else if to < from {
        "fell"
    } else {
        "stayed the same"
    };
    let moved = format!("It {verb} from {} ({first}) to {} ({last}){change}.", number(*from), number(*to));
    let (high, low) = ends(points);
    let (highest, lowest) = (number(high.1), number(low.1));
    format!("{moved} The highest {unit} was {} with {highest}, the lowest {} with {lowest}.", high.0, low.0)
}

fn extremes(plan: Option<&QueryPlan>, points: &[(String, f64)], column: &ResultColumn) -> String {
    let (high, low) = ends(points);
    let measure = words(&column.name);
    let share = share(plan, points, high);
    let ascending = plan.and_then(|p| p.order_by.first()).is_some_and(|o| o.dir == Direction::Asc);
    let (first, second) =
        if ascending { ((low, "lowest"), (high, "highest")) } else { ((high, "highest"), (low, "lowest")) };
    format!(
        "{} has the {} {measure} with {}{share}, {} the {} with {}.",
        first.0.0,
        first.1,
        number(first.0.1),
        second.0.0,
        second.1,
        number(second.0.1)
    )
}

/// The share of the largest in the whole, where the rows are the whole and add up.
fn share(plan: Option<&QueryPlan>, points: &[(String, f64)], high: &(String, f64)) -> String {
    let adds_up = |e: &Expr| matches!(e, Expr::Aggregate(a) if matches!(a.function, domain::plan::AggregateFn::Sum | domain::plan::AggregateFn::Count));
    let whole = plan
        .is_some_and(|p| p.limit.is_none() && p.having.is_none() && p.select.last().is_some_and(|s| adds_up(&s.expr)));
    let total: f64 = points.iter().map(|(_, v)| v).sum();
    let positive = points.iter().all(|(_, v)| *v >= 0.0);
    if whole && positive && total > 0.0 && points.len() > 2 {
        format!(" ({:.0} % of {})", high.1 / total * 100.0, number(total))
    } else {
        String::new()
    }
}

fn ends(points: &[(String, f64)]) -> (&(String, f64), &(String, f64)) {
    const NONE: &(String, f64) = &(String::new(), 0.0);
    let high = points
        .iter()
        .fold(None, |best: Option<&(String, f64)>, p| if best.is_none_or(|b| p.1 > b.1) { Some(p) } else { best });
    let low = points
        .iter()
        .fold(None, |best: Option<&(String, f64)>, p| if best.is_none_or(|b| p.1 < b.1) { Some(p) } else { best });
    (high.unwrap_or(NONE), low.unwrap_or(NONE))
}

fn words(name: &str) -> String {
    name.replace('_', " ")
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => "The answer".to_owned(),
    }
}
