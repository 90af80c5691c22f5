//! Rows that are marked as deleted exist for roles with `deleted: true` in the contract, and for no others, in every door.

use crate::records_support::{error, read, step};
use crate::support::{demo, sql};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use testkit::Client;

/// Cases in all, those that are marked, and one of these.
fn planted() -> (u32, u32, String) {
    let path = demo().data().join("datasets/crm/crm.sqlite");
    let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
    let crm = rusqlite::Connection::open_with_flags(path, flags).unwrap();
    crm.query_row(
        "SELECT count(*), count(deleted_at), min(id) FILTER (WHERE deleted_at IS NOT NULL) FROM cases",
        [],
        |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
    )
    .unwrap()
}

fn told_by_mcp(client: &Client, path: &str, tool: &str, arguments: &Value) -> Value {
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": tool, "arguments": arguments } });
    let client = client.clone().header("accept", "application/json, text/event-stream");
    let reply = client.header("content-type", "application/json").post(path, &call);
    let text =
        reply.json()["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{}", reply.text())).to_owned();
    serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}"))
}

/// The number of cases, by what each door says.
fn counted(client: &Client) -> BTreeMap<&'static str, u64> {
    let count = "SELECT count(*) AS n FROM cases";
    let number = |value: &Value| value.as_u64().unwrap_or_else(|| panic!("{value}"));
    let query = client.clone().header("accept", "application/json").post("/api/query", &json!({ "sql": count })).json();
    let scan = client.post("/api/v2/scan", &json!({ "table_id": "cases", "select": ["id"] }));
    let rows = |body: &Value| number(&body["rows"][0][0]);
    let execute = json!({ "dataset_id": "crm", "sql": count });
    let messages = json!([{ "role": "user", "content": "How many cases are there?" }]);
    let words = client.post("/v1/chat/completions", &json!({ "model": "claude-da/crm", "messages": messages })).json();
    let words = words["choices"][0]["message"]["content"].as_str().unwrap_or_default().replace(',', "");
    let said = words.split(|c: char| !c.is_ascii_digit()).find_map(|word| word.parse().ok());
    BTreeMap::from([
        ("/datasets/crm/query", number(&sql(client, "crm", count)["result"]["rows"][0][0])),
        ("/api/query", number(&query[0]["n"])),
        ("/api/v2/scan", scan.header("x-gatehouse-rows").parse().unwrap_or_else(|_| panic!("{}", scan.text()))),
        ("/mcp", rows(&told_by_mcp(client, "/mcp", "execute_sql", &execute))),
        ("/mcp/crm", rows(&told_by_mcp(client, "/mcp/crm", "read_query", &json!({ "sql": count })))),
        ("/v1", said.unwrap_or_else(|| panic!("{words}"))),
    ])
}

#[test]
fn rows_that_are_marked_as_deleted_are_there_for_roles_that_the_contract_lets_see_them() {
    let (all, deleted, _) = planted();
    assert!(deleted > 0, "the demo has cases that are marked as deleted");
    for (role, expected) in [("lead", all), ("agent", all - deleted), ("admin", all - deleted)] {
        let expected = u64::from(expected);
        let counted = counted(&demo().client("lea", role));
        assert!(counted.values().all(|n| *n == expected), "{role} sees {expected} cases: {counted:?}");
    }
}

/// In Records a role that may see such rows does so when it asks about the mark.
#[test]
fn records_shows_a_deleted_row_to_who_may_see_it_and_asks_about_the_mark() {
    let (_, deleted, id) = planted();
    let of_row = [("id", "=", json!(id))];
    let marked = [("id", "=", json!(id)), ("deleted_at", ">", json!("1970-01-01T00:00:00Z"))];
    let lead = demo().client("lea", "lead");
    assert_eq!(read(&lead, "cases", &["id", "deleted_at"], &marked)["count"], 1, "{id}, one of {deleted}");
    assert_eq!(read(&lead, "cases", &["id"], &of_row)["count"], 0, "without a word about the mark it is gone");
    let agent = demo().client("bob", "agent");
    assert_eq!(read(&agent, "cases", &["id"], &of_row)["count"], 0);
    let filter = marked.clone().map(|(field, op, value)| json!({ "field": field, "op": op, "value": value }));
    let asked = json!({ "op": "READ", "resource": "cases", "select": ["id"], "where": filter, "limit": 5 });
    assert_eq!(error(&step(&agent, &asked)).1, "UNAUTHORIZED_FIELD", "the mark itself is hidden from the role");
    assert_eq!(read(&demo().client("root", "admin"), "cases", &["id"], &marked)["count"], 0);
}
