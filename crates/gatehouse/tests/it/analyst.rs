//! The Analyst door: completions, its errors, its database that nobody writes to, its audit lines.

use crate::support::{rows, server};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use testkit::{Client, Reply, Server, ServerBuilder, tally};

pub const ENDLESS: &str =
    "run sql: WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) AS n FROM r";
const COMPLETIONS: &str = "/v1/chat/completions";

/// The file of a server's audit lines.
pub struct Lines(PathBuf);

impl Lines {
    /// A demo that writes its lines to a file.
    pub fn server(builder: ServerBuilder) -> (Server, Self) {
        let server = builder.demo().env("CLAUDE_DA_LOG_OUTPUT", "file").start();
        let lines = Self(server.data().join("claude-da-audit.jsonl"));
        (server, lines)
    }

    pub fn all(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(&self.0).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// They come after the reply: waits until there are so many.
    pub fn wait_for(&self, count: usize) -> Vec<Value> {
        wait("audit lines", || Some(self.all()).filter(|lines| lines.len() >= count))
    }

    /// The line of one session.
    pub fn of(&self, session: &str) -> Value {
        wait("an audit line", || self.all().into_iter().find(|line| line["session_id"] == session))
    }
}

/// Looks until it is there.
fn wait<T>(what: &str, look: impl Fn() -> Option<T>) -> T {
    for _ in 0..6_000 {
        if let Some(found) = look() {
            return found;
        }
        std::thread::park_timeout(std::time::Duration::from_millis(10));
    }
    panic!("no {what} came")
}

/// A demo with these settings, and its lines.
pub fn endless_server(settings: &[(&str, &str)]) -> (Server, Lines) {
    Lines::server(settings.iter().fold(server(), |server, (name, value)| server.env(name, value)))
}

/// The runs of a session, as the ledger has them, in order.
pub fn records(server: &Server, session: &str) -> Vec<Value> {
    let admin = server.client("root", "admin");
    let listed = admin.get(&format!("/runs?session_id={session}")).json();
    let ids = listed["runs"].as_array().unwrap().iter().rev();
    ids.map(|run| admin.get(&format!("/runs/{}", run["run_id"].as_str().unwrap())).json()).collect()
}

/// A line of "How many customers are there per tier?": its SQL, and what came of it.
pub fn by_tier(line: &Value) {
    let sql = line["sql_queries_executed"][0].as_str().unwrap_or_default();
    assert!(sql.starts_with("SELECT \"customers\".\"tier\"") && sql.contains("GROUP BY"), "{line}");
    assert_eq!(line["query_results_summary"][0]["columns"], json!(["tier", "number_of_customers"]), "{line}");
    assert_eq!(line["query_results_summary"][0]["row_count"], 3, "{line}");
}

fn question(text: &str) -> Value {
    json!({ "model": "claude-da/analyst", "messages": [{ "role": "user", "content": text }] })
}

fn ask(client: &Client, text: &str) -> Reply {
    client.post(COMPLETIONS, &question(text))
}

fn content(reply: &Reply) -> String {
    reply.json().pointer("/choices/0/message/content").and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// The `data:` of a stream, in order, and its comments.
fn events(reply: &Reply) -> (Vec<String>, usize) {
    let text = reply.text();
    let data = text.lines().filter_map(|line| line.strip_prefix("data: ")).map(str::to_owned).collect();
    (data, text.lines().filter(|line| line.starts_with(": keepalive")).count())
}

#[test]
fn an_audit_line_has_every_field_of_the_specification() {
    let (server, lines) = endless_server(&[]);
    let client = server.client("ann", "analyst").header("x-request-id", "req-1");
    let mut body = question("How many customers joined in 2025 per tier?");
    body["user"] = "user-7".into();
    let reply = client.post(COMPLETIONS, &body);
    let mut line = lines.wait_for(1).remove(0);
    let session = line["session_id"].as_str().unwrap().to_owned();
    assert_eq!(session.as_bytes()[14], b'4', "UUID version 4: {session}");
    assert_eq!(reply.json()["id"], format!("chatcmpl-{session}"));
    assert_eq!(line["final_response"], content(&reply));
    assert!(line["metadata"]["duration_seconds"].as_f64().unwrap() > 0.0);
    line["session_id"] = "[session]".into();
    line["timestamp"].as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
    line["timestamp"] = "[timestamp]".into();
    line["metadata"]["duration_seconds"] = "[seconds]".into();
    insta::assert_json_snapshot!(line);
}

#[test]
fn verbose_lines_hold_whole_results_in_order_and_go_to_both_places() {
    // Whole also where the ledger keeps a part.
    let server = server().env("CLAUDE_DA_LOG_VERBOSE", "true").env("GATEHOUSE_LEDGER_RESULT_BYTES", "1024");
    let (server, lines) = Lines::server(server);
    let client = server.client("ann", "analyst");
    for text in ["How many customers are there per tier?", "How many products are there?", "Show all customers"] {
        assert_eq!(ask(&client, text).status, 200);
    }
    let lines = lines.wait_for(3);
    let all = &lines[2]["query_results_summary"][0];
    assert_eq!(all["row_count"], 84);
    assert_eq!(all["rows"].as_array().map(Vec::len), all["row_count"].as_u64().map(|rows| rows as usize), "{all}");
    assert!(all["rows"].to_string().len() > 1_024, "more than is kept");
    by_tier(&lines[0]);
    assert_eq!(lines[0]["query_results_summary"][0]["rows"], json!([["free", 54], ["pro", 22], ["enterprise", 8]]));
    assert_eq!(lines[1]["query_results_summary"][0]["rows"], json!([[27]]));
}

#[test]
fn lines_go_to_stdout_by_default_and_a_hangup_opens_a_moved_file_anew() {
    let (server, lines) = endless_server(&[("CLAUDE_DA_LOG_OUTPUT", "both")]);
    let client = server.client("ann", "analyst");
    ask(&client, "How many products are there?");
    lines.wait_for(1);
    assert_eq!(std::fs::metadata(&lines.0).unwrap().permissions().mode() & 0o777, 0o600);
    let moved = lines.0.with_extension("1");
    std::fs::rename(&lines.0, &moved).unwrap();
    Command::new("kill").args(["-HUP", &server.pid().to_string()]).status().unwrap();
    wait("new file", || lines.0.exists().then_some(()));
    ask(&client, "How many orders are there?");
    assert_eq!(lines.wait_for(1)[0]["user_question"], "How many orders are there?");
    assert_eq!(std::fs::read_to_string(moved).unwrap().lines().count(), 1);
}

/// A full disk, a file that cannot be, a standard output that nobody reads any more: the answer comes all the same, and
/// so does the record.
#[test]
fn no_request_fails_with_its_audit_line() {
    let broken =
        [("file", "/dev/full"), ("file", "/nonexistent/audit.jsonl"), ("both", "/dev/full"), ("stdout", "unused")];
    let mut failed = 0;
    let data = tempfile::tempdir().unwrap();
    for (output, file) in broken {
        let mut child = closed_stdout(data.path(), output, file);
        let client = Client::new(&child.url).bearer(&child.token);
        for _ in 0..3 {
            let reply = ask(&client, "How many products are there?");
            failed += usize::from(reply.status != 200 || !content(&reply).contains("27"));
        }
        assert_eq!(child.stop(), Some(0), "it stops as it should");
    }
    tally("house", "answers whose audit line cannot be written", broken.len() * 3, "failed requests", failed);
    assert_eq!(failed, 0);
}

/// A server whose standard output is closed as soon as it has said where it is.
struct Unheard {
    child: std::process::Child,
    url: String,
    token: String,
}

fn closed_stdout(data: &Path, output: &str, file: &str) -> Unheard {
    use std::io::BufRead;
    let mut child = Command::new(env!("CARGO_BIN_EXE_gatehouse"))
        .args(["serve", "--demo", "--listen", "127.0.0.1:0", "--data"])
        .arg(data)
        .envs([("CLAUDE_DA_LOG_OUTPUT", output), ("CLAUDE_DA_LOG_FILE", file), ("LOG_LEVEL", "error")])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let stdout = std::io::BufReader::new(child.stdout.take().unwrap());
    let said: Vec<String> = stdout.lines().take(3).map(Result::unwrap).collect();
    let word = |line: &str| line.split_whitespace().nth(1).unwrap().to_owned();
    Unheard { url: word(&said[0]), token: word(&said[2]), child }
}

impl Unheard {
    fn stop(&mut self) -> Option<i32> {
        Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status().unwrap();
        self.child.wait().unwrap().code()
    }
}

impl Drop for Unheard {
    fn drop(&mut self) {
        let _ = self.child.kill();
    }
}

#[test]
fn a_stream_is_kept_alive_and_ends_with_an_error_instead_of_done() {
    let (server, lines) = endless_server(&[("GATEHOUSE_ANALYST_TIMEOUT_SECONDS", "6")]);
    let client = server.client("ann", "analyst");
    let mut body = question(ENDLESS);
    body["stream"] = true.into();
    let (data, comments) = events(&client.post(COMPLETIONS, &body));
    assert!(comments >= 1, "it says that it is there");
    assert_eq!(data.len(), 2, "{data:?}");
    let error: Value = serde_json::from_str(&data[1]).unwrap();
    assert_eq!(error["error"]["code"], "agent_timeout");
    assert_eq!(lines.wait_for(1)[0]["metadata"]["error"], "agent_timeout");
}

#[test]
fn an_answer_that_takes_too_long_in_all_is_an_agent_timeout() {
    let (server, lines) = endless_server(&[("GATEHOUSE_ANALYST_TIMEOUT_SECONDS", "1")]);
    let reply = ask(&server.client("ann", "analyst"), ENDLESS);
    assert_eq!((reply.status, reply.header("x-should-retry")), (504, "false"));
    assert_eq!(reply.code(), "agent_timeout");
    let line = lines.wait_for(1).remove(0);
    assert_eq!(line["sql_queries_executed"].as_array().unwrap().len(), 1, "what ran is told all the same: {line}");
    assert_eq!(records(&server, line["session_id"].as_str().unwrap())[0]["status"], "cancelled");
}

#[test]
fn a_database_that_is_gone_is_unavailable() {
    let data = tempfile::tempdir().unwrap();
    let database = copied_database(data.path(), 0o444);
    let server = server().env("CLAUDE_DA_DB_PATH", database.to_str().unwrap()).start();
    let client = server.client("root", "admin");
    assert!(content(&ask(&client, "How many products are there?")).contains("27"), "any SQLite file will do");
    std::fs::remove_file(&database).unwrap();
    let reply = ask(&client, "How many products are there?");
    assert_eq!((reply.status, reply.code().as_str()), (503, "database_unavailable"), "{}", reply.text());
}

/// A copy of the demo's database, where workers can read it.
fn copied_database(dir: &Path, mode: u32) -> PathBuf {
    let copy = dir.join("copy.db");
    std::fs::copy(crate::support::demo().data().join("demo.db"), &copy).unwrap();
    std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::set_permissions(&copy, std::fs::Permissions::from_mode(mode)).unwrap();
    copy
}

#[test]
fn it_does_not_start_with_a_database_that_could_be_written_or_cannot_be_read() {
    let data = tempfile::tempdir().unwrap();
    let writable = copied_database(data.path(), 0o666);
    let text = data.path().join("text.db");
    std::fs::write(&text, "not a database, but long enough to look at").unwrap();
    std::fs::set_permissions(&text, std::fs::Permissions::from_mode(0o444)).unwrap();
    let missing = data.path().join("missing.db");
    for (path, says) in [
        (&writable, "Database is not read-only. Refusing to start."),
        (&text, "cannot be read"),
        (&missing, "CLAUDE_DA_DB_PATH"),
    ] {
        let said = server().env("CLAUDE_DA_DB_PATH", path.to_str().unwrap()).try_start().err().expect("no server");
        assert!(said.contains(says), "{}: {said}", path.display());
    }
}

/// Whatever is asked of it, in words or as SQL, nothing changes.
#[test]
fn prompted_to_write_it_writes_nothing() {
    let (server, lines) = endless_server(&[]);
    let database = server.data().join("demo.db");
    assert_eq!(std::fs::metadata(&database).unwrap().permissions().mode() & 0o777, 0o444);
    let before = (std::fs::read(&database).unwrap(), std::fs::metadata(&database).unwrap().modified().unwrap());
    let client = server.client("ann", "analyst");
    let attempts = include_str!("../cases/analyst_writes.txt").lines().filter(|line| !line.is_empty());
    let mut tried = 0;
    for attempt in attempts {
        let reply = ask(&client, attempt);
        assert_eq!(reply.status, 200, "{attempt}: {}", reply.text());
        let text = content(&reply);
        assert!(
            text.contains("not allowed") || text.contains("can't answer") || text.contains("did not work"),
            "{attempt}: {text}"
        );
        tried += 1;
    }
    let after = (std::fs::read(&database).unwrap(), std::fs::metadata(&database).unwrap().modified().unwrap());
    let written = usize::from(before != after);
    tally("house", "attempts to write through the Analyst", tried, "written", written);
    assert_eq!(written, 0);
    let lines = lines.wait_for(tried);
    let told: Vec<&Value> = lines.iter().flat_map(|line| line["query_results_summary"].as_array().unwrap()).collect();
    assert!(told.len() >= 4 && told.iter().all(|statement| statement["error"].is_string()), "{told:?}");
}

#[test]
fn every_dataset_that_may_be_seen_is_a_model() {
    let server = crate::support::demo();
    let listed = |role: &str| -> Vec<String> {
        let models = server.client("x", role).get("/v1/models").json();
        models["data"].as_array().unwrap().iter().map(|model| model["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(
        listed("analyst"),
        ["claude-da/analyst", "claude-da/energy", "claude-da/sales", "claude-da/shop", "claude-da/support"]
    );
    assert_eq!(listed("nobody"), [""; 0]);
    let analyst = crate::support::analyst();
    let mut body = question("Total revenue by region");
    body["model"] = "claude-da/sales".into();
    assert!(content(&analyst.post(COMPLETIONS, &body)).contains("EMEA"));
    let unknown = server.client("x", "nobody").post(COMPLETIONS, &body);
    assert_eq!((unknown.status, unknown.code().as_str()), (404, "model_not_found"));
}

#[test]
fn the_same_question_has_the_same_rows_as_in_chat() {
    let analyst = crate::support::analyst();
    let chat = analyst.ask("shop", "How many customers are there per tier?");
    let text = content(&ask(analyst, "How many customers are there per tier?"));
    for row in rows(&chat) {
        let line = format!("| {} | {} |", row[0].as_str().unwrap(), row[1]);
        assert!(text.contains(&line), "{line} in {text}");
    }
}
