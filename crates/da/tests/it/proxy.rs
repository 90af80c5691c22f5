//! Something between `da` and its server, which passes a fetch on up to a point and stops there: at a byte of the
//! result, not at a moment, so that it is the same point however busy the machine is.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::Child;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Where it stops.
#[derive(Clone, Copy)]
pub enum At {
    /// So many bytes of a scan's reply have been passed on, its head among them.
    Byte(usize),
    /// A request that begins like this is about to be passed on.
    Request(&'static str),
    Nowhere,
}

/// And what happens there.
#[derive(Clone, Copy)]
pub enum Then {
    /// The connection breaks.
    Break,
    /// The reply claims to end here.
    EndOfChunks,
    /// Nothing more comes, until [`Proxy::go_on`].
    Hold,
}

pub struct Proxy {
    pub url: String,
    passed: Arc<AtomicUsize>,
    reached: Receiver<()>,
    go_on: Sender<()>,
}

impl Proxy {
    pub fn new(server: &str, at: At, then: Then) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let server = server.trim_start_matches("http://").to_owned();
        let ((told, reached), (go_on, wait)) = (channel(), channel());
        let (passed, wait) = (Arc::<AtomicUsize>::default(), Arc::new(Mutex::new(wait)));
        let count = passed.clone();
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let stop = Stop { at, then, told: told.clone(), wait: wait.clone(), passed: count.clone() };
                let server = TcpStream::connect(&server).unwrap();
                std::thread::spawn(move || forward(client, server, stop));
            }
        });
        Self { url, passed, reached, go_on }
    }

    /// Waits until the point is reached: the program is under way then, and cannot end. One that ends before fails.
    pub fn reached(&self, program: &mut Child) {
        while self.reached.recv_timeout(Duration::from_millis(100)).is_err() {
            assert_eq!(program.try_wait().unwrap(), None, "it ended before the point was reached");
        }
    }

    pub fn go_on(&self) {
        self.go_on.send(()).unwrap();
    }

    /// Bytes of scans so far.
    pub fn passed(&self) -> usize {
        self.passed.load(Ordering::SeqCst)
    }
}

#[derive(Clone)]
struct Stop {
    at: At,
    then: Then,
    told: Sender<()>,
    wait: Arc<Mutex<Receiver<()>>>,
    passed: Arc<AtomicUsize>,
}

impl Stop {
    fn hold(&self) {
        // Whoever does not wait for the point has gone, or lets it hold for good.
        let _ = self.told.send(());
        let _ = self.wait.lock().unwrap().recv();
    }
}

fn forward(mut client: TcpStream, mut server: TcpStream, stop: Stop) {
    let scans = Arc::new(AtomicBool::new(false));
    let both = (client.try_clone().unwrap(), server.try_clone().unwrap());
    let asked = (scans.clone(), stop.clone());
    std::thread::spawn(move || ask(both, &asked.0, &asked.1));
    let mut reply = vec![0; 16 * 1024];
    while let Ok(read @ 1..) = server.read(&mut reply) {
        if !answer(&mut client, &reply[..read], scans.load(Ordering::SeqCst), &stop) {
            break;
        }
    }
    let _ = client.shutdown(Shutdown::Both);
    let _ = server.shutdown(Shutdown::Both);
}

/// Passes on a piece of a reply; whether more may follow.
fn answer(client: &mut TcpStream, piece: &[u8], of_scan: bool, stop: &Stop) -> bool {
    let before = if of_scan { stop.passed.fetch_add(piece.len(), Ordering::SeqCst) } else { 0 };
    let At::Byte(at) = stop.at else { return client.write_all(piece).is_ok() };
    if !of_scan || before > at || before + piece.len() <= at {
        return client.write_all(piece).is_ok();
    }
    let (head, tail) = piece.split_at(at - before);
    if client.write_all(head).is_err() {
        return false;
    }
    match stop.then {
        Then::Break => false,
        Then::EndOfChunks => {
            // Fills up the chunk that was begun, with nothing, and ends.
            let _ = client.write_all(&vec![0; 4 << 20]);
            let _ = client.write_all(b"\r\n0\r\n\r\n");
            false
        }
        Then::Hold => {
            stop.hold();
            client.write_all(tail).is_ok()
        }
    }
}

/// Passes requests on, to a server that is asked by its own name.
fn ask((mut client, mut server): (TcpStream, TcpStream), scans: &AtomicBool, stop: &Stop) {
    let (ours, theirs) = (client.local_addr().unwrap().to_string(), server.peer_addr().unwrap().to_string());
    let mut request = vec![0; 64 * 1024];
    while let Ok(read @ 1..) = client.read(&mut request) {
        let text = String::from_utf8_lossy(&request[..read]).replace(&ours, &theirs);
        if text.starts_with("POST /api/v2/scan HTTP") || text.starts_with("POST /api/query HTTP") {
            scans.store(true, Ordering::SeqCst);
        }
        if matches!(stop.at, At::Request(prefix) if text.starts_with(prefix)) {
            if !matches!(stop.then, Then::Hold) {
                let _ = client.shutdown(Shutdown::Both);
                return;
            }
            stop.hold();
        }
        if server.write_all(text.as_bytes()).is_err() {
            return;
        }
    }
}
