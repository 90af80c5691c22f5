//! A change plan in one line, for people: what an instruction was understood as.

use domain::ChangePlan;
use domain::change::{Predicate, ReadStep, Step, UpdateStep};
use domain::plan::Direction;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;

/// "update cases set status = "IN_REVIEW" where id = "case_987"".
pub fn in_words(plan: &ChangePlan) -> String {
    let steps: Vec<String> = plan
        .steps
        .iter()
        .map(|step| match step {
            Step::Read(read) => reading(read),
            Step::Insert(insert) => format!("insert {} {}", insert.resource, assigned(&insert.values)),
            Step::Update(UpdateStep { resource, filter, update, .. }) => {
                format!("update {resource} where {} set {}", conditions(filter), assigned(update))
            }
        })
        .collect();
    steps.join("; ")
}

fn reading(read: &ReadStep) -> String {
    let mut text = format!("read {} [{}]", read.resource, read.select.join(", "));
    // Writing to a String cannot fail.
    for join in &read.join {
        let _ = write!(text, " join {}", join.target_resource);
    }
    if !read.filter.is_empty() {
        let _ = write!(text, " where {}", conditions(&read.filter));
    }
    for order in &read.order_by {
        let dir = if order.dir == Direction::Desc { "desc" } else { "asc" };
        let _ = write!(text, " order {} {dir}", order.field);
    }
    let _ = write!(text, " limit {}", read.limit);
    if let Some(offset) = read.offset {
        let _ = write!(text, " offset {offset}");
    }
    text
}

fn conditions(all: &[Predicate]) -> String {
    let one = |p: &Predicate| format!("{} {} {}", p.field, p.op.as_str(), p.value);
    all.iter().map(one).collect::<Vec<_>>().join(" and ")
}

fn assigned(values: &BTreeMap<String, Value>) -> String {
    values.iter().map(|(field, value)| format!("{field} = {value}")).collect::<Vec<_>>().join(", ")
}
