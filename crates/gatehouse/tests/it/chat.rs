//! The Chat door: datasets, schema, questions, threads.

use crate::support::{analyst, demo, rows, sql};
use serde_json::{Value, json};

#[test]
fn health_needs_no_token_and_names_its_dependencies() {
    let stranger = demo().stranger();
    assert_eq!(stranger.get("/livez").status, 200);
    let health = stranger.get("/healthz");
    assert_eq!(health.status, 200);
    let dependencies = &health.json()["dependencies"];
    assert_eq!(dependencies["ledger"], "ok");
    assert_eq!(dependencies["contracts"]["status"], "ok");
    assert!(["T1", "T2"].contains(&dependencies["sandbox"]["tier"].as_str().unwrap()));
}

#[test]
fn datasets_come_from_the_registry() {
    let body = analyst().get("/datasets").json();
    let datasets = body["datasets"].as_array().unwrap();
    let ids: Vec<&str> = datasets.iter().map(|d| d["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["energy", "sales", "shop", "support"]);
    for dataset in datasets {
        for key in ["name", "description", "version_hash"] {
            assert!(dataset[key].as_str().is_some_and(|text| !text.is_empty()), "{key} of {dataset}");
        }
        assert!(dataset["prompts"].as_array().unwrap().len() >= 4);
        // The size of a file tells of what is hidden in it: of shop, the customers' addresses.
        match dataset["id"].as_str() {
            Some("energy") => {
                assert!(dataset["files"][0]["bytes"].as_u64().is_some_and(|bytes| bytes > 0), "{dataset}")
            }
            Some("shop") => assert!(dataset["files"][0]["bytes"].is_null(), "{dataset}"),
            _ => {}
        }
    }
}

#[test]
fn a_schema_shows_tables_columns_and_samples_without_hidden_fields() {
    let body = analyst().get("/datasets/shop/schema?sample=3").json();
    let tables = body["tables"].as_array().unwrap();
    let customers = tables.iter().find(|t| t["name"] == "customers").expect("customers");
    let names: Vec<&str> =
        customers["columns"].as_array().unwrap().iter().map(|c| c["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["id", "name", "tier", "created_at"], "email is hidden from analysts");
    assert_eq!(customers["columns"][0]["type"], "integer");
    assert!(customers["row_count"].as_u64().unwrap() >= 50);
    let sample = customers["sample"].as_array().unwrap();
    assert_eq!(sample.len(), 3);
    assert!(sample[0].get("name").is_some() && sample[0].get("email").is_none());

    let admin = demo().client("root", "admin").get("/datasets/shop/schema").json();
    assert!(admin.to_string().contains("email"));
    assert_eq!(analyst().get("/datasets/shop/schema?sample=101").status, 400);
}

#[test]
fn an_answer_has_every_field_of_the_specification() {
    let body = analyst().ask("sales", "Total revenue by region");
    assert_eq!(body["status"], "succeeded");
    assert!(body["assistant_message"].as_str().unwrap().contains("EMEA"), "{}", body["assistant_message"]);
    assert!(body["run_id"].is_string() && body["thread_id"].is_string() && body["request_id"].is_string());
    let result = &body["result"];
    assert_eq!(result["columns"].as_array().unwrap().len(), result["types"].as_array().unwrap().len());
    assert_eq!(result["row_count"], 3);
    assert_eq!(result["truncated"], false);
    assert!(result["exec_time_ms"].as_f64().unwrap() > 0.0);
    assert_eq!(result["error"], Value::Null);
    let details = &body["details"];
    assert_eq!(details["query_mode"], "plan");
    assert_eq!(details["dataset_id"], "sales");
    assert_eq!(details["plan_json"]["version"], "1");
    assert!(details["compiled_sql"].as_str().unwrap().starts_with("SELECT"));
    assert_eq!(details["contracts"][0]["resource"], "sales_orders");
    assert_eq!(details["planner"], "offline");
}

#[test]
fn sql_that_the_user_wrote_runs_in_sql_mode() {
    let body = analyst().ask("shop", "SELECT tier, count(*) AS n FROM customers GROUP BY tier ORDER BY n DESC");
    assert_eq!(body["details"]["query_mode"], "sql");
    assert_eq!(rows(&body).len(), 3);
}

#[test]
fn nonsense_is_refused_and_says_which_words() {
    let body = analyst().ask("sales", "purple elephants dancing");
    assert_eq!(body["status"], "refused");
    assert_eq!(body["result"]["error"]["type"], "VALIDATION_ERROR");
    let message = body["assistant_message"].as_str().unwrap();
    assert!(message.contains("elephants"), "{message}");
    assert_eq!(body["details"]["compiled_sql"], Value::Null, "nothing ran");
}

#[test]
fn a_vague_question_gets_one_question_back_with_choices() {
    let body = analyst().ask("shop", "best products");
    assert_eq!(body["status"], "clarify", "{}", body["assistant_message"]);
    let choices = body["clarification"]["choices"].as_array().unwrap();
    assert!((2..=3).contains(&choices.len()));
    let follow = analyst()
        .post("/chat", &json!({ "dataset_id": "shop", "thread_id": body["thread_id"], "message": choices[0] }));
    assert_eq!(follow.json()["status"], "succeeded", "{}", follow.text());
}

/// A word that says what happened is not taken for the state of that name.
#[test]
fn what_was_opened_is_not_what_is_open() {
    let asked = analyst().ask("support", "how many tickets were opened in March 2026?");
    let counted = sql(
        analyst(),
        "support",
        "SELECT count(*) FROM tickets WHERE created_at >= '2026-03-01' AND created_at < '2026-04-01'",
    );
    assert_eq!(rows(&asked), rows(&counted), "{}", asked["details"]["reading"]);
    let open = analyst().ask("support", "how many tickets are open?");
    assert_eq!(rows(&open), rows(&sql(analyst(), "support", "SELECT count(*) FROM tickets WHERE status = 'open'")));
}

#[test]
fn a_follow_up_leans_on_its_thread() {
    let first = analyst().ask("sales", "Total revenue by region");
    let second = analyst().post(
        "/chat",
        &json!({ "dataset_id": "sales", "thread_id": first["thread_id"], "message": "and by channel?" }),
    );
    let second = second.json();
    assert_eq!(second["status"], "succeeded", "{}", second["assistant_message"]);
    assert_eq!(second["result"]["columns"][0], "channel");
    assert_eq!(second["thread_id"], first["thread_id"]);

    // Without the thread the same words mean nothing; nor in somebody else's.
    assert_ne!(analyst().ask("sales", "and by channel?")["status"], "succeeded");
    let other = demo().client("eve", "analyst").post(
        "/chat",
        &json!({ "dataset_id": "sales", "thread_id": first["thread_id"], "message": "and by channel?" }),
    );
    assert_ne!(other.json()["status"], "succeeded");
}

#[test]
fn bad_requests_get_the_envelope_with_a_request_id() {
    let cases: [(&str, Vec<u8>, u16, &str); 8] = [
        ("/chat", b"{".to_vec(), 400, "request.json"),
        ("/chat", b"{\"dataset_id\":\"sales\"}".to_vec(), 400, "request.json"),
        ("/chat", b"{\"dataset_id\":\"sales\",\"message\":\"x\",\"extra\":1}".to_vec(), 400, "request.json"),
        ("/chat", b"{\"dataset_id\":\"sales\",\"message\":\"  \"}".to_vec(), 400, "chat.empty_message"),
        ("/chat", b"{\"dataset_id\":\"nowhere\",\"message\":\"x\"}".to_vec(), 404, "dataset.unknown"),
        ("/chat", b"\xff\xfe".to_vec(), 400, "request.json"),
        ("/chat/stream", b"[]".to_vec(), 400, "request.json"),
        ("/nothing", b"{}".to_vec(), 404, "request.no_route"),
    ];
    for (path, body, status, code) in cases {
        let reply = analyst().send("POST".parse().unwrap(), path, body);
        assert_eq!((reply.status, reply.code().as_str()), (status, code), "{path}: {}", reply.text());
        let json = reply.json();
        assert_eq!(json["request_id"], reply.header("x-request-id"));
        for key in ["type", "message", "hint"] {
            assert!(json["error"][key].as_str().is_some_and(|t| !t.is_empty()), "{key}: {json}");
        }
    }
    let long = json!({ "dataset_id": "sales", "message": "x".repeat(10_001) });
    assert_eq!(analyst().post("/chat", &long).code(), "chat.input_too_long");
}

#[test]
fn a_callers_request_id_comes_back_and_a_bad_one_is_replaced() {
    let given = analyst().clone().header("x-request-id", "abc-123").get("/datasets");
    assert_eq!(given.header("x-request-id"), "abc-123");
    let replaced = analyst().clone().header("x-request-id", "bad id").get("/datasets");
    assert_eq!(replaced.header("x-request-id").len(), 36);
}

#[test]
fn the_five_tools_are_defined_once_and_callable() {
    let tools = analyst().get("/tools").json();
    let names: Vec<&str> = tools["tools"].as_array().unwrap().iter().map(|t| t["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["list_datasets", "get_dataset_schema", "execute_query_plan", "execute_sql", "get_run_status"]);
    let plan = json!({ "version": "1", "from": { "resource": "customers" },
                       "select": [{ "expr": { "aggregate": { "fn": "count" } }, "as": "n" }] });
    let run = analyst().post("/tools/execute_query_plan", &json!({ "dataset_id": "shop", "plan_json": plan })).json();
    assert_eq!(run["status"], "succeeded");
    let status = analyst().post("/tools/get_run_status", &json!({ "run_id": run["run_id"] })).json();
    assert_eq!(status["result"], run["result"]);
    let refused = analyst().post("/tools/execute_sql", &json!({ "dataset_id": "shop", "sql": "DROP TABLE customers" }));
    assert_eq!(refused.json()["result"]["error"]["type"], "SQL_POLICY_VIOLATION");
    assert_eq!(analyst().post("/tools/execute_sql", &json!({ "dataset": "shop" })).code(), "tool.arguments");
    assert_eq!(analyst().post("/tools/rm", &json!({})).code(), "tool.unknown");
    assert!(analyst().post("/tools/list_datasets", &json!({})).json()["datasets"].is_array());
    let schema = analyst().post("/tools/get_dataset_schema", &json!({ "dataset_id": "shop" })).json();
    assert_eq!(schema["tables"].as_array().unwrap().len(), 4);
}

#[test]
fn an_empty_answer_says_which_condition_leaves_nothing() {
    let nobody = analyst().ask("shop", "how many order items have a unit price over 900000");
    let message = nobody["assistant_message"].as_str().unwrap();
    assert!(message.contains("Nothing is there with "), "{message}");
    let some = analyst().ask("shop", "how many orders are there");
    assert!(!some["assistant_message"].as_str().unwrap().contains("Nothing is there"), "{some}");
}
