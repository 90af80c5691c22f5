//! A table whose rows are all hidden answers as an empty one, whatever holds it.

use super::pair::{Hidden, Side};
use super::requests;
use super::told::{has_rows, told};

/// Replies that tell of a table itself: its columns, and figures of its rows that are none.
fn is_described(path: &str, body: &str) -> bool {
    path.starts_with("/api/v2/schema/") || body.contains("count(*)")
}

#[test]
fn a_table_whose_rows_are_all_hidden_answers_as_an_empty_one() {
    let [empty, full] = [Hidden::Few, Hidden::MadeUp(1)].map(Side::new);
    let requests = requests::absent();
    assert!(requests.len() > 50, "{} requests", requests.len());
    for request in requests {
        let [of_empty, of_full] = [&empty, &full].map(|side| request.send(side));
        assert_eq!(told(&of_full), told(&of_empty), "{}", request.shown());
        let refused = of_full.status != 200 && !request.shown().contains("books");
        assert!(!refused, "{}: {}", request.shown(), of_full.text());
        let says_rows = has_rows(&of_full) && !is_described(&request.path, &request.body);
        assert!(!says_rows, "{}: {}", request.shown(), of_full.text());
    }
    // Figures of no rows: as many as there are, and nothing for the others.
    let sql = "SELECT count(*) AS n, max(amount) AS m FROM absent_";
    for dataset in super::DATASETS {
        let body = crate::support::sql(&full.agent, dataset, &format!("{sql}{dataset}"));
        assert_eq!(body["result"]["rows"], serde_json::json!([[0, null]]), "{dataset}: {body}");
    }
}
