//! Plans and SQL of the caller's own: no planner, the same path, statuses by meaning.

use crate::support::{analyst, rows, sql};
use serde_json::json;

#[test]
fn a_plan_of_ones_own_runs() {
    let plan = json!({
        "version": "1",
        "from": { "resource": "orders" },
        "joins": [{ "resource": "customers", "on": [{ "left": "orders.customer_id", "right": "customers.id" }] }],
        "select": [
            { "expr": { "field": "customers.tier" } },
            { "expr": { "aggregate": { "fn": "count" } }, "as": "orders" }
        ],
        "where": { "test": { "left": { "field": "orders.status" }, "op": "=", "right": { "value": "completed" } } },
        "group_by": [{ "field": "customers.tier" }],
        "order_by": [{ "expr": { "field": "orders" }, "dir": "desc" }]
    });
    let body = analyst().post("/datasets/shop/query", &json!({ "plan": plan })).json();
    assert_eq!(body["status"], "succeeded", "{body}");
    assert_eq!(body["details"]["params"], json!(["completed"]), "values are bound, not written into the SQL");
    let by_sql = sql(
        analyst(),
        "shop",
        "SELECT c.tier, count(*) n FROM orders o JOIN customers c ON c.id = o.customer_id \
         WHERE o.status = 'completed' GROUP BY 1 ORDER BY 2 DESC",
    );
    assert_eq!(rows(&body), rows(&by_sql));
}

#[test]
fn statuses_say_what_was_wrong() {
    let cases = [
        (json!({ "sql": "SELECT 1; SELECT 2" }), 400, "SQL_POLICY_VIOLATION"),
        (json!({ "sql": "DELETE FROM orders" }), 400, "SQL_POLICY_VIOLATION"),
        (json!({ "sql": "SELECT FROM WHERE" }), 400, "VALIDATION_ERROR"),
        (json!({ "sql": "SELECT * FROM no_such_table" }), 400, "VALIDATION_ERROR"),
        (json!({ "plan": { "version": "2" } }), 400, "VALIDATION_ERROR"),
        (
            json!({ "plan": { "version": "1", "from": { "resource": "orders" }, "select": [], "x": 1 } }),
            400,
            "VALIDATION_ERROR",
        ),
        (json!({}), 400, "VALIDATION_ERROR"),
        (json!({ "sql": "SELECT 1", "plan": {} }), 400, "VALIDATION_ERROR"),
    ];
    for (body, status, kind) in cases {
        let reply = analyst().post("/datasets/shop/query", &body);
        let json = reply.json();
        let error = json.get("error").or(json.pointer("/result/error")).cloned().unwrap_or_default();
        assert_eq!((reply.status, error["type"].as_str()), (status, Some(kind)), "{body}: {json}");
    }
    assert_eq!(analyst().post("/datasets/none/query", &json!({ "sql": "SELECT 1" })).status, 404);
}

#[test]
fn a_refused_statement_is_on_record_too() {
    let body = sql(analyst(), "shop", "SELECT load_extension('x')");
    let run = analyst().get(&format!("/runs/{}", body["run_id"].as_str().unwrap())).json();
    assert_eq!(run["status"], "refused");
    assert_eq!(run["details"]["sql_text"], "SELECT load_extension('x')");
}

#[test]
fn rows_beyond_the_limit_are_cut_and_said_so() {
    let body = sql(analyst(), "sales", "SELECT * FROM sales_orders");
    assert_eq!(body["result"]["truncated"], true);
    assert_eq!(body["result"]["row_count"], 1000);
    let exact = sql(analyst(), "sales", "SELECT * FROM sales_orders LIMIT 1000");
    assert_eq!((&exact["result"]["truncated"], &exact["result"]["row_count"]), (&json!(false), &json!(1000)));
}

#[test]
fn published_schemas_describe_plans_and_contracts() {
    for name in ["query-plan.json", "contract.json", "change-plan.json"] {
        let schema = analyst().get(&format!("/schemas/{name}")).json();
        assert_eq!(schema["additionalProperties"], false, "{name}");
    }
}
