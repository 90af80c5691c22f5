//! Noninterference: two copies of the data that differ only in what a role may not see (columns, filtered rows, rows that are
//! marked as deleted, tables without a grant) give it the same replies, byte for byte but for ids and times, in every door.

mod pair;
mod told;

use pair::{DATASETS, Hidden, Side, sides};
use serde_json::{Value, json};
use testkit::{Reply, compared};
use told::{has_rows, run_id, told};

const REQUESTS: &str = include_str!("../cases/unseen/requests.txt");
const STATEMENTS: &str = include_str!("../cases/unseen/statements.txt");
const QUESTIONS: &str = include_str!("../cases/unseen/questions.txt");
/// Said one after the other in one conversation.
const CONVERSATION: &str = include_str!("../cases/unseen/conversation.txt");
const WRITABLE: [&str; 2] = ["till", "books"];

/// Something that is asked of both copies.
#[derive(Clone)]
struct Request {
    method: String,
    path: String,
    body: String,
    accept: &'static str,
    /// What the caller has already.
    known: Option<String>,
}

impl Request {
    fn post(path: &str, body: &Value) -> Self {
        let accept = "application/json, text/event-stream";
        Self { method: "POST".to_owned(), path: path.to_owned(), body: body.to_string(), accept, known: None }
    }

    fn get(path: &str) -> Self {
        Self { method: "GET".to_owned(), path: path.to_owned(), body: String::new(), accept: "*/*", known: None }
    }

    fn send(&self, side: &Side) -> Reply {
        let client = side.agent.clone().header("accept", self.accept).header("content-type", "application/json");
        let client = self.known.iter().fold(client, |client, tag| client.header("if-none-match", tag));
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

/// One conversation for each dataset.
fn conversations() -> Vec<Request> {
    let turn = |(at, dataset): (usize, &&str), text: &str| {
        let thread = format!("0192f0c1-2345-7abc-8def-{at:012x}");
        Request::post("/chat", &json!({ "dataset_id": dataset, "message": text, "thread_id": thread }))
    };
    let of = |dataset| lines(CONVERSATION).map(move |text| turn(dataset, text));
    DATASETS.iter().enumerate().flat_map(of).collect()
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
        let mut replies = sides.each_ref().map(|side| request.send(side));
        // What a version of a database on another machine says is the time: it may have gone on between the two.
        if request.method == "GET" && told(&replies[0]) != told(&replies[1]) {
            replies = sides.each_ref().map(|side| request.send(side));
        }
        self.take(&request.shown(), &replies);
        let tag = replies[0].header("etag").to_owned();
        if !tag.is_empty() {
            let again = Request { known: Some(tag), ..request.clone() };
            self.take_unchanged(&request.shown(), &sides.each_ref().map(|side| again.send(side)));
        }
        // And what the record tells of it afterwards.
        let [Some(one), Some(other)] = replies.each_ref().map(run_id) else { return };
        for part in ["", "/events"] {
            let records = [(&sides[0], &one), (&sides[1], &other)]
                .map(|(side, id)| Request::get(&format!("/runs/{id}{part}")).send(side));
            self.take(&format!("/runs/…{part} after {}", request.shown()), &records);
        }
    }

    /// Who has it already gets nothing again, from neither.
    fn take_unchanged(&mut self, what: &str, replies: &[Reply; 2]) {
        self.replies += 1;
        self.with_rows += 1;
        if replies.iter().any(|reply| reply.status != 304) {
            self.differences.push(format!("{what}\n  {} and {}, not 304", replies[0].status, replies[1].status));
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

/// Copies that are made up: more by `make soak`.
fn seeds() -> std::ops::RangeInclusive<u64> {
    1..=std::env::var("GATEHOUSE_SOAK").map_or(1, |times| times.parse().unwrap())
}

#[test]
fn two_copies_give_a_role_the_same_replies() {
    let mut compared = Compared::default();
    for seed in seeds() {
        let sides = sides(seed);
        let requests =
            [in_all_forms(written()), statements(), questions(), conversations(), in_all_forms(written())].concat();
        for request in &requests {
            compared.compare(&sides, request);
        }
    }
    compared.settle("replies of two copies that differ in what is hidden");
}

/// Versions as a role is told them, of a dataset and of its orders.
fn versions(side: &Side, dataset: &str) -> [String; 2] {
    let datasets = side.agent.get("/datasets").json();
    let of = datasets["datasets"].as_array().unwrap().iter().find(|entry| entry["id"] == dataset);
    let hash = of.unwrap_or_else(|| panic!("{datasets}"))["version_hash"].as_str().unwrap().to_owned();
    [hash, side.agent.get(&format!("/api/sync/tables/orders_{dataset}")).header("etag").to_owned()]
}

const HIDDEN_CHANGES: &str = "UPDATE orders SET note = 'other', amount = 3 WHERE region <> 'E'; \
     UPDATE orders SET secret = 'other'; UPDATE items SET cost = 5; DELETE FROM visits WHERE deleted_at IS NOT NULL;";
const SEEN_CHANGE: &str = "UPDATE orders SET amount = amount + 1 WHERE id = 5;";

#[test]
fn a_version_changes_with_what_a_role_sees_and_with_nothing_else() {
    let side = Side::new(Hidden::Few);
    // The version of a database on another machine is one of time.
    for dataset in DATASETS.into_iter().filter(|dataset| *dataset != "books") {
        let before = versions(&side, dataset);
        side.change(dataset, HIDDEN_CHANGES);
        assert_eq!(versions(&side, dataset), before, "{dataset}: only what is hidden has changed");
        side.change(dataset, SEEN_CHANGE);
        let after = versions(&side, dataset);
        assert_ne!(after[0], before[0], "{dataset}: a row has changed");
        assert!(after[1].is_empty() || after[1] != before[1], "orders_{dataset}: a row has changed");
    }
}
