//! Aggregates and groups: what stands beside an aggregate must be the same for the whole group.

use super::compile::Compiler;
use super::invalid;
use super::scope::Frame;
use crate::sql::refuse::clip;
use domain::Fault;
use domain::plan::{Case, CaseWhen, Condition, Expr, Operand, Test};

impl Compiler<'_> {
    /// Refuses a field that is neither grouped by nor aggregated. `groups` are the written `group_by`s.
    pub(super) fn grouped(&mut self, expr: &Expr, groups: &[String]) -> Result<(), Fault> {
        match expr {
            Expr::Value(_) | Expr::Aggregate(_) | Expr::Plan(_) => Ok(()),
            _ if groups.contains(&self.expr(expr)?.sql) => Ok(()),
            Expr::Field(name) if !self.is_local(name) => Ok(()),
            Expr::Field(name) => {
                let message = format!("the field `{}` is neither aggregated nor in `group_by`", clip(name));
                Err(invalid("plan.not_grouped", message, "add it to `group_by`, or take an aggregate of it"))
            }
            Expr::Arithmetic(a) => self.grouped(&a.left, groups).and_then(|()| self.grouped(&a.right, groups)),
            Expr::Number(of) | Expr::Moment(of) => self.grouped(of, groups),
            Expr::DateTrunc(d) => self.grouped(&d.of, groups),
            Expr::Extract(e) => self.grouped(&e.of, groups),
            Expr::Case(Case { when, otherwise }) => {
                for CaseWhen { condition, then } in when {
                    self.grouped_condition(condition, groups)?;
                    self.grouped(then, groups)?;
                }
                otherwise.iter().try_for_each(|e| self.grouped(e, groups))
            }
        }
    }

    pub(super) fn grouped_condition(&mut self, condition: &Condition, groups: &[String]) -> Result<(), Fault> {
        match condition {
            Condition::And(all) | Condition::Or(all) => all.iter().try_for_each(|c| self.grouped_condition(c, groups)),
            Condition::Not(inner) => self.grouped_condition(inner, groups),
            Condition::IsNull(expr) | Condition::IsNotNull(expr) => self.grouped(expr, groups),
            Condition::Exists(_) => Ok(()),
            Condition::Test(Test { left, op: _, right }) => {
                self.grouped(left, groups)?;
                match right {
                    Operand::Field(name) => self.grouped(&Expr::Field(name.clone()), groups),
                    Operand::Expr(expr) => self.grouped(expr, groups),
                    Operand::Value(_) | Operand::List(_) | Operand::Plan(_) => Ok(()),
                }
            }
        }
    }

    /// Whether the field belongs to the innermost plan; one of a plan around it is constant here.
    fn is_local(&self, name: &str) -> bool {
        let innermost: Option<&Frame<'_>> = self.frames.last();
        innermost.is_some_and(|frame| super::scope::field(std::slice::from_ref(frame), name).is_ok())
    }
}
