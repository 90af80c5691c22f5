//! Records: spec 002 from outside, on the demo's database and on the same one in Postgres.

pub mod books;
pub mod jwt;
mod postgres;
mod races;
mod tenants;
mod unseen;

use crate::records_support::{Firm, agent, email, error, firm, firms, read, step, update};
use crate::support::verify;
use serde_json::{Value, json};

/// §9.1 to §9.3, as plans.
#[test]
fn the_three_flows() {
    for Firm { engine, agent, .. } in firms() {
        let body = read(
            agent,
            "cases",
            &["id", "client_id", "status", "created_at"],
            &[("client_id", "=", json!("123")), ("created_at", ">=", json!("2024-01-01"))],
        );
        let said = (&body["ok"], &body["operation"], &body["resource"]);
        assert_eq!(said, (&json!(true), &json!("READ"), &json!("cases")), "{engine}: {body}");
        assert_eq!(body["count"], body["data"].as_array().unwrap().len());
        assert!(body.get("error").is_none() && body.get("page").is_none(), "{engine}: {body}");

        let reply = step(agent, &update("case_987", &json!({ "status": "IN_REVIEW" })));
        let body = reply.json();
        let said = (reply.status, &body["count"], &body["data"][0]["status"]);
        assert_eq!(said, (200, &json!(1), &json!("IN_REVIEW")), "{engine}: {body}");
        assert_eq!(body["data"][0]["id"], "case_987");

        let reply = step(agent, &email("case_987", "Welcome"));
        let body = reply.json();
        let said = (reply.status, &body["operation"], &body["count"]);
        assert_eq!(said, (200, &json!("INSERT"), &json!(1)), "{engine}: {body}");
        assert_eq!(body["data"][0]["id"].as_str().map(str::len), Some(36), "the source makes the id: {body}");
        assert!(!reply.header("x-request-id").is_empty());
    }
}

/// §9.1 to §9.3 in the words of the specification.
#[test]
fn the_three_flows_in_words() {
    let flows = [
        ("Find active cases for client 123 since 2024-01-01", "READ", "cases"),
        ("Mark case_986 as IN_REVIEW", "UPDATE", "cases"),
        ("Record an outbound welcome email for case_986", "INSERT", "client_communications"),
    ];
    for Firm { engine, agent, .. } in firms() {
        for (words, operation, resource) in flows {
            let reply = agent.post("/agent/db", &json!({ "natural_language": words }));
            let body = reply.json();
            let said = (reply.status, body["operation"].as_str(), body["resource"].as_str());
            assert_eq!(said, (200, Some(operation), Some(resource)), "{engine}, {words}: {body}");
        }
        let row = read(agent, "cases", &["status"], &[("id", "=", json!("case_986"))]);
        assert_eq!(row["data"], json!([{ "status": "IN_REVIEW" }]), "{engine}");
    }
}

/// The same insert again finds its own row; another one with the same natural key is a conflict.
#[test]
fn an_insert_is_safe_to_repeat() {
    for Firm { engine, agent, .. } in firms() {
        let first = step(agent, &email("case_401", "Terms"));
        let again = step(agent, &email("case_401", "Terms"));
        assert_eq!((first.status, again.status), (200, 200), "{engine}: {}", again.text());
        assert_eq!(first.json(), again.json(), "{engine}");
        let mut other = email("case_401", "Terms");
        other["values"]["body"] = json!("other words");
        assert_eq!(error(&step(agent, &other)), (409, "CONFLICT".into(), "change.taken".into()), "{engine}");
        let filter = [("case_id", "=", json!("case_401")), ("subject", "=", json!("Terms"))];
        assert_eq!(read(agent, "client_communications", &["id"], &filter)["count"], 1, "{engine}");
    }
}

/// Values that the source keeps in fewer digits, or in other words, are the same values when they come again.
#[test]
fn a_retry_is_known_by_what_the_source_made_of_it() {
    let insert = json!({ "op": "INSERT", "resource": "cases", "values": { "case_no": "C-2099-0100", "client_id": "1",
        "title": "Digits", "claim_amount": 12.345, "due_date": "2026-02-03", "closed_at": "2026-02-03T04:05:06.789012+02:00" } });
    for Firm { engine, agent, .. } in firms() {
        let (first, again) = (step(agent, &insert), step(agent, &insert));
        assert_eq!((first.status, again.status), (200, 200), "{engine}: {}", again.text());
        assert_eq!(first.json(), again.json(), "{engine}");
    }
}

/// A write against a version that is gone is a conflict, and changes nothing.
#[test]
fn a_stale_write_is_a_conflict() {
    for Firm { engine, agent, .. } in firms() {
        let of_case =
            |field: &str| read(agent, "cases", &[field], &[("id", "=", json!("case_402"))])["data"][0][field].clone();
        let seen = of_case("updated_at");
        let mut fresh = update("case_402", &json!({ "priority": "HIGH" }));
        fresh["where"].as_array_mut().unwrap().push(json!({ "field": "updated_at", "op": "=", "value": seen }));
        let reply = step(agent, &fresh);
        assert_eq!(reply.status, 200, "{engine}: {}", reply.text());
        assert_ne!(of_case("updated_at"), seen, "every change moves the version on");
        fresh["update"] = json!({ "priority": "LOW" });
        assert_eq!(error(&step(agent, &fresh)), (409, "CONFLICT".into(), "change.stale".into()), "{engine}");
        assert_eq!(of_case("priority"), "HIGH", "{engine}");
    }
}

/// What the database refuses is told by its meaning, without its words.
#[test]
fn constraints_have_codes_and_leak_nothing() {
    let case = |values: Value| json!({ "op": "INSERT", "resource": "cases", "values": values });
    let tried = [
        ("no such case", email("case_0", "Hello"), (400, "INVALID_QUERY", "change.reference")),
        ("no row", update("case_0", &json!({ "status": "CLOSED" })), (404, "RESOURCE_NOT_FOUND", "change.no_row")),
        (
            "a claim below nothing",
            update("case_403", &json!({ "claim_amount": -1 })),
            (400, "INVALID_QUERY", "change.constraint"),
        ),
        (
            "no client",
            case(json!({ "case_no": "C-2099-0001", "title": "x" })),
            (400, "INVALID_QUERY", "change.required"),
        ),
        (
            "a number of another case",
            case(json!({ "case_no": "C-2023-0001", "client_id": "1", "title": "x" })),
            (409, "CONFLICT", "change.taken"),
        ),
        (
            "the number of another case",
            update("case_403", &json!({ "case_no": "C-2023-0002" })),
            (409, "CONFLICT", "change.unique"),
        ),
    ];
    for Firm { engine, agent, .. } in firms() {
        for (name, body, (status, kind, code)) in &tried {
            let reply = step(agent, body);
            let expected = (*status, (*kind).to_owned(), (*code).to_owned());
            assert_eq!(error(&reply), expected, "{engine}, {name}: {}", reply.text());
            let text = reply.text().to_lowercase();
            let leaks =
                ["constraint failed", "sqlite", "insert into", "foreign key", "\"main\"", "relation", "violates"];
            for leak in leaks.into_iter().chain(["duplicate", "_key", "_check", "postgres", "crm_agent"]) {
                assert!(!text.contains(leak), "{engine}, {name}: {text}");
            }
        }
    }
}

/// A row that is marked as deleted is gone for everybody, and is there again when the mark is taken away.
#[test]
fn a_soft_delete_hides_a_row() {
    for Firm { engine, server, agent } in firms() {
        let lead = server.client("lea", "lead");
        let seen = |client| read(client, "cases", &["id"], &[("id", "=", json!("case_404"))])["count"].clone();
        assert_eq!(seen(agent), 1, "{engine}");
        let marked = step(&lead, &update("case_404", &json!({ "deleted_at": "2026-01-01T00:00:00Z" })));
        assert_eq!(marked.status, 200, "{engine}: {}", marked.text());
        assert_eq!((seen(agent), seen(&lead)), (json!(0), json!(0)));
        assert_eq!(error(&step(agent, &update("case_404", &json!({ "status": "CLOSED" })))).0, 404);
        assert_eq!(error(&step(agent, &email("case_404", "Gone"))).2, "change.reference", "{engine}");
        assert_eq!(error(&step(agent, &update("case_404", &json!({ "deleted_at": null })))).1, "UNAUTHORIZED_FIELD");
        let revived = step(&lead, &update("case_404", &json!({ "deleted_at": null })));
        assert_eq!((revived.status, seen(agent)), (200, json!(1)), "{engine}: {}", revived.text());
    }
}

/// What is not marked as writable cannot be written, and neither can a role of the database that may only read.
#[test]
fn a_database_that_is_not_writable_is_not_written() {
    let books = books::Books::new();
    let change = update("case_405", &json!({ "status": "CLOSED" }));
    let server = books.server_at(&books.url(), "").start();
    assert_eq!(error(&step(&server.client("bob", "agent"), &change)).2, "source.read_only");
    let server = books.server().start();
    books.sql("REVOKE UPDATE ON cases FROM crm_agent");
    let reply = step(&server.client("bob", "agent"), &change);
    assert_eq!(error(&reply), (403, "UNAUTHORIZED_OPERATION".into(), "source.denied".into()), "{}", reply.text());
    assert_eq!(books.sql("SELECT count(*) FROM cases WHERE status <> 'ACTIVE'"), "0");
}

/// Every refusal has the shape of §2.3, whoever refuses.
#[test]
fn the_envelope_is_one_and_the_same() {
    let stranger = firm().stranger();
    let reader = firm().client("rea", "reader");
    let nobody = firm().client("nob", "nobody");
    let plan = json!({ "version": "1", "steps": [update("case_405", &json!({ "status": "CLOSED" }))] });
    let hidden = json!({ "steps": [{ "op": "READ", "resource": "cases", "select": ["client_email"], "limit": 1 }] });
    let tried = [
        (stranger.post("/agent/db", &json!({ "natural_language": "x" })), 401, "UNAUTHENTICATED"),
        (agent().post("/agent/db", &json!({})), 400, "INVALID_QUERY"),
        (agent().post("/agent/db", &json!({ "natural_language": " " })), 400, "INVALID_QUERY"),
        (agent().post("/agent/db", &json!({ "natural_language": "x".repeat(100_000) })), 400, "INVALID_QUERY"),
        (agent().post("/agent/db", &json!({ "natural_language": "x", "plan_only": true })), 400, "INVALID_QUERY"),
        (
            agent().post("/agent/db", &json!({ "natural_language": "x", "hints": { "tables": [] } })),
            400,
            "INVALID_QUERY",
        ),
        (
            agent().post("/agent/db/plan", &json!({ "steps": [{ "op": "DELETE", "resource": "cases" }] })),
            400,
            "INVALID_QUERY",
        ),
        (agent().post("/agent/db/plan", &json!({ "version": "9", "steps": [] })), 400, "INVALID_QUERY"),
        (agent().get("/agent/db"), 405, "INVALID_QUERY"),
        (reader.post("/agent/db/plan", &plan), 403, "UNAUTHORIZED_OPERATION"),
        (reader.post("/agent/db/plan", &hidden), 403, "UNAUTHORIZED_FIELD"),
        (nobody.post("/agent/db/plan", &plan), 404, "RESOURCE_NOT_FOUND"),
    ];
    for (reply, status, kind) in tried {
        let body = reply.json();
        assert_eq!((reply.status, body["error"]["type"].as_str()), (status, Some(kind)), "{body}");
        let keys: Vec<&String> = body.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["count", "data", "error", "ok", "operation", "resource"], "{body}");
        assert_eq!((&body["ok"], &body["data"], &body["count"]), (&json!(false), &json!([]), &json!(0)));
        assert!(body["error"].get("clarification").is_none(), "one question with 422 only: {body}");
    }
}

/// Joins, pages and the types of the contract.
#[test]
fn reads_join_page_and_type() {
    let join = json!({ "op": "READ", "resource": "document_analysis", "limit": 2, "offset": 1,
        "select": ["document_name", "reviewed", "cases.status"],
        "join": [{ "target_resource": "cases", "on": [{ "leftField": "case_id", "rightField": "id" }] }] });
    for Firm { engine, agent, .. } in firms() {
        let body = step(agent, &join).json();
        assert_eq!(body["page"], json!({ "limit": 2, "offset": 1 }), "{engine}: {body}");
        let first = &body["data"][0];
        assert!(first["reviewed"].is_boolean() && first["cases.status"].is_string(), "{engine}: {body}");
    }
}

/// Counted for operators, on record for auditors, and nobody else's to see.
#[test]
fn writes_are_counted_and_on_record() {
    let reply = step(agent(), &update("case_406", &json!({ "assigned_to": "Greta" })));
    assert_eq!(reply.status, 200, "{}", reply.text());
    let metrics = firm().client("root", "admin").get("/metrics").text();
    for name in [
        "gatehouse_records_requests_total",
        "gatehouse_records_seconds_bucket",
        "gatehouse_records_rows_affected_total",
    ] {
        assert!(metrics.contains(name), "{name} in {metrics}");
    }
    assert!(verify(firm())["flaw"].is_null());
}
