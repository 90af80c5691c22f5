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

/// The names that conditions on one level compare with.
fn named(plan: &QueryPlan) -> String {
    serde_json::to_string(&plan.filter).unwrap()
}

#[test]
fn whoever_is_above_is_not_the_one_asked_for() {
    for question in ["employees whose manager is Dora Lind", "how many employees are managed by Dora Lind?"] {
        let plan = plan(question);
        assert_eq!(plan.from.resource, "employees", "{question}");
        assert!(named(&plan).contains(r#""manager.name""#), "{question}: {}", named(&plan));
    }
    let staff = super::staff();
    let planned = |question: &str| match staff.planned(question) {
        Planned::Plan { plan, .. } => *plan,
        other => panic!("{question}: {other:?}"),
    };
    for question in ["who reports to Dora Lind?", "how many staff report to Dora Lind?", "staff reporting to Dora Lind"]
    {
        let plan = planned(question);
        assert_eq!((plan.from.resource.as_str(), plan.from.name()), ("staff", "staff"), "{question}");
        assert!(named(&plan).contains(r#""reports_to.name""#), "{question}: {}", named(&plan));
    }
    let above = planned("who does Emil Voss report to?");
    assert_eq!(above.from.name(), "reports_to");
    assert_eq!(sets(&above), [(Operator::In, "staff".to_owned())]);
}

#[test]
fn changes_can_be_ranked() {
    let month = plan("which month had the largest increase in amount?");
    assert_eq!(month.changes.len(), 1);
    assert_eq!((month.order_by[0].expr.clone(), month.limit), (Expr::field("total_amount_change"), Some(1)));
    let tier = plan("which tier had the largest increase in amount from 2023 to 2024?");
    assert_eq!((tier.order_by[0].expr.clone(), tier.limit), (Expr::field("total_amount_change"), Some(1)));
    assert!(matches!(company().planned("which tier grew most in amount from 2023 to 2024?"), Planned::Clarify(_)));
}
