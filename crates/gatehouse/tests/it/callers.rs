//! Eight callers that ask without pause, and remember what they were told.

use crate::support::server;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex};
use std::thread;
use std::time::Duration;
use testkit::{Client, Event, Reply, Server, ServerBuilder};

pub const CALLERS: usize = 8;
/// Far more than anything here takes on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(120);
/// What a record that cannot be written is told as.
pub const NO_RECORD: &str = "ledger.unavailable";

/// Small data, so that a server is there soon: a table of a thousand rows.
pub fn lay_out(dir: &Path) {
    let gates = (0..1000).fold("gate,colour,visits\n".to_owned(), |mut rows, gate| {
        let colour = ["red", "green", "blue"][gate % 3];
        writeln!(rows, "{gate},{colour},{}", gate * 7 % 100).unwrap();
        rows
    });
    let registry = json!({ "version": "1", "datasets": [
        { "id": "yard", "name": "Yard", "files": [{ "path": "gates.csv", "table": "gates" }] }
    ]});
    let datasets = dir.join("datasets");
    std::fs::create_dir_all(&datasets).unwrap();
    std::fs::write(datasets.join("gates.csv"), gates).unwrap();
    std::fs::write(datasets.join("registry.json"), registry.to_string()).unwrap();
}

/// A server for them. Its heads are signed often, so that a kill may well hit one, and a loaded machine is no fault.
pub fn yard() -> ServerBuilder {
    server().env("GATEHOUSE_LEDGER_HEAD_INTERVAL_SECONDS", "1").env("GATEHOUSE_ENGINES_QUEUE_SECONDS", "60")
}

/// What came of one request.
enum Answer {
    /// A run, told to be done.
    Done { run_id: String, body: Value },
    /// Told no before there was a run.
    Refused { request_id: String, code: String },
    /// Told that nothing is done, because it cannot be recorded.
    NotRecorded { status: u16 },
    /// The connection broke before the end; perhaps the run's id was known by then.
    Cut { begun: Option<String> },
}

/// What the callers were told, over the lives of all servers.
#[derive(Default)]
pub struct Told {
    /// Runs that are done, as they were told, by caller.
    pub runs: Vec<(usize, String, Value)>,
    /// Refusals without a run: their request ids.
    pub refusals: Vec<String>,
    /// Runs that were begun, and of whose end nobody heard.
    pub begun: Vec<(usize, String)>,
    /// How many runs and refusals had which status or code.
    pub kinds: BTreeMap<String, usize>,
}

/// One caller, while it asks.
#[derive(Debug, Clone, Copy, Default)]
pub struct Progress {
    /// Answers that were told to be done or refused.
    pub acknowledged: usize,
    pub succeeded: usize,
    /// Answers that say that nothing can be recorded.
    pub not_recorded: usize,
}

pub struct Callers {
    tokens: Vec<String>,
    pub told: Mutex<Told>,
    progress: Mutex<[Progress; CALLERS]>,
    /// Told with every answer.
    answered: Condvar,
    enough: AtomicBool,
}

impl Callers {
    pub fn of(server: &Server) -> Self {
        let tokens = (0..CALLERS).map(|i| server.token(&format!("caller-{i}"), "admin")).collect();
        let progress = Mutex::new([Progress::default(); CALLERS]);
        let (answered, enough) = (Condvar::new(), AtomicBool::new(false));
        Self { tokens, told: Mutex::default(), progress, answered, enough }
    }

    pub fn client(&self, server: &Server, caller: usize) -> Client {
        Client::new(&server.url).bearer(&self.tokens[caller])
    }

    /// All ask the server until it is gone, or until `meanwhile` has returned.
    pub fn ask(&self, url: &str, seed: u64, meanwhile: impl FnOnce()) {
        *self.progress.lock().unwrap() = Default::default();
        self.enough.store(false, Ordering::SeqCst);
        thread::scope(|scope| {
            for caller in 0..CALLERS {
                let client = Client::new(url).bearer(&self.tokens[caller]);
                scope.spawn(move || self.keep_asking(caller, &client, seed));
            }
            // Also when it panics: the callers would go on for ever.
            let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(meanwhile));
            self.enough.store(true, Ordering::SeqCst);
            done.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        });
    }

    /// Waits until the callers have come so far.
    pub fn wait(&self, what: &str, so_far: impl Fn(&[Progress; CALLERS]) -> bool) {
        let progress = self.progress.lock().unwrap();
        let waited = self.answered.wait_timeout_while(progress, PATIENCE, |now| !so_far(now));
        let (now, waited) = waited.unwrap();
        assert!(!waited.timed_out(), "{what}: {now:?}");
    }

    pub fn progress(&self) -> [Progress; CALLERS] {
        *self.progress.lock().unwrap()
    }

    fn keep_asking(&self, caller: usize, client: &Client, seed: u64) {
        for turn in 0.. {
            let answer = wish(client, seed.wrapping_add((caller * 3 + turn) as u64));
            let cut = matches!(answer, Answer::Cut { .. });
            self.note(caller, answer);
            if cut || self.enough.load(Ordering::SeqCst) {
                return;
            }
        }
    }

    fn note(&self, caller: usize, answer: Answer) {
        let (mut told, mut progress) = (self.told.lock().unwrap(), self.progress.lock().unwrap());
        let mine = &mut progress[caller];
        let mut kind = |kind: &str| *told.kinds.entry(kind.to_owned()).or_default() += 1;
        match answer {
            Answer::Done { run_id, body } => {
                let code = body["result"]["error"]["code"].as_str().unwrap_or_default().to_owned();
                let status = body["status"].as_str().unwrap();
                kind(format!("{status} {code}").trim());
                mine.acknowledged += 1;
                mine.succeeded += usize::from(status == "succeeded");
                told.runs.push((caller, run_id, body));
            }
            Answer::Refused { request_id, code } => {
                kind(&format!("no run {code}"));
                mine.acknowledged += 1;
                told.refusals.push(request_id);
            }
            Answer::NotRecorded { status } => {
                kind(&format!("not recorded {status}"));
                mine.not_recorded += 1;
            }
            Answer::Cut { begun } => told.begun.extend(begun.map(|run_id| (caller, run_id))),
        }
        self.answered.notify_all();
    }
}

/// One request: answers and refusals, by all ways that there are.
fn wish(client: &Client, number: u64) -> Answer {
    let post = |path: &str, body: Value| client.try_send("POST".parse().unwrap(), path, body.to_string().into());
    let sql = |text: String| plain(post("/datasets/yard/query", json!({ "sql": text })));
    let ask = |message: &str| json!({ "dataset_id": "yard", "message": message });
    match number % 8 {
        0 => plain(post("/chat", ask("total visits by colour"))),
        1 => streamed(post("/chat/stream", ask("how many gates"))),
        2 => sql(format!("SELECT {number} AS number, colour, sum(visits) AS visits FROM gates GROUP BY colour")),
        3 => sql("SELECT * FROM read_csv('/etc/passwd')".into()),
        4 => plain(post("/chat", ask("purple elephants"))),
        5 => plain(post("/chat", json!({ "dataset_id": "moat", "message": "how many?" }))),
        6 => streamed(post("/chat/stream", ask("DELETE FROM gates"))),
        _ => sql(format!("SELECT {number} AS n, count(*) AS c FROM gates a, gates b WHERE a.visits < b.visits")),
    }
}

fn plain(answer: Result<Reply, testkit::Cut>) -> Answer {
    let Ok(reply) = answer else { return Answer::Cut { begun: None } };
    let body = reply.json();
    match reply.code() {
        code if code == NO_RECORD => Answer::NotRecorded { status: reply.status },
        _ if body["run_id"].is_string() => done(body),
        code => Answer::Refused { request_id: reply.header("x-request-id").to_owned(), code },
    }
}

fn streamed(answer: Result<Reply, testkit::Cut>) -> Answer {
    let events = match answer {
        Ok(reply) if reply.status != 200 => return plain(Ok(reply)),
        Ok(reply) => reply.events(),
        // Cut off after its last event, it has told all there was to tell.
        Err(cut) => cut.events(),
    };
    let named = |name: &str| events.iter().find(|event| event.name == name);
    match (named("result"), named("done")) {
        (Some(result), _) if result.data["result"]["error"]["code"] == NO_RECORD => Answer::NotRecorded { status: 200 },
        (Some(result), Some(_)) => done(result.data.clone()),
        _ => Answer::Cut { begun: events.first().map(run_id) },
    }
}

fn run_id(event: &Event) -> String {
    event.data["run_id"].as_str().unwrap().to_owned()
}

fn done(body: Value) -> Answer {
    Answer::Done { run_id: body["run_id"].as_str().unwrap().to_owned(), body }
}
