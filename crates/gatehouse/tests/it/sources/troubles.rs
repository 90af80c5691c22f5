//! What goes wrong, told in the words of the spec; and that everything goes on afterwards.

use super::suite::{Tried, scan};
use super::{Had, Trouble};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use ureq::http::Method;

/// A join that never ends.
const ENDLESS: &str =
    "SELECT count(*) FROM numbers a, numbers b, numbers c WHERE a.n * b.n + c.n * c.n = a.n * c.n + 7";

pub fn all(tried: &mut Tried) {
    time_out(tried);
    cancelled(tried);
    wrong_statements(tried);
    dropped(tried, Trouble::TableGone);
    lost(tried, Trouble::Lost);
    lost(tried, Trouble::Credentials);
    type_changed(tried);
    dropped(tried, Trouble::ColumnGone);
}

fn time_out(tried: &mut Tried) {
    let reply = tried.client.post("/datasets/firm/query", &json!({ "sql": ENDLESS }));
    tried.case("a statement that never ends", (reply.status == 504).then_some(()).ok_or(reply.text()));
    goes_on_beside(tried, "after a time-out");
}

/// A run that is taken back ends there as well, well before its time is up.
fn cancelled(tried: &mut Tried) {
    let body = json!({ "dataset_id": "firm", "message": ENDLESS });
    let reply = tried.client.open(Method::POST, "/chat/stream", body.to_string().into_bytes());
    let mut lines = BufReader::new(reply.into_body().into_reader()).lines().map_while(Result::ok);
    let executing = lines.find(|line| line.starts_with("data:") && line.contains("executing")).unwrap();
    let event: Value = serde_json::from_str(executing.trim_start_matches("data:").trim()).unwrap();
    let run = event["run_id"].as_str().unwrap();
    let taken_back = tried.client.delete(&format!("/runs/{run}")).status;
    let told = lines.any(|line| line.contains("\"status\":\"cancelled\""));
    let fine = taken_back == 202 && told;
    tried.case("a statement that is taken back", fine.then_some(()).ok_or(format!("{taken_back} {told}")));
    if tried.source.stops() {
        let idle = tried.source.is_idle();
        tried.case("nothing runs there any more", idle.then_some(()).ok_or("it still does".to_owned()));
    }
    goes_on_beside(tried, "after it was taken back");
}

fn wrong_statements(tried: &mut Tried) {
    let cases = [
        ("SELECT nothing_like_it FROM orders", 400),
        ("SELECT * FROM no_such_table", 400),
        ("SELECT id FROM orders WHERE CAST(status AS INTEGER) > 0", 400),
        ("DELETE FROM orders", 400),
    ];
    for (sql, status) in cases {
        let reply = tried.client.post("/datasets/firm/query", &json!({ "sql": sql }));
        // SQLite makes a number of any text.
        let fine = reply.status == status || tried.source.kind() == "sqlite" && sql.contains("CAST");
        tried.case(sql, fine.then_some(()).ok_or_else(|| format!("{}: {}", reply.status, reply.text())));
        let quoted = ["completed", "cancelled"].iter().any(|value| reply.text().contains(&format!("\"{value}\"")));
        tried.case(&format!("{sql}: no values in its error"), (!quoted).then_some(()).ok_or(reply.text()));
    }
}

/// Something is dropped between the catalog and the scan.
fn dropped(tried: &mut Tried, trouble: Trouble) {
    let body = json!({ "table_id": "doomed", "select": ["id", "word"] });
    let before = scan(&tried.client, &body);
    tried.case(&format!("before {trouble:?}"), (before.status == 200).then_some(()).ok_or(before.text()));
    if tried.source.trouble(trouble) == Had::CannotBe {
        return;
    }
    let reply = scan(&tried.client, &body);
    let clear = is_clear(&reply.json(), tried.source.code(trouble))
        && (400..=503).contains(&reply.status)
        && reply.status != 500;
    tried.case(
        &format!("{trouble:?}"),
        clear.then_some(()).ok_or_else(|| format!("{}: {}", reply.status, reply.text())),
    );
    if trouble == Trouble::TableGone {
        tried.source.mend();
        let after = scan(&tried.client, &body);
        tried.case("the table is back", (after.status == 200).then_some(()).ok_or(after.text()));
    } else {
        // What is left is there at once: the schema is read again.
        let rest = scan(&tried.client, &json!({ "table_id": "doomed", "select": ["id"] }));
        tried.case("the rest of it", (rest.status == 200).then_some(()).ok_or(rest.text()));
    }
}

/// A column has another type than the catalog says: what comes is what is there now, and nothing that was made of it.
fn type_changed(tried: &mut Tried) {
    let body = json!({ "table_id": "doomed", "select": ["word"] });
    let before = scan(&tried.client, &body);
    tried.case("before TypeChanged", before.text().contains("word 1").then_some(()).ok_or(before.text()));
    if tried.source.trouble(Trouble::TypeChanged) == Had::CannotBe {
        return;
    }
    let reply = scan(&tried.client, &body);
    let rows = reply.json().as_array().cloned().unwrap_or_default();
    let fine = !rows.is_empty() && rows.iter().all(|row| *row == json!({ "word": 7 }));
    tried.case("TypeChanged", fine.then_some(()).ok_or_else(|| format!("{}: {}", reply.status, reply.text())));
}

fn lost(tried: &mut Tried, trouble: Trouble) {
    if tried.source.trouble(trouble) == Had::CannotBe {
        return;
    }
    let body = json!({ "table_id": "orders", "select": ["id"], "limit": 1 });
    for _ in 0..2 {
        let reply = scan(&tried.client, &body);
        let code = tried.source.code(trouble);
        let clear = reply.status == 503 && is_clear(&reply.json(), code) && !reply.text().contains("pass");
        tried.case(
            &format!("{trouble:?}"),
            clear.then_some(()).ok_or_else(|| format!("{}: {}", reply.status, reply.text())),
        );
    }
    tried.source.mend();
    goes_on(tried, &format!("after {trouble:?}"));
}

/// The envelope of the Scan door, which says a code without its first word.
fn is_clear(body: &Value, code: &str) -> bool {
    let told = code.split_once('.').is_some_and(|(_, kind)| body["kind"] == *kind);
    body["request_id"].is_string() && body["error"].is_string() && told
}

/// Whatever it still works on; that is ended only after it has shown so, where it can.
fn goes_on_beside(tried: &mut Tried, when: &str) {
    let (stops, beside) = (tried.source.stops(), tried.source.works_beside());
    if !stops && !beside {
        tried.source.mend();
    }
    goes_on(tried, when);
    if !stops && beside {
        tried.source.mend();
    }
}

fn goes_on(tried: &mut Tried, when: &str) {
    let reply = tried.client.post("/datasets/firm/query", &json!({ "sql": "SELECT count(*) FROM orders" }));
    let fine = reply.json()["result"]["rows"] == json!([[800]]);
    tried.case(&format!("goes on {when}"), fine.then_some(()).ok_or(reply.text()));
}
