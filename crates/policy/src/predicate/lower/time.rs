//! What is said with parts of dates: EXTRACT, DATE_TRUNC, DATE_DIFF, INTERVAL.

use super::call::bad_arguments;
use super::{Lowered, Lowering};
use crate::predicate::kind::Kind;
use crate::predicate::literal::{self, as_temporal};
use crate::predicate::part::Part;
use crate::predicate::refuse::{ensure, invalid, syntax_not_allowed};
use crate::predicate::tree::{Node, Typed};
use crate::sql::refuse::{at_node, clip};
use domain::{Fault, Flavour};
use sqlparser::ast::{DateTimeField, Expr, Ident, Interval};

impl Lowering<'_> {
    /// Functions of which one argument is a part, and those that are another word for such a form.
    pub(super) fn is_temporal_call(&self, name: &str) -> bool {
        match self.flavour {
            Flavour::BigQuery => matches!(name, "date_trunc" | "date_diff"),
            Flavour::DuckDb => {
                matches!(name, "date_trunc" | "datetrunc" | "date_diff" | "datediff" | "date_part" | "datepart")
            }
        }
    }

    pub(super) fn temporal_call(&self, name: &str, args: &[&Expr]) -> Lowered {
        match (self.flavour, name, args) {
            (Flavour::BigQuery, "date_trunc", [of, part]) => self.trunc(name, part, of),
            (Flavour::BigQuery, "date_diff", [to, from, part]) => self.diff(name, part, from, to),
            (Flavour::DuckDb, "date_trunc" | "datetrunc", [part, of]) => self.trunc(name, part, of),
            (Flavour::DuckDb, "date_diff" | "datediff", [part, from, to]) => self.diff(name, part, from, to),
            (Flavour::DuckDb, "date_part" | "datepart", [part, of]) => {
                let (part, of) = (self.part(part)?, self.point(name, of)?);
                Ok(Typed::new(Node::Extract { part, of: Box::new(of.node) }, Kind::Integer))
            }
            _ => Err(bad_arguments(name, self.usage(name))),
        }
    }

    fn usage(&self, name: &str) -> &'static str {
        match (self.flavour, name) {
            (Flavour::BigQuery, "date_trunc") => "DATE_TRUNC(date, MONTH)",
            (Flavour::BigQuery, _) => "DATE_DIFF(end, start, DAY)",
            (Flavour::DuckDb, "date_trunc" | "datetrunc") => "date_trunc('month', date)",
            (Flavour::DuckDb, "date_part" | "datepart") => "date_part('year', date)",
            (Flavour::DuckDb, _) => "date_diff('day', start, end)",
        }
    }

    fn trunc(&self, name: &str, part: &Expr, of: &Expr) -> Lowered {
        let (part, of) = (self.unit(part)?, self.point(name, of)?);
        // What is cut to days or more is a date.
        let below_day =
            matches!(part, Part::Microsecond | Part::Millisecond | Part::Second | Part::Minute | Part::Hour);
        let kind = if below_day { Kind::Moment } else { of.kind };
        Ok(Typed::new(Node::Trunc { part, of: Box::new(of.node), kind }, kind))
    }

    fn diff(&self, name: &str, part: &Expr, from: &Expr, to: &Expr) -> Lowered {
        let part = self.unit(part)?;
        let (from, to) = (self.point(name, from)?, self.point(name, to)?);
        let (from, to) = (Box::new(from.node), Box::new(to.node));
        Ok(Typed::new(Node::Diff { part, from, to }, Kind::Integer))
    }

    /// A date or a moment; text that stands for one becomes it.
    fn point(&self, name: &str, expr: &Expr) -> Lowered {
        let mut typed = self.expr(expr)?;
        // DuckDB would not know which of its functions is meant.
        if let (Flavour::BigQuery, Node::Text(text)) = (self.flavour, &typed.node) {
            let kind = if text.contains(':') { Kind::Moment } else { Kind::Date };
            as_temporal(self.flavour, &mut typed, kind);
        }
        if let Node::Temporal(to, text) = &typed.node {
            literal::temporal(*to, text.clone())?;
        }
        if typed.kind.is_temporal() || typed.kind == Kind::Any {
            return Ok(typed);
        }
        Err(at_node(bad_arguments(name, self.usage(name)), expr))
    }

    /// A part as a function's argument: a word in BigQuery, a text in DuckDB.
    fn part(&self, expr: &Expr) -> Result<Part, Fault> {
        let word = match (self.flavour, expr) {
            (Flavour::BigQuery, Expr::Identifier(Ident { value, quote_style: None, .. })) => value.clone(),
            (Flavour::DuckDb, Expr::Value(value)) => literal::text(self.flavour, &value.value)?,
            _ => expr.to_string(),
        };
        Part::parse(self.flavour, &word).map_err(|fault| at_node(fault, expr))
    }

    /// A part that one can count or cut to.
    fn unit(&self, expr: &Expr) -> Result<Part, Fault> {
        let part = self.part(expr)?;
        if part.is_unit() {
            return Ok(part);
        }
        let message = format!("`{}` is no unit to count in", clip(&expr.to_string()));
        Err(at_node(invalid("unknown_part", message, "use DAY, WEEK, MONTH, QUARTER or YEAR"), expr))
    }

    pub(super) fn extract(&self, field: &DateTimeField, of: &Expr) -> Lowered {
        let word = match field {
            DateTimeField::Custom(Ident { value, quote_style: None | Some('\''), .. }) => value.clone(),
            other => other.to_string(),
        };
        let word = word.trim_matches('\'');
        if let (true, "DATE" | "TIME" | "DATETIME") = (self.is_bigquery(), word.to_ascii_uppercase().as_str()) {
            return self.call(word, &[of]);
        }
        let part = Part::parse(self.flavour, word)?;
        let of = self.expr(of)?;
        if !(of.kind.is_temporal() || matches!(of.kind, Kind::Time | Kind::Any)) {
            let message = format!("{} has no `{}`", of.kind.noun(), clip(word));
            return Err(invalid("type_mismatch", message, "EXTRACT takes dates, times and timestamps"));
        }
        let kind = if part == Part::Epoch { Kind::Number } else { Kind::Integer };
        Ok(Typed::new(Node::Extract { part, of: Box::new(of.node) }, kind))
    }

    pub(super) fn interval(&self, interval: &Interval) -> Lowered {
        let Interval { value, leading_field, leading_precision, last_field, fractional_seconds_precision } = interval;
        let plain = leading_precision.is_none() && last_field.is_none() && fractional_seconds_precision.is_none();
        ensure(plain, &interval.to_string())?;
        let (count, word) = match (leading_field, value.as_ref()) {
            (Some(field), value) => (self.count(value)?, field.to_string()),
            // `INTERVAL '3 days'`
            (None, Expr::Value(text)) if self.flavour == Flavour::DuckDb => {
                let text = literal::text(self.flavour, &text.value)?;
                let (count, word) = text.trim().split_once(' ').ok_or_else(|| syntax_not_allowed(&text))?;
                (count_of(count)?, word.trim().to_owned())
            }
            _ => return Err(syntax_not_allowed(&interval.to_string())),
        };
        let part = Part::parse(self.flavour, &word)?;
        ensure(part.is_unit(), &word)?;
        Ok(Typed::new(Node::Interval { count: Box::new(count), part }, Kind::Interval))
    }

    fn count(&self, value: &Expr) -> Result<Node, Fault> {
        if let (Flavour::DuckDb, Expr::Value(text)) = (self.flavour, value)
            && let Ok(text) = literal::text(self.flavour, &text.value)
        {
            return count_of(&text);
        }
        // DuckDB wants parentheses around anything but a number.
        let plain = self.is_bigquery() || matches!(value, Expr::Value(_) | Expr::Nested(_));
        ensure(plain, &format!("INTERVAL {value}"))?;
        let typed = self.expr(value)?;
        match typed.kind {
            Kind::Integer | Kind::Any => Ok(typed.node),
            other => {
                let message = format!("an interval needs a whole number, not {}", other.noun());
                Err(at_node(invalid("type_mismatch", message, "write INTERVAL 30 DAY"), value))
            }
        }
    }
}

/// `'3'`, `'-3'`.
fn count_of(text: &str) -> Result<Node, Fault> {
    let number: i32 = text.trim().parse().map_err(|_| {
        let message = format!("`{}` is no whole number of units", clip(text));
        invalid("literal", message, "write INTERVAL 30 DAY")
    })?;
    let digits = Node::Number(number.unsigned_abs().to_string());
    Ok(if number < 0 { Node::Minus(Box::new(digits)) } else { digits })
}
