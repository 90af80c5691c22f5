//! Why a question found nothing: which of its conditions leaves no row.
//!
//! Each condition is tried alone, by a count that walks the path like anything else.

use crate::House;
use crate::rows;
use domain::plan::{Aggregate, AggregateFn, Condition, Expr, Operand, Operator, SelectItem, Test};
use domain::{Ask, Caller, Proposal, Purpose, QueryPlan, Rows, Value, Wish};
use std::sync::Arc;

/// More conditions than this are not tried one by one.
const MOST_CONDITIONS: usize = 4;

impl House {
    /// A sentence, where a question's result is empty (or counts nothing) and a condition is to blame.
    pub async fn why_nothing(self: &Arc<Self>, caller: &Caller, ask: &Ask, plan: &QueryPlan) -> Option<String> {
        let conditions = conjuncts(plan.filter.as_ref()?);
        if plan.set.is_some() || conditions.len() > MOST_CONDITIONS {
            return None;
        }
        let (mut blamed, mut innocent) = (Vec::new(), 0);
        for condition in &conditions {
            if self.count(caller, ask, plan, condition).await? > 0 {
                innocent += 1;
            } else {
                blamed.extend(in_words(condition));
            }
        }
        match blamed.as_slice() {
            [] if innocent < 2 || innocent < conditions.len() => None,
            [] => Some("Each condition alone is met by some rows, but no row meets all of them.".to_owned()),
            blamed => Some(format!("Nothing is there with {}.", blamed.join(", and nothing with "))),
        }
    }

    /// How many rows of the plan's tables meet one condition.
    async fn count(
        self: &Arc<Self>,
        caller: &Caller,
        ask: &Ask,
        plan: &QueryPlan,
        condition: &Condition,
    ) -> Option<i64> {
        let count = Expr::Aggregate(Aggregate { function: AggregateFn::Count, of: None });
        let plan = QueryPlan {
            joins: plan.joins.clone(),
            filter: Some(condition.clone()),
            select: vec![SelectItem { expr: count, alias: Some("rows".into()) }],
            from: plan.from.clone(),
            ..QueryPlan::over(&plan.from.resource)
        };
        let proposal = Proposal::Query { source: ask.source.clone(), plan: Box::new(plan) };
        let ask = Ask { purpose: Purpose::Describe, wish: Wish::Proposal(proposal), ..ask.clone() };
        let reply = self.start(caller.clone(), ask).reply().await.ok()?;
        single(reply.rows.as_ref()?)
    }
}

/// No rows, or one that counts nothing.
pub fn is_nothing(result: &Rows) -> bool {
    result.row_count == 0 || result.row_count == 1 && result.columns.len() == 1 && single(result) == Some(0)
}

fn single(result: &Rows) -> Option<i64> {
    rows::head(result, 1).ok()?.first()?.first()?.as_i64()
}

fn conjuncts(condition: &Condition) -> Vec<Condition> {
    match condition {
        Condition::And(parts) => parts.iter().flat_map(conjuncts).collect(),
        other => vec![other.clone()],
    }
}

/// A plain comparison of a field, as people say it; others are not blamed by name.
fn in_words(condition: &Condition) -> Option<String> {
    let Condition::Test(Test { left: Expr::Field(field), op, right }) = condition else { return None };
    let field = field.rsplit('.').next()?.replace('_', " ");
    let value = match right {
        Operand::Value(value) => said(value),
        Operand::List(values) => values.iter().map(said).collect::<Vec<_>>().join(" or "),
        _ => return None,
    };
    Some(match op {
        Operator::Equal | Operator::In => format!("{field} {value}"),
        Operator::Greater => format!("{field} over {value}"),
        Operator::GreaterOrEqual => format!("{field} of {value} or more"),
        Operator::Less => format!("{field} under {value}"),
        Operator::LessOrEqual => format!("{field} of {value} or less"),
        Operator::Between => format!("{field} between {}", value.replace(" or ", " and ")),
        Operator::NotEqual | Operator::NotIn => format!("{field} other than {value}"),
        Operator::Like | Operator::ILike => format!("{field} like {}", value.trim_matches('%')),
    })
}

fn said(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::Bool(is) => is.to_string(),
        Value::Int(n) => n.to_string(),
        Value::Float(n) => n.to_string(),
        Value::Text(text) => text.clone(),
    }
}
