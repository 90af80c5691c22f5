//! Expressions with a syntax of their own: IS, IN, BETWEEN, LIKE; CAST, EXTRACT, TRIM, INTERVAL ….

use super::expr::operator_not_allowed;
use super::literal::plain;
use super::refuse::{Walk, at_node, ensure, syntax_not_allowed};
use super::types;
use super::walk::Walker;
use domain::Dialect;
use sqlparser::ast::{
    CastKind, CeilFloorKind, DateTimeField, Expr, Interval, ObjectName, TypedString, Value, ValueWithSpan,
};

impl Walker<'_> {
    /// Forms that are true or false; none if it is not one of them.
    pub(super) fn predicate_form(&mut self, expr: &mut Expr) -> Option<Walk> {
        let result = match expr {
            Expr::IsFalse(e)
            | Expr::IsNotFalse(e)
            | Expr::IsTrue(e)
            | Expr::IsNotTrue(e)
            | Expr::IsNull(e)
            | Expr::IsNotNull(e)
            | Expr::IsUnknown(e)
            | Expr::IsNotUnknown(e) => self.expr(e),
            Expr::IsDistinctFrom(a, b) | Expr::IsNotDistinctFrom(a, b) => self.both(a, b),
            Expr::InList { expr, list, negated: _ } => self.expr(expr).and_then(|()| self.exprs(list)),
            Expr::InSubquery { expr, subquery, negated: _ } => self.expr(expr).and_then(|()| self.subquery(subquery)),
            Expr::Between { expr, negated: _, low, high } => self.expr(expr).and_then(|()| self.both(low, high)),
            Expr::Like { negated: _, any, expr, pattern, escape_char }
            | Expr::ILike { negated: _, any, expr, pattern, escape_char } => {
                self.like(*any, expr, pattern, escape_char.as_deref())
            }
            Expr::SimilarTo { negated: _, expr, pattern, escape_char } => {
                self.like(false, expr, pattern, escape_char.as_deref())
            }
            Expr::RLike { negated: _, expr, pattern, regexp: true } => self.both(expr, pattern),
            Expr::AnyOp { left, compare_op, right, is_some: _ } | Expr::AllOp { left, compare_op, right } => {
                self.binary_operator(compare_op).and_then(|()| self.both(left, right))
            }
            _ => return None,
        };
        Some(result)
    }

    fn both(&mut self, a: &mut Expr, b: &mut Expr) -> Walk {
        self.expr(a)?;
        self.expr(b)
    }

    fn like(&mut self, any: bool, expr: &mut Expr, pattern: &mut Expr, escape: Option<&Expr>) -> Walk {
        ensure(!any, "LIKE ANY")?;
        match escape {
            None => {}
            Some(Expr::Value(value)) if self.dialect != Dialect::BigQuery => plain(value)?,
            Some(other) => return Err(at_node(syntax_not_allowed("ESCAPE with an expression"), other)),
        }
        self.both(expr, pattern)
    }

    /// The last stop: a form that is not named here is refused.
    pub(super) fn special_form(&mut self, expr: &mut Expr) -> Walk {
        match expr {
            Expr::Cast { kind, expr, data_type, format } => {
                let bigquery = self.dialect == Dialect::BigQuery;
                let known = match kind {
                    CastKind::Cast => true,
                    CastKind::SafeCast => bigquery,
                    CastKind::TryCast | CastKind::DoubleColon => !bigquery,
                };
                ensure(format.is_none() && known, "this kind of CAST")?;
                types::plain(self.dialect, data_type)?;
                self.expr(expr)
            }
            Expr::AtTimeZone { timestamp, time_zone } => self.both(timestamp, time_zone),
            Expr::Extract { field, syntax: _, expr } => date_field(field).and_then(|()| self.expr(expr)),
            Expr::Ceil { expr, field } | Expr::Floor { expr, field } => {
                match field {
                    CeilFloorKind::DateTimeField(DateTimeField::NoDateTime) => {}
                    CeilFloorKind::Scale(value) => plain(value)?,
                    CeilFloorKind::DateTimeField(_) => return Err(syntax_not_allowed("CEIL or FLOOR … TO")),
                }
                self.expr(expr)
            }
            Expr::Position { expr, r#in } => self.both(expr, r#in),
            Expr::Substring { expr, substring_from, substring_for, special: _, shorthand: _ } => {
                self.expr(expr)?;
                substring_from.iter_mut().chain(substring_for).try_for_each(|e| self.expr(e))
            }
            Expr::Trim { trim_where: _, trim_what, expr, trim_characters } => {
                self.expr(expr)?;
                let characters = trim_characters.iter_mut().flatten();
                trim_what.iter_mut().map(AsMut::as_mut).chain(characters).try_for_each(|e| self.expr(e))
            }
            Expr::Collate { expr, collation } => {
                self.collation(collation)?;
                self.expr(expr)
            }
            Expr::TypedString(TypedString { data_type, value, uses_odbc_syntax }) => {
                ensure(!*uses_odbc_syntax, "{d '…'}")?;
                types::plain(self.dialect, data_type)?;
                plain(value)
            }
            Expr::Interval(interval) => self.interval(interval),
            other => Err(at_node(syntax_not_allowed(&other.to_string()), other)),
        }
    }

    fn interval(&mut self, interval: &mut Interval) -> Walk {
        let Interval { value, leading_field, leading_precision, last_field, fractional_seconds_precision } = interval;
        ensure(leading_precision.is_none() && fractional_seconds_precision.is_none(), "INTERVAL precision")?;
        leading_field.iter().chain(last_field.iter()).try_for_each(date_field)?;
        // A literal must stay one: `INTERVAL ('a' || 'b')` is another thing.
        match value.as_ref() {
            Expr::Value(ValueWithSpan { value: Value::SingleQuotedString(_), .. }) => {
                if let Expr::Value(value) = value.as_ref() { plain(value) } else { Ok(()) }
            }
            _ => self.expr(value),
        }
    }

    fn collation(&self, name: &ObjectName) -> Walk {
        let text = name.to_string().to_lowercase();
        let known = match self.dialect {
            Dialect::BigQuery => false,
            Dialect::Sqlite => matches!(text.as_str(), "nocase" | "binary" | "rtrim"),
            Dialect::Postgres => matches!(text.trim_matches('"'), "c" | "posix" | "default"),
            Dialect::DuckDb | Dialect::Spark | Dialect::DataFusion => text.split('.').all(|part| {
                matches!(part, "nocase" | "noaccent" | "nfc" | "binary" | "c" | "posix")
                    || (2..=5).contains(&part.len()) && part.chars().all(|c| c.is_ascii_lowercase() || c == '_')
            }),
        };
        if known { Ok(()) } else { Err(operator_not_allowed(&format!("COLLATE {text}"))) }
    }
}

/// Parts of dates: the parser's own words, and plain words for the engine to judge.
fn date_field(field: &DateTimeField) -> Walk {
    match field {
        DateTimeField::Week(Some(_)) => Err(syntax_not_allowed("WEEK(…)")),
        DateTimeField::Custom(ident) => {
            let word = ident.value.chars().all(|c| c.is_ascii_alphabetic() || c == '_');
            ensure(word && matches!(ident.quote_style, None | Some('\'')), &ident.value)
        }
        _ => Ok(()),
    }
}
