//! A wire to a Postgres that loses the answer to a change's COMMIT.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// A way to a server that can be cut at the worst moment.
pub struct Wire {
    port: u16,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    /// The next COMMIT of a change goes through, and its answer does not.
    armed: AtomicBool,
    /// From then on nobody gets through.
    for_good: AtomicBool,
    down: AtomicBool,
}

impl Wire {
    pub fn to(port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let wire = Self { port: listener.local_addr().unwrap().port(), state: Arc::default() };
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
        url.replace(&format!(":{port}/"), &format!(":{}/", self.port))
    }

    /// Loses the answer to the next COMMIT of a change.
    pub fn lose_next(&self) {
        self.state.armed.store(true, Ordering::SeqCst);
    }

    /// Loses it, and lets nobody through after that until it is mended.
    pub fn break_at_next(&self) {
        self.state.for_good.store(true, Ordering::SeqCst);
        self.lose_next();
    }

    pub fn mend(&self) {
        self.state.for_good.store(false, Ordering::SeqCst);
        self.state.down.store(false, Ordering::SeqCst);
    }
}

fn carry(client: TcpStream, server: TcpStream, state: Arc<State>) {
    let mute = Arc::new(AtomicBool::new(false));
    let (answers, asker) = (server.try_clone().unwrap(), client.try_clone().unwrap());
    let muted = mute.clone();
    thread::spawn(move || back(answers, asker, &muted));
    thread::spawn(move || there(client, server, &state, &mute));
}

fn there(mut client: TcpStream, mut server: TcpStream, state: &State, mute: &AtomicBool) {
    let (mut chunk, mut writing) = ([0; 16 * 1024], false);
    while let Ok(length @ 1..) = client.read(&mut chunk) {
        if state.down.load(Ordering::SeqCst) {
            break;
        }
        let said = |word: &str| chunk[..length].windows(word.len()).any(|part| part == word.as_bytes());
        writing |= said("READ WRITE");
        // The whole statement: its beginning says COMMITTED.
        if writing && said("COMMIT\0") {
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
    let _ = server.shutdown(Shutdown::Both);
}

fn back(mut server: TcpStream, mut client: TcpStream, mute: &AtomicBool) {
    let mut chunk = [0; 16 * 1024];
    while let Ok(length @ 1..) = server.read(&mut chunk) {
        // By then the server has done what it was asked to.
        if mute.load(Ordering::SeqCst) || client.write_all(&chunk[..length]).is_err() {
            break;
        }
    }
    let _ = client.shutdown(Shutdown::Both);
    let _ = server.shutdown(Shutdown::Both);
}
