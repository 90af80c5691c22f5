//! `rows` predicates: parsed once, bound to a caller's claims on every use.

use super::Contract;
use crate::sql::parse::Tokens;
use crate::sql::refuse::Walk;
use crate::sql::walk::{Origin, Walker};
use domain::Dialect;
use sqlparser::ast::{Expr, Value, ValueWithSpan, VisitMut, VisitorMut};
use std::ops::ControlFlow;

/// A checked predicate over one resource's fields and `$claims`.
#[derive(Debug, Clone)]
pub struct RowFilter {
    expr: Expr,
}

impl RowFilter {
    /// Parses a predicate and checks it as SQL is checked: known fields, allowed functions, no subqueries.
    pub fn parse(contract: &Contract, predicate: &str) -> Walk<Self> {
        let tokens = Tokens::of(Dialect::DuckDb, predicate)?;
        crate::sql::with_stack(tokens.depth, || {
            let mut expr = tokens.expression()?;
            let columns = contract.fields.iter().map(|f| f.name.clone()).collect();
            let walker = Walker::new(Dialect::DuckDb, Origin::Rows, None, Vec::new());
            walker.predicate(&mut expr, &contract.resource, columns)?;
            Ok(Self { expr })
        })
    }

    /// The predicate with each `$claim` replaced by the placeholder that `bind` gives for it.
    pub fn bind(&self, bind: impl FnMut(&str) -> Walk<String>) -> Walk<Expr> {
        let mut expr = self.expr.clone();
        match expr.visit(&mut Claims { bind }) {
            ControlFlow::Continue(()) => Ok(expr),
            ControlFlow::Break(fault) => Err(fault),
        }
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
