//! What is different about BigQuery: its quotes, its literals, and words that stand where others have text.
//!
//! A statement is walked with names in double quotes or backticks and with texts as they are meant. What leaves has names in
//! backticks, and no text that would need an escape: such a text becomes a value that is bound.

use super::refuse::{Walk, at, clip, refuse};
use super::walk::{Origin, Walker, placeholder};
use domain::{Dialect, Flavour, Value as Bound};
use sqlparser::ast::{
    CastKind, DataType, ExactNumberInfo, Expr, Function, FunctionArg, Ident, ObjectName, ObjectNamePart, Query,
    TimezoneInfo, TypedString, Value, ValueWithSpan, VisitMut, VisitorMut,
};
use std::ops::ControlFlow;

/// Functions whose last argument is a part of a date, which looks like a column.
const OF_PARTS: [&str; 9] = [
    "date_diff",
    "date_trunc",
    "datetime_diff",
    "datetime_trunc",
    "last_day",
    "time_diff",
    "time_trunc",
    "timestamp_diff",
    "timestamp_trunc",
];

const PARTS: [&str; 13] = [
    "day",
    "hour",
    "isoweek",
    "isoyear",
    "microsecond",
    "millisecond",
    "minute",
    "month",
    "quarter",
    "second",
    "week",
    "year",
    "dayofweek",
];

const DAYS: [&str; 7] = ["friday", "monday", "saturday", "sunday", "thursday", "tuesday", "wednesday"];

/// How many of a call's arguments are expressions, from the first.
pub fn walked(dialect: Dialect, name: &str, args: &[FunctionArg]) -> usize {
    let of_parts = dialect == Dialect::BigQuery && OF_PARTS.contains(&name.to_ascii_lowercase().as_str());
    let part = args.len() > 1 && args.last().and_then(super::argument).is_some_and(is_part);
    if of_parts && part { args.len() - 1 } else { args.len() }
}

/// `MONTH`, or `WEEK(MONDAY)`.
fn is_part(expr: &Expr) -> bool {
    let is = |words: &[&str], ident: &Ident| {
        ident.quote_style.is_none() && words.iter().any(|word| ident.value.eq_ignore_ascii_case(word))
    };
    match expr {
        Expr::Identifier(ident) => is(&PARTS, ident),
        Expr::Function(Function { name, args, .. }) => {
            let week = matches!(name.0.as_slice(), [ObjectNamePart::Identifier(ident)] if is(&["week"], ident));
            let day = args.to_string();
            week && DAYS.iter().any(|known| day.trim_matches(['(', ')']).eq_ignore_ascii_case(known))
        }
        _ => false,
    }
}

/// The table that `table`, `dataset.table` or either in one pair of quotes names: the parser tells them apart no more.
pub fn path(name: &ObjectName) -> Walk<Option<Ident>> {
    let mut parts = Vec::new();
    for part in &name.0 {
        let ObjectNamePart::Identifier(ident) = part else { return Ok(None) };
        super::literal::identifier(ident)?;
        parts.push(ident);
    }
    let Some(first) = parts.first().filter(|_| parts.len() > 1) else { return Ok(None) };
    let value = parts.iter().map(|part| part.value.as_str()).collect::<Vec<_>>().join(".");
    Ok(Some(Ident { value, quote_style: Some('`'), span: first.span }))
}

/// A literal as it is meant: of whichever quotes and escapes, one text.
pub fn literal(value: &ValueWithSpan) -> Walk<Option<Expr>> {
    let ValueWithSpan { value: inner, span } = value;
    match inner {
        Value::Number(..) | Value::Boolean(_) | Value::Null => Ok(None),
        other => {
            let text = crate::predicate::literal_text(Flavour::BigQuery, other)
                .map_err(|fault| at(refuse("sql.literal", fault.message, fault.hint), *span))?;
            Ok(Some(Expr::Value(ValueWithSpan { value: Value::SingleQuotedString(text), span: *span })))
        }
    }
}

/// Types that a CAST may name.
pub fn is_plain(data_type: &DataType) -> bool {
    use DataType as T;
    let number = matches!(
        data_type,
        T::Int64
            | T::BigInt(None)
            | T::Int(None)
            | T::Integer(None)
            | T::SmallInt(None)
            | T::TinyInt(None)
            | T::Float64
    );
    let exact = matches!(data_type, T::Numeric(_) | T::Decimal(_) | T::BigNumeric(_) | T::BigDecimal(_));
    let other = matches!(data_type, T::Bool | T::Boolean | T::String(None) | T::Bytes(None) | T::JSON);
    let moment = matches!(
        data_type,
        T::Date | T::Datetime(None) | T::Timestamp(None, TimezoneInfo::None) | T::Time(None, TimezoneInfo::None)
    );
    number || exact || other || moment
}

/// Puts a walked statement into BigQuery's notation. Texts that need an escape join the values that are bound.
pub fn notation(query: &mut Query, params: &mut Vec<Bound>) -> Walk {
    match query.visit(&mut Notation { params }) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(fault) => Err(*fault),
    }
}

struct Notation<'a> {
    params: &'a mut Vec<Bound>,
}

impl VisitorMut for Notation<'_> {
    type Break = Box<domain::Fault>;

    fn post_visit_ident(&mut self, ident: &mut Ident) -> ControlFlow<Self::Break> {
        if ident.quote_style == Some('"') {
            ident.quote_style = Some('`');
        }
        if ident.value.contains('`') {
            let message = format!("the name `{}` holds a backtick", clip(&ident.value));
            return ControlFlow::Break(Box::new(refuse("sql.identifier", message, "rename it in the contract")));
        }
        ControlFlow::Continue(())
    }

    /// `DATE '…'` takes a literal and nothing else.
    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Self::Break> {
        match expr {
            Expr::TypedString(TypedString { value, .. }) if !matches!(&value.value, Value::SingleQuotedString(text) if is_simple(text)) =>
            {
                let message = format!("the literal `{}` is not allowed", clip(&value.to_string()));
                let hint = "write DATE '2026-01-31', DATETIME '2026-01-31 12:30:00' or TIMESTAMP '2026-01-31 12:30:00'";
                ControlFlow::Break(Box::new(refuse("sql.literal", message, hint)))
            }
            _ => ControlFlow::Continue(()),
        }
    }

    fn pre_visit_value(&mut self, value: &mut ValueWithSpan) -> ControlFlow<Self::Break> {
        if let Value::SingleQuotedString(text) = &mut value.value
            && !is_simple(text)
        {
            self.params.push(Bound::Text(std::mem::take(text)));
            value.value = Value::Placeholder(placeholder(Dialect::BigQuery, self.params.len()));
        }
        ControlFlow::Continue(())
    }
}

/// Text that means itself between single quotes.
fn is_simple(text: &str) -> bool {
    !text.chars().any(|c| c == '\'' || c == '\\' || c.is_control())
}

/// A contract's predicate, written in the SQL that all engines share, as BigQuery means it; refused where it does not.
pub fn row_filter(expr: &mut Expr, fields: &[String]) -> Walk {
    if let ControlFlow::Break(()) = expr.visit(&mut Shared) {
        let message = "the rows of this resource are filtered in a way that BigQuery has no words for";
        return Err(refuse("sql.no_translation", message, "whoever keeps the contract can say it in plainer SQL"));
    }
    let walker = Walker::new(Dialect::BigQuery, Origin::Rows, None, Vec::new());
    walker.predicate(expr, "", fields.to_vec())
}

/// What all engines have and BigQuery writes in another way.
struct Shared;

impl VisitorMut for Shared {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        match expr {
            Expr::ILike { .. } | Expr::SimilarTo { .. } | Expr::RLike { .. } => return ControlFlow::Break(()),
            // A backslash escapes there without being asked to.
            Expr::Like { pattern, .. } => match pattern.as_mut() {
                Expr::Value(ValueWithSpan { value: Value::SingleQuotedString(text), .. }) => {
                    *text = text.replace('\\', "\\\\");
                }
                _ => return ControlFlow::Break(()),
            },
            Expr::Cast { kind, data_type, .. } => {
                *kind = match kind {
                    CastKind::TryCast | CastKind::SafeCast => CastKind::SafeCast,
                    CastKind::Cast | CastKind::DoubleColon => CastKind::Cast,
                };
                *data_type = type_of(data_type);
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

fn type_of(shared: &DataType) -> DataType {
    use DataType as T;
    match shared {
        T::Varchar(None) | T::Text | T::Char(None) | T::CharVarying(None) | T::CharacterVarying(None) => {
            T::String(None)
        }
        T::Double(ExactNumberInfo::None) | T::DoublePrecision | T::Float(ExactNumberInfo::None) | T::Real => T::Float64,
        other => other.clone(),
    }
}
