use super::company;
use crate::offline::Planned;
use domain::QueryPlan;
use domain::plan::{Condition, Expr, Operand, Operator};

fn plan(question: &str) -> QueryPlan {
    match company().planned(question) {
        Planned::Plan { plan, .. } => *plan,
        other => panic!("{question}: {other:?}"),
    }
}

/// The operator and the table of each set that rows must be in, or must not.
fn sets(plan: &QueryPlan) -> Vec<(Operator, String)> {
    let conditions = match &plan.filter {
        Some(Condition::And(all)) => all.as_slice(),
        Some(one) => std::slice::from_ref(one),
        None => &[],
    };
    let set = |c: &Condition| match c {
        Condition::Test(test) => match &test.right {
            Operand::Plan(inner) => Some((test.op, inner.from.resource.clone())),
            _ => None,
        },
        _ => None,
    };
    conditions.iter().filter_map(set).collect()
}

#[test]
fn conditions_that_would_repeat_rows_become_sets() {
    for (question, expected) in [
        ("how many customers ordered in 2024", vec![(Operator::In, "orders")]),
        ("customers without orders", vec![(Operator::NotIn, "orders")]),
        ("customers with at least 3 orders", vec![(Operator::In, "orders")]),
        ("customers with fewer than 3 orders", vec![(Operator::NotIn, "orders")]),
        ("employees with a salary above average", vec![(Operator::Greater, "employees")]),
    ] {
        let found = sets(&plan(question));
        let found: Vec<(Operator, &str)> = found.iter().map(|(op, table)| (*op, table.as_str())).collect();
        assert_eq!(found, expected, "{question}");
    }
}

#[test]
fn conditions_that_repeat_nothing_are_joined() {
    let plan = plan("how many orders of enterprise customers are there");
    assert_eq!(plan.joins.len(), 1);
    assert!(sets(&plan).is_empty());
}

#[test]
fn whoever_manages_nobody_is_no_manager() {
    let managers = plan("list all managers");
    assert_eq!((managers.from.resource.as_str(), managers.from.name()), ("employees", "manager"));
    assert_eq!(sets(&managers), [(Operator::In, "employees".to_owned())]);
    let of_one = plan("who is the manager of Dora Lind?");
    assert_eq!(of_one.from.name(), "manager");
    assert_eq!(sets(&of_one), [(Operator::In, "employees".to_owned())]);
}

#[test]
fn the_first_places_of_each_group_are_kept() {
    let top = plan("top 2 products by amount in each category");
    assert!(matches!(top.select[2].expr, Expr::Aggregate(_)), "amounts are added up for each product: {top:?}");
    let limit = top.limit_per.unwrap();
    assert_eq!((limit.by.as_slice(), limit.k, top.limit), (["category".to_owned()].as_slice(), 2, None));
    let monthly = plan("which product had the highest total amount in each month?");
    assert_eq!(monthly.limit_per.map(|l| (l.by, l.k)), Some((vec!["month".to_owned()], 1)));
}

#[test]
fn changes_stand_beside_their_figure() {
    let growth = plan("growth of amount month over month");
    let named: Vec<(&str, &str, bool)> =
        growth.changes.iter().map(|c| (c.of.as_str(), c.along.as_str(), c.percent)).collect();
    assert_eq!(named, [("total_amount", "month", false), ("total_amount", "month", true)]);
    let per_tier = plan("growth of amount month over month per tier");
    assert!(per_tier.changes.iter().all(|c| c.per == ["tier"]), "{:?}", per_tier.changes);
}
