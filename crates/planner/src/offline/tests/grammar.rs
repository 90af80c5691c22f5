use super::company;
use crate::offline::draft::{Asked, By, Draft, Filter, Key, Relation, Steps};
use crate::offline::grammar::read;
use domain::plan::{DateUnit, Direction, Operator};

fn draft(question: &str) -> Draft {
    let draft = company().draft(question);
    assert!(draft.unexplained.is_empty() && draft.beyond.is_empty(), "{question}: {draft:?}");
    draft
}

#[test]
fn comparisons_have_a_side_an_operator_and_a_bound() {
    let ops = |question: &str| -> Vec<Operator> {
        let of = |f: &Filter| if let Filter::Compare { op, .. } = f { Some(*op) } else { None };
        draft(question).filters.iter().filter_map(of).collect()
    };
    assert_eq!(ops("employees with a salary over 5k"), [Operator::Greater]);
    assert_eq!(ops("products with a unit price of at most $20"), [Operator::LessOrEqual]);
    assert_eq!(ops("employees whose salary is between 1,000 and 2,000"), [Operator::Between]);
}

#[test]
fn groups_are_columns_rows_or_periods() {
    let index = company();
    let keys = |question: &str| draft(question).keys;
    assert!(matches!(keys("number of customers per tier").as_slice(), [Key::Column(noun)] if noun.text == "tier"));
    assert_eq!(keys("number of orders for each customer"), [Key::Entity(index.table("customers"))]);
    assert_eq!(keys("total amount by month"), [Key::Bucket(DateUnit::Month)]);
    assert_eq!(keys("quarterly amount"), [Key::Bucket(DateUnit::Quarter)]);
}

#[test]
fn rankings_have_a_direction_and_a_limit() {
    let top = draft("top 5 employees by salary");
    assert_eq!(top.limit, Some(5));
    assert!(matches!(top.orders[0].by, By::Column(_)) && top.orders[0].direction == Direction::Desc);
    let second = draft("the employee with the second lowest salary");
    assert_eq!((second.limit, second.offset), (Some(1), Some(1)));
    assert_eq!(second.orders[0].direction, Direction::Asc);
}

#[test]
fn a_change_along_periods_is_one_from_each_to_the_next() {
    for (question, expected) in [
        ("growth of amount month over month", Steps::Both),
        ("change in amount from month to month", Steps::Both),
        ("by how much did the amount change from one month to the next", Steps::Difference),
        ("percent change of the total amount by month", Steps::Percent),
    ] {
        let found = draft(question);
        assert_eq!(found.relation, Some(Relation::Steps(expected)), "{question}");
        assert_eq!(found.keys, [Key::Bucket(DateUnit::Month)], "{question}");
    }
}

#[test]
fn negation_is_of_values_or_of_rows() {
    let index = company();
    let filters = |question: &str| draft(question).filters;
    assert!(matches!(filters("orders that are not cancelled").as_slice(), [Filter::Values { negated: true, .. }]));
    let none = filters("customers without orders");
    assert!(
        matches!(none.as_slice(), [Filter::Related { table, negated: true, .. }] if *table == index.table("orders"))
    );
}

#[test]
fn what_no_rule_takes_is_unexplained() {
    let index = company();
    assert_eq!(index.draft("forecast of orders").beyond, ["forecast"]);
    assert_eq!(index.draft("orders with frobs").unexplained, ["frobs"]);
    let nothing = read(&index, &[]);
    assert!(nothing.asked.is_empty() && nothing.unexplained.is_empty());
}

#[test]
fn conditions_and_heads_do_not_mix() {
    let mixed = draft("names of enterprise customers who ordered in 2024");
    assert!(matches!(mixed.asked.as_slice(), [Asked::Column(noun)] if noun.text == "names"));
    assert!(mixed.filters.iter().any(|f| matches!(f, Filter::Values { .. })));
    assert!(mixed.filters.iter().any(|f| matches!(f, Filter::Time { .. })));
}
