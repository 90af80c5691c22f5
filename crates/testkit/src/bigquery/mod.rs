//! A throw-away BigQuery: the emulator `local-bigquery`, on ports of the system's choice, and a gate before it.
//!
//! The emulator asks nobody who they are, counts no bytes and is never busy. The [`Gate`] does that in its place: it gives
//! tokens as Google does, lets nobody through without one, and passes everything else on.

mod claim;
mod gate;

pub use gate::Gate;

use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use tempfile::TempDir;

/// The ports are said only by a program that asks for them: the emulator's own command does not.
const LAUNCH: &str = r#"
import pathlib, socket, sys, uvicorn
from local_bigquery.settings import settings
settings.bigquery_host, settings.data_dir = "127.0.0.1", pathlib.Path(sys.argv[1])
from local_bigquery.engine import database
from local_bigquery.grpc import server
database.connection()
_, rows = server.start("127.0.0.1", int(sys.argv[3]))
rest = socket.create_server(("127.0.0.1", int(sys.argv[2])))
print(rest.getsockname()[1], rows, flush=True)
uvicorn.Server(uvicorn.Config("local_bigquery:app", log_level="error")).run(sockets=[rest])
"#;

/// A running emulator. It ends, with its tables, when this is dropped.
pub struct BigQuery {
    child: Mutex<Child>,
    /// Of REST, and of Storage Read.
    ports: (u16, u16),
    dir: TempDir,
}

impl BigQuery {
    /// The project, and its dataset.
    pub const PROJECT: &str = "local";
    pub const DATASET: &str = "firm";

    pub fn start() -> Self {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let (child, ports) = spawn(&dir, (0, 0));
        let emulator = Self { child: Mutex::new(child), ports, dir };
        emulator.sql(&format!("CREATE SCHEMA IF NOT EXISTS `{}`", Self::DATASET));
        emulator
    }

    /// Starts it again after [`BigQuery::kill`], where it was, with what it had.
    pub fn restart(&self) {
        *self.child.lock().expect("the child") = spawn(&self.dir, self.ports).0;
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.ports.0)
    }

    pub fn storage_url(&self) -> String {
        format!("http://127.0.0.1:{}", self.ports.1)
    }

    /// Has it run a statement, of those that prepare a test.
    pub fn sql(&self, sql: &str) {
        let dataset = json!({ "projectId": Self::PROJECT, "datasetId": Self::DATASET });
        let body = json!({ "query": sql, "useLegacySql": false, "defaultDataset": dataset, "timeoutMs": 60_000 });
        let path = format!("{}/bigquery/v2/projects/{}/queries", self.url(), Self::PROJECT);
        let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
        let mut reply = agent.post(&path).send_json(&body).expect("the emulator to answer");
        let text = reply.body_mut().read_to_string().expect("its answer");
        assert!(reply.status().is_success(), "{}: {text}", sql.chars().take(300).collect::<String>());
    }

    /// The jobs that it works on.
    pub fn running(&self) -> usize {
        let path = format!("{}/bigquery/v2/projects/{}/jobs?stateFilter=running", self.url(), Self::PROJECT);
        let jobs: Value = ureq::get(&path).call().expect("an answer").body_mut().read_json().expect("its jobs");
        jobs["jobs"].as_array().map_or(0, Vec::len)
    }

    /// Ends it as a crash would, if it still runs.
    pub fn kill(&self) {
        let mut child = self.child.lock().expect("the child");
        drop(child.kill());
        child.wait().expect("the emulator to end");
    }
}

impl Drop for BigQuery {
    fn drop(&mut self) {
        if let Ok(mut child) = self.child.lock() {
            drop(child.kill());
            drop(child.wait());
        }
    }
}

/// On these ports, or on ports of the system's choice where they are 0. Gives them when it listens.
fn spawn(dir: &TempDir, (rest, rows): (u16, u16)) -> (Child, (u16, u16)) {
    let python = crate::environment(Some("bigquery"));
    // Its DuckDB looks for extensions below its home (scripts/python-deps).
    let home = python.parent().and_then(|bin| bin.parent()).expect("an environment").join("home");
    let mut child = Command::new(python)
        .args(["-c", LAUNCH])
        .arg(dir.path())
        .args([rest.to_string(), rows.to_string()])
        .env("HOME", home)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the emulator to start");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("its output")).read_line(&mut line).expect("a line");
    let ports = line.trim().split_once(' ').and_then(|(rest, rows)| Some((rest.parse().ok()?, rows.parse().ok()?)));
    (child, ports.expect("the emulator to say its ports"))
}
