//! What those who keep the house see of it: the policy tester, the audit chain, tokens.

use crate::support::{analyst, demo, rows, sql};
use serde_json::{Value, json};
use testkit::Client;

fn admin() -> Client {
    demo().client("root", "admin")
}

fn check(body: Value) -> Value {
    let reply = admin().post("/policy/check", &body);
    assert_eq!(reply.status, 200, "{}", reply.text());
    reply.json()
}

#[test]
fn this_door_is_for_admins() {
    for path in ["/policy", "/audit", "/tokens"] {
        assert_eq!(demo().stranger().get(path).status, 401, "{path}");
        let refused = analyst().get(path);
        assert_eq!((refused.status, refused.code().as_str()), (403, "auth.role"), "{path}");
        assert_eq!(admin().get(path).status, 200, "{path}");
    }
    for path in ["/policy/check", "/audit/verify", "/tokens"] {
        assert_eq!(analyst().post(path, &json!({})).status, 403, "{path}");
    }
    assert_eq!(analyst().delete("/tokens/0000000000000000").status, 403);
}

#[test]
fn the_policy_tester_says_what_a_role_would_be_told() {
    let asked = |role: &str, sql: &str| check(json!({ "dataset_id": "shop", "role": role, "sql": sql }));
    let hidden = asked("analyst", "SELECT email FROM customers");
    assert_eq!((&hidden["allowed"], &hidden["error"]["code"]), (&json!(false), &json!("sql.unknown_column")));
    assert_eq!(hidden["compiled_sql"], Value::Null);
    assert_eq!(hidden["error"], sql(analyst(), "shop", "SELECT email FROM customers")["result"]["error"]);
    let allowed = asked("admin", "SELECT email FROM customers");
    assert_eq!(allowed["allowed"], true);
    assert!(allowed["compiled_sql"].as_str().unwrap().contains("\"main\".\"customers\""));
    assert_eq!(allowed["contracts"][0]["resource"], "customers");
    assert_eq!(asked("nobody", "SELECT 1")["error"]["code"], "dataset.unknown", "they would not see that it exists");
}

#[test]
fn the_policy_tester_takes_plans_and_shows_row_filters() {
    let plan = json!({ "version": "1", "from": { "resource": "sales_orders" },
                       "select": [{ "expr": { "aggregate": { "fn": "count" } }, "as": "n" }] });
    let decision = check(json!({ "dataset_id": "sales", "role": "agent", "plan": plan }));
    assert_eq!((&decision["allowed"], &decision["filtered_by"]), (&json!(true), &json!(["sales_orders"])));
    let both = check(json!({ "dataset_id": "sales", "role": "agent", "plan": plan, "sql": "SELECT 1" }));
    assert_eq!(both["error"]["code"], "query.one_of");
}

#[test]
fn a_test_runs_nothing_and_is_on_record() {
    let counted = || admin().get("/runs?dataset_id=energy&limit=500&actor=nobody-else").json()["runs"].clone();
    let before = counted();
    check(json!({ "dataset_id": "energy", "role": "analyst", "actor": "nobody-else", "sql": "SELECT 1" }));
    assert_eq!(counted(), before);
    let audit = admin().get("/audit?limit=500").json();
    let tested =
        audit["recent"].as_array().unwrap().iter().any(|e| e["kind"] == "policy.tested" && e["actor"] == "root");
    assert!(tested, "{audit}");
}

#[test]
fn the_policy_in_force_is_shown_with_its_roles() {
    let policy = admin().get("/policy").json();
    assert_eq!(policy["roles"], json!(["admin", "agent", "analyst", "engineer", "lead", "reader"]));
    assert_eq!(policy["contracts"].as_array().unwrap().len(), 14);
    assert_eq!(policy["problems"], json!([]));
}

#[test]
fn the_audit_chain_is_shown_and_verified() {
    let state = admin().get("/audit?limit=3").json();
    let recent = state["recent"].as_array().unwrap();
    assert_eq!(recent.len(), 3);
    assert_eq!(recent[0]["seq"], state["entries"], "the newest first");
    let report = admin().post("/audit/verify", &json!({})).json();
    assert_eq!((&report["whole"], &report["flaw"]), (&json!(true), &Value::Null));
    assert!(report["entries"].as_i64() >= state["entries"].as_i64());
    for limit in ["0", "501", "x"] {
        assert_eq!(admin().get(&format!("/audit?limit={limit}")).status, 400, "{limit}");
    }
}

#[test]
fn a_token_is_given_used_and_taken() {
    let given = admin().post("/tokens", &json!({ "actor": "bot", "role": "agent", "expires": "30d" }));
    assert_eq!(given.status, 201, "{}", given.text());
    let given = given.json();
    let (id, secret) = (given["token"]["id"].as_str().unwrap(), given["secret"].as_str().unwrap());
    let bot = Client::new(&demo().url).bearer(secret);
    assert_eq!(bot.get("/session").json()["role"], "agent");
    let listed = admin().get("/tokens");
    assert!(listed.text().contains(id) && !listed.text().contains(secret), "ids, never secrets");
    assert_eq!(admin().delete(&format!("/tokens/{id}")).status, 204);
    assert_eq!(bot.get("/session").status, 401);
    assert_eq!(admin().delete(&format!("/tokens/{id}")).code(), "token.unknown");
}

#[test]
fn bad_tokens_are_not_given() {
    let cases = [
        (json!({ "actor": "", "role": "agent" }), "token.name"),
        (json!({ "actor": "x", "role": "a\nb" }), "token.name"),
        (json!({ "actor": "x", "role": "agent", "expires": "-1d" }), "token.expires"),
        (json!({ "actor": "x", "role": "agent", "expires": "soon" }), "token.expires"),
        (json!({ "actor": "x", "role": "agent", "claims": { "role": "admin" } }), "token.claim"),
        (json!({ "actor": "x", "role": "agent", "extra": 1 }), "request.json"),
    ];
    for (body, code) in cases {
        let reply = admin().post("/tokens", &body);
        assert_eq!((reply.status, reply.code().as_str()), (400, code), "{body}");
    }
}

#[test]
fn a_runs_statement_can_be_edited_and_sent_again() {
    for (dataset, question) in [
        ("sales", "Revenue by category in October 2026"),
        ("sales", "Monthly revenue in 2026"),
        ("support", "Median first response minutes by priority"),
        ("energy", "Total consumption by site type in 2026"),
        ("shop", "Which customers have no orders?"),
    ] {
        let asked = analyst().ask(dataset, question);
        let text = analyst().get(&format!("/runs/{}/sql", asked["run_id"].as_str().unwrap())).json();
        let again = sql(analyst(), dataset, text["sql"].as_str().unwrap());
        assert_eq!(again["status"], "succeeded", "{text}: {again}");
        assert_eq!(rows(&again), rows(&asked), "{text}");
    }
    let own = sql(analyst(), "shop", "select 1 as one");
    let text = analyst().get(&format!("/runs/{}/sql", own["run_id"].as_str().unwrap())).json();
    assert_eq!(text["sql"], "select 1 as one");
}

#[test]
fn a_run_without_a_statement_has_none_to_edit() {
    let refused = analyst().ask("shop", "purple elephants");
    let path = format!("/runs/{}/sql", refused["run_id"].as_str().unwrap());
    assert_eq!(analyst().get(&path).code(), "run.no_statement");
    assert_eq!(demo().client("eve", "analyst").get(&path).code(), "run.unknown");
}
