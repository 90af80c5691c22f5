//! What a script says, up to a limit.

use std::io::Read;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Instant;

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
        let (sender, pieces) = channel();
        for stream in streams {
            let sender = sender.clone();
            thread::spawn(move || forward(stream, &sender));
        }
        Self { pieces }
    }

    /// Until both end, or there is more than `most` bytes, or the time is up.
    pub fn listen(&self, most: usize, deadline: Instant) -> (Vec<u8>, Heard) {
        let mut said = Vec::new();
        loop {
            match self.pieces.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(piece) => said.extend(piece),
                Err(RecvTimeoutError::Disconnected) => return (said, Heard::Everything),
                Err(RecvTimeoutError::Timeout) => return (said, Heard::TooLong),
            }
            if said.len() > most {
                said.truncate(most);
                return (said, Heard::TooMuch);
            }
        }
    }
}

fn forward(mut stream: Box<dyn Read + Send>, sender: &Sender<Vec<u8>>) {
    let mut buffer = [0; 8192];
    while let Ok(n @ 1..) = stream.read(&mut buffer) {
        if sender.send(buffer.get(..n).unwrap_or_default().to_vec()).is_err() {
            return;
        }
    }
}
