//! A throw-away Sail: a real distributed engine that speaks Arrow Flight SQL, on a port of the system's choice.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use tempfile::TempDir;

/// How it works on a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// In one process.
    Local,
    /// A driver and its workers, within one process as well, but with all that lies between them.
    Cluster,
}

impl Mode {
    pub const BOTH: [Self; 2] = [Self::Local, Self::Cluster];

    fn word(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Cluster => "local-cluster",
        }
    }
}

/// A running engine. It ends, with its tables, when this is dropped.
pub struct Sail {
    child: Mutex<Child>,
    port: u16,
    mode: Mode,
    dir: TempDir,
}

impl Sail {
    pub fn start(mode: Mode) -> Self {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let (child, port) = spawn(mode, 0, &dir);
        Self { child: Mutex::new(child), port, mode, dir }
    }

    /// Starts it again after [`Sail::kill`], where it was, without the tables that it had.
    pub fn restart(&self) {
        *self.child.lock().expect("the child") = spawn(self.mode, self.port, &self.dir).0;
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Has it run a statement, of those that prepare a test. Gives the rows.
    pub fn sql(&self, sql: &str) -> Vec<arrow_array::RecordBatch> {
        crate::flight::run(&self.url(), sql)
    }

    /// Ends it as a crash would, if it still runs.
    pub fn kill(&self) {
        let mut child = self.child.lock().expect("the child");
        drop(child.kill());
        child.wait().expect("sail to end");
    }
}

impl Drop for Sail {
    fn drop(&mut self) {
        if let Ok(mut child) = self.child.lock() {
            drop(child.kill());
            drop(child.wait());
        }
    }
}

/// `… Starting the Flight SQL server on 127.0.0.1:46595...`
fn told(line: &str) -> Option<u16> {
    line.split_once("server on 127.0.0.1:")?.1.trim_end_matches('.').parse().ok()
}

/// On a port, or on one of the system's choice where it is 0. Gives it when it listens.
fn spawn(mode: Mode, port: u16, dir: &TempDir) -> (Child, u16) {
    let program = crate::environment(Some("sail")).with_file_name("sail");
    let mut child = Command::new(program)
        .args(["flight", "server", "--port", &port.to_string(), "--directory"])
        .arg(dir.path())
        .env("SAIL_MODE", mode.word())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("sail to start");
    let mut lines = BufReader::new(child.stderr.take().expect("its log")).lines();
    let port = lines.by_ref().map_while(Result::ok).find_map(|line| told(&line)).expect("sail to say its port");
    // It goes on talking, and would stop if nobody listened.
    std::thread::spawn(move || lines.for_each(drop));
    // It says its port a moment before it listens there.
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(child.try_wait().expect("its state").is_none(), "sail ended at once");
        std::thread::yield_now();
    }
    (child, port)
}
