//! READ → QueryPlan.

use super::rules::{Known, Rules};
use super::{invalid, values};
use crate::access::Deleted;
use crate::sql::refuse::clip;
use domain::change::{Predicate, ReadStep, StepJoin};
use domain::plan::{Condition, Expr, Join, JoinKind, JoinOn, Operand, Operator, OrderItem, SelectItem, Test};
use domain::{Fault, FieldType, FilterOperator, QueryPlan, Value};
use serde_json::Value as Json;

/// Rows that may be passed over; beyond it a reader should filter.
const MAX_OFFSET: u64 = 100_000;
/// Values of an `IN`.
const MAX_LIST: usize = 100;

/// The resources of a step, by the name that its fields go by.
struct Scope<'r, 'a> {
    main: &'r Rules<'a>,
    joined: Vec<Rules<'a>>,
}

pub fn plan(rules: &Rules<'_>, step: &ReadStep) -> Result<QueryPlan, Fault> {
    caps(rules, step)?;
    let mut plan = QueryPlan::over(&rules.contract.resource);
    let mut scope = Scope { main: rules, joined: Vec::new() };
    for join in &step.join {
        let target = Rules::of(rules.reader, &join.target_resource)?;
        target.require(domain::Op::Read)?;
        plan.joins.push(joined(rules, &target, join)?);
        scope.joined.push(target);
    }
    let most = rules.readable.fields.len() + scope.joined.iter().map(|j| j.readable.fields.len()).sum::<usize>();
    if step.select.len() > most {
        return Err(invalid("change.select", format!("there are {most} fields to select"), "select each once"));
    }
    for name in &step.select {
        let (_, _, path) = scope.field(name)?;
        let alias = Some(name.clone());
        if plan.select.iter().any(|item| item.alias == alias) {
            return Err(invalid("change.select", format!("`{}` is selected twice", clip(name)), "select it once"));
        }
        plan.select.push(SelectItem { expr: Expr::Field(path), alias });
    }
    let mut conditions = Vec::new();
    for predicate in &step.filter {
        conditions.push(scope.condition(predicate)?);
    }
    plan.filter = (!conditions.is_empty()).then_some(Condition::And(conditions));
    for order in &step.order_by {
        let (rules, known, path) = scope.field(&order.field)?;
        rules.orderable(known.field)?;
        plan.order_by.push(OrderItem { expr: Expr::Field(path), dir: order.dir });
    }
    plan.limit = Some(step.limit);
    plan.offset = step.offset;
    Ok(plan)
}

/// Rows that are marked as deleted are read only by who may see them and asks about the mark.
pub fn asks_of_deleted(rules: &Rules<'_>, step: &ReadStep) -> Deleted {
    let mark = rules.contract.soft_delete.as_ref();
    let asks = mark.is_some_and(|mark| step.filter.iter().any(|p| p.field.eq_ignore_ascii_case(mark)));
    if asks { Deleted::ByRole } else { Deleted::Hidden }
}

fn caps(rules: &Rules<'_>, step: &ReadStep) -> Result<(), Fault> {
    let limits = rules.contract.limits;
    let over = |code: &str, what: &str, found: u64, most: u64| {
        let message = format!("{what}: {found}, and `{}` allows {most}", rules.contract.resource);
        Err(invalid(code, message, "ask for less"))
    };
    if step.select.is_empty() {
        return Err(invalid("change.select", "`select` is empty", "name the fields that you need"));
    }
    if step.limit == 0 {
        return Err(invalid("change.limit", "a `limit` of 0 reads nothing", "write at least 1"));
    }
    if step.limit > limits.max_rows {
        return over("change.limit", "limit", step.limit, limits.max_rows);
    }
    if step.offset.is_some_and(|offset| offset > MAX_OFFSET) {
        return over("change.offset", "offset", step.offset.unwrap_or_default(), MAX_OFFSET);
    }
    let counts = [
        ("change.predicates", "predicates", step.filter.len(), limits.max_predicates),
        ("change.joins", "joins", step.join.len(), limits.max_joins),
        ("change.order", "fields to order by", step.order_by.len(), limits.max_predicates),
    ];
    for (code, what, found, most) in counts {
        if found as u64 > most {
            return over(code, what, found as u64, most);
        }
    }
    Ok(())
}

/// Exactly a join of the contract, pair by pair.
fn joined(rules: &Rules<'_>, target: &Rules<'_>, join: &StepJoin) -> Result<Join, Fault> {
    let same = |allowed: &&crate::contract::role::ResourceJoin| {
        allowed.target_resource == target.contract.resource
            && allowed.on.len() == join.on.len()
            && allowed.on.iter().all(|on| {
                join.on.iter().any(|pair| {
                    pair.left_field.eq_ignore_ascii_case(&on.left_field)
                        && pair.right_field.eq_ignore_ascii_case(&on.right_field)
                })
            })
    };
    let Some(allowed) = rules.view.joins_allowed.iter().find(same) else {
        let message =
            format!("`{}` is not joined with `{}` that way", rules.contract.resource, clip(&join.target_resource));
        return Err(invalid("change.join", message, "copy a join from `joins_allowed` of the contract"));
    };
    let (left, right) = (&rules.contract.resource, &target.contract.resource);
    let mut on = Vec::new();
    for pair in &allowed.on {
        // The join of a contract may name what its target hides from this role.
        target.field(&pair.right_field)?;
        on.push(JoinOn { left: format!("{left}.{}", pair.left_field), right: format!("{right}.{}", pair.right_field) });
    }
    Ok(Join { resource: right.clone(), alias: None, kind: JoinKind::Inner, on })
}

impl<'r, 'a> Scope<'r, 'a> {
    /// A field of the step's resource, or `target.field`; with the path that a plan names it by.
    fn field(&self, name: &str) -> Result<(&Rules<'a>, Known<'_>, String), Fault> {
        let target = name.split_once('.').and_then(|(table, field)| {
            let named = |rules: &&Rules<'a>| rules.contract.resource.eq_ignore_ascii_case(table);
            let rules = self.joined.iter().find(named).or(Some(self.main).filter(named));
            rules.map(|rules| (rules, field))
        });
        let (rules, field) = target.unwrap_or((self.main, name));
        let known = rules.field(field)?;
        let path = format!("{}.{}", rules.contract.resource, known.field.name);
        Ok((rules, known, path))
    }

    fn condition(&self, predicate: &Predicate) -> Result<Condition, Fault> {
        let (rules, known, path) = self.field(&predicate.field)?;
        rules.filterable(known.field, predicate.op)?;
        let left = Expr::Field(path);
        if predicate.value.is_null() {
            values::take(known.field, &Json::Null)?;
            return match predicate.op {
                FilterOperator::Equal => Ok(Condition::IsNull(left)),
                FilterOperator::NotEqual => Ok(Condition::IsNotNull(left)),
                op => {
                    let message = format!("`{}` does not go with null", op.as_str());
                    Err(invalid("change.value_type", message, "`=` asks for what has no value, `!=` for what has one"))
                }
            };
        }
        let right = right(&known, predicate)?;
        Ok(Condition::Test(Test { left, op: operator(predicate.op), right }))
    }
}

fn right(known: &Known<'_>, predicate: &Predicate) -> Result<Operand, Fault> {
    let list = |most: usize| {
        let items = predicate.value.as_array().filter(|items| !items.is_empty() && items.len() <= most);
        items.ok_or_else(|| {
            let message = format!("`{}` takes a list of at most {most} values", predicate.op.as_str());
            invalid("change.list", message, "write the values as a JSON list")
        })
    };
    let each = |items: &[Json]| items.iter().map(|item| values::take(known.field, item)).collect::<Result<Vec<_>, _>>();
    Ok(match predicate.op {
        FilterOperator::In => Operand::List(each(list(MAX_LIST)?)?),
        FilterOperator::Between => match each(list(2)?)?.as_slice() {
            [low, high] => Operand::List(vec![low.clone(), high.clone()]),
            _ => return Err(invalid("change.list", "`BETWEEN` takes two values", "write the lower and the upper end")),
        },
        // A pattern is text, but none of the values that the field takes.
        FilterOperator::Like | FilterOperator::ILike => match &predicate.value {
            Json::String(pattern) if matches!(known.field.kind, FieldType::String | FieldType::Text) => {
                Operand::Value(Value::Text(pattern.clone()))
            }
            _ => return Err(invalid("change.value_type", "a pattern is text over text", "compare text with LIKE")),
        },
        _ => Operand::Value(values::take(known.field, &predicate.value)?),
    })
}

fn operator(op: FilterOperator) -> Operator {
    match op {
        FilterOperator::Equal => Operator::Equal,
        FilterOperator::NotEqual => Operator::NotEqual,
        FilterOperator::Greater => Operator::Greater,
        FilterOperator::GreaterOrEqual => Operator::GreaterOrEqual,
        FilterOperator::Less => Operator::Less,
        FilterOperator::LessOrEqual => Operator::LessOrEqual,
        FilterOperator::In => Operator::In,
        FilterOperator::Between => Operator::Between,
        FilterOperator::Like => Operator::Like,
        FilterOperator::ILike => Operator::ILike,
    }
}
