//! A wire to a server that can be cut at the worst moment: when a COMMIT is made and not yet answered, or in the middle of
//! an answer.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;

/// As much of what was looked through is kept, since a word may come in two pieces.
const LONGEST_WORD: usize = 64;
/// So Gatehouse begins what writes: changes, and what the ledger keeps.
const BEGINS: [&str; 2] = ["READ WRITE", "BEGIN ISOLATION LEVEL READ COMMITTED"];
/// The whole statement: the beginning of one says COMMITTED.
const ENDS: [&str; 2] = ["COMMIT\0", "COMMIT;\0"];

/// A way to a server on this machine.
pub struct Wire {
    port: u16,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    /// The next COMMIT of what writes goes through, and its answer does not.
    armed: AtomicBool,
    /// From then on nobody gets through.
    for_good: AtomicBool,
    down: AtomicBool,
    /// Bytes of answers after which a connection is cut; 0 where none is.
    left: AtomicU64,
    /// How often it was cut, for either reason.
    cuts: AtomicUsize,
}

impl Wire {
    pub fn to(port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let wire = Self { port: listener.local_addr().expect("its address").port(), state: Arc::default() };
        let state = wire.state.clone();
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if let (false, Ok(server)) =
                    (state.down.load(Ordering::SeqCst), TcpStream::connect(("127.0.0.1", port)))
                {
                    carry(client, server, state.clone());
                }
            }
        });
        wire
    }

    /// The same address, by this way.
    pub fn of(&self, url: &str, port: u16) -> String {
        let (before, after) = url.split_once(&format!(":{port}")).expect("an address with that port");
        format!("{before}:{}{after}", self.port)
    }

    /// Loses the answer to the next COMMIT of what writes.
    pub fn lose_next(&self) {
        self.state.armed.store(true, Ordering::SeqCst);
    }

    /// Loses it, and lets nobody through after that until it is mended.
    pub fn break_at_next(&self) {
        self.state.for_good.store(true, Ordering::SeqCst);
        self.lose_next();
    }

    /// Cuts the connection on which, from now on, so many bytes of answers have come. Others go on.
    pub fn cut_after(&self, bytes: u64) {
        self.state.left.store(bytes.max(1), Ordering::SeqCst);
    }

    /// Cuts it, and lets nobody through after that until it is mended.
    pub fn break_after(&self, bytes: u64) {
        self.state.for_good.store(true, Ordering::SeqCst);
        self.cut_after(bytes);
    }

    /// How often it was cut so far.
    pub fn cuts(&self) -> usize {
        self.state.cuts.load(Ordering::SeqCst)
    }

    pub fn mend(&self) {
        self.state.for_good.store(false, Ordering::SeqCst);
        self.state.down.store(false, Ordering::SeqCst);
    }
}

impl State {
    /// Whether an answer of this length is the one to cut in.
    fn is_enough(&self, length: usize) -> bool {
        let length = length as u64;
        let take = |left: u64| (left > 0).then(|| left.saturating_sub(length));
        self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take).is_ok_and(|left| left <= length)
    }
}

fn carry(client: TcpStream, server: TcpStream, state: Arc<State>) {
    let mute = Arc::new(AtomicBool::new(false));
    let (answers, asker) =
        (server.try_clone().expect("a connection twice"), client.try_clone().expect("a connection twice"));
    let (muted, heard) = (mute.clone(), state.clone());
    thread::spawn(move || back(answers, asker, &heard, &muted));
    thread::spawn(move || there(client, server, &state, &mute));
}

/// What was said and not looked through yet. Its end may be the beginning of a word.
#[derive(Default)]
struct Said(Vec<u8>);

impl Said {
    fn hear(&mut self, chunk: &[u8]) {
        self.0.extend_from_slice(chunk);
    }

    /// Whether one of these words was said; what comes after it is still to be looked through.
    fn passed(&mut self, words: &[&str]) -> bool {
        let end = |word: &&str| {
            let at = self.0.windows(word.len()).position(|part| part == word.as_bytes());
            at.map(|at| at + word.len())
        };
        let found = words.iter().filter_map(end).min();
        let over = found.unwrap_or(self.0.len().saturating_sub(LONGEST_WORD));
        self.0.drain(..over);
        found.is_some()
    }
}

fn there(mut client: TcpStream, mut server: TcpStream, state: &State, mute: &AtomicBool) {
    let (mut chunk, mut writing, mut said) = ([0; 16 * 1024], false, Said::default());
    while let Ok(length @ 1..) = client.read(&mut chunk) {
        if state.down.load(Ordering::SeqCst) {
            break;
        }
        said.hear(&chunk[..length]);
        // In this order: on one connection the end of what only read may stand right before the beginning of what writes.
        writing = writing || said.passed(&BEGINS);
        if writing && said.passed(&ENDS) {
            writing = false;
            if state.armed.swap(false, Ordering::SeqCst) {
                state.down.store(state.for_good.load(Ordering::SeqCst), Ordering::SeqCst);
                mute.store(true, Ordering::SeqCst);
            }
        }
        if server.write_all(&chunk[..length]).is_err() {
            break;
        }
    }
    // What is muted ends when the server has done what it was asked to.
    if !mute.load(Ordering::SeqCst) {
        let _ = server.shutdown(Shutdown::Both);
    }
}

fn back(mut server: TcpStream, mut client: TcpStream, state: &State, mute: &AtomicBool) {
    let (mut chunk, mut said) = ([0; 16 * 1024], Said::default());
    while let Ok(length @ 1..) = server.read(&mut chunk) {
        if mute.load(Ordering::SeqCst) {
            // Answers to what came before it are lost too. After this one it has done what it was asked to.
            said.hear(&chunk[..length]);
            if said.passed(&["COMMIT\0", "ROLLBACK\0"]) {
                state.cuts.fetch_add(1, Ordering::SeqCst);
                break;
            }
            continue;
        }
        if state.is_enough(length) {
            // Half of a piece, so that it is cut within one.
            drop(client.write_all(&chunk[..length / 2]));
            state.down.store(state.for_good.load(Ordering::SeqCst), Ordering::SeqCst);
            state.cuts.fetch_add(1, Ordering::SeqCst);
            break;
        }
        if client.write_all(&chunk[..length]).is_err() {
            break;
        }
    }
    let _ = client.shutdown(Shutdown::Both);
    let _ = server.shutdown(Shutdown::Both);
}
