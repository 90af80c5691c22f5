//! Models behind Analyst and Chat: what they are told, what they may do, and what is on record of it.

use crate::analyst::{Lines, records};
use crate::support::{demo, rows, server, verify};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use testkit::{Client, Messages, Said, Server, ServerBuilder, tally};

const BY_TIER: &str = "SELECT tier, count(*) AS customers FROM customers GROUP BY tier ORDER BY tier";
const LARGEST: &str = "SELECT max(quantity) AS largest FROM order_items";
const INSIGHT: &str = "Most customers are free.\n\nThe largest order is not theirs.";

/// A demo whose model says what is written down.
struct House {
    server: Server,
    lines: Lines,
    model: Messages,
}

impl House {
    fn of(script: impl IntoIterator<Item = Said>) -> Self {
        Self::with(server(), Messages::script(script))
    }

    fn with(builder: ServerBuilder, model: Messages) -> Self {
        let (server, lines) = Lines::server(planned_by("claude", builder, &model));
        Self { server, lines, model }
    }

    fn client(&self) -> Client {
        self.server.client("ann", "analyst")
    }

    /// Everything that the model was told, as text.
    fn told(&self) -> String {
        self.model.requests().iter().map(|request| request.body.to_string()).collect()
    }
}

fn planned_by(planner: &str, builder: ServerBuilder, model: &Messages) -> ServerBuilder {
    let builder = builder.env("GATEHOUSE_PLANNER", planner);
    match planner {
        "openai" => builder.env("OPENAI_API_KEY", Messages::KEY).env("OPENAI_BASE_URL", &format!("{}/v1", model.url)),
        _ => builder.env("ANTHROPIC_API_KEY", Messages::KEY).env("ANTHROPIC_BASE_URL", &model.url),
    }
}

fn query(id: &str, sql: &str) -> Said {
    Said::tool(id, "read_query", &json!({ "sql": sql }))
}

fn analysis() -> Vec<Said> {
    vec![
        Said::thinking("First the tiers.", "sig-1")
            .and_tool("call_1", "read_query", &json!({ "sql": BY_TIER }))
            .usage(900, 60, 800, 0)
            .when("Who buys from us?"),
        query("call_2", LARGEST).usage(50, 40, 100, 1_700).when(r#"\"columns\":[\"tier\",\"customers\"]"#),
        Said::text(INSIGHT).usage(30, 90, 60, 1_800).when("largest"),
    ]
}

fn completion(client: &Client, messages: Value) -> testkit::Reply {
    client.post("/v1/chat/completions", &json!({ "model": "claude-da/analyst", "messages": messages }))
}

fn ask(client: &Client, question: &str) -> testkit::Reply {
    completion(client, json!([{ "role": "user", "content": question }]))
}

fn session(reply: &testkit::Reply) -> String {
    reply.json()["id"].as_str().unwrap().trim_start_matches("chatcmpl-").to_owned()
}

#[test]
fn an_analysis_of_two_queries_and_its_audit_line() {
    let house = House::of(analysis());
    let client = house.client().header("x-request-id", "req-analysis");
    let reply = ask(&client, "Who buys from us?");
    assert_eq!(reply.status, 200, "{}", reply.text());
    let body = reply.json();
    assert_eq!(body["choices"][0]["message"]["content"], INSIGHT);
    assert_eq!(body["usage"], json!({ "prompt_tokens": 5_440, "completion_tokens": 190, "total_tokens": 5_630 }));
    let mut line = house.lines.of(&session(&reply));
    for (field, shown) in [("/session_id", "…"), ("/timestamp", "…"), ("/metadata/duration_seconds", "…")] {
        *line.pointer_mut(field).unwrap() = json!(shown);
    }
    insta::assert_json_snapshot!("an analysis' audit line", line);
    // Every statement is a run of its own; the answer names them all.
    let [answer, _, _] = records(&house.server, &session(&reply)).try_into().unwrap();
    assert_eq!(answer["details"]["planner"], "claude");
    assert_eq!(answer["details"]["model"], "claude-sonnet-5-5");
    assert_eq!(answer["details"]["cost_usd"], json!(0.006_61));
    let steps = answer["details"]["runs"].as_array().unwrap();
    let statement =
        |id: &Value| client.get(&format!("/runs/{}", id.as_str().unwrap())).json()["details"]["sql_text"].clone();
    assert_eq!(steps.iter().map(statement).collect::<Vec<_>>(), [BY_TIER, LARGEST, LARGEST]);
    assert_eq!(verify(&house.server)["flaw"], Value::Null);
}

#[test]
fn its_words_are_passed_on_as_they_come() {
    let house = House::of(analysis());
    let body = json!({
        "model": "claude-da/analyst", "stream": true, "stream_options": { "include_usage": true },
        "messages": [{ "role": "user", "content": "Who buys from us?" }],
    });
    let text = house.client().post("/v1/chat/completions", &body).text();
    let data: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
    let chunks: Vec<Value> = data.iter().filter_map(|data| serde_json::from_str(data).ok()).collect();
    let words: Vec<&str> = chunks.iter().filter_map(|c| c["choices"][0]["delta"]["content"].as_str()).collect();
    assert_eq!(words.concat(), INSIGHT);
    assert_eq!(chunks.last().unwrap()["usage"]["completion_tokens"], 190);
    assert_eq!(data.last(), Some(&"[DONE]"));
}

#[test]
fn the_same_numbers_with_and_without_a_model() {
    let house = House::of(analysis().into_iter().take(1).chain([Said::text("So many.")]));
    let reply = ask(&house.client(), "Who buys from us?");
    let by_model = &records(&house.server, &session(&reply))[0];
    let offline = ask(&demo().client("ann", "analyst"), "How many customers are there per tier?");
    let by_rules = &records(demo(), &session(&offline))[0];
    let sorted = |run: &Value| {
        let mut rows: Vec<String> = rows(run).iter().map(Value::to_string).collect();
        rows.sort();
        rows
    };
    assert_eq!(rows(by_model).len(), 3);
    assert_eq!(sorted(by_model), sorted(by_rules));
}

#[test]
fn other_servers_plan_as_well() {
    let model = Messages::script(analysis());
    let (server, lines) = Lines::server(planned_by("openai", server(), &model).env("CLAUDE_DA_MODEL", "qwen"));
    let reply = ask(&server.client("ann", "analyst"), "Who buys from us?");
    assert_eq!(reply.json()["choices"][0]["message"]["content"], INSIGHT);
    let line = lines.of(&session(&reply));
    assert_eq!((&line["metadata"]["model"], &line["metadata"]["cost_estimate_usd"]), (&json!("qwen"), &Value::Null));
    assert_eq!(line["sql_queries_executed"].as_array().unwrap().len(), 2);
}

/// This server's program where every user can run it: builds are often in a home that is shut.
fn within_reach(dir: &Path) -> PathBuf {
    let built = Path::new(env!("CARGO_BIN_EXE_gatehouse"));
    let libraries = engines::duckdb_libraries().into_iter().flat_map(|dir| std::fs::read_dir(dir).unwrap());
    let files = libraries.map(|file| file.unwrap().path()).filter(|file| file.to_string_lossy().contains("/libduckdb"));
    for file in files.chain([built.to_owned()]) {
        let there = dir.join(file.file_name().unwrap());
        if !there.exists() && std::fs::hard_link(&file, &there).is_err() {
            std::fs::copy(&file, &there).unwrap();
        }
    }
    dir.join(built.file_name().unwrap())
}

/// The agent CLI, by the program that stands in for it: its tools are a `gatehouse mcp` that works as the caller.
#[test]
fn the_agent_cli_plans_as_well() {
    let dir = tempfile::tempdir().unwrap();
    let script = json!({ "seen": dir.path().join("seen.json"), "steps": [
        { "call": ["read_query", { "sql": "SELECT * FROM customers" }] },
        { "expect": "[model.personal]" },
        { "call": ["read_query", { "sql": BY_TIER }] },
        { "text": INSIGHT },
        { "result": { "result": INSIGHT } },
    ]});
    let program = crate::claude_code::program(dir.path(), &script);
    let planted = "qx7secret";
    let builder = ["PLANTED_SECRET", "OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY"]
        .iter()
        .fold(server().env("GATEHOUSE_PLANNER", "claude-code"), |builder, name| builder.env(name, planted));
    let builder = builder.program(within_reach(dir.path()));
    let (server, lines) = Lines::server(builder.env("GATEHOUSE_MODEL_CLAUDE_PROGRAM", program.to_str().unwrap()));
    // An admin may read `email`; a model may not.
    let admin = server.client("root", "admin");
    let reply = ask(&admin, "Who buys from us?");
    assert_eq!(reply.json()["choices"][0]["message"]["content"], INSIGHT, "{}", reply.text());
    let [answer, refused, shown] = records(&server, &session(&reply)).try_into().unwrap();
    assert_eq!((&answer["details"]["planner"], rows(&answer).len()), (&json!("claude-code"), 3), "{answer}");
    assert_eq!(refused["details"]["sql_text"], "SELECT * FROM customers");
    assert_eq!((&shown["details"]["actor"], &shown["details"]["sql_text"]), (&json!("root"), &json!(BY_TIER)));
    assert_eq!(lines.of(&session(&reply))["metadata"]["tool_call_count"], 2);
    // The token of the question is good for nothing any more.
    let tokens = admin.get("/tokens").json();
    let open = |token: &&Value| token["expires_at"].is_string() && token["revoked_at"].is_null();
    let left = tokens["tokens"].as_array().unwrap().iter().filter(open).filter(|token| token["actor"] == "root");
    assert_eq!(left.count(), 0, "{tokens}");
    // Of the server's environment it has what it needs; of its rights, if these are root's, none.
    let seen: Value = serde_json::from_str(&std::fs::read_to_string(dir.path().join("seen.json")).unwrap()).unwrap();
    let leaks = usize::from(seen.to_string().contains(planted));
    tally("house", "secrets planted in the environment of a server with the agent CLI", 3, "passed on", leaks);
    assert_eq!(leaks, 0, "{seen}");
    assert!(seen["environment"]["PATH"].is_string() && seen["environment"]["HOME"].is_string(), "{seen}");
    if rustix::process::geteuid().is_root() {
        assert_ne!(seen["uid"], 0, "{seen}");
    }
}

#[test]
fn what_is_no_question_about_data_uses_no_tool_and_all_messages_reach_the_model() {
    let house = House::of([Said::text("4.").when("what's 2+2?"), Said::text("400.").when("And in October?")]);
    let reply = ask(&house.client(), "what's 2+2?");
    assert_eq!(reply.json()["choices"][0]["message"]["content"], "4.");
    let line = house.lines.of(&session(&reply));
    assert_eq!((&line["sql_queries_executed"], &line["metadata"]["tool_call_count"]), (&json!([]), &json!(0)));
    let said = ["Hello", "Hello! What would you like to know?", "Revenue in September?", "250.", "And in October?"];
    let roles = ["user", "assistant"].iter().cycle();
    let messages: Vec<Value> =
        said.iter().zip(roles).map(|(text, role)| json!({ "role": role, "content": text })).collect();
    assert_eq!(completion(&house.client(), json!(messages)).json()["choices"][0]["message"]["content"], "400.");
    let last = house.model.requests().pop().unwrap().body["messages"].to_string();
    let mut from = 0;
    for text in said {
        from += last[from..].find(text).unwrap_or_else(|| panic!("`{text}` is missing or out of order: {last}"));
    }
}

/// AC-05: whatever a model tries, it reads; and each attempt is on record.
#[test]
fn a_model_that_tries_to_write_is_told_why_not() {
    let attempts = [
        "DELETE FROM customers",
        "ATTACH DATABASE '/tmp/other.db' AS other",
        "PRAGMA writable_schema = ON",
        "INSERT INTO orders (id) VALUES (1)",
        "CREATE TABLE mine (id INTEGER)",
        "SELECT load_extension('x')",
        "VACUUM INTO '/tmp/copy.db'",
        "SELECT 1; DROP TABLE customers",
    ];
    let tries = attempts.iter().enumerate().map(|(n, sql)| query(&format!("call_{n}"), sql));
    let house = House::of(tries.chain([Said::text("I only read.")]));
    let before = ask_count(&house);
    let reply = ask(&house.client(), "Delete all customers.");
    assert_eq!(reply.json()["choices"][0]["message"]["content"], "I only read.", "{}", reply.text());
    let results: Vec<Value> = house.model.requests().into_iter().skip(1).map(last_result).collect();
    let errors = results.iter().filter(|result| result["is_error"] == true).count();
    let line = house.lines.of(&session(&reply));
    assert_eq!(line["sql_queries_executed"], json!(attempts));
    let refused = line["query_results_summary"].as_array().unwrap().iter().filter(|s| s["error"].is_string()).count();
    let written = usize::from(ask_count(&house) != before);
    tally("house", "attempts of a model to write", attempts.len(), "not refused", attempts.len() - errors + written);
    assert_eq!((errors, refused, written), (attempts.len(), attempts.len(), 0), "{line}");
}

fn last_result(request: testkit::Recorded) -> Value {
    let messages = request.body["messages"].as_array().unwrap().clone();
    messages.last().unwrap()["content"][0].clone()
}

fn ask_count(house: &House) -> Value {
    let sql = json!({ "sql": "SELECT (SELECT count(*) FROM customers), (SELECT count(*) FROM orders)" });
    house.client().post("/datasets/shop/query", &sql).json()["result"]["rows"].clone()
}

/// The model has the database's tools and no others, and may not call what it is not offered.
#[test]
fn a_model_has_the_tools_of_its_door_only() {
    let shell = Said::tool("call_1", "Bash", &json!({ "command": "id" }));
    let house = House::of([shell, Said::text("I cannot.").when("there is no tool")]);
    assert_eq!(ask(&house.client(), "Run id.").status, 200);
    let names = |body: &Value| -> Vec<String> {
        body["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&house.model.requests()[0].body), ["list_tables", "describe_table", "read_query"]);
    let chat = House::of([Said::text("Hello.")]);
    chat.client().ask("shop", "Hello");
    let five = ["list_datasets", "get_dataset_schema", "execute_query_plan", "execute_sql", "get_run_status"];
    assert_eq!(names(&chat.model.requests()[0].body), five);
}

#[test]
fn chat_has_the_same_events_and_capsules_with_a_model() {
    let plan = json!({
        "dataset_id": "shop",
        "plan_json": {
            "version": "1",
            "from": { "resource": "customers" },
            "select": [{ "expr": { "field": "tier" } }, { "expr": { "aggregate": { "fn": "count" } } }],
            "group_by": [{ "field": "tier" }],
        },
    });
    let house = House::of([
        Said::tool("call_1", "execute_query_plan", &plan),
        Said::text("Three tiers.").when("\\\"row_count\\\":3"),
        Said::text("As I said.").when("And again?"),
    ]);
    let client = house.client();
    let body = json!({ "dataset_id": "shop", "message": "How many customers are there per tier?" });
    let events = client.events("/chat/stream", &body);
    let offline = demo().client("ann", "analyst").events("/chat/stream", &body);
    let shape = |events: &[testkit::Event]| -> Vec<(String, Value)> {
        events.iter().map(|event| (event.name.clone(), event.data["status"].clone())).collect()
    };
    assert_eq!(shape(&events), shape(&offline));
    let result = |events: &[testkit::Event]| -> Value {
        events.iter().find(|event| event.name == "result").unwrap().data.clone()
    };
    let (by_model, by_rules) = (result(&events), result(&offline));
    assert_eq!(keys(&by_model), keys(&by_rules));
    assert_eq!(keys(&by_model["details"]), keys(&by_rules["details"]));
    assert_eq!(by_model["assistant_message"], "Three tiers.");
    assert_eq!((&by_model["details"]["query_mode"], rows(&by_model).len()), (&json!("plan"), 3));
    // The next question of the thread brings the one before along.
    let again = json!({ "dataset_id": "shop", "thread_id": by_model["thread_id"], "message": "And again?" });
    assert_eq!(client.post("/chat", &again).json()["assistant_message"], "As I said.");
    let last = house.model.requests().pop().unwrap().body["messages"].to_string();
    assert!(last.contains("per tier?") && last.contains("Three tiers."), "{last}");
}

fn keys(value: &Value) -> Vec<&String> {
    value.as_object().unwrap().keys().collect()
}

/// Personal values are placeholders to a model, in what it reads and in what it writes; its reader has the values.
#[test]
fn personal_values_reach_no_model() {
    let house = House::of([
        query("call_1", "SELECT email FROM customers ORDER BY id LIMIT 2"),
        query("call_2", "SELECT name, email FROM customers ORDER BY id LIMIT 1").when("⟦email 1⟧"),
        Said::text("Write to ⟦email 1⟧, which is ⟦name 1⟧."),
        Said::text("No."),
    ]);
    let admin = house.server.client("root", "admin");
    let sql = json!({ "sql": "SELECT email, name FROM customers ORDER BY id LIMIT 1" });
    let first = admin.post("/datasets/shop/query", &sql).json()["result"]["rows"][0].clone();
    let (email, name) = (first[0].as_str().unwrap(), first[1].as_str().unwrap());
    let reply = ask(&admin, "Whom should we write to?");
    let answer = reply.json()["choices"][0]["message"]["content"].clone();
    assert_eq!(answer, format!("Write to {email}, which is {name}."), "{}", reply.text());
    // The rules of the demo hide `email` from analysts; to a model nobody's is shown, nor named in its schema.
    ask(&house.client(), "Is there anything else?");
    let told = house.told();
    let leaks = [email, name, "email:"].iter().filter(|text| told.contains(*text)).count();
    tally("house", "personal values asked for by a model", 2, "told to it", leaks);
    assert_eq!(leaks, 0, "{told}");
}

/// A placeholder that a model sends back does not become a value that it is told.
#[test]
fn no_placeholder_can_be_turned_back() {
    let tries = [
        query("call_2", "SELECT '⟦email 1⟧' AS said"),
        query("call_3", "SELECT 1 AS \"⟦email 1⟧\""),
        query("call_4", "SELECT id FROM customers WHERE name = ⟦email 1⟧"),
        Said::tool("call_5", "describe_table", &json!({ "table": "⟦email 1⟧" })),
        query("call_6", "SELECT mail FROM customers"),
    ];
    let count = tries.len();
    let first = query("call_1", "SELECT email FROM customers ORDER BY id LIMIT 1");
    let house = House::of([first].into_iter().chain(tries).chain([Said::text("So it is.")]));
    let admin = house.server.client("root", "admin");
    let sql = json!({ "sql": "SELECT email FROM customers ORDER BY id LIMIT 1" });
    let email = admin.post("/datasets/shop/query", &sql).json()["result"]["rows"][0][0].as_str().unwrap().to_owned();
    let reply = ask(&admin, "What is it?");
    assert_eq!(reply.json()["choices"][0]["message"]["content"], "So it is.", "{}", reply.text());
    // The last one, a misspelt column, is told without the name of the personal one that was meant.
    let told = house.told().replace("SELECT email FROM", "").replace("⟦email 1⟧", "");
    let leaks = [email.as_str(), "`email`"].iter().filter(|text| told.contains(*text)).count();
    tally("house", "placeholders sent back by a model", count, "told in clear", leaks);
    assert_eq!(leaks, 0, "{told}");
}

#[test]
fn a_refusal_after_some_words_is_told_too() {
    let house = House::of([Said::text("Let me see").stop("refusal")]);
    let body =
        json!({ "model": "claude-da/analyst", "stream": true, "messages": [{ "role": "user", "content": "Hm?" }] });
    let text = house.client().post("/v1/chat/completions", &body).text();
    assert!(text.contains("Let me") && text.contains("declined to answer"), "{text}");
}

#[test]
fn failures_of_a_model_are_errors_of_the_specification() {
    type Settings<'a> = &'a [(&'a str, &'a str)];
    // Nobody waits for seven seconds where there are three.
    let cases: [(Said, Settings<'_>, u16, &str); 6] = [
        (Said::rate_limited("7"), &[("GATEHOUSE_MODEL_TIMEOUT_SECONDS", "3")], 429, "rate_limited"),
        (Said::error(401, "invalid x-api-key"), &[], 503, "model_unavailable"),
        (Said::text("slow").stall_after(1), &[("GATEHOUSE_MODEL_TIMEOUT_SECONDS", "1")], 504, "agent_timeout"),
        (Said::text("cut").cut_after(3), &[("GATEHOUSE_MODEL_TIMEOUT_SECONDS", "3")], 503, "model_unavailable"),
        (
            query("call_1", "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r"),
            &[("RUN_TIMEOUT_SECONDS", "1")],
            504,
            "query_timeout",
        ),
        (Said::text("dear"), &[("CLAUDE_DA_MAX_BUDGET_USD", "0.001")], 200, ""),
    ];
    for (said, settings, status, code) in cases {
        let builder = settings.iter().fold(server(), |server, (name, value)| server.env(name, value));
        let house = House::with(builder, Messages::always(said));
        let reply = ask(&house.client(), "How many customers are there?");
        assert_eq!((reply.status, reply.code().as_str()), (status, code), "{}", reply.text());
        assert_eq!(reply.header("retry-after"), if status == 429 { "7" } else { "" });
        let line = &house.lines.wait_for(1)[0];
        assert_eq!(line["user_question"], "How many customers are there?");
    }
}

#[test]
fn a_model_that_goes_on_for_ever_is_stopped_with_what_it_has() {
    let house = House::with(
        server().env("CLAUDE_DA_MAX_TURNS", "2"),
        Messages::script([query("call_1", BY_TIER), Said::text("As far as I see, three tiers.").when("No more tools")]),
    );
    let reply = ask(&house.client(), "Who buys from us?");
    assert_eq!(reply.status, 200);
    let text = reply.json()["choices"][0]["message"]["content"].to_string();
    assert!(text.contains("three tiers"), "{text}");
}

#[test]
fn a_run_whose_client_leaves_ends_and_is_on_record() {
    let house = House::with(server(), Messages::always(Said::text("Much to say").stall_after(5)));
    let body =
        json!({ "model": "claude-da/analyst", "stream": true, "messages": [{ "role": "user", "content": "Go on" }] })
            .to_string();
    let mut socket = TcpStream::connect(house.server.url.strip_prefix("http://").unwrap()).unwrap();
    let token = house.server.token("ann", "analyst");
    let head = format!("Host: localhost\r\nAuthorization: Bearer {token}\r\nContent-Length: {}", body.len());
    let start = "POST /v1/chat/completions HTTP/1.1\r\nContent-Type: application/json";
    write!(socket, "{start}\r\n{head}\r\n\r\n{body}").unwrap();
    let (mut seen, mut chunk) = (Vec::new(), [0; 1024]);
    while !String::from_utf8_lossy(&seen).contains("Much") {
        let count = socket.read(&mut chunk).unwrap();
        seen.extend_from_slice(&chunk[..count]);
    }
    drop(socket);
    house.model.wait_for_departures(1);
    let line = &house.lines.wait_for(1)[0];
    assert_eq!(line["metadata"]["error"], "request_cancelled", "{line}");
    let run = &records(&house.server, line["session_id"].as_str().unwrap())[0];
    assert_eq!((&run["status"], &run["details"]["planner"]), (&json!("cancelled"), &json!("claude")));
}

#[test]
fn a_missing_key_names_both_ways_out() {
    let problem = server().env("GATEHOUSE_PLANNER", "").try_start().err().unwrap();
    for part in ["needs a key", "ANTHROPIC_API_KEY", "--planner offline"] {
        assert!(problem.contains(part), "{problem}");
    }
    let problem = server().demo().env("ANTHROPIC_API_KEY", "sk-ant oops").try_start().err().unwrap();
    assert!(problem.contains("is no key") && !problem.contains("oops"), "{problem}");
}

/// A hundred answers at the same time: each is whole, and the server is no larger after many of them.
#[test]
fn a_hundred_streams_at_a_time() {
    let text = "One sentence of an answer. ".repeat(20);
    let house = House::with(server(), Messages::always(Said::text(&text)));
    let client = house.client();
    let body = json!({
        "model": "claude-da/analyst", "stream": true, "messages": [{ "role": "user", "content": "Tell me about it" }],
    });
    let answer = || -> String {
        let reply = client.post("/v1/chat/completions", &body).text();
        assert!(reply.trim_end().ends_with("data: [DONE]"), "{reply}");
        let chunks = reply.lines().filter_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok());
        chunks.filter_map(|c: Value| Some(c["choices"][0]["delta"]["content"].as_str()?.to_owned())).collect()
    };
    let round = || {
        std::thread::scope(|scope| {
            let streams: Vec<_> = (0..100).map(|_| scope.spawn(answer)).collect();
            streams.into_iter().map(|stream| stream.join().unwrap()).filter(|told| *told != text).count()
        })
    };
    let warm = round() + round();
    let before = resident_mib(&house.server);
    let wrong = warm + round() + round() + round();
    let grown = resident_mib(&house.server).saturating_sub(before);
    assert_eq!(wrong, 0);
    assert!(grown < 24, "{grown} MiB more after 300 streams");
}

fn resident_mib(server: &Server) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.pid())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
}

#[test]
fn the_doctor_looks_at_the_planner() {
    let planner = |settings: &[(&str, &str)]| -> Value {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_gatehouse"));
        command.args(["doctor", "--json", "--data"]).arg(demo().data());
        command.env_remove("ANTHROPIC_API_KEY").envs(settings.iter().copied());
        let output = command.output().unwrap();
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        let findings = found.as_array().unwrap();
        findings.iter().find(|finding| finding["check"] == "planner").unwrap().clone()
    };
    let key = ("ANTHROPIC_API_KEY", "sk-ant-not-a-real-one");
    for (settings, verdict, part) in [
        (vec![("GATEHOUSE_PLANNER", "offline")], "ok", "no model"),
        (vec![("GATEHOUSE_PLANNER", "claude")], "fail", "ANTHROPIC_API_KEY"),
        (vec![("GATEHOUSE_PLANNER", "claude"), ("ANTHROPIC_API_KEY", "abc")], "warn", "does not begin like"),
        (vec![("GATEHOUSE_PLANNER", "claude"), key], "ok", "claude-sonnet-5-5"),
        (vec![("GATEHOUSE_PLANNER", "claude"), key, ("CLAUDE_DA_MODEL", "unheard-of")], "warn", "price"),
        (
            vec![("GATEHOUSE_PLANNER", "claude-code"), ("GATEHOUSE_MODEL_CLAUDE_PROGRAM", "/nowhere")],
            "fail",
            "cannot be started",
        ),
    ] {
        let found = planner(&settings);
        assert_eq!(found["verdict"], verdict, "{settings:?}: {found}");
        assert!(found["message"].as_str().unwrap().contains(part), "{settings:?}: {found}");
    }
}
