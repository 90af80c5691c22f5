//! Expressions with a syntax of their own that give a value: CAST, TRIM, SUBSTRING, literals with a type ….

use super::{Lowered, Lowering};
use crate::predicate::literal;
use crate::predicate::refuse::{ensure, refuse};
use crate::predicate::tree::{Node, Typed};
use crate::predicate::types::Type;
use domain::Flavour;
use sqlparser::ast::{
    CastKind, CeilFloorKind, DataType, DateTimeField, Expr, TrimWhereField, TypedString, ValueWithSpan,
};

impl Lowering<'_> {
    /// None if it is not one of them.
    pub(super) fn special_form(&self, expr: &Expr) -> Option<Lowered> {
        let lowered = match expr {
            Expr::Cast { kind, expr, data_type, format } => {
                ensure(format.is_none(), "CAST … FORMAT").and_then(|()| self.cast(kind, expr, data_type))
            }
            Expr::TypedString(TypedString { data_type, value, uses_odbc_syntax }) => {
                ensure(!*uses_odbc_syntax, "{d '…'}").and_then(|()| self.typed_literal(data_type, value))
            }
            Expr::Extract { field, syntax: _, expr } => self.extract(field, expr),
            Expr::Interval(interval) => self.interval(interval),
            Expr::Ceil { expr, field } => self.rounded("ceil", expr, field),
            Expr::Floor { expr, field } => self.rounded("floor", expr, field),
            Expr::Position { expr, r#in } if self.flavour == Flavour::DuckDb => self.call("strpos", &[r#in, expr]),
            Expr::Substring { expr, substring_from, substring_for, special: _, shorthand } => {
                let name = if *shorthand { "substr" } else { "substring" };
                let rest = [substring_from, substring_for].into_iter().flatten().map(AsRef::as_ref);
                self.call(name, &std::iter::once(expr.as_ref()).chain(rest).collect::<Vec<_>>())
            }
            Expr::Trim { trim_where, trim_what, expr, trim_characters } => {
                let name = match trim_where {
                    None | Some(TrimWhereField::Both) => "trim",
                    Some(TrimWhereField::Leading) => "ltrim",
                    Some(TrimWhereField::Trailing) => "rtrim",
                };
                let what = trim_what.iter().map(AsRef::as_ref).chain(trim_characters.iter().flatten());
                self.call(name, &std::iter::once(expr.as_ref()).chain(what).collect::<Vec<_>>())
            }
            _ => return None,
        };
        Some(lowered)
    }

    fn cast(&self, kind: &CastKind, of: &Expr, data_type: &DataType) -> Lowered {
        let safe = match (kind, self.flavour) {
            (CastKind::Cast, _) | (CastKind::DoubleColon, Flavour::DuckDb) => false,
            (CastKind::SafeCast, Flavour::BigQuery) | (CastKind::TryCast, Flavour::DuckDb) => true,
            (CastKind::DoubleColon, Flavour::BigQuery) => {
                return Err(refuse(
                    "operator_not_allowed",
                    "the operator `::` is not BigQuery's",
                    "write CAST(x AS DATE)",
                ));
            }
            (CastKind::SafeCast, Flavour::DuckDb) => return Err(not_here("SAFE_CAST", "TRY_CAST")),
            (CastKind::TryCast, Flavour::BigQuery) => return Err(not_here("TRY_CAST", "SAFE_CAST")),
        };
        let to = Type::parse(self.flavour, data_type)?;
        let of = Box::new(self.expr(of)?.node);
        Ok(Typed::new(Node::Cast { of, to, safe }, to.kind()))
    }

    /// `DATE '2026-01-31'`.
    fn typed_literal(&self, data_type: &DataType, value: &ValueWithSpan) -> Lowered {
        if matches!(data_type.to_string().to_ascii_lowercase().as_str(), "b" | "x") {
            return Err(literal::bytes());
        }
        let to = Type::parse(self.flavour, data_type)?;
        let text = literal::text(self.flavour, &value.value)?;
        match to {
            Type::Date | Type::Datetime | Type::Timestamp | Type::Time => literal::temporal(to, text),
            _ => {
                let of = Box::new(Node::Text(text));
                Ok(Typed::new(Node::Cast { of, to, safe: false }, to.kind()))
            }
        }
    }

    fn rounded(&self, name: &str, of: &Expr, field: &CeilFloorKind) -> Lowered {
        let plain = matches!(field, CeilFloorKind::DateTimeField(DateTimeField::NoDateTime));
        ensure(plain, &format!("{} with a unit or scale", name.to_uppercase()))?;
        self.call(name, &[of])
    }
}

fn not_here(name: &str, instead: &str) -> domain::Fault {
    let message = format!("the function `{name}` is not among those that a predicate may call");
    refuse("unknown_function", message, format!("write {instead}(x AS type)")).detail("function", name)
}
