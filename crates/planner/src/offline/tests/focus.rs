use super::company;
use crate::offline::draft::Asked;
use domain::plan::{AggregateFn, DateUnit};

/// What a question asks for, in a few words.
fn asked(question: &str) -> Vec<String> {
    let index = company();
    let name = |t: &_| index.catalog.table(*t).name.clone();
    let of = |a: &Asked| match a {
        Asked::Column(noun) => format!("column {}", noun.text),
        Asked::Entity { table, .. } => format!("rows of {}", name(table)),
        Asked::Whole(table) => format!("all of {}", name(table)),
        Asked::Period(DateUnit::Month) => "month".to_owned(),
        Asked::Period(_) => "period".to_owned(),
        Asked::CountRows(table) => format!("count {}", name(table)),
        Asked::CountThem => "count them".to_owned(),
        Asked::CountDistinct(noun) => format!("count different {}", noun.text),
        Asked::Aggregate(AggregateFn::Avg, noun) => format!("average {}", noun.text),
        Asked::Aggregate(function, noun) => format!("{function:?} {}", noun.text),
    };
    index.draft(question).asked.iter().map(of).collect()
}

#[test]
fn the_head_of_a_question_is_what_it_asks_for() {
    for (question, expected) in [
        ("which customers ordered in 2024?", vec!["rows of customers"]),
        ("how many open orders are there?", vec!["count orders"]),
        ("list the name and tier of all customers", vec!["column name", "column tier"]),
        ("what is the average salary of employees?", vec!["average salary"]),
        ("how many different tiers do customers have?", vec!["count different tiers"]),
        ("in which month were the most orders placed?", vec!["month"]),
        ("show all information about products", vec!["all of products"]),
        ("orders by status", vec!["rows of orders"]),
    ] {
        assert_eq!(asked(question), expected, "{question}");
    }
}
