//! The sentences of answers, from small results.

use crate::support::schemas::{Source, sales, shop};
use domain::{FieldType, ResultColumn};
use planner::offline::{AnswerInput, Context, Planned, plan, sentence};
use serde_json::{Value, json};

struct Result<'a> {
    columns: &'a [(&'a str, FieldType)],
    rows: Value,
    truncated: bool,
    filtered_by: &'a [String],
}

fn answer(source: &Source, question: &str, result: &Result<'_>) -> String {
    let context = Context { history: &[], today: crate::support::TODAY };
    let Planned::Plan { plan, reading, .. } = plan(&source.index(), question, &context) else { panic!("{question}") };
    let columns: Vec<ResultColumn> =
        result.columns.iter().map(|(name, kind)| ResultColumn { name: (*name).to_owned(), kind: *kind }).collect();
    let rows: Vec<Vec<Value>> = serde_json::from_value(result.rows.clone()).unwrap();
    sentence(&AnswerInput {
        question,
        reading: &reading,
        plan: Some(&plan),
        columns: &columns,
        row_count: rows.len() as u64,
        rows: &rows,
        truncated: result.truncated,
        filtered_by: result.filtered_by,
    })
}

fn whole<'a>(columns: &'a [(&'a str, FieldType)], rows: Value) -> Result<'a> {
    Result { columns, rows, truncated: false, filtered_by: &[] }
}

use FieldType::{Date, Integer, Number, String as Text};

#[test]
fn sentences_are_written_from_results() {
    let figure = |rows| whole(&[("total", Number)], rows);
    let by_region = [("region", Text), ("total_amount", Number)];
    let by_month = [("month", Date), ("total_amount", Number)];
    let by_category = [("category", Text), ("total_revenue", Number)];
    let filtered = ["orders".to_owned()];
    let cut = Result { columns: &[("id", Integer)], rows: json!([[1], [2]]), truncated: true, filtered_by: &filtered };
    let cases: Vec<(Source, &str, Result<'_>)> = vec![
        (shop(), "how many customers are there", figure(json!([[1234]]))),
        (shop(), "orders from March 2019", whole(&[("id", Integer)], json!([]))),
        (shop(), "total revenue in 2019", figure(json!([[null]]))),
        (
            sales(),
            "total amount by region",
            whole(&by_region, json!([["West", 600.5], ["North", 300], ["East", 99.5]])),
        ),
        (sales(), "top 2 regions by amount", whole(&by_region, json!([["West", 600.5], ["North", 300]]))),
        (
            sales(),
            "amount by month in 2023",
            whole(&by_month, json!([["2023-01-01", 1000], ["2023-02-01", 1500], ["2023-03-01", 1250]])),
        ),
        (sales(), "total amount last month", figure(json!([[12.5]]))),
        (shop(), "which category has the highest revenue", whole(&by_category, json!([["Lighting", 98765.4]]))),
        (shop(), "list orders", cut),
    ];
    let told: String = cases
        .iter()
        .map(|(source, question, result)| format!("{question}\n  {}\n", answer(source, question, result)))
        .collect();
    insta::assert_snapshot!("answers", told);
}
