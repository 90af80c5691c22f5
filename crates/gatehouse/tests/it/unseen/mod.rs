//! Noninterference: two copies of the data that differ only in what a role may not see (columns, filtered rows, rows that are
//! marked as deleted, tables without a grant) give it the same replies, byte for byte but for ids and times, in every door.

mod pair;
mod told;

use pair::{DATASETS, Side, sides};
use serde_json::{Value, json};
use testkit::{Reply, compared};
use told::{has_rows, run_id, told};

const REQUESTS: &str = include_str!("../cases/unseen/requests.txt");
const STATEMENTS: &str = include_str!("../cases/unseen/statements.txt");
const QUESTIONS: &str = include_str!("../cases/unseen/questions.txt");
const WRITABLE: [&str; 2] = ["till", "books"];

/// Something that is asked of both copies.
#[derive(Clone)]
struct Request {
    method: String,
    path: String,
    body: String,
    accept: &'static str,
}

impl Request {
    fn post(path: &str, body: &Value) -> Self {
        let accept = "application/json, text/event-stream";
        Self { method: "POST".to_owned(), path: path.to_owned(), body: body.to_string(), accept }
    }

    fn get(path: &str) -> Self {
        Self { method: "GET".to_owned(), path: path.to_owned(), body: String::new(), accept: "*/*" }
    }

    fn send(&self, side: &Side) -> Reply {
        let client = side.agent.clone().header("accept", self.accept).header("content-type", "application/json");
        client.send(self.method.parse().unwrap(), &self.path, self.body.clone().into_bytes())
    }

    fn shown(&self) -> String {
        format!("{} {} {}", self.method, self.path, self.body)
    }
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// The requests of the case file: those that name a dataset for each of them, those that write for each that is writable.
fn written() -> Vec<Request> {
    let mut requests = Vec::new();
    for line in lines(REQUESTS) {
        let datasets: &[&str] = match line {
            line if line.contains("{w}") => &WRITABLE,
            line if line.contains("{d}") => &DATASETS,
            _ => &[""],
        };
        for dataset in datasets {
            let line = line.replace("{d}", dataset).replace("{w}", dataset);
            let mut words = line.splitn(3, ' ');
            let (method, path) = (words.next().unwrap(), words.next().unwrap());
            let request = match words.next() {
                Some(body) => {
                    Request::post(path, &serde_json::from_str(body).unwrap_or_else(|e| panic!("{line}: {e}")))
                }
                None => Request::get(path),
            };
            requests.push(Request { method: method.to_owned(), ..request });
        }
    }
    requests
}

const FORMS: [&str; 4] =
    ["application/vnd.apache.arrow.stream", "application/vnd.apache.parquet", "text/csv", "application/json"];

/// Every scan in every form.
fn in_all_forms(requests: Vec<Request>) -> Vec<Request> {
    let forms = |request: Request| match request.path.as_str() {
        "/api/v2/scan" => FORMS.map(|accept| Request { accept, ..request.clone() }).to_vec(),
        _ => vec![request],
    };
    requests.into_iter().flat_map(forms).collect()
}

fn call(tool: &str, arguments: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": tool, "arguments": arguments } })
}

/// Every statement in every dataset, each by another door.
fn statements() -> Vec<Request> {
    let mut requests = Vec::new();
    for (at, dataset) in DATASETS.iter().enumerate() {
        for (n, sql) in lines(STATEMENTS).enumerate() {
            let sql = sql.replace("{d}", dataset);
            requests.push(match (at + n) % 6 {
                0 | 1 => Request::post(&format!("/datasets/{dataset}/query"), &json!({ "sql": sql })),
                2 => Request::post("/api/query", &json!({ "sql": sql })),
                3 => Request::post("/tools/execute_sql", &json!({ "dataset_id": dataset, "sql": sql })),
                4 => Request::post(&format!("/mcp/{dataset}"), &call("read_query", &json!({ "sql": sql }))),
                _ => Request::post("/mcp", &call("execute_sql", &json!({ "dataset_id": dataset, "sql": sql }))),
            });
        }
    }
    requests
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

/// What came of the comparisons.
#[derive(Default)]
struct Compared {
    replies: usize,
    with_rows: usize,
    differences: Vec<String>,
}

impl Compared {
    fn compare(&mut self, sides: &[Side; 2], request: &Request) {
        let replies = sides.each_ref().map(|side| request.send(side));
        self.take(&request.shown(), &replies);
        // And what the record tells of it afterwards.
        let [Some(one), Some(other)] = replies.each_ref().map(run_id) else { return };
        for part in ["", "/events"] {
            let records = [(&sides[0], &one), (&sides[1], &other)]
                .map(|(side, id)| Request::get(&format!("/runs/{id}{part}")).send(side));
            self.take(&format!("/runs/…{part} after {}", request.shown()), &records);
        }
    }

    fn take(&mut self, what: &str, replies: &[Reply; 2]) {
        let [one, other] = replies.each_ref().map(told);
        self.replies += 1;
        self.with_rows += usize::from(has_rows(&replies[0]));
        if one != other {
            self.differences.push(format!("{what}\n  {one:.1500}\n  {other:.1500}"));
        }
    }

    fn settle(self, what: &str) {
        let Self { replies, with_rows, differences } = self;
        compared("house", what, replies, with_rows, differences.len());
        assert!(differences.is_empty(), "{} of {replies} differ:\n{}", differences.len(), differences.join("\n"));
        assert!(
            with_rows * 10 >= replies * 8,
            "{with_rows} of {replies} have rows: refusing everything proves nothing"
        );
    }
}

#[test]
fn two_copies_give_a_role_the_same_replies() {
    let sides = sides();
    let requests = [in_all_forms(written()), statements(), questions(), in_all_forms(written())].concat();
    let mut compared = Compared::default();
    for request in &requests {
        compared.compare(&sides, request);
    }
    compared.settle("replies of two copies that differ in what is hidden");
}
