//! The house as agents meet it: the MCP client of the protocol's makers over both transports, and their Inspector.

use crate::support::{analyst, demo, server};
use serde_json::{Value, json};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use testkit::{Client, Server, ServerBuilder, python, tally};

const PROJECT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const GATEHOUSE: &str = env!("CARGO_BIN_EXE_gatehouse");
/// The handshake of old, and the newest protocol.
const MODES: [(&str, &str); 2] = [("legacy", "2025-11-25"), ("auto", "2026-07-28")];

/// What the Python client prints that calls these tools.
fn client(transport: &str, mode: &str, wher: &[&str], calls: &Value) -> Value {
    let mut command = Command::new(python());
    command.arg(format!("{PROJECT}/tests/python/mcp_client.py")).args([transport, mode]).args(wher);
    let output = fed(command, &calls.to_string());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stdout)))
}

fn fed(mut command: Command, input: &str) -> Output {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A program that ends before it has read everything says why by its exit code.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

fn over_http(server: &Server, mode: &str, path: &str, token: &str, calls: &Value) -> Value {
    client("http", mode, &[&format!("{}{path}", server.url), token], calls)
}

/// A token of the demo in a file of its own.
struct TokenFile {
    path: PathBuf,
    _dir: tempfile::TempDir,
}

impl TokenFile {
    fn of(token: &str, mode: u32) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("token");
        std::fs::write(&path, format!("{token}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        Self { path, _dir: dir }
    }

    fn path(&self) -> &str {
        self.path.to_str().unwrap()
    }
}

/// The program and arguments of `gatehouse mcp` on a server's data.
fn stdio<'a>(server: &'a Server, args: &[&'a str]) -> Vec<&'a str> {
    [&[GATEHOUSE, "mcp", "--data", server.data().to_str().unwrap()], args].concat()
}

fn names(listed: &Value) -> Vec<&str> {
    listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

fn told(call: &Value) -> Value {
    assert_eq!(call["is_error"], false, "{call}");
    serde_json::from_str(call["text"].as_str().unwrap()).unwrap()
}

fn refused(call: &Value) -> &str {
    assert_eq!(call["is_error"], true, "{call}");
    call["text"].as_str().unwrap()
}

fn by_tier() -> Value {
    let sql = "SELECT tier, count(*) AS n FROM customers GROUP BY tier ORDER BY tier";
    json!(["execute_sql", { "dataset_id": "shop", "sql": sql }])
}

#[test]
fn chats_five_tools_over_http() {
    let plan = json!({ "version": "1", "from": { "resource": "customers" },
                       "select": [{ "expr": { "aggregate": { "fn": "count" } }, "as": "n" }] });
    let calls = json!([
        by_tier(),
        ["execute_query_plan", { "dataset_id": "shop", "plan_json": plan }],
        ["list_datasets", {}],
        ["get_dataset_schema", { "dataset_id": "shop" }],
        ["execute_sql", { "dataset_id": "shop", "sql": "DELETE FROM customers" }],
        ["execute_sql", { "dataset_id": "shop" }],
        ["execute_sql", { "dataset_id": "nothing", "sql": "SELECT 1" }],
        ["get_run_status", { "run_id": "7" }],
        ["Bash", { "command": "id" }],
    ]);
    for (mode, protocol) in MODES {
        let actor = format!("agent-{mode}");
        let token = demo().token(&actor, "analyst");
        let seen = over_http(demo(), mode, "/mcp", &token, &calls);
        assert_eq!((&seen["server"], &seen["protocol"]), (&json!("gatehouse"), &json!(protocol)));
        assert_eq!(
            names(&seen),
            ["list_datasets", "get_dataset_schema", "execute_query_plan", "execute_sql", "get_run_status"]
        );
        let calls = &seen["calls"];
        let run = told(&calls[0]);
        assert_eq!(run["rows"], json!([["enterprise", 8], ["free", 54], ["pro", 22]]));
        assert_eq!(told(&calls[1])["rows"], json!([[84]]));
        assert_eq!(told(&calls[2])["datasets"].as_array().unwrap().len(), 4);
        assert!(told(&calls[3]).to_string().contains("\"tier\""));
        for (at, code) in [
            (4, "sql.not_a_query"),
            (5, "tool.arguments"),
            (6, "dataset.unknown"),
            (7, "request.id"),
            (8, "tool.unknown"),
        ] {
            let text = refused(&calls[at]);
            assert!(text.contains(&format!("[{code}]\nhint: ")), "{text}");
        }
        // All of it is on record, with who it was.
        let client = Client::new(&demo().url).bearer(&token);
        let record = client.get(&format!("/runs/{}", run["run_id"].as_str().unwrap())).json();
        let details = &record["details"];
        assert_eq!((&details["door"], &details["actor"]), (&json!("mcp"), &json!(actor)));
        let runs = client.get("/runs").json();
        let statuses: Vec<&str> =
            runs["runs"].as_array().unwrap().iter().map(|run| run["status"].as_str().unwrap()).collect();
        assert_eq!(statuses, ["refused", "succeeded", "succeeded"]);
    }
}

#[test]
fn a_dataset_has_sqlites_tools_over_http() {
    let token = demo().token("bound", "analyst");
    let calls = json!([
        ["list_tables", {}],
        ["describe_table", { "table": "orders" }],
        ["describe_table", { "table": "sqlite_master" }],
        ["read_query", { "sql": "SELECT count(*) AS n FROM orders" }],
        ["read_query", { "sql": "ATTACH 'x' AS y" }],
        ["execute_sql", { "dataset_id": "shop", "sql": "SELECT 1" }],
    ]);
    let seen = over_http(demo(), "auto", "/mcp/shop", &token, &calls);
    assert_eq!((seen["server"].as_str().unwrap(), names(&seen)), ("sqlite", SQLITE_TOOLS.to_vec()));
    let calls = &seen["calls"];
    let tables: Vec<Value> = told(&calls[0]).as_array().unwrap().iter().map(|table| table["name"].clone()).collect();
    assert_eq!(json!(tables), json!(["customers", "order_items", "orders", "products"]));
    let orders = told(&calls[1]);
    assert_eq!(orders["foreign_keys"][0]["references"], "customers");
    assert!(refused(&calls[2]).contains("[table.unknown]\nhint: there are: customers, "));
    assert_eq!(told(&calls[3])["rows"], json!([[787]]));
    assert!(refused(&calls[4]).contains("[sql.not_a_query]"));
    assert!(refused(&calls[5]).contains("[tool.unknown]"));
    assert_eq!(Client::new(&demo().url).bearer(&token).post("/mcp/nothing", &json!({})).status, 404);
}

const SQLITE_TOOLS: [&str; 3] = ["list_tables", "describe_table", "read_query"];

#[test]
fn nobody_unknown_is_served() {
    for token in ["", "gh_wrong"] {
        let seen = over_http(demo(), "legacy", "/mcp", token, &json!([]));
        assert!(seen["failed"].is_array(), "{seen}");
    }
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    for path in ["/mcp", "/mcp/shop"] {
        let reply = demo().stranger().bearer("gh_wrong").post(path, &ping);
        assert_eq!((reply.status, reply.code().as_str()), (401, "auth.refused"), "{path}");
        assert_eq!(reply.header("www-authenticate"), "Bearer");
    }
    let elsewhere = analyst().clone().header("host", "evil.example").post("/mcp", &ping);
    assert_eq!((elsewhere.status, elsewhere.code().as_str()), (403, "request.host"));
}

#[test]
fn its_rate_is_limited_and_its_bodies_are_too() {
    let settings = [("LIMITS_REQUESTS_PER_SECOND", "1"), ("LIMITS_BURST", "3"), ("SERVER_BODY_LIMIT_BYTES", "1024")];
    let set = |server: ServerBuilder, (key, value): (&str, &str)| server.env(&format!("GATEHOUSE_{key}"), value);
    let server = settings.into_iter().fold(server().demo(), set).start();
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let greedy = speaking(&server.client("greedy", "analyst"));
    let replies: Vec<_> = (0..6).map(|_| greedy.post("/mcp", &list)).collect();
    assert_eq!(replies[0].status, 200, "{}", replies[0].text());
    assert!(replies.iter().any(|reply| reply.status == 429 && reply.code() == "request.rate_limited"));
    let large = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "x": "y".repeat(2_000) } });
    assert_eq!(speaking(&server.client("large", "analyst")).post("/mcp", &large).status, 413);
}

/// What every client of the protocol says of itself.
fn speaking(client: &Client) -> Client {
    client.clone().header("content-type", "application/json").header("accept", "application/json, text/event-stream")
}

/// The names of a configuration are good for `/mcp` as for everything else.
#[test]
fn a_configured_name_is_answered_to() {
    let server = server().demo().env("GATEHOUSE_SERVER_HOSTS", "data.example").start();
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let named = speaking(&server.client("named", "analyst")).header("host", "data.example");
    assert_eq!(named.post("/mcp", &list).status, 200);
}

/// Agents pay for every word of it with every question: about four characters a token.
#[test]
fn the_tools_are_told_in_few_words() {
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    for (path, most) in [("/mcp", MOST_OF_CHATS), ("/mcp/shop", 1_000)] {
        let reply = speaking(analyst()).post(path, &list);
        assert_eq!(reply.status, 200, "{}", reply.text());
        assert!(reply.body.len() <= most, "{path}: {} bytes", reply.body.len());
        for tool in reply.json()["result"]["tools"].as_array().unwrap() {
            let annotations = json!({ "readOnlyHint": true, "idempotentHint": true, "openWorldHint": false });
            assert_eq!(tool["annotations"], annotations, "{tool}");
        }
    }
}

const MOST_OF_CHATS: usize = 6_400;

/// What a tool's schema refers to is there.
#[test]
fn the_schema_of_a_plan_holds_together() {
    let tools = analyst().get("/tools").json();
    let plan = &tools["tools"][2]["input_schema"];
    let text = plan.to_string();
    let mut found = 0;
    for part in text.split("\"$ref\":\"").skip(1) {
        let at = part.split('"').next().unwrap().strip_prefix('#').unwrap();
        assert!(plan.pointer(at).is_some_and(|schema| !at.is_empty() && schema.is_object()), "{at}");
        found += 1;
    }
    assert!(found > 20, "{found}");
}

#[test]
fn a_child_on_pipes_serves_the_same() {
    let file = TokenFile::of(&demo().token("child", "analyst"), 0o600);
    let calls = json!([by_tier(), ["execute_sql", { "dataset_id": "shop", "sql": "DROP TABLE orders" }]]);
    for (mode, _) in MODES {
        let seen = client("stdio", mode, &stdio(demo(), &["--token-file", file.path()]), &calls);
        assert_eq!(names(&seen).len(), 5);
        let run = told(&seen["calls"][0]);
        assert_eq!(run["rows"][0], json!(["enterprise", 8]));
        assert!(refused(&seen["calls"][1]).contains("[sql.not_a_query]"));
        let admin = demo().client("owner", "admin");
        let record = admin.get(&format!("/runs/{}", run["run_id"].as_str().unwrap())).json();
        assert_eq!((&record["details"]["actor"], &record["details"]["door"]), (&json!("child"), &json!("mcp")));
    }
    let named = ["--tools", "sqlite", "--dataset", "shop", "--role", "analyst", "--actor", "ann"];
    let seen = client("stdio", "auto", &stdio(demo(), &named), &json!([["list_tables", {}]]));
    assert_eq!((seen["server"].as_str().unwrap(), names(&seen)), ("sqlite", SQLITE_TOOLS.to_vec()));
}

#[test]
fn a_child_says_at_once_what_cannot_work() {
    let token = demo().token("careless", "analyst");
    let (known, wrong) = (TokenFile::of(&token, 0o644), TokenFile::of("gh_wrong", 0o600));
    let good = TokenFile::of(&token, 0o600);
    let cases: [(&[&str], i32, &str); 6] = [
        (&[], 2, "nobody is named"),
        (&["--token-file", known.path()], 2, "others can read the token file"),
        (&["--token-file", "/nowhere/token"], 2, "cannot be read"),
        (&["--token-file", wrong.path()], 3, "[auth.refused]"),
        (&["--token-file", good.path(), "--tools", "sqlite", "--dataset", "x"], 5, "[dataset.unknown]"),
        (&["--token-file", good.path(), "--dataset", "shop"], 2, "Chat's tools are for all datasets"),
    ];
    for (args, code, said) in cases {
        let output = Command::new(GATEHOUSE).args(&stdio(demo(), args)[1..]).stdin(Stdio::null()).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), output.stdout.is_empty()), (Some(code), true), "{args:?}: {stderr}");
        assert!(stderr.contains(said), "{args:?}: {stderr}");
    }
}

/// A token that is taken back while its client is connected opens nothing any more, and that is no fault of the model's.
#[test]
fn a_revoked_token_is_refused_with_the_next_call() {
    let token = demo().token("leaving", "analyst");
    let file = TokenFile::of(&token, 0o600);
    let mut command = Command::new(GATEHOUSE);
    command.args(&stdio(demo(), &["--token-file", file.path()])[1..]).env("LOG_LEVEL", "error");
    let mut child = Pipes::open(command);
    child.ask(
        "initialize",
        &json!({ "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" } }),
    );
    let call = json!({ "name": "list_datasets", "arguments": {} });
    assert_eq!(child.ask("tools/call", &call)["result"]["isError"], false);
    let id = token.split('_').nth(1).unwrap();
    assert!(demo().command(&["tokens", "revoke", id]).status.success());
    let refused = child.ask("tools/call", &call);
    assert_eq!(
        (&refused["error"]["code"], &refused["error"]["data"]["code"]),
        (&json!(-32603), &json!("auth.refused"))
    );
}

/// JSON-RPC by hand.
struct Pipes {
    child: std::process::Child,
    lines: std::io::Lines<std::io::BufReader<std::process::ChildStdout>>,
    asked: u32,
}

impl Pipes {
    fn open(mut command: Command) -> Self {
        use std::io::BufRead;
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let lines = std::io::BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines, asked: 0 }
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.asked += 1;
        let request = json!({ "jsonrpc": "2.0", "id": self.asked, "method": method, "params": params });
        writeln!(self.child.stdin.as_mut().unwrap(), "{request}").unwrap();
        let line = self.lines.next().unwrap().unwrap();
        if method == "initialize" {
            let known = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
            writeln!(self.child.stdin.as_mut().unwrap(), "{known}").unwrap();
        }
        serde_json::from_str(&line).unwrap()
    }
}

impl Drop for Pipes {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        self.child.wait().unwrap();
    }
}

/// Whatever statement an agent sends, nothing changes, and each attempt is on record.
#[test]
fn nothing_is_written() {
    let server = server().demo().start();
    let database = server.data().join("demo.db");
    let state = || (std::fs::read(&database).unwrap(), std::fs::metadata(&database).unwrap().modified().unwrap());
    let before = state();
    let statements =
        include_str!("../cases/analyst_writes.txt").lines().filter_map(|line| line.strip_prefix("run sql: "));
    let calls: Vec<Value> = statements.map(|sql| json!(["read_query", { "sql": sql }])).collect();
    let token = server.token("mallory", "analyst");
    let seen = over_http(&server, "auto", "/mcp/shop", &token, &json!(calls));
    let refusals = seen["calls"].as_array().unwrap().iter().map(refused).count();
    assert_eq!((refusals, calls.len()), (14, 14));
    let runs = Client::new(&server.url).bearer(&token).get("/runs").json();
    assert_eq!(runs["runs"].as_array().unwrap().iter().filter(|run| run["status"] == "refused").count(), calls.len());
    let written = usize::from(before != state());
    tally("house", "attempts to write through MCP", calls.len(), "written", written);
    assert_eq!(written, 0);
}

/// Rows beyond what a model can use are left out whole, and it is told.
#[test]
fn a_large_result_is_cut_between_rows() {
    let token = demo().token("greedy-reader", "analyst");
    let wide = "SELECT o.*, c.*, i.* FROM orders o JOIN customers c ON c.id = o.customer_id JOIN order_items i ON i.order_id = o.id";
    let seen = over_http(demo(), "auto", "/mcp/shop", &token, &json!([["read_query", { "sql": wide }]]));
    let run = told(&seen["calls"][0]);
    let shown = run["rows"].as_array().unwrap().len();
    assert!(seen["calls"][0]["text"].as_str().unwrap().len() < 50 * 1024);
    assert_eq!((run["row_count"].as_u64().unwrap(), run["truncated"].as_bool().unwrap()), (1_000, true));
    assert_eq!(
        run["note"].as_str().unwrap().split(':').next(),
        Some(&*format!("only the first {shown} of 1000 rows are shown"))
    );
}

#[test]
fn the_inspector_lists_and_calls() {
    let program = Command::new(format!("{PROJECT}/scripts/inspector")).output().unwrap();
    assert!(program.status.success(), "{}", String::from_utf8_lossy(&program.stderr));
    let program = String::from_utf8(program.stdout).unwrap();
    let inspect = |args: &[&str]| {
        let output = Command::new(program.trim()).arg("--cli").args(args).stdin(Stdio::null()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (serde_json::from_slice::<Value>(&output.stdout).unwrap_or_default(), said)
    };
    let token = demo().token("inspector", "analyst");
    let header = format!("Authorization: Bearer {token}");
    let over_http = |path: &str, args: &[&str]| {
        let url = format!("{}{path}", demo().url);
        inspect(&[&[url.as_str(), "--transport", "http", "--header", &header], args].concat())
    };
    let (listed, said) = over_http("/mcp", &["--method", "tools/list"]);
    assert_eq!(names(&listed).len(), 5, "{said}");
    let sql = "sql=SELECT count(*) AS n FROM orders";
    let call = ["--method", "tools/call", "--tool-name", "read_query", "--tool-arg", sql];
    let (called, said) = over_http("/mcp/shop", &call);
    assert!(called["content"][0]["text"].as_str().unwrap_or_default().contains("\"rows\":[[787]]"), "{said}");
    let file = TokenFile::of(&token, 0o600);
    let child = stdio(demo(), &["--tools", "sqlite", "--dataset", "shop", "--token-file", file.path()]);
    let (called, said) = inspect(&[child.as_slice(), &call].concat());
    assert!(called["content"][0]["text"].as_str().unwrap_or_default().contains("\"rows\":[[787]]"), "{said}");
}
