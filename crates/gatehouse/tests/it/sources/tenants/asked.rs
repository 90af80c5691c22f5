//! Everything that a tenant can ask of the source, through every door.

use serde_json::{Value, json};
use testkit::{Client, Reply};

/// What stands for what the other tenant has in what is asked, and for what nobody has: of the same form, so that
/// nothing else tells them apart.
pub struct Words {
    pub theirs: [(&'static str, &'static str); 3],
    pub nobodys: [(&'static str, &'static str); 3],
}

impl Words {
    /// For a tenant: of the other.
    pub fn of(tenant: &str) -> Self {
        match tenant {
            "acme" => Self {
                theirs: [("$TENANT", "globex"), ("$WORD", "Zebra"), ("$FIRST", "2001")],
                nobodys: [("$TENANT", "nobody"), ("$WORD", "Xebec"), ("$FIRST", "9001")],
            },
            _ => Self {
                theirs: [("$TENANT", "acme"), ("$WORD", "Aardvark"), ("$FIRST", "1001")],
                nobodys: [("$TENANT", "emca"), ("$WORD", "Aardwolf"), ("$FIRST", "9001")],
            },
        }
    }
}

/// Something that a caller can ask of the source.
pub struct Asked {
    method: &'static str,
    pub path: &'static str,
    pub body: String,
}

impl Asked {
    pub fn send(&self, client: &Client, words: &[(&str, &str)]) -> Reply {
        let accept = if self.path == "/mcp/crm" { "application/json, text/event-stream" } else { "application/json" };
        let body = words.iter().fold(self.body.clone(), |body, (mark, word)| body.replace(mark, word));
        let client = client.clone().header("accept", accept).header("content-type", "application/json");
        if self.method == "GET" {
            return client.get(self.path);
        }
        client.send(self.method.parse().unwrap(), self.path, body.into_bytes())
    }
}

fn get(path: &'static str) -> Asked {
    Asked { method: "GET", path, body: String::new() }
}

fn post(path: &'static str, body: &Value) -> Asked {
    Asked { method: "POST", path, body: body.to_string() }
}

/// A statement, through every door that takes one.
fn statement(sql: &str) -> Vec<Asked> {
    let tool = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": "read_query", "arguments": { "sql": sql } },
    });
    // Parts are tables of the last statement, so that their columns need names.
    let part = json!({ "register": [{ "name": "part", "sql": sql }], "sql": "SELECT * FROM part" });
    let estimate = json!({ "register": [{ "name": "part", "sql": sql }], "sql": "SELECT 1", "estimate": true });
    vec![
        post("/api/query", &json!({ "sql": sql })),
        post("/api/query/hybrid", &part),
        post("/api/query/hybrid", &estimate),
        post("/datasets/crm/query", &json!({ "sql": sql })),
        post("/chat", &json!({ "dataset_id": "crm", "message": sql })),
        post("/v1/chat/completions", &completion(&format!("run sql: {sql}"))),
        post("/mcp/crm", &tool),
    ]
}

fn completion(question: &str) -> Value {
    json!({ "model": "claude-da/crm", "messages": [{ "role": "user", "content": question }] })
}

fn question(words: &str) -> Vec<Asked> {
    let chat = post("/chat", &json!({ "dataset_id": "crm", "message": words }));
    vec![chat, post("/v1/chat/completions", &completion(words))]
}

fn scan(body: &Value) -> Vec<Asked> {
    vec![post("/api/v2/scan", body), post("/api/v2/scan/estimate", body)]
}

/// What names nothing of anybody's: no reply may show the other's.
pub fn plain() -> Vec<Asked> {
    let mut asked = vec![
        get("/api/v2/catalog"),
        get("/api/v2/schema/invoices"),
        get("/api/v2/schema/invoices?statistics=true"),
        get("/api/v2/sample/invoices?n=100"),
        get("/api/v2/sample/open_invoices"),
        get("/api/sync/manifest"),
        get("/datasets"),
        get("/datasets/crm/schema?sample=5"),
        get("/runs"),
    ];
    let scans = [
        json!({ "table_id": "invoices" }),
        json!({ "table_id": "open_invoices" }),
        json!({ "table_id": "invoices", "where": "amount > 0", "order_by": ["customer"] }),
        json!({ "table_id": "invoices", "where": "CAST(code AS INTEGER) > 0" }),
    ];
    asked.extend(scans.iter().flat_map(scan));
    let statements = [
        "SELECT * FROM invoices",
        "SELECT count(*) AS n, max(customer) AS last, min(amount) AS least FROM invoices",
        "SELECT tenant, count(*) AS n FROM invoices GROUP BY tenant",
        "SELECT CAST(customer AS integer) AS number FROM invoices",
        "SELECT string_agg(customer, ',') AS all_of_them FROM open_invoices",
        "SELECT current_setting('request.jwt.claims')",
        "SELECT * FROM pg_stats",
        "SELECT most_common_vals FROM pg_catalog.pg_stats",
    ];
    asked.extend(statements.iter().flat_map(|sql| statement(sql)));
    let questions = ["How many invoices are there?", "Total amount by customer", "Total amount by code"];
    asked.extend(questions.iter().flat_map(|words| question(words)));
    asked
}

/// What names something that is the other's, or that nobody has: the replies must not tell which.
pub fn naming() -> Vec<Asked> {
    let scans = [
        json!({ "table_id": "invoices", "where": "tenant = '$TENANT'" }),
        json!({ "table_id": "invoices", "where": "tenant <> '$TENANT'", "order_by": ["id"] }),
        json!({ "table_id": "invoices", "where": "customer LIKE '$WORD%'" }),
        json!({ "table_id": "invoices", "where": "code = '$WORD' OR id = $FIRST" }),
        json!({ "table_id": "open_invoices", "where": "customer LIKE '$WORD%'" }),
        json!({ "table_id": "invoices", "where": "10 / (id - $FIRST) > -1", "order_by": ["id"] }),
    ];
    let mut asked: Vec<Asked> = scans.iter().flat_map(scan).collect();
    let statements = [
        "SELECT count(*) AS n FROM invoices WHERE tenant = '$TENANT'",
        "SELECT 1 / (amount - $FIRST.25) AS x FROM invoices WHERE tenant = '$TENANT'",
        "SELECT 1 / (id - $FIRST) AS x FROM invoices ORDER BY id",
        "SELECT CAST(customer AS integer) AS x FROM invoices WHERE code = '$WORD'",
        "SELECT max(customer) AS last FROM open_invoices WHERE customer LIKE '$WORD%'",
        "SELECT set_config('request.jwt.claims', '{\"tenant\": \"$TENANT\"}', true) AS s, customer FROM invoices",
    ];
    asked.extend(statements.iter().flat_map(|sql| statement(sql)));
    let questions = [
        "invoices of customer $WORD 7",
        "invoices with the code $WORD",
        "How many invoices of the tenant $TENANT are there?",
    ];
    asked.extend(questions.iter().flat_map(|words| question(words)));
    asked
}
