//! Windows over the finished rows of a plan: changes from row to row, and the first rows of each group.
//!
//! Each reads the statement so far as a derived table and names nothing but its columns, so that no
//! engine has to see that an expression of a window is one of `GROUP BY`; all of it is standard SQL.

use super::compile::{Compiler, OutputColumn, own};
use super::expr::{is_ordered, kind_word};
use super::invalid;
use super::scope::quote;
use crate::sql::refuse::clip;
use crate::suggest::did_you_mean;
use domain::plan::{Change, LimitPer};
use domain::{Fault, FieldType};

/// The most places of a group.
const MAX_PLACES: u64 = 10_000;

impl Compiler<'_> {
    /// The statement with its changes beside its columns.
    pub(super) fn changes(
        &mut self,
        changes: &[Change],
        sql: &str,
        columns: &mut Vec<OutputColumn>,
    ) -> Result<String, Fault> {
        let selected = columns.len();
        let mut items: Vec<String> = columns.iter().map(|c| quote(&c.name)).collect();
        self.each("changes", changes, |_, change| {
            own(&change.alias, columns)?;
            let known = columns.get(..selected).unwrap_or_default();
            items.push(format!("{} AS {}", written(change, known)?, quote(&change.alias)));
            columns.push(OutputColumn {
                name: change.alias.clone(),
                kind: FieldType::Number,
                zoned: false,
                sql: String::new(),
            });
            Ok(())
        })?;
        Ok(format!("SELECT {} FROM ({sql}) AS {}", items.join(", "), quote("rows")))
    }
}

fn written(change: &Change, columns: &[OutputColumn]) -> Result<String, Fault> {
    let Change { of, along, per, percent, alias: _ } = change;
    let (of, along) = (selected(of, columns)?, selected(along, columns)?);
    if !of.kind.is_numeric() || !is_ordered(along.kind) {
        let message = format!(
            "the change of a column of type `{}` along one of type `{}`",
            kind_word(of.kind),
            kind_word(along.kind)
        );
        return Err(invalid("plan.change", message, "compare numbers, along what has an order"));
    }
    let window = window(per, columns, &format!("{} ASC NULLS LAST", quote(&along.name)))?;
    let now = quote(&of.name);
    let before = format!("lag({now}) OVER ({window})");
    let change = format!("({now} - {before})");
    // A number with an exponent is no whole number in any engine: nothing is cut off.
    Ok(if *percent { format!("(100e0 * {change} / NULLIF({before}, 0))") } else { change })
}

/// The statement with only the first places of each group, group by group. `order` is its ` ORDER BY …`.
pub(super) fn limited(limit: &LimitPer, sql: &str, columns: &[OutputColumn], order: &str) -> Result<String, Fault> {
    let LimitPer { by, k } = limit;
    let Some(order) = order.strip_prefix(" ORDER BY ").filter(|_| !by.is_empty()) else {
        let message = "`limit_per` needs its `by`, and an `order_by` that says which rows come first";
        return Err(invalid("plan.limit_per", message, "name the columns of a group, and order the rows"));
    };
    if !(1..=MAX_PLACES).contains(k) {
        let message = format!("`k` is {k}, and must be from 1 to {MAX_PLACES}");
        return Err(invalid("plan.limit_per", message, "ask for as many as you need of each group"));
    }
    let place = quote(&unused("place", columns));
    let names = columns.iter().map(|c| quote(&c.name)).collect::<Vec<_>>().join(", ");
    let window = window(by, columns, order)?;
    let groups = by.iter().map(|name| Ok(format!("{} ASC NULLS LAST", quote(&selected(name, columns)?.name))));
    let groups = groups.collect::<Result<Vec<_>, Fault>>()?.join(", ");
    let (rows, ranked) = (quote("rows"), quote("ranked"));
    let sql = format!("SELECT {names}, rank() OVER ({window}) AS {place} FROM ({sql}) AS {rows}");
    Ok(format!("SELECT {names} FROM ({sql}) AS {ranked} WHERE {place} <= {k} ORDER BY {groups}, {place} ASC"))
}

/// `PARTITION BY … ORDER BY …`.
fn window(per: &[String], columns: &[OutputColumn], order: &str) -> Result<String, Fault> {
    let per = per.iter().map(|name| Ok(quote(&selected(name, columns)?.name))).collect::<Result<Vec<_>, Fault>>()?;
    let partition = if per.is_empty() { String::new() } else { format!("PARTITION BY {} ", per.join(", ")) };
    Ok(format!("{partition}ORDER BY {order}"))
}

fn selected<'c>(name: &str, columns: &'c [OutputColumn]) -> Result<&'c OutputColumn, Fault> {
    columns.iter().find(|c| c.name.eq_ignore_ascii_case(name)).ok_or_else(|| {
        let hint = did_you_mean(name, columns.iter().map(|c| c.name.as_str()), "selected columns");
        invalid("plan.unknown_column", format!("`{}` is not a selected column", clip(name)), hint)
    })
}

/// A name that no column has.
fn unused(name: &str, columns: &[OutputColumn]) -> String {
    let mut name = name.to_owned();
    while columns.iter().any(|c| c.name.eq_ignore_ascii_case(&name)) {
        name.push('_');
    }
    name
}
