//! What a script says, redacted, in pieces that are sent while it runs.
//!
//! Pieces are cut between lines and never cut again: a house that has heard one twice keeps it once, by where it begins.
//! Sending is somebody else's thread, so that a slow house never holds up the script's clock.

use crate::api::{House, LogRequest};
use crate::journal::Entry;
use domain::Fault;
use domain::package::ClaimToken;
use policy::redact::{Masks, Redactor};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// A piece is cut when it is this large, or this old.
const LARGE: usize = 32 * 1024;
const OLD: Duration = Duration::from_secs(1);

pub struct Log<'a> {
    redactor: &'a Redactor,
    masks: Masks,
    buffer: Vec<u8>,
    last_cut: Instant,
    pieces: Vec<String>,
    live: Option<Live>,
}

/// Sends pieces as they come, until one is not heard: the rest waits for the end.
struct Live {
    pieces: Sender<String>,
    sent: JoinHandle<usize>,
}

impl<'a> Log<'a> {
    pub fn new(redactor: &'a Redactor) -> Self {
        let (masks, buffer, pieces) = (Masks::default(), Vec::new(), Vec::new());
        Self { redactor, masks, buffer, last_cut: Instant::now(), pieces, live: None }
    }

    /// Sent while it is said.
    pub fn live(redactor: &'a Redactor, house: Arc<House>, package_id: &str, token: &ClaimToken) -> Self {
        let (pieces, inbox) = channel();
        let (package_id, token) = (package_id.to_owned(), token.clone());
        let sent = thread::spawn(move || forward(&house, &package_id, &token, &inbox));
        Self { live: Some(Live { pieces, sent }), ..Self::new(redactor) }
    }

    pub fn hear(&mut self, said: &[u8]) {
        self.buffer.extend_from_slice(said);
        if (self.buffer.len() >= LARGE || self.last_cut.elapsed() >= OLD)
            && let Some(end) = cut(&self.buffer)
        {
            let rest = self.buffer.split_off(end);
            self.take();
            self.buffer = rest;
        }
    }

    fn take(&mut self) {
        let text = String::from_utf8_lossy(&std::mem::take(&mut self.buffer)).into_owned();
        let redacted = self.redactor.redact(&text, &mut self.masks);
        for piece in pieces(&redacted) {
            if let Some(live) = &self.live {
                // Who has stopped sending has stopped listening.
                let _ = live.pieces.send(piece.to_owned());
            }
            self.pieces.push(piece.to_owned());
        }
        self.last_cut = Instant::now();
    }

    /// All of it, and how many pieces the house has.
    pub fn end(mut self) -> (Vec<String>, usize) {
        if !self.buffer.is_empty() {
            self.take();
        }
        let Some(Live { pieces, sent }) = self.live else { return (self.pieces, 0) };
        drop(pieces);
        (self.pieces, sent.join().unwrap_or(0))
    }
}

/// After the last line, unless a key that goes over several lines is still open: only whole is it known for one.
fn cut(said: &[u8]) -> Option<usize> {
    let end = said.iter().rposition(|byte| *byte == b'\n')? + 1;
    let text = String::from_utf8_lossy(said.get(..end)?);
    let is_open = match (text.rfind("-----BEGIN"), text.rfind("-----END")) {
        (Some(begin), Some(end)) => begin > end,
        (begin, _) => begin.is_some(),
    };
    (!is_open).then_some(end)
}

/// None larger than what the house takes at a time: a line may be as long as all output.
fn pieces(text: &str) -> Vec<&str> {
    let (mut pieces, mut rest) = (Vec::new(), text);
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.floor_char_boundary(LARGE));
        pieces.push(piece);
        rest = after;
    }
    pieces
}

fn forward(house: &House, package_id: &str, token: &ClaimToken, pieces: &Receiver<String>) -> usize {
    let (mut sent, mut offset) = (0, 0);
    for piece in pieces {
        if send(house, package_id, token, offset, &piece).is_err() {
            break;
        }
        (sent, offset) = (sent + 1, offset + piece.len());
    }
    sent
}

fn send(house: &House, package_id: &str, claim_token: &ClaimToken, offset: usize, text: &str) -> Result<(), Fault> {
    house.log(&LogRequest { claim_token, package_id, offset, text })
}

/// What the house has not heard yet.
pub fn send_rest(house: &House, entry: &Entry) -> Result<(), Fault> {
    let mut offset = entry.log.iter().take(entry.log_sent).map(String::len).sum();
    for piece in entry.log.iter().skip(entry.log_sent) {
        send(house, &entry.package_id, &entry.claim_token, offset, piece)?;
        offset += piece.len();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_end_between_lines_and_never_within_a_key() {
        let cases = [
            ("", None),
            ("half", None),
            ("one\ntwo", Some(4)),
            ("-----BEGIN PRIVATE KEY-----\nMIIE\n", None),
            ("-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----\nx", Some(59)),
        ];
        for (said, expected) in cases {
            assert_eq!(cut(said.as_bytes()), expected, "{said}");
        }
    }

    #[test]
    fn a_long_line_goes_in_pieces_and_comes_together_again() {
        let text = "äx".repeat(LARGE);
        let pieces = pieces(&text);
        assert!(pieces.len() > 2 && pieces.iter().all(|piece| piece.len() <= LARGE));
        assert_eq!(pieces.concat(), text);
    }
}
