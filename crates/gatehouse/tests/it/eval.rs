//! `gatehouse eval`: what is right of what a planner answers, whichever it is.

use crate::support::demo;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::Command;
use testkit::{Messages, Said};

/// A file of questions beside the database that they are about.
struct Questions {
    dir: tempfile::TempDir,
    env: Vec<(&'static str, String)>,
}

/// What a command left behind.
struct Ended {
    code: Option<i32>,
    told: String,
    said: String,
}

impl Questions {
    fn of(lines: &[Value]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let shop = rusqlite::Connection::open(dir.path().join("shop.sqlite")).unwrap();
        let customers = "(1, 'Ann', 'Oslo'), (2, 'Bob', 'Oslo'), (3, 'Cem', 'Rome')";
        shop.execute_batch(&format!(
            "CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, city TEXT); INSERT INTO customers VALUES {customers};"
        ))
        .unwrap();
        let questions = Self { dir, env: Vec::new() };
        questions.write(&lines.iter().map(Value::to_string).collect::<Vec<_>>().join("\n"));
        questions
    }

    fn asked_of(mut self, model: &Messages) -> Self {
        self.env = vec![("ANTHROPIC_API_KEY", Messages::KEY.to_owned()), ("ANTHROPIC_BASE_URL", model.url.clone())];
        self
    }

    fn write(&self, text: &str) {
        std::fs::write(self.file(), text).unwrap();
    }

    fn file(&self) -> PathBuf {
        self.dir.path().join("questions.jsonl")
    }

    fn eval(&self, more: &[&str]) -> Ended {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gatehouse"));
        command.arg("eval").arg(self.file()).args(more).env_remove("ANTHROPIC_API_KEY").envs(self.env.clone());
        let output = command.output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ended { code: output.status.code(), told: text(&output.stdout), said: text(&output.stderr) }
    }
}

fn known() -> Vec<Value> {
    let of_shop = |mut line: Value| {
        line["db"] = json!("shop.sqlite");
        line
    };
    [
        json!({ "id": "right", "question": "how many customers are there?", "rows": [[3]] }),
        json!({ "question": "how many customers per city?", "sql": "select count(*), city from customers group by city" }),
        json!({ "question": "how many customers are in Oslo?", "rows": [[7]], "shape": "wrong on purpose" }),
        json!({ "question": "what will the weather be?", "refuse": true }),
    ]
    .map(of_shop)
    .to_vec()
}

/// The table without its times, which differ from run to run.
fn timeless(table: &str) -> String {
    table.lines().filter(|line| !line.starts_with("planning")).collect::<Vec<_>>().join("\n")
}

/// A team keeps its questions in Git, and its CI fails when fewer of them are right.
#[test]
fn questions_with_known_answers_are_counted() {
    let questions = Questions::of(&known());
    let ended = questions.eval(&["--min-right", "0.6", "--min-precision", "0.6"]);
    assert_eq!(ended.code, Some(0), "{}", ended.told);
    insta::assert_snapshot!(timeless(&ended.told));
    let ended = questions.eval(&["--min-precision", "0.9"]);
    assert_eq!((ended.code, ended.said.trim()), (Some(1), "gatehouse: right of answered is 0.667, below 0.9"));
    assert_eq!(questions.eval(&["--min-withheld", "1"]).code, Some(0));
    let report: Value = serde_json::from_str(&questions.eval(&["--json"]).told).unwrap();
    assert_eq!((&report["all"]["right"], &report["verdicts"][0]["id"]), (&json!(2), &json!("right")));
    assert_eq!((&report["planner"], &report["cost_usd"]), (&json!("offline"), &json!(0.0)));
    questions.write("{\"question\":\"x\",\"rows\":[],\"refuse\":true}");
    let ended = questions.eval(&[]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.said.contains("exactly one of `sql`, `rows`, `refuse` and `clarify`"), "{}", ended.said);
}

/// A key in the environment is no wish to pay: who says nothing has the offline planner.
#[test]
fn a_model_is_asked_only_where_it_is_named() {
    let model = Messages::script([]);
    let questions = Questions::of(&known()).asked_of(&model);
    assert_eq!(questions.eval(&["--min-right", "0.6"]).code, Some(0));
    assert_eq!(model.requests().len(), 0);
    for (planner, part) in [("claude", "`ANTHROPIC_API_KEY`"), ("oracle", "`oracle`"), ("claude-code", "shop.sqlite`")]
    {
        let ended = Questions::of(&known()).eval(&["--planner", planner]);
        assert_eq!(ended.code, Some(2), "{planner}: {}", ended.said);
        assert!(ended.said.contains(part), "{planner}: {}", ended.said);
    }
    let ended = questions.eval(&["--min-right", "60"]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.said.contains("a number from 0 to 1"), "{}", ended.said);
}

/// The same questions of a model: an answer that is right, one that is wrong, one that has no rows, a question back and a
/// server that fails. What each turn used is paid for, whatever came of it.
#[test]
fn a_model_is_measured_by_the_same_questions() {
    let mut lines = known();
    lines.truncate(2);
    lines.extend([
        json!({ "db": "shop.sqlite", "question": "what will the weather be?", "refuse": true }),
        json!({ "db": "shop.sqlite", "question": "who is our best customer?", "clarify": true }),
        json!({ "db": "shop.sqlite", "question": "list the cities", "rows": [["Oslo"], ["Rome"]] }),
    ]);
    let questions = Questions::of(&lines);
    let shop = questions.dir.path().join("shop.sqlite");
    let sql = |id: &str, sql: &str| {
        Said::tool(id, "execute_sql", &json!({ "dataset_id": shop, "sql": sql })).usage(1_000, 100, 0, 0)
    };
    let text = |words: &str| Said::text(words).usage(500, 50, 200, 1_000);
    let model = Messages::script([
        sql("call_1", "SELECT count(*) FROM customers").when("how many customers are there?"),
        text("There are 3.").when("row_count"),
        sql("call_2", "SELECT count(*) FROM customers").when("per city"),
        text("3 in all."),
        text("The data does not tell.").when("weather"),
        text("By what: visits or purchases?").when("best"),
        Said::error(401, "no such key").when("cities"),
    ]);
    let questions = questions.asked_of(&model);
    let ended = questions.eval(&["--planner", "claude", "--json", "--min-right", "0.5", "--min-withheld", "1"]);
    let report: Value = serde_json::from_str(&ended.told).unwrap_or_else(|_| panic!("{}", ended.said));
    let came: Vec<&str> = report["verdicts"].as_array().unwrap().iter().map(|v| v["came"].as_str().unwrap()).collect();
    assert_eq!(came, ["answered", "answered", "refused", "asked", "failed"], "{report}");
    assert_eq!(report["planner"], "claude");
    let all = json!({ "questions": 3, "answered": 2, "right": 1, "asked": 0, "refused": 0, "failed": 1 });
    assert_eq!((&report["all"], &report["not_answered"]), (&all, &json!(2)));
    // US$ 2 and 10 a million tokens in and out; 2.50 to write and 0.10 to read the cache.
    let (statement, words) = (0.002 + 0.001, 0.001 + 0.0005 + 0.0005 + 0.0001);
    let cost = report["cost_usd"].as_f64().unwrap();
    assert!((cost - 2.0 * statement - 4.0 * words).abs() < 1e-9, "{cost}");
    let low = "gatehouse: right of all is 0.333, below 0.5";
    assert_eq!((ended.code, ended.said.trim()), (Some(1), low), "{}", ended.said);
}

/// A model without a price is counted like any other, and its cost is not made up.
#[test]
fn a_cost_that_is_not_known_is_not_told() {
    let model = Messages::always(Said::text("I cannot say."));
    let mut questions = Questions::of(&known()).asked_of(&model);
    questions.env.push(("CLAUDE_DA_MODEL", "some-model".to_owned()));
    let ended = questions.eval(&["--planner", "auto"]);
    assert_eq!(ended.code, Some(0), "{}", ended.said);
    assert!(ended.told.contains("cost not known"), "{}", ended.told);
    insta::assert_snapshot!(timeless(&ended.told));
}

/// Our own questions over the demo, which show what the planner can read: every one that has an answer is answered right, every
/// one that has none is refused, and on every one that is unclear it asks back.
#[test]
fn the_demos_questions_all_get_what_they_should() {
    let questions = concat!(env!("CARGO_MANIFEST_DIR"), "/../../demo/questions.jsonl");
    let text = std::fs::read_to_string(questions).unwrap();
    let lines: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let marked = |mark: &str| lines.iter().filter(|line| !line[mark].is_null()).count();
    assert_eq!((marked("sql"), marked("refuse"), marked("clarify")), (60, 40, 20));
    let output =
        demo().command(&["eval", questions, "--min-right", "1", "--min-precision", "1", "--min-withheld", "1"]);
    let told = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    assert!(output.status.success(), "{told}");
}
