//! Records over an internal service: the same plans, the same policy, the same errors as over a database.

use crate::records_support::{error, step, update};
use crate::support::{server, verify};
use serde_json::{Value, json};
use testkit::{Client, Server, Service, Upset};

const CONFIG: &str = "[sources.desk]\nkind = 'rest'\nurl = '$url'\ntoken_env = 'DESK_TOKEN'\nwritable = true\n\
                      timeout_seconds = 1\n";

struct Desk {
    service: Service,
    server: Server,
    agent: Client,
}

/// Rows of the agent's own tenant, and of another.
fn desk() -> Desk {
    desk_by(include_str!("cases/service_cases.yaml"))
}

fn desk_by(contract: &str) -> Desk {
    let row = |n: usize, tenant: &str, status: &str| {
        json!({ "id": format!("case_{n}"), "tenant": tenant, "caseNo": format!("C-{n}"), "clientId": format!("{}", n % 2),
                "status": status, "claim": n, "secret_note": "hidden", "version": 1, "internal": "not in the contract" })
    };
    let rows = json!([
        row(1, "acme", "ACTIVE"),
        row(2, "acme", "CLOSED"),
        row(3, "acme", "ACTIVE"),
        row(4, "acme", "ACTIVE"),
        row(5, "globex", "ACTIVE")
    ]);
    let service = Service::with(&rows);
    let server = server()
        .file("gatehouse.toml", &CONFIG.replace("$url", &service.url))
        .file("contracts/cases.yaml", contract)
        .env("DESK_TOKEN", Service::TOKEN)
        .env("LOG_LEVEL", "info")
        .start();
    let agent = server.client("acme", "agent");
    Desk { service, server, agent }
}

fn read(client: &Client, select: &[&str], filter: Value) -> testkit::Reply {
    step(
        client,
        &json!({ "op": "READ", "resource": "cases", "select": select, "where": filter, "limit": 50,
                          "order_by": [{ "field": "id" }] }),
    )
}

fn ids(reply: &testkit::Reply) -> Vec<String> {
    let body = reply.json();
    assert_eq!(reply.status, 200, "{body}");
    body["data"].as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect()
}

fn equal(field: &str, value: &str) -> Value {
    json!([{ "field": field, "op": "=", "value": value }])
}

#[test]
fn rows_come_back_through_field_and_row_policy() {
    let Desk { service, server, agent } = desk();
    assert_eq!(ids(&read(&agent, &["id"], json!([]))), ["case_1", "case_2", "case_3", "case_4"], "page by page");
    let found = read(&agent, &["id", "case_no", "claim", "version"], equal("client_id", "1"));
    assert_eq!(
        found.json()["data"],
        json!([
            { "id": "case_1", "case_no": "C-1", "claim": 1.0, "version": 1 },
            { "id": "case_3", "case_no": "C-3", "claim": 3.0, "version": 1 },
        ])
    );
    assert_eq!(found.header("x-gatehouse-filtered-by"), "cases");
    let call = service.calls().pop().unwrap();
    assert_eq!((call.method.as_str(), call.target.as_str()), ("GET", "/cases?client=1&limit=2&offset=2"));
    assert_eq!(
        (call.headers["x-gatehouse-actor"].as_str(), call.headers["x-gatehouse-role"].as_str()),
        ("acme", "agent")
    );

    assert_eq!(ids(&read(&agent, &["id"], equal("id", "case_1"))), ["case_1"]);
    assert_eq!(service.calls().pop().unwrap().target, "/cases/case_1");
    assert!(ids(&read(&agent, &["id"], equal("id", "case_5"))).is_empty(), "another tenant's");
    assert!(ids(&read(&agent, &["id"], equal("id", "../cases?x=1#/%2e"))).is_empty());
    assert_eq!(service.calls().pop().unwrap().target, "/cases/..%2Fcases%3Fx%3D1%23%2F%252e", "one part of a path");

    let asked = service.calls().len();
    let refused = [
        (read(&agent, &["secret_note"], json!([])), 403, "change.unknown_field"),
        (read(&agent, &["internal"], json!([])), 403, "change.unknown_field"),
        (read(&agent, &["id"], equal("secret_note", "hidden")), 403, "change.unknown_field"),
        (read(&agent, &["id"], json!([{ "field": "claim", "op": ">", "value": 1 }])), 400, "change.operator"),
        (read(&agent, &["id"], equal("tenant", "globex")), 400, "change.operator"),
        (read(&agent, &["id"], equal("id", "..")), 400, "change.key"),
        (read(&server.client("acme", "reader"), &["claim"], json!([])), 403, "change.unknown_field"),
        (read(&server.client("acme", "nobody"), &["id"], json!([])), 404, "change.unknown_resource"),
    ];
    for (reply, status, code) in refused {
        assert_eq!((reply.status, error(&reply).2.as_str()), (status, code), "{}", reply.text());
    }
    assert_eq!(service.calls().len(), asked, "nothing was asked of the service");
}

#[test]
fn changes_are_tried_sent_and_shown() {
    let Desk { service, server, agent } = desk();
    let reply = step(&agent, &update("case_1", &json!({ "status": "IN_REVIEW" })));
    let body = reply.json();
    assert_eq!(
        (reply.status, &body["count"], &body["data"][0]["status"]),
        (200, &json!(1), &json!("IN_REVIEW")),
        "{body}"
    );
    assert_eq!((&body["data"][0]["version"], body["data"][0].get("secret_note")), (&json!(2), None), "{body}");
    let sent = service.calls().pop().unwrap();
    assert_eq!((sent.method.as_str(), &sent.body), ("PATCH", &json!({ "status": "IN_REVIEW" })));
    assert_eq!(sent.headers["if-match"], "\"1\"");
    assert_eq!(service.row("case_1")["internal"], "not in the contract", "what it does not know of stays");

    let new = json!({ "op": "INSERT", "resource": "cases",
                      "values": { "tenant": "acme", "case_no": "C-9", "client_id": "7", "status": "ACTIVE" } });
    let (first, again) = (step(&agent, &new), step(&agent, &new));
    assert_eq!((first.status, again.status), (200, 200), "{}", again.text());
    assert_eq!(first.json(), again.json(), "a retry finds its own row");
    assert_eq!(service.count(), 6);
    assert!(service.calls().iter().any(|call| call.method == "POST" && call.headers["idempotency-key"].len() == 64));

    let said = agent.post("/agent/db", &json!({ "natural_language": "Mark case_3 as CLOSED" }));
    assert_eq!((said.status, service.row("case_3")["status"].as_str()), (200, Some("CLOSED")), "{}", said.text());
    assert!(verify(&server)["flaw"].is_null());
}

/// A service that takes whole rows alone gets the row as it was, with the change in it; so that nothing is lost, what the
/// contract does not know of goes back as well.
#[test]
fn a_service_may_take_whole_rows() {
    let contract = include_str!("cases/service_cases.yaml").replace("rest:\n", "rest:\n  update: PUT\n");
    let Desk { service, agent, server: _server } = desk_by(&contract);
    let mut wanted = service.row("case_1");
    let reply = step(&agent, &update("case_1", &json!({ "status": "IN_REVIEW" })));
    assert_eq!(reply.status, 200, "{}", reply.text());
    let sent = service.calls().into_iter().find(|call| call.method != "GET").unwrap();
    wanted["status"] = json!("IN_REVIEW");
    assert_eq!((sent.method.as_str(), &sent.body), ("PUT", &wanted));
    assert_eq!(sent.headers["if-match"], "\"1\"");
    wanted["version"] = json!(2);
    assert_eq!(service.row("case_1"), wanted);
    assert!(service.calls().iter().all(|call| call.method != "PATCH"));
}

#[test]
fn refusals_have_the_codes_of_every_source() {
    let Desk { service, server, agent } = desk();
    let insert = |tenant: &str, number: &str, client: &str| {
        json!({ "op": "INSERT", "resource": "cases",
                "values": { "tenant": tenant, "case_no": number, "client_id": client, "status": "ACTIVE" } })
    };
    let mut stale = update("case_2", &json!({ "status": "ACTIVE" }));
    stale["where"].as_array_mut().unwrap().push(json!({ "field": "version", "op": "=", "value": 7 }));
    let writes = || service.calls().iter().filter(|call| call.method != "GET").count();
    for (name, step_sent, (status, code)) in [
        ("not there", update("case_77", &json!({ "status": "CLOSED" })), (404, "change.no_row")),
        ("another's", update("case_5", &json!({ "status": "CLOSED" })), (404, "change.no_row")),
        ("stale", stale, (409, "change.stale")),
        ("given away", update("case_2", &json!({ "tenant": "globex" })), (403, "change.outside_rows")),
        ("for another", insert("globex", "C-10", "1"), (403, "change.outside_rows")),
        ("taken", insert("acme", "C-2", "other"), (409, "change.taken")),
        ("hidden", update("case_2", &json!({ "secret_note": "x" })), (403, "change.unknown_field")),
        ("generated", update("case_2", &json!({ "version": 9 })), (403, "change.generated_field")),
    ] {
        let reply = step(&agent, &step_sent);
        assert_eq!((reply.status, error(&reply).2.as_str()), (status, code), "{name}: {}", reply.text());
    }
    assert_eq!(writes(), 0, "none of them was sent");
    let hidden_twin = step(&agent, &insert("acme", "C-5", "1"));
    assert_eq!((hidden_twin.status, writes()), (409, 1), "only the service itself knows: {}", hidden_twin.text());
    let refused = step(&agent, &update("case_2", &json!({ "claim": -1 })));
    assert_eq!(error(&refused), (400, "INVALID_QUERY".into(), "change.constraint".into()));
    assert_eq!(step(&server.client("acme", "reader"), &update("case_2", &json!({ "claim": 1 }))).status, 403);
}

#[test]
fn a_service_that_is_unwell_is_told_and_leaks_nothing() {
    let Desk { service, server, agent } = desk();
    let elsewhere = Service::with(&json!([]));
    for (upset, status, code) in [
        (Upset::Status(500), 503, "source.failed"),
        (Upset::Status(401), 503, "source.failed"),
        (Upset::Redirect(format!("{}/cases", elsewhere.url)), 503, "source.failed"),
        (Upset::Text("<html>".into()), 503, "source.answer"),
        (Upset::Text(r#"{"data": [1]}"#.into()), 503, "source.answer"),
        (Upset::Text("x".repeat(17 << 20)), 400, "source.too_large"),
        (Upset::Silence, 504, "source.timeout"),
    ] {
        service.upset(upset.clone());
        let reply = read(&agent, &["id"], equal("id", "case_1"));
        assert_eq!((reply.status, error(&reply).2.as_str()), (status, code), "{}", reply.text());
        assert!(!reply.text().contains("internal detail") && !reply.text().contains(&service.url), "{}", reply.text());
    }
    assert!(elsewhere.calls().is_empty(), "nobody follows a redirect");
    for (method, path) in
        [("GET", "/datasets/desk/schema"), ("GET", "/api/v2/schema/cases"), ("GET", "/api/v2/sample/cases")]
    {
        let reply = agent.send(method.parse().unwrap(), path, Vec::new());
        assert!([403, 404].contains(&reply.status), "{path}: {}", reply.text());
    }
    let sql = agent.post("/datasets/desk/query", &json!({ "sql": "SELECT * FROM cases" }));
    assert_eq!(sql.status, 404, "only Records knows it: {}", sql.text());
    let shown = server.command(&["config", "show"]);
    let log = server.stop();
    for text in [String::from_utf8_lossy(&shown.stdout).into_owned(), log] {
        assert!(!text.contains(Service::TOKEN), "{text}");
    }
}
