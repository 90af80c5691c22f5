//! The CLI as a process: what we say to it, what it says, and its end, together with all that it has started.

use super::KNOWN;
use super::frames::Frame;
use crate::model::Failure;
use domain::logged::{json_error, phrases};
use domain::{Fault, Kind};
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::mpsc;

/// A longer line is not believed.
const MOST_LINE_BYTES: usize = 1024 * 1024;
/// Bytes of its complaints that are looked at.
const MOST_STDERR_BYTES: u64 = 4096;
/// Between its end of input and SIGTERM, and between that and SIGKILL.
const PATIENCE: Duration = Duration::from_secs(5);

/// When dropped, it is asked to end, and made to.
pub(super) struct Process {
    child: Option<(Child, TempDir)>,
    /// Its process group, which all that it starts are part of.
    group: Option<Pid>,
    /// Closed when there is nothing more to say.
    to_say: Option<mpsc::UnboundedSender<String>>,
    said: BufReader<ChildStdout>,
    line: Vec<u8>,
}

impl Process {
    pub fn start(mut command: Command, private: TempDir) -> Result<Self, Failure> {
        // Should this program end before it: the leader of the group at least goes with it.
        let mut child = command.process_group(0).kill_on_drop(true).spawn().map_err(|error| cannot_start(&error))?;
        let group = group_of(child.id());
        let (Some(stdin), Some(stdout), Some(stderr)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(Fault::internal("model.pipes").into());
        };
        let (to_say, saying) = mpsc::unbounded_channel();
        tokio::spawn(say_all(stdin, saying));
        tokio::spawn(log(stderr));
        let said = BufReader::new(stdout);
        Ok(Self { child: Some((child, private)), group, to_say: Some(to_say), said, line: Vec::new() })
    }

    /// Says something, without waiting until it is heard.
    pub fn say(&self, message: &Value) {
        if let Some(to_say) = &self.to_say {
            let _ = to_say.send(format!("{message}\n"));
        }
    }

    pub fn say_no_more(&mut self) {
        self.to_say = None;
    }

    /// The next frame; none at the end of its output. What is no frame is passed over.
    pub async fn next(&mut self) -> Result<Option<Frame>, Failure> {
        loop {
            self.line.clear();
            let most = MOST_LINE_BYTES as u64 + 1;
            let read = (&mut self.said).take(most).read_until(b'\n', &mut self.line).await;
            if read.map_err(|_| Failure::cut())? == 0 {
                return Ok(None);
            }
            if self.line.len() > MOST_LINE_BYTES {
                return Err(Failure::too_much());
            }
            if !self.line.starts_with(b"{") {
                continue;
            }
            match serde_json::from_slice(&self.line) {
                Ok(frame) => return Ok(Some(frame)),
                Err(error) => tracing::debug!(error = json_error(&error), "a line of the agent CLI cannot be read"),
            }
        }
    }
}

/// Whatever the run came to, and also if nobody waits for it any more.
impl Drop for Process {
    fn drop(&mut self) {
        self.say_no_more();
        let (Some((child, private)), Some(group)) = (self.child.take(), self.group) else { return };
        // Without a runtime there is no time to be patient in.
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn(end(child, group, private))),
            Err(_) => drop(kill_process_group(group, Signal::KILL)),
        }
    }
}

/// EOF was said: waits, asks by SIGTERM, and ends what is still there of the group.
async fn end(mut child: Child, group: Pid, private: TempDir) {
    if tokio::time::timeout(PATIENCE, child.wait()).await.is_err() {
        let _ = kill_process_group(group, Signal::TERM);
        let _ = tokio::time::timeout(PATIENCE, child.wait()).await;
    }
    // Also what the CLI has left behind.
    let _ = kill_process_group(group, Signal::KILL);
    let _ = child.wait().await;
    drop(private);
}

/// A process that was started as the first of its group, by its id.
fn group_of(leader: Option<u32>) -> Option<Pid> {
    leader.and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw)
}

/// Ends at once what is left of the group that this process began.
pub(super) fn end_group(leader: Option<u32>) {
    if let Some(group) = group_of(leader) {
        let _ = kill_process_group(group, Signal::KILL);
    }
}

async fn say_all(mut stdin: ChildStdin, mut saying: mpsc::UnboundedReceiver<String>) {
    while let Some(line) = saying.recv().await {
        // It has gone: its output ends too, and says so.
        if stdin.write_all(line.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// Its complaints are told in our log by the phrases that are known of them, since it may complain about the prompt. Only
/// their beginning is looked at, the rest is taken off its hands.
async fn log(mut stderr: ChildStderr) {
    let mut beginning = Vec::new();
    let _ = (&mut stderr).take(MOST_STDERR_BYTES).read_to_end(&mut beginning).await;
    if !beginning.is_empty() {
        let said = phrases(&String::from_utf8_lossy(&beginning), &KNOWN);
        tracing::warn!(said, "the agent CLI complains");
    }
    let _ = tokio::io::copy(&mut stderr, &mut tokio::io::sink()).await;
}

pub(super) fn cannot_start(error: &std::io::Error) -> Failure {
    tracing::error!(%error, "the agent CLI cannot be started");
    let fault = match error.raw_os_error() {
        // E2BIG: the schema did not go into an argument.
        Some(7) => Fault::new(Kind::TooLarge, "model.too_long", "the prompt is too long for the agent CLI"),
        _ => Fault::new(Kind::Unavailable, "model.unreachable", "the agent CLI cannot be started")
            .hint("whoever runs this server must look at the agent CLI: `gatehouse doctor`"),
    };
    fault.into()
}
