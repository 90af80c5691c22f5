//! Everything that is asked of both copies, from the case files, in every door.

use super::pair::{DATASETS, FILES, Side, WRITABLE};
use serde_json::{Value, json};
use testkit::Reply;

const REQUESTS: &str = include_str!("../cases/unseen/requests.txt");
const ABSENT: &str = include_str!("../cases/unseen/absent.txt");
const STATEMENTS: &str = include_str!("../cases/unseen/statements.txt");
const LEAKS: &str = include_str!("../cases/unseen/leaks.txt");
const PREDICATES: &str = include_str!("../cases/unseen/predicates.txt");
const QUESTIONS: &str = include_str!("../cases/unseen/questions.txt");
/// Said one after the other in one conversation.
const CONVERSATION: &str = include_str!("../cases/unseen/conversation.txt");
/// Lists that a slow server may answer before all versions are told.
const PATIENCE: usize = 20;
/// Clients of tools and of MCP say this.
const ANY: &str = "application/json, text/event-stream";
/// Results that are streamed come in all of these.
const FORMS: [&str; 5] = [
    "application/vnd.apache.arrow.stream",
    "application/vnd.apache.arrow.stream; dictionary=true",
    "application/vnd.apache.parquet",
    "text/csv",
    "application/json",
];

/// Something that is asked of both copies.
#[derive(Clone)]
pub struct Request {
    pub method: String,
    pub path: String,
    pub body: String,
    accept: &'static str,
    /// The tag of what the caller has already.
    known: Option<String>,
}

impl Request {
    pub fn post(path: &str, body: &Value) -> Self {
        Self { method: "POST".to_owned(), path: path.to_owned(), body: body.to_string(), accept: ANY, known: None }
    }

    pub fn get(path: &str) -> Self {
        Self { method: "GET".to_owned(), path: path.to_owned(), body: String::new(), accept: "*/*", known: None }
    }

    /// The same request of a caller who has the reply with this tag.
    pub fn knowing(&self, tag: &str) -> Self {
        Self { known: Some(tag.to_owned()), ..self.clone() }
    }

    pub fn send(&self, side: &Side) -> Reply {
        let client = side.agent.clone().header("accept", self.accept).header("content-type", "application/json");
        let client = self.known.iter().fold(client, |client, tag| client.header("if-none-match", tag));
        client.send(self.method.parse().unwrap(), &self.path, self.body.clone().into_bytes())
    }

    /// Sends until versions are told: digests of what a caller sees are made in the background, and a list does not wait
    /// long for them.
    pub fn send_until_told(&self, side: &Side) -> Reply {
        let is_told = |reply: &Reply| !reply.text().replace('\\', "").contains("\"version_hash\":null");
        let mut replies = (0..PATIENCE).map(|_| self.send(side));
        replies.find(is_told).unwrap_or_else(|| panic!("{}: no version after {PATIENCE} replies", self.shown()))
    }

    pub fn shown(&self) -> String {
        format!("{} {} {} ({})", self.method, self.path, self.body, self.accept)
    }

    fn is_streamed(&self) -> bool {
        ["/api/v2/scan", "/api/query"].contains(&self.path.as_str())
    }

    /// `METHOD PATH BODY`, as case files have it.
    fn parse(line: &str) -> Self {
        let mut words = line.splitn(3, ' ');
        let (method, path) = (words.next().unwrap(), words.next().unwrap());
        let request = match words.next() {
            Some(body) => Self::post(path, &serde_json::from_str(body).unwrap_or_else(|e| panic!("{line}: {e}"))),
            None => Self::get(path),
        };
        Self { method: method.to_owned(), ..request }
    }
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// The lines of a case file for one dataset: those that begin with `@duckdb` are in words that only DuckDB knows.
fn lines_for(text: &str, dataset: &str) -> Vec<String> {
    let of_dataset = |line: &str| match line.strip_prefix("@duckdb ") {
        Some(line) => FILES.contains(&dataset).then(|| line.replace("{d}", dataset)),
        None => Some(line.replace("{d}", dataset)),
    };
    lines(text).filter_map(of_dataset).collect()
}

/// The requests of a case file: those that name a dataset for each of them, those that write for each that is writable.
fn written(text: &str) -> Vec<Request> {
    let mut requests = Vec::new();
    for line in lines(text) {
        let datasets: &[&str] = match line {
            line if line.contains("{w}") => &WRITABLE,
            line if line.contains("{d}") => &DATASETS,
            _ => &[""],
        };
        let of = |dataset: &&str| Request::parse(&line.replace("{d}", dataset).replace("{w}", dataset));
        requests.extend(datasets.iter().map(of));
    }
    requests
}

/// Every scan and query in every form.
fn in_all_forms(requests: Vec<Request>) -> Vec<Request> {
    let forms = |request: Request| match request.is_streamed() {
        true => FORMS.map(|accept| Request { accept, ..request.clone() }).to_vec(),
        false => vec![request],
    };
    requests.into_iter().flat_map(forms).collect()
}

/// Every scan and query in one form, each in another.
fn in_forms_by_turns(requests: Vec<Request>) -> Vec<Request> {
    let form = |(at, request): (usize, Request)| match request.is_streamed() {
        true => Request { accept: FORMS[at % FORMS.len()], ..request },
        false => request,
    };
    requests.into_iter().enumerate().map(form).collect()
}

/// All that is asked of a table whose rows are all hidden.
pub fn absent() -> Vec<Request> {
    in_forms_by_turns(written(ABSENT))
}

fn call(tool: &str, arguments: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": tool, "arguments": arguments } })
}

/// Doors that take statements as such. The last two take them as questions.
const STATEMENT_DOORS: usize = 5;

/// A statement through every door.
fn in_every_door(dataset: &str, sql: &str) -> [Request; 7] {
    let (of_dataset, fenced) = (json!({ "dataset_id": dataset, "sql": sql }), format!("```sql\n{sql}\n```"));
    let messages = json!([{ "role": "user", "content": fenced }]);
    [
        Request::post(&format!("/datasets/{dataset}/query"), &json!({ "sql": sql })),
        Request::post("/api/query", &json!({ "sql": sql })),
        Request::post("/tools/execute_sql", &of_dataset),
        Request::post(&format!("/mcp/{dataset}"), &call("read_query", &json!({ "sql": sql }))),
        Request::post("/mcp", &call("execute_sql", &of_dataset)),
        Request::post("/chat", &json!({ "dataset_id": dataset, "message": fenced })),
        Request::post(
            "/v1/chat/completions",
            &json!({ "model": format!("claude-da/{dataset}"), "messages": messages }),
        ),
    ]
}

/// Every statement of every dataset, each by another door.
fn statements() -> Vec<Request> {
    let mut requests = Vec::new();
    for (at, dataset) in DATASETS.iter().enumerate() {
        for (n, sql) in lines_for(STATEMENTS, dataset).iter().enumerate() {
            requests.push(in_every_door(dataset, sql)[(at + n) % STATEMENT_DOORS].clone());
        }
    }
    requests
}

/// Every statement that could fail on hidden rows, through every door.
fn leaks() -> Vec<Request> {
    let of = |dataset: &&str| {
        let statements = lines_for(LEAKS, dataset);
        statements.iter().flat_map(|sql| in_every_door(dataset, sql)).collect::<Vec<_>>()
    };
    DATASETS.iter().flat_map(of).collect()
}

/// The same as predicates of scans and of their estimates.
fn predicates() -> Vec<Request> {
    let of = |dataset: &&str| {
        let scans = lines_for(PREDICATES, dataset).into_iter().flat_map(|predicate| {
            let scan = json!({ "table_id": format!("orders_{dataset}"), "where": predicate, "order_by": ["id"] });
            let whole = json!({ "table_id": format!("orders_{dataset}"), "where": predicate });
            [Request::post("/api/v2/scan", &scan), Request::post("/api/v2/scan/estimate", &whole)]
        });
        scans.collect::<Vec<_>>()
    };
    DATASETS.iter().flat_map(of).collect()
}

/// Every question of every dataset, each by another door.
fn questions() -> Vec<Request> {
    let mut requests = Vec::new();
    for (at, dataset) in DATASETS.iter().enumerate() {
        for (n, text) in lines(QUESTIONS).enumerate() {
            let (asked, messages) =
                (json!({ "dataset_id": dataset, "message": text }), json!([{ "role": "user", "content": text }]));
            let model = format!("claude-da/{dataset}");
            requests.push(match (at + n) % 4 {
                0 => Request::post("/chat", &asked),
                1 => Request::post("/chat/stream", &asked),
                2 => Request::post("/v1/chat/completions", &json!({ "model": model, "messages": messages })),
                _ => {
                    let body = json!({ "model": model, "messages": messages, "stream": true });
                    Request::post("/v1/chat/completions", &body)
                }
            });
        }
    }
    requests
}

/// One conversation for each dataset.
fn conversations() -> Vec<Request> {
    let turn = |(at, dataset): (usize, &&str), text: &str| {
        let thread = format!("0192f0c1-2345-7abc-8def-{at:012x}");
        Request::post("/chat", &json!({ "dataset_id": dataset, "message": text, "thread_id": thread }))
    };
    let of = |dataset| lines(CONVERSATION).map(move |text| turn(dataset, text));
    DATASETS.iter().enumerate().flat_map(of).collect()
}

/// All of them, in the order in which they are asked. Those of the case file are asked again at the end: what was kept
/// meanwhile, and what was written, is told then.
pub fn all() -> Vec<Request> {
    let asked = [statements(), leaks(), predicates(), questions(), conversations()].concat();
    [in_all_forms(written(REQUESTS)), asked, in_forms_by_turns(written(REQUESTS))].concat()
}

/// Addresses that tell of a run on record.
pub const OF_RUN: usize = 6;

/// Two requests to the record of a run: its own address always, and one of the others in turn.
pub fn of_run(id: &str, turn: usize) -> [Request; 2] {
    let status = json!({ "run_id": id });
    let others: [Request; OF_RUN - 1] = [
        Request::get(&format!("/runs/{id}/events")),
        Request::post("/tools/get_run_status", &status),
        Request::get(&format!("/runs/{id}/sql")),
        Request::post("/mcp", &call("get_run_status", &status)),
        Request { method: "DELETE".to_owned(), ..Request::get(&format!("/runs/{id}")) },
    ];
    [Request::get(&format!("/runs/{id}")), others[turn % others.len()].clone()]
}

/// The runs of a session, which an answer is made of.
pub fn of_session(id: &str) -> Request {
    Request::get(&format!("/runs?session_id={id}"))
}
