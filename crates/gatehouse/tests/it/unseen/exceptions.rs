//! Exceptions: few things may tell of hidden rows all the same, and the list is the same here and in docs/SECURITY.md.

use super::pair::{FIRST_HIDDEN, Hidden, Side, WRITABLE, hidden_serial};
use super::told::told;
use serde_json::{Value, json};
use testkit::Reply;

const SECURITY: &str = include_str!("../../../../../docs/SECURITY.md");

/// As docs/SECURITY.md calls them, in its order. The comparison leaves out each of them, and nothing else.
const EXCEPTIONS: [(&str, &str); 7] = [
    ("Elapsed time", "`told.rs` blanks fields of times and durations"),
    ("Resource limits", "the copies are too small to reach one"),
    ("One fixed 409", "`a_unique_value_of_a_hidden_row_is_refused_in_fixed_words`"),
    ("Numbers that a database gives out", "the last one that was given out is of a row that is seen, in both copies"),
    ("Order", "statements over joins have an ORDER BY, or give one row"),
    ("Files of text", "hidden rows of the CSV files have the types of those that are seen, in both copies"),
    ("Columns without a NULL", "the writers of both copies say that every column can hold one"),
];

/// The names in the list of docs/SECURITY.md: `  - **Name.** …` below the bullet that begins it.
fn listed() -> Vec<&'static str> {
    let limits = SECURITY.split("\n## Known limits\n").nth(1).expect("a section of known limits");
    let list =
        limits.split("\n- **What may tell of hidden rows**").nth(1).expect("a list of what may tell of hidden rows");
    let list = list.split("\n- ").next().unwrap_or_default();
    list.lines().filter_map(|line| line.strip_prefix("  - **")?.split_once(".**")).map(|(name, _)| name).collect()
}

#[test]
fn security_lists_what_may_tell_of_hidden_rows_and_nothing_else() {
    let expected: Vec<&str> = EXCEPTIONS.iter().map(|(name, _)| *name).collect();
    assert_eq!(listed(), expected);
    // The promise names them in the same words.
    let promise = SECURITY.split("- **Noninterference.**").nth(1).and_then(|text| text.split("\n- **").next()).unwrap();
    let promise = promise.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    for name in expected {
        assert!(promise.contains(&name.to_lowercase()), "`{name}` in the promise of SECURITY.md: {promise}");
    }
}

fn insert(side: &Side, dataset: &str, code: &str, serial: &str) -> Reply {
    let values = json!({ "code": code, "owner": "ann", "region": "E", "item": "tea", "amount": 3, "note": "new",
        "serial": serial });
    let step = json!({ "op": "INSERT", "resource": format!("orders_{dataset}"), "values": values });
    side.agent.post("/agent/db/plan", &json!({ "version": "1", "steps": [step] }))
}

fn update(side: &Side, dataset: &str, serial: &str) -> Reply {
    let step = json!({ "op": "UPDATE", "resource": format!("orders_{dataset}"), "update": { "serial": serial },
        "where": [{ "field": "id", "op": "=", "value": 8 }], "limit": 1 });
    side.agent.post("/agent/db/plan", &json!({ "version": "1", "steps": [step] }))
}

/// A database keeps a value unique among all rows. That one is taken cannot be kept from who wants it; by which row, and
/// which row that is, can.
#[test]
fn a_unique_value_of_a_hidden_row_is_refused_in_fixed_words() {
    let [without, with] = [Hidden::Few, Hidden::MadeUp(1)].map(Side::new);
    let (hidden, seen) = (hidden_serial(FIRST_HIDDEN), "S-5");
    for dataset in WRITABLE {
        let of_seen = insert(&with, dataset, "U-1", seen);
        assert_eq!(of_seen.status, 409, "{dataset}: {}", of_seen.text());
        let body = json!({ "ok": false, "operation": "INSERT", "resource": format!("orders_{dataset}"), "data": [],
            "count": 0, "error": { "type": "CONFLICT", "message": "another row has a value that must be unique",
            "details": { "code": "change.unique",
                "hint": "another row has these values: read it, or choose others" } } });
        assert_eq!(of_seen.json(), body, "{dataset}");
        // The same words, whichever row has it, in the other copy too, and when a row is changed.
        assert_eq!(told(&insert(&with, dataset, "U-1", &hidden)), told(&of_seen), "{dataset}");
        assert_eq!(told(&insert(&without, dataset, "U-1", seen)), told(&of_seen), "{dataset}");
        let updated = [update(&with, dataset, seen), update(&with, dataset, &hidden)];
        assert_eq!(updated[0].json()["error"], body["error"], "{dataset}");
        assert_eq!(told(&updated[1]), told(&updated[0]), "{dataset}");
        // A copy without that row takes it: this is what the exception is.
        let taken = insert(&without, dataset, "U-1", &hidden);
        assert_eq!((taken.status, &taken.json()["error"]), (200, &Value::Null), "{dataset}: {}", taken.text());
    }
}
