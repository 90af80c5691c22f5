//! An address that stays while the server behind it comes and goes.

use std::io;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

pub struct Relay {
    pub url: String,
    behind: Arc<Mutex<String>>,
}

impl Relay {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let behind: Arc<Mutex<String>> = Arc::default();
        let shared = behind.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let address = shared.lock().unwrap().clone();
                thread::spawn(move || TcpStream::connect(address).map(|house| join(stream, house)));
            }
        });
        Self { url, behind }
    }

    /// From now on connections lead there.
    pub fn lead_to(&self, url: &str) {
        *self.behind.lock().unwrap() = url.strip_prefix("http://").unwrap().to_owned();
    }
}

fn join(one: TcpStream, other: TcpStream) {
    let copy = |mut from: TcpStream, mut to: TcpStream| {
        let _ = io::copy(&mut from, &mut to);
        let _ = to.shutdown(Shutdown::Write);
    };
    let (Ok(back_from), Ok(back_to)) = (other.try_clone(), one.try_clone()) else { return };
    thread::spawn(move || copy(back_from, back_to));
    copy(one, other);
}
