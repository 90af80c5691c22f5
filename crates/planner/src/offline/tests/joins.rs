use super::company;
use crate::offline::joins::{JoinTrouble, distance, tree};

/// The tables of a join, in order.
fn route(from: &str, to: &[&str], hints: &[&str]) -> Result<Vec<String>, JoinTrouble> {
    let index = company();
    let targets: Vec<_> = to.iter().map(|t| index.table(t)).collect();
    let hints: Vec<String> = hints.iter().map(|h| (*h).to_owned()).collect();
    let steps = tree(&index.catalog, index.table(from), &targets, &hints)?;
    Ok(steps.iter().map(|s| index.catalog.table(s.to).name.clone()).collect())
}

#[test]
fn tables_are_tied_by_the_shortest_way() {
    assert_eq!(route("customers", &["products"], &[]).unwrap(), ["orders", "order_lines", "products"]);
    assert_eq!(route("order_lines", &["customers", "products"], &[]).unwrap(), ["products", "orders", "customers"]);
    assert_eq!(route("orders", &["orders"], &[]).unwrap(), [""; 0]);
}

#[test]
fn what_nothing_ties_together_is_apart() {
    assert!(matches!(route("customers", &["weather"], &[]), Err(JoinTrouble::Apart(..))));
    let index = company();
    assert_eq!(distance(&index.catalog, index.table("customers"), index.table("weather")), None);
    assert_eq!(distance(&index.catalog, index.table("customers"), index.table("products")), Some(3));
}

#[test]
fn only_a_join_to_many_repeats_rows() {
    let index = company();
    let fans =
        |from: &str, to: &str| tree(&index.catalog, index.table(from), &[index.table(to)], &[]).unwrap()[0].fans_out();
    assert!(fans("customers", "orders") && !fans("orders", "customers"));
}

#[test]
fn a_row_reaches_the_row_of_its_own_table_that_it_points_at() {
    assert_eq!(route("employees", &["manager"], &[]).unwrap(), ["manager"]);
    assert_eq!(route("orders", &["manager"], &[]).unwrap(), ["employees", "manager"]);
}
