//! What a script says, up to a limit.

use std::io::Read;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// How long silence lasts before whoever listens is told of it.
const TICK: Duration = Duration::from_secs(1);
/// Pieces that wait to be heard: a script that says more than anybody can take waits too.
const WAITING: usize = 16;

/// Both streams of a script, as they come.
pub struct Streams {
    pieces: Receiver<Vec<u8>>,
}

/// How listening ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Heard {
    Everything,
    TooMuch,
    TooLong,
}

impl Streams {
    pub fn of(streams: Vec<Box<dyn Read + Send>>) -> Self {
        let (sender, pieces) = sync_channel(WAITING);
        for stream in streams {
            let sender = sender.clone();
            thread::spawn(move || forward(stream, &sender));
        }
        Self { pieces }
    }

    /// Until both end, or there is more than `most` bytes, or the time is up. Says how much there was.
    pub fn listen(&self, most: usize, deadline: Instant, hear: &mut dyn FnMut(&[u8])) -> (usize, Heard) {
        let mut heard = 0;
        loop {
            let rest = deadline.saturating_duration_since(Instant::now());
            let piece = match self.pieces.recv_timeout(rest.min(TICK)) {
                Ok(piece) => piece,
                Err(RecvTimeoutError::Disconnected) => return (heard, Heard::Everything),
                // Nothing new: what was said before may be old enough to be passed on.
                Err(RecvTimeoutError::Timeout) => Vec::new(),
            };
            let room = most - heard;
            if piece.len() > room {
                hear(piece.get(..room).unwrap_or_default());
                return (most, Heard::TooMuch);
            }
            heard += piece.len();
            hear(&piece);
            // A script that never pauses must not outlive its time for that.
            if Instant::now() >= deadline {
                return (heard, Heard::TooLong);
            }
        }
    }
}

fn forward(mut stream: Box<dyn Read + Send>, sender: &SyncSender<Vec<u8>>) {
    let mut buffer = [0; 8192];
    while let Ok(n @ 1..) = stream.read(&mut buffer) {
        if sender.send(buffer.get(..n).unwrap_or_default().to_vec()).is_err() {
            return;
        }
    }
}
