//! How the stages tell the supervisor how it went, on the worker's stderr.
//!
//! The inner stage sends one byte, [`LOCKED`], once everything is locked down. A stage that gives up
//! sends [`GAVE_UP`] and a [`Failure`] in JSON. Whatever comes before either, or instead of them, was
//! said by bubblewrap or the loader. So a sandbox that failed is never taken for a worker that ended.

use crate::error::SpawnError;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::time::{Duration, Instant};

const LOCKED: u8 = 0x06;
const GAVE_UP: u8 = 0x15;
/// More than any message that we or bubblewrap write.
const MAX_MESSAGE: usize = 64 * 1024;

/// Why a stage gave up.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Failure {
    Unreadable { path: PathBuf, reason: String },
    Setup { step: String, reason: String },
}

impl Failure {
    pub fn setup(step: &str, reason: impl ToString) -> Self {
        Self::Setup { step: step.to_owned(), reason: reason.to_string() }
    }
}

/// What the supervisor heard.
#[derive(Debug)]
pub(crate) enum Heard {
    Locked,
    GaveUp(Failure),
    /// The other end closed without a word of ours.
    Silence(String),
}

pub(crate) fn say_locked() -> io::Result<()> {
    io::stderr().write_all(&[LOCKED])
}

pub(crate) fn say_gave_up(failure: &Failure) {
    let mut message = vec![GAVE_UP];
    message.extend(serde_json::to_vec(failure).unwrap_or_default());
    // Nobody is left to tell when this fails.
    let _ = io::stderr().write_all(&message);
}

/// Listens until one of the two is said. Reads byte by byte, so that what the worker itself writes
/// afterwards stays in the pipe.
pub(crate) fn listen<S: Read + AsFd>(stderr: &mut S, patience: Duration) -> Result<Heard, SpawnError> {
    let deadline = Instant::now() + patience;
    let mut before = Vec::new();
    let mut byte = [0];
    loop {
        wait_readable(stderr, deadline, patience)?;
        match stderr.read(&mut byte)? {
            0 => break,
            _ if byte == [LOCKED] => return Ok(Heard::Locked),
            _ if before.len() < MAX_MESSAGE => before.extend(byte),
            _ => break,
        }
    }
    Ok(understand(&before))
}

fn wait_readable<S: AsFd>(stderr: &S, deadline: Instant, patience: Duration) -> Result<(), SpawnError> {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let timeout = Timespec::try_from(left).map_err(io::Error::other)?;
        match poll(&mut [PollFd::new(stderr, PollFlags::IN)], Some(&timeout)) {
            Ok(0) => return Err(SpawnError::Slow { seconds: patience.as_secs() }),
            Ok(_) => return Ok(()),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(SpawnError::Process(error.into())),
        }
    }
}

fn understand(said: &[u8]) -> Heard {
    let mut parts = said.splitn(2, |b| *b == GAVE_UP);
    let before = parts.next().unwrap_or_default();
    // The program may have added words of its own after the failure.
    let failure = parts.next().and_then(|rest| serde_json::Deserializer::from_slice(rest).into_iter().next());
    match failure {
        Some(Ok(failure)) => Heard::GaveUp(failure),
        _ => Heard::Silence(String::from_utf8_lossy(before).trim().to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_understood_among_other_words() {
        let mut said = b"a warning of the loader\n\x15".to_vec();
        said.extend(serde_json::to_vec(&Failure::setup("landlock", "off")).unwrap());
        said.extend(b"program: it was off\n");
        let Heard::GaveUp(Failure::Setup { step, reason }) = understand(&said) else { panic!("{said:?}") };
        assert_eq!((step.as_str(), reason.as_str()), ("landlock", "off"));
    }

    #[test]
    fn anything_else_is_what_somebody_else_said() {
        for said in ["bwrap: no namespaces\n", "bwrap: no namespaces\n\x15{\"half\":"] {
            let Heard::Silence(text) = understand(said.as_bytes()) else { panic!("{said:?}") };
            assert_eq!(text, "bwrap: no namespaces");
        }
    }

    #[test]
    fn what_comes_after_the_byte_stays_in_the_pipe() {
        let (mut here, there) = std::os::unix::net::UnixStream::pair().unwrap();
        (&there).write_all(b"\x06later").unwrap();
        drop(there);
        assert!(matches!(listen(&mut here, Duration::from_secs(5)), Ok(Heard::Locked)));
        let mut rest = String::new();
        here.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "later");
    }

    #[test]
    fn patience_ends() {
        let (mut here, _there) = std::os::unix::net::UnixStream::pair().unwrap();
        assert!(matches!(listen(&mut here, Duration::from_millis(1)), Err(SpawnError::Slow { .. })));
    }
}
