//! `rows` predicates: parsed once, bound to a caller's claims on every use.

use super::Contract;
use crate::sql::parse::Tokens;
use crate::sql::refuse::{Walk, refuse};
use crate::sql::walk::{Origin, Walker};
use crate::sql::{SHALLOW, bigquery};
use domain::{Dialect, Table};
use sqlparser::ast::{Expr, Value, ValueWithSpan, VisitMut, VisitorMut};
use std::ops::ControlFlow;

/// A checked predicate over one resource's fields and `$claims`.
#[derive(Debug, Clone)]
pub struct RowFilter {
    expr: Expr,
    /// The fields that it names.
    fields: Vec<String>,
}

impl RowFilter {
    /// Parses a predicate and checks it as SQL is checked: known fields, allowed functions, no subqueries.
    pub fn parse(contract: &Contract, predicate: &str) -> Walk<Self> {
        let tokens = Tokens::of(Dialect::DuckDb, predicate)?;
        // It is kept, copied and dropped on any thread, so that it may not need a deep stack.
        if tokens.depth > SHALLOW {
            return Err(refuse("sql.too_deep", "the predicate is nested or chained too deep", "write a shorter one"));
        }
        let mut expr = tokens.expression()?;
        let columns = contract.fields.iter().map(|f| f.name.clone()).collect();
        let walker = Walker::new(Dialect::DuckDb, Origin::Rows, None, Vec::new());
        walker.predicate(&mut expr, &contract.resource, columns)?;
        let mut named = Fields { resource: &contract.resource, found: Vec::new() };
        let _: ControlFlow<()> = expr.visit(&mut named);
        Ok(Self { fields: named.found, expr })
    }

    /// Whether the table has every column that the predicate needs. A name that the table lacks could
    /// otherwise be taken from the query around it, and the filter with it.
    pub fn fits(&self, table: &Table) -> bool {
        self.fields.iter().all(|field| table.column(field).is_some())
    }

    /// The predicate with each `$claim` replaced by the placeholder that `bind` gives for it.
    pub fn bind(&self, dialect: Dialect, bind: impl FnMut(&str) -> Walk<String>) -> Walk<Expr> {
        let mut expr = self.expr.clone();
        if dialect == Dialect::BigQuery {
            bigquery::row_filter(&mut expr, &self.fields)?;
        }
        match expr.visit(&mut Claims { bind }) {
            ControlFlow::Continue(()) => Ok(expr),
            ControlFlow::Break(fault) => Err(fault),
        }
    }
}

/// Notes the fields, and takes the resource's name off them: inside the filter there is only its table.
struct Fields<'a> {
    resource: &'a str,
    found: Vec<String>,
}

impl VisitorMut for Fields<'_> {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if let Expr::CompoundIdentifier(parts) = expr
            && let [qualifier, field] = parts.as_slice()
            && qualifier.value.eq_ignore_ascii_case(self.resource)
        {
            *expr = Expr::Identifier(field.clone());
        }
        match expr {
            Expr::Identifier(ident) => self.found.push(ident.value.clone()),
            Expr::CompoundIdentifier(parts) => self.found.extend(parts.first().map(|ident| ident.value.clone())),
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

struct Claims<F> {
    bind: F,
}

impl<F: FnMut(&str) -> Walk<String>> VisitorMut for Claims<F> {
    type Break = domain::Fault;

    fn pre_visit_value(&mut self, value: &mut ValueWithSpan) -> ControlFlow<Self::Break> {
        if let Value::Placeholder(name) = &mut value.value {
            match (self.bind)(name.trim_start_matches('$')) {
                Ok(bound) => *name = bound,
                Err(fault) => return ControlFlow::Break(fault),
            }
        }
        ControlFlow::Continue(())
    }
}
