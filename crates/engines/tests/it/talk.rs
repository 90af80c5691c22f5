//! A worker in a real jail, spoken to frame by frame: with statements that no policy has seen.

use sandbox::{Jail, JailLimits, Jailed, Sandbox};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, ChildStdout};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// Of the Arrow that comes with an answer, so much is kept to look at.
const KEPT: usize = 1024 * 1024;
const OPENING: Duration = Duration::from_secs(20);

pub struct Talk {
    jailed: Jailed,
    stdin: ChildStdin,
    answers: Receiver<Answer>,
}

#[derive(Debug)]
pub enum Answer {
    /// It ran, and this came of it.
    Ran(Vec<u8>),
    Failed(String),
    Died,
    /// Not in time: it was killed.
    Late,
}

impl Talk {
    /// Starts a worker that may read these files.
    pub fn start(sandbox: &Sandbox, read: Vec<PathBuf>, limits: JailLimits) -> Self {
        let mut jailed = sandbox.spawn(&Jail { read, limits, ..Jail::default() }, &[]).unwrap();
        let stdin = jailed.stdin.take().unwrap();
        let mut stdout = jailed.stdout.take().unwrap();
        let mut stderr = jailed.stderr.take().unwrap();
        let (sender, answers) = channel();
        thread::spawn(move || while next(&mut stdout).is_some_and(|answer| sender.send(answer).is_ok()) {});
        thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
        Self { jailed, stdin, answers }
    }

    pub fn inside(&self, path: &Path) -> PathBuf {
        self.jailed.inside(path).unwrap()
    }

    pub fn open(&mut self, open: &Value) {
        let answer = self.ask(&json!({ "Open": open }), OPENING);
        assert!(matches!(answer, Answer::Ran(_)), "the source opens: {answer:?}");
    }

    pub fn query(&mut self, sql: &str, patience: Duration) -> Answer {
        self.ask(&json!({"Query": {"sql": sql, "params": [], "rows": 1000, "bytes": 1_000_000}}), patience)
    }

    fn ask(&mut self, request: &Value, patience: Duration) -> Answer {
        let payload = request.to_string();
        let mut frame = vec![b'Q'];
        frame.extend(u32::try_from(payload.len()).unwrap().to_le_bytes());
        frame.extend(payload.as_bytes());
        // One that has died says so below.
        let _ = self.stdin.write_all(&frame).and_then(|()| self.stdin.flush());
        match self.answers.recv_timeout(patience) {
            Ok(answer) => answer,
            Err(RecvTimeoutError::Disconnected) => Answer::Died,
            Err(RecvTimeoutError::Timeout) => {
                self.jailed.kill();
                Answer::Late
            }
        }
    }
}

fn next(stdout: &mut ChildStdout) -> Option<Answer> {
    let mut kept = Vec::new();
    loop {
        let mut head = [0u8; 5];
        stdout.read_exact(&mut head).ok()?;
        let [tag, length @ ..] = head;
        let mut payload = vec![0; u32::from_le_bytes(length) as usize];
        stdout.read_exact(&mut payload).ok()?;
        if tag == b'F' {
            return Some(Answer::Failed(String::from_utf8_lossy(&payload).into_owned()));
        }
        kept.extend(payload.iter().take(KEPT.saturating_sub(kept.len())));
        if tag == b'D' {
            return Some(Answer::Ran(kept));
        }
    }
}
