//! The Analyst's audit lines (spec 000 REQ-06): one JSON object a request, to stdout, a file or both.
//!
//! Best effort, unlike the ledger: whatever happens to a line, no request waits for it or fails with it. One thread
//! writes, in the order in which requests ended. What cannot be written is told in the log.

mod entry;
mod sink;
mod whole;

pub use entry::Asked;

use crate::config::Audit;
use domain::{Run, SessionId};
use sink::Sinks;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;
use whole::WholeResults;

/// Lines that may wait for a slow reader of stdout or a slow disk. Beyond it they are dropped, and that is told.
const MOST_WAITING: usize = 1_024;

/// Where audit lines are handed in.
pub struct AuditLines {
    queue: SyncSender<Message>,
    /// Whether lines hold whole results.
    verbose: bool,
    whole: WholeResults,
}

enum Message {
    Line(String),
    Reopen,
    /// Answered when everything before it is written.
    Flush(SyncSender<()>),
}

impl AuditLines {
    /// Opens nothing yet: a command that asks no question leaves no file behind.
    pub fn new(settings: &Audit) -> std::io::Result<Self> {
        let (queue, messages) = sync_channel(MOST_WAITING);
        let sinks = Sinks::new(settings);
        std::thread::Builder::new().name("audit-lines".into()).spawn(move || write_all(&messages, sinks))?;
        Ok(Self { queue, verbose: settings.verbose, whole: WholeResults::default() })
    }

    /// A session begins whose line will be handed in.
    pub fn follow(&self, session: SessionId) {
        if self.verbose {
            self.whole.follow(session);
        }
    }

    /// A run is recorded, maybe one of a session that is followed.
    pub fn recorded(&self, run: &Run) {
        if self.verbose {
            self.whole.keep(run);
        }
    }

    /// Gives the runs of a session their whole results back, where lines hold those. The session has ended.
    pub fn complete(&self, session: SessionId, runs: &mut [Run]) {
        let mut results = self.whole.take(session);
        for run in runs {
            if let Some(whole) = results.remove(&run.run_id) {
                run.result_json = Some(whole);
            }
        }
    }

    fn write(&self, line: String) {
        if self.queue.try_send(Message::Line(line)).is_err() {
            tracing::error!("an audit line is lost: {MOST_WAITING} others wait to be written");
        }
    }

    /// Opens the file anew, after a rotation has moved it away.
    pub fn reopen(&self) {
        let _ = self.queue.try_send(Message::Reopen);
    }

    /// Waits until the lines so far are written, but not for a reader that takes none.
    pub fn flush(&self, patience: Duration) {
        let (done, wait) = sync_channel(1);
        if self.queue.try_send(Message::Flush(done)).is_ok() {
            let _ = wait.recv_timeout(patience);
        }
    }
}

/// Ends with the house, which holds the other end of the queue.
fn write_all(messages: &Receiver<Message>, mut sinks: Sinks) {
    while let Ok(message) = messages.recv() {
        match message {
            Message::Line(line) => sinks.write(&line),
            Message::Reopen => sinks.reopen(),
            Message::Flush(done) => drop(done.try_send(())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::AuditOutput;
    use std::path::Path;

    const PATIENCE: Duration = Duration::from_secs(10);

    fn lines(file: &Path) -> AuditLines {
        AuditLines::new(&Audit { output: AuditOutput::File, file: file.to_owned(), verbose: false }).unwrap()
    }

    #[test]
    fn lines_are_written_in_order_and_after_a_rotation_to_the_new_file() {
        let dir = tempfile::tempdir().unwrap();
        let (file, rotated) = (dir.path().join("audit.jsonl"), dir.path().join("audit.jsonl.1"));
        let audit = lines(&file);
        (0..500).for_each(|i| audit.write(i.to_string()));
        audit.flush(PATIENCE);
        std::fs::rename(&file, &rotated).unwrap();
        audit.write("late".into());
        audit.reopen();
        audit.write("new".into());
        audit.flush(PATIENCE);
        let written: Vec<String> = (0..500).map(|i| i.to_string()).chain(["late".into()]).collect();
        assert_eq!(std::fs::read_to_string(rotated).unwrap().lines().collect::<Vec<_>>(), written);
        assert_eq!(std::fs::read_to_string(file).unwrap(), "new\n");
    }

    #[test]
    fn a_file_that_cannot_be_written_costs_its_lines_only() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("nowhere/audit.jsonl");
        let audit = lines(&file);
        audit.write("lost".into());
        audit.flush(PATIENCE);
        std::fs::create_dir(dir.path().join("nowhere")).unwrap();
        audit.write("kept".into());
        audit.flush(PATIENCE);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "kept\n");
        // /dev/full takes nothing.
        let audit = lines(Path::new("/dev/full"));
        audit.write("lost".into());
        audit.flush(PATIENCE);
    }

    #[test]
    fn what_broke_off_in_the_middle_spoils_no_other_line() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("audit.jsonl");
        std::fs::write(&file, "{\"whole\":1}\n{\"torn").unwrap();
        let audit = lines(&file);
        audit.write("{\"next\":1}".into());
        audit.flush(PATIENCE);
        let text = std::fs::read_to_string(&file).unwrap();
        assert_eq!(text.lines().collect::<Vec<_>>(), ["{\"whole\":1}", "{\"torn", "{\"next\":1}"]);
    }

    #[test]
    fn a_reader_that_takes_nothing_keeps_nobody_waiting() {
        // Nobody reads from this pipe, and it is soon full.
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        let audit = lines(&pipe);
        let line = "x".repeat(1_000);
        (0..MOST_WAITING + 200).for_each(|_| audit.write(line.clone()));
        audit.flush(Duration::ZERO);
    }
}
