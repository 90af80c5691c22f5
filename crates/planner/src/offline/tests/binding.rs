use super::company;
use crate::offline::draft::Thing;
use crate::offline::query::{BoundBy, BoundKey, Item, Test, Trouble};
use domain::plan::{AggregateFn, Operator};

#[test]
fn a_noun_is_the_column_of_what_the_question_is_about() {
    let index = company();
    let column = |question: &str| match index.bound(question).unwrap().items.as_slice() {
        [Item::Column(column)] => index.name_of(*column),
        other => panic!("{question}: {other:?}"),
    };
    assert_eq!(column("names of customers"), "customers.name");
    assert_eq!(column("names of products"), "products.name");
    assert_eq!(column("the status of order 5"), "orders.status");
}

#[test]
fn numbers_compare_with_measures_and_values_with_their_owner() {
    let index = company();
    let tests =
        |question: &str| -> Vec<Test> { index.bound(question).unwrap().filters.into_iter().map(|f| f.test).collect() };
    let salary = Thing::Column(index.column("employees.salary"));
    let over = tests("employees with a salary over 5k");
    assert!(matches!(over.as_slice(), [Test::Compare(thing, Operator::Greater, _)] if *thing == salary), "{over:?}");
    let query = index.bound("how many enterprise customers are there").unwrap();
    assert_eq!(query.filters[0].column, Some(index.column("customers.tier")));
}

#[test]
fn periods_and_buckets_take_the_moment_of_what_is_measured() {
    let index = company();
    let query = index.bound("number of orders by month in 2024").unwrap();
    let moment = index.column("orders.order_date");
    assert_eq!(query.filters[0].column, Some(moment));
    assert!(matches!(query.keys.as_slice(), [BoundKey::Bucket(_, Some(column))] if *column == moment));
}

#[test]
fn measures_that_add_up_are_summed_per_group() {
    let index = company();
    let query = index.bound("amount by category").unwrap();
    let amount = Thing::Column(index.column("order_lines.amount"));
    assert_eq!(query.items, [Item::Aggregate(AggregateFn::Sum, amount)]);
    let rates = index.bound("salary by manager");
    assert!(matches!(rates, Err(Trouble::WhichAggregate(..))), "{rates:?}");
}

#[test]
fn rankings_go_by_what_they_name() {
    let index = company();
    let query = index.bound("which customer has the most orders").unwrap();
    assert!(matches!(query.orders[0].by, BoundBy::Rows(table) if table == index.table("orders")));
    assert!(matches!(index.bound("top 5 customers"), Err(Trouble::RankedByWhat(_))));
}
