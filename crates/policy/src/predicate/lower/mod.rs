//! The parser's tree to ours. What has no place in [`super::tree`] is refused: there is no other way through.

mod call;
mod forms;
mod operators;
mod path;
mod time;

use super::kind::Kind;
use super::literal;
use super::refuse::{invalid, nested_select, syntax_not_allowed};
use super::tree::{Node, Typed};
use crate::access::Readable;
use crate::sql::refuse::at_node;
use domain::{Fault, Flavour};
use sqlparser::ast::{CaseWhen, Expr};

/// Lowers expressions over the columns of one resource, as one caller may read it.
pub struct Lowering<'a> {
    pub flavour: Flavour,
    pub readable: &'a Readable<'a>,
}

type Lowered = Result<Typed, Fault>;

impl Lowering<'_> {
    /// A whole predicate: true, false or NULL.
    pub fn predicate(&self, expr: &Expr) -> Result<Node, Fault> {
        let typed = self.expr(expr)?;
        if typed.kind.may_be_bool() {
            return Ok(typed.node);
        }
        let message = format!("the predicate is {}, not true or false", typed.kind.noun());
        Err(at_node(invalid("not_boolean", message, "compare it with something"), expr))
    }

    fn expr(&self, expr: &Expr) -> Lowered {
        self.kind(expr).map_err(|fault| at_node(fault, expr))
    }

    fn kind(&self, expr: &Expr) -> Lowered {
        match expr {
            Expr::Identifier(_) | Expr::CompoundIdentifier(_) | Expr::CompoundFieldAccess { .. } => self.column(expr),
            Expr::Value(value) => literal::lower(self.flavour, &value.value),
            Expr::Nested(inner) => self.expr(inner),
            Expr::BinaryOp { left, op, right } => self.binary(left, op, right),
            Expr::UnaryOp { op, expr } => self.unary(*op, expr),
            Expr::Function(function) => self.function(function),
            Expr::Case { case_token: _, end_token: _, operand, conditions, else_result } => {
                self.case(operand.as_deref(), conditions, else_result.as_deref())
            }
            Expr::Subquery(_) | Expr::Exists { .. } | Expr::InSubquery { .. } => Err(nested_select()),
            Expr::Wildcard(_) | Expr::QualifiedWildcard(..) => Err(super::parse::wildcard()),
            other => match self.comparison_form(other).or_else(|| self.special_form(other)) {
                Some(lowered) => lowered,
                None => Err(syntax_not_allowed(&other.to_string())),
            },
        }
    }

    /// An operand that must be true or false.
    fn condition(&self, expr: &Expr) -> Result<Node, Fault> {
        let typed = self.expr(expr)?;
        self.truth(typed, expr)
    }

    fn truth(&self, typed: Typed, expr: &Expr) -> Result<Node, Fault> {
        if typed.kind.may_be_bool() {
            return Ok(typed.node);
        }
        let message = format!("{} stands where true or false is needed", typed.kind.noun());
        Err(at_node(invalid("type_mismatch", message, "compare it with something"), expr))
    }

    fn case(&self, operand: Option<&Expr>, conditions: &[CaseWhen], otherwise: Option<&Expr>) -> Lowered {
        let operand = operand.map(|operand| self.expr(operand)).transpose()?;
        let mut arms = Vec::with_capacity(conditions.len());
        let mut kind = Kind::Any;
        let mut note = |result: &Typed| {
            if kind == Kind::Any {
                kind = result.kind;
            }
        };
        for CaseWhen { condition, result } in conditions {
            let when = match &operand {
                Some(operand) => {
                    let mut operand = operand.clone();
                    let mut when = self.expr(condition)?;
                    self.comparable(&mut operand, &mut when).map_err(|fault| at_node(fault, condition))?;
                    when.node
                }
                None => self.condition(condition)?,
            };
            let result = self.expr(result)?;
            note(&result);
            arms.push((when, result.node));
        }
        let otherwise = otherwise.map(|e| self.expr(e)).transpose()?;
        otherwise.iter().for_each(note);
        let operand = operand.map(|operand| Box::new(operand.node));
        let otherwise = otherwise.map(|otherwise| Box::new(otherwise.node));
        Ok(Typed::new(Node::Case { operand, arms, otherwise }, kind))
    }
}
