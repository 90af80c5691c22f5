//! The agent CLI as a planner, by a program that stands in for it and speaks its protocol. Its tools are the real ones:
//! the stand-in starts `gatehouse mcp` as it is told to.

use crate::support::demo;
use domain::SessionId;
use planner::{Answer, Caps, ClaudeCode, Ending, Event, Finished, McpServer, Message};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const STAND_IN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/python/claude_stand_in.py");
const QUESTION: &str = "How many orders are there, and which tier has most customers?";

/// One run after a script, and what was seen of it.
struct Seen {
    finished: Finished,
    events: Vec<Event>,
    session: SessionId,
    dir: tempfile::TempDir,
}

impl Seen {
    /// What the stand-in was started with and told.
    fn told(&self) -> Value {
        let text = std::fs::read_to_string(self.dir.path().join("seen.json"));
        serde_json::from_str(&text.expect("the stand-in was told something")).unwrap()
    }

    fn code(&self) -> &str {
        &self.finished.answer.as_ref().unwrap_err().code
    }

    fn answer(&self) -> &Answer {
        self.finished.answer.as_ref().unwrap()
    }

    fn streamed(&self) -> String {
        let text = |event: &Event| if let Event::Text(text) = event { Some(text.clone()) } else { None };
        self.events.iter().filter_map(text).collect()
    }
}

/// A program that is the stand-in with this script: the variable that names it is part of the program, not of this
/// process, whose environment all tests share.
pub fn program(dir: &Path, script: &Value) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let (file, program) = (dir.join("script.json"), dir.join("claude"));
    std::fs::write(&file, script.to_string()).unwrap();
    std::fs::write(&program, format!("#!/bin/sh\nCLAUDE_SCRIPT='{}' exec '{STAND_IN}' \"$@\"\n", file.display()))
        .unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    // A server that is root starts it as another user, who writes down what it has seen.
    std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o777)).unwrap();
    program
}

async fn run(caps: Caps, messages: &[Message], mut script: Value) -> Seen {
    let dir = tempfile::tempdir().unwrap();
    script["seen"] = json!(dir.path().join("seen.json"));
    let cli = ClaudeCode::new(program(dir.path(), &script), "claude-sonnet-5-5", None, caps);
    let session = SessionId::new();
    let data = demo().data().to_str().unwrap();
    let id = session.to_string();
    let args = ["mcp", "--tools", "sqlite", "--dataset", "shop", "--analyst", "--session", &id, "--data", data];
    let server = McpServer {
        program: env!("CARGO_BIN_EXE_gatehouse").into(),
        args: args.map(str::to_owned).into(),
        token: Some(demo().token("cli", "analyst")),
    };
    let mut events = Vec::new();
    let system = ["You are an analyst.".to_owned(), "Schema: …".to_owned()];
    let finished = cli.run(&system, messages, &server, &mut |event| events.push(event)).await;
    Seen { finished, events, session, dir }
}

async fn ask(steps: Value) -> Seen {
    run(Caps::default(), &[Message::user(QUESTION)], json!({ "steps": steps })).await
}

/// Without tools, for what goes wrong before any is called.
async fn talk(caps: Caps, steps: Value) -> Seen {
    run(caps, &[Message::user(QUESTION)], json!({ "steps": steps, "server": false })).await
}

#[tokio::test]
async fn two_queries_are_asked_answered_and_on_record() {
    let orders = "SELECT count(*) AS n FROM orders";
    let tiers = "SELECT tier, count(*) AS n FROM customers GROUP BY tier ORDER BY n DESC";
    let seen = ask(json!([
        { "line": "a line that is no frame" },
        { "text": "I look at the orders first." },
        { "call": ["read_query", { "sql": orders }] },
        { "expect": "[[787]]" },
        { "line": "{\"type\":\"rate_limit_event\",\"rate_limit_info\":{}}" },
        { "call": ["read_query", { "sql": "DELETE FROM orders" }] },
        { "expect": "[sql.not_a_query]" },
        { "call": ["read_query", { "sql": tiers }] },
        { "text": "There are 787 orders; most customers are free ones." },
        { "result": { "result": "There are 787 orders; most customers are free ones." } },
    ]))
    .await;
    let text = "I look at the orders first.\n\nThere are 787 orders; most customers are free ones.";
    assert_eq!(seen.answer(), &Answer { text: text.to_owned(), ending: Ending::Complete });
    assert_eq!(seen.streamed(), text, "told while it came");
    let spent = seen.finished.spent;
    assert_eq!((spent.turns, spent.tool_calls, spent.cost_usd), (5, 3, Some(0.0123)));
    assert_eq!((spent.usage.input, spent.usage.output), (500, 100));
    let tools: Vec<(&str, Option<&str>)> = seen
        .events
        .iter()
        .filter_map(|event| match event {
            Event::ToolFinished { name, fault, .. } => Some((name.as_str(), fault.as_ref().map(|f| f.code.as_str()))),
            _ => None,
        })
        .collect();
    assert_eq!(tools, [("read_query", None), ("read_query", Some("sql.not_a_query")), ("read_query", None)]);

    let admin = demo().client("owner", "admin");
    let runs = admin.get(&format!("/runs?session_id={}", seen.session)).json();
    let runs: Vec<Value> = runs["runs"]
        .as_array()
        .unwrap()
        .iter()
        .rev()
        .map(|run| admin.get(&format!("/runs/{}", run["run_id"].as_str().unwrap())).json())
        .collect();
    let on_record: Vec<&Value> = runs.iter().map(|run| &run["details"]["sql_text"]).collect();
    assert_eq!(on_record, [orders, "DELETE FROM orders", tiers]);
    for run in &runs {
        assert_eq!((&run["details"]["actor"], &run["details"]["door"]), (&json!("cli"), &json!("analyst")));
    }
}

/// Arguments can be read by every user of the machine. The CLI takes its system prompt in no other way.
#[tokio::test]
async fn it_is_locked_down_and_its_arguments_hold_the_schema_but_no_question_and_no_token() {
    let thread = [Message::user("Orders?"), Message::assistant("787."), Message::user("And customers?")];
    let script = json!({ "steps": [{ "result": { "result": "84." } }] });
    let seen = run(Caps::default(), &thread, script).await;
    assert_eq!(seen.answer().text, "84.");
    assert_eq!(seen.streamed(), "84.");
    let told = seen.told();
    let mut arguments: Vec<String> = serde_json::from_value(told["arguments"].clone()).unwrap();
    assert!(
        !arguments.iter().any(|argument| ["Orders?", "787.", "customers?"].iter().any(|said| argument.contains(said)))
    );
    let at = arguments.iter().position(|a| a == "--mcp-config").unwrap() + 1;
    let config: Value = serde_json::from_str(&arguments[at]).unwrap();
    arguments[at] = "…".into();
    assert_eq!(
        arguments.join(" "),
        "--output-format stream-json --verbose --system-prompt You are an analyst.\n\nSchema: … --tools  --allowedTools \
         mcp__sqlite__* --disallowedTools Bash,Write,Edit --max-turns 10 --max-budget-usd 0.5 --model claude-sonnet-5-5 \
         --permission-mode dontAsk --mcp-config … --strict-mcp-config --setting-sources= --include-partial-messages \
         --input-format stream-json"
    );
    let server = &config["mcpServers"]["sqlite"];
    assert_eq!(config["mcpServers"].as_object().unwrap().len(), 1);
    assert!(!config.to_string().contains("gh_"), "the token stands in a file");
    let file = server["args"].as_array().unwrap().last().unwrap().as_str().unwrap();
    assert_eq!(Path::new(file).parent().unwrap().to_str(), told["cwd"].as_str());
    assert_eq!(
        told["said"][0]["message"]["content"],
        "The conversation so far:\n\nUser: Orders?\n\nAssistant: 787.\n\nThe user's question now:\n\nAnd customers?"
    );
    assert_eq!(told["said"][0]["client_composed"], true);
    assert_eq!(told["said"].as_array().unwrap().len(), 1);
    gone(&told).await;
    assert!(!Path::new(file).exists(), "and goes with it");
}

#[tokio::test]
async fn how_it_ends_is_told_as_other_planners_tell_it() {
    let failed = |status: u16| json!([{ "result": { "is_error": true, "api_error_status": status, "result": "no" } }]);
    let ended = |subtype: &str| json!([{ "result": { "subtype": subtype, "is_error": true } }]);
    let long = 1 << 20;
    let cases = [
        (failed(429), "model.rate_limited"),
        (failed(529), "model.overloaded"),
        (failed(401), "model.key"),
        (failed(500), "model.failed"),
        (ended("error_during_execution"), "model.failed"),
        (ended("error_max_turns"), "model.max_turns"),
        (ended("error_max_budget_usd"), "model.budget"),
        (json!([{ "result": {} }]), "model.empty"),
        (json!([{ "text": "It was" }, { "exit": 0 }]), "model.cut"),
        (json!([{ "exit": 1 }]), "model.cut"),
        (json!([{ "long": long }]), "model.too_much"),
        (
            json!([{ "line": "{\"type\":\"system\",\"subtype\":\"init\",\"tools\":[\"Bash\"]}" }, { "result": { "result": "x" } }]),
            "model.lockdown",
        ),
        (
            json!([{ "line": "{\"type\":\"system\",\"subtype\":\"init\",\"mcp_servers\":[{\"name\":\"sqlite\",\"status\":\"failed\"}]}" }]),
            "model.tools",
        ),
    ];
    for (steps, code) in cases {
        let seen = talk(Caps::default(), steps.clone()).await;
        assert_eq!(seen.code(), code, "{steps}");
    }
}

#[tokio::test]
async fn what_was_found_before_the_end_is_an_answer() {
    for (subtype, ending) in [("error_max_turns", Ending::MaxTurns), ("error_max_budget_usd", Ending::Budget)] {
        let steps = json!([{ "text": "So far: 787." }, { "result": { "subtype": subtype, "is_error": true } }]);
        let seen = talk(Caps { max_turns: 1, max_budget_usd: 0.01, ..Caps::default() }, steps).await;
        assert_eq!(seen.answer(), &Answer { text: "So far: 787.".into(), ending });
        assert!(seen.told()["arguments"].to_string().contains("\"--max-turns\",\"1\",\"--max-budget-usd\",\"0.01\""));
    }
}

/// A fault of ours is not for the model to fix: the run ends with it.
#[tokio::test]
async fn a_call_that_our_server_cannot_serve_ends_the_run() {
    let frame = |kind: &str, block: Value| json!({ "line": json!({ "type": kind, "message": { "content": [block] } }).to_string() });
    let called =
        frame("assistant", json!({ "type": "tool_use", "id": "1", "name": "mcp__sqlite__read_query", "input": {} }));
    let text = "MCP error -32603: the ledger cannot be written [ledger.unavailable]";
    let came = frame("user", json!({ "type": "tool_result", "tool_use_id": "1", "content": text, "is_error": true }));
    let seen = talk(Caps::default(), json!([called, came, { "result": { "result": "Sorry." } }])).await;
    assert_eq!(seen.code(), "ledger.unavailable");
}

#[tokio::test]
async fn one_that_hangs_is_ended_on_its_deadline_with_all_it_started() {
    let seen = talk(Caps { seconds: 3, ..Caps::default() }, json!([{ "text": "Well…" }, { "hang": true }])).await;
    assert_eq!(seen.code(), "model.timeout");
    assert_eq!(seen.finished.spent.turns, 1);
    let told = seen.told();
    assert!(members(told["pid"].as_u64().unwrap()) > 1, "it is deaf to SIGTERM, and nobody waited for its end");
    gone(&told).await;
}

#[tokio::test]
async fn one_whose_client_leaves_is_ended_too() {
    let steps = json!({ "steps": [{ "hang": true }], "server": false });
    let dir = tempfile::tempdir().unwrap();
    let mut script = steps;
    script["seen"] = json!(dir.path().join("seen.json"));
    let cli = ClaudeCode::new(program(dir.path(), &script), "m", None, Caps::default());
    let server = McpServer { program: "true".into(), args: Vec::new(), token: Some("t".into()) };
    let messages = [Message::user("Hello")];
    let mut hear = |_| {};
    let mut running = Box::pin(cli.run(&[], &messages, &server, &mut hear));
    let told = loop {
        tokio::select! {
            _ = &mut running => panic!("it hangs"),
            () = tokio::time::sleep(Duration::from_millis(50)) => {}
        }
        let text = std::fs::read_to_string(dir.path().join("seen.json")).unwrap_or_default();
        if let Ok(told) = serde_json::from_str::<Value>(&text) {
            break told;
        }
    };
    drop(running);
    gone(&told).await;
}

#[tokio::test]
async fn one_that_cannot_be_started_is_named_so() {
    let server = McpServer { program: "true".into(), args: Vec::new(), token: Some("t".into()) };
    let cli = ClaudeCode::new("/nowhere/claude", "m", None, Caps::default());
    let finished = cli.run(&[], &[Message::user("Hello")], &server, &mut |_| {}).await;
    assert_eq!(finished.answer.unwrap_err().code, "model.unreachable");
    let long = "x".repeat(200_000);
    let cli = ClaudeCode::new("true", "m", None, Caps::default());
    let finished = cli.run(&[long], &[Message::user("Hello")], &server, &mut |_| {}).await;
    assert_eq!(finished.answer.unwrap_err().code, "model.too_long");
}

#[tokio::test]
async fn the_doctor_asks_it_how_it_is() {
    use gateway::doctor::{Verdict, agent_cli};
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let cases = [
        (format!("exec '{STAND_IN}' \"$@\""), Verdict::Ok, "`claude-code` with `m`: Claude Code doctor: ok"),
        (
            format!("CLAUDE_DOCTOR=ill exec '{STAND_IN}' \"$@\""),
            Verdict::Fail,
            "failed: Claude Code doctor: ill [model.doctor]",
        ),
    ];
    for (at, (script, verdict, said)) in cases.into_iter().enumerate() {
        let program = dir.path().join(at.to_string());
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let finding = agent_cli(&ClaudeCode::new(program, "m", None, Caps::default())).await;
        assert_eq!(finding.verdict, verdict, "{finding:?}");
        assert!(finding.message.contains(said), "{finding:?}");
    }
    let missing = agent_cli(&ClaudeCode::new("/nowhere/claude", "m", None, Caps::default())).await;
    assert!(missing.message.contains("[model.unreachable]"), "{missing:?}");
}

/// Waits until nobody of the stand-in's group is there any more, nor its directory.
async fn gone(told: &Value) {
    let (group, cwd) = (told["pid"].as_u64().unwrap(), told["cwd"].as_str().unwrap());
    let until = Instant::now() + Duration::from_secs(30);
    while members(group) > 0 || Path::new(cwd).exists() {
        assert!(Instant::now() < until, "{} processes of group {group} are left", members(group));
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Processes of a group that have not ended.
fn members(group: u64) -> usize {
    let stat = |entry: std::fs::DirEntry| std::fs::read_to_string(entry.path().join("stat")).ok();
    let is_member = |stat: &String| {
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        fields.first() != Some(&"Z") && fields.get(2) == Some(&group.to_string().as_str())
    };
    std::fs::read_dir("/proc").unwrap().flatten().filter_map(stat).filter(is_member).count()
}
