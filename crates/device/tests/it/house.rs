//! A house that enrols one device, hands out what it is told to, and remembers what it hears.

use domain::package::{ClaimToken, SignedPackage};
use domain::{Manifest, ScriptProposal};
use jiff::{SignedDuration, Timestamp};
use ops::{Order, Signer};
use policy::script::{Grants, ScriptPolicy};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

#[derive(Default)]
pub struct Heard {
    pub queue: Vec<SignedPackage>,
    pub requests: Vec<(String, Value)>,
    /// Somebody between house and device, who answers in its place when a result comes.
    pub between: Option<&'static str>,
}

pub struct House {
    pub url: String,
    pub signer: Signer,
    pub heard: Arc<Mutex<Heard>>,
}

impl House {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let signer = Signer::from_seed(&[7; 32]);
        let heard: Arc<Mutex<Heard>> = Arc::default();
        let (shared, key) = (heard.clone(), signer.public_key());
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                answer(stream, &shared, &key);
            }
        });
        Self { url, signer, heard }
    }

    /// A package for device `d-1`, good for `seconds`.
    pub fn package(
        &self,
        id: &str,
        script: &str,
        rollback: Option<&str>,
        manifest: Manifest,
        seconds: i64,
    ) -> SignedPackage {
        let proposal = ScriptProposal {
            script: script.to_owned(),
            manifest,
            rollback: rollback.map(str::to_owned),
            intent: "a test".to_owned(),
        };
        let grants = Grants {
            network: true,
            writable_roots: vec!["/var/tmp".to_owned()],
            capabilities: vec!["NET_RAW".to_owned()],
        };
        let approved = ScriptPolicy::default().check(&proposal, &grants).unwrap();
        let order = Order {
            package_id: id.to_owned(),
            device_id: "d-1".to_owned(),
            approved_by: vec!["bea".to_owned()],
            now: Timestamp::now(),
            lifetime: SignedDuration::from_secs(seconds),
        };
        self.signer.seal(&approved, &order).unwrap()
    }

    pub fn queue(&self, package: SignedPackage) {
        self.heard.lock().unwrap().queue.push(package);
    }

    /// From now on results do not come through: this is answered instead, if anything.
    pub fn answer_results(&self, instead: Option<&'static str>) {
        self.heard.lock().unwrap().between = instead;
    }

    /// What was sent to `path`, in order.
    pub fn said(&self, path: &str) -> Vec<Value> {
        let heard = self.heard.lock().unwrap();
        heard.requests.iter().filter(|(to, _)| to == path).map(|(_, body)| body.clone()).collect()
    }

    pub fn results(&self) -> Vec<Value> {
        self.said("result").into_iter().map(|body| body["result"].clone()).collect()
    }

    pub fn log(&self) -> String {
        self.said("logs").iter().map(|body| body["text"].as_str().unwrap()).collect()
    }
}

fn answer(mut stream: TcpStream, heard: &Mutex<Heard>, key: &str) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    let path = line.split_whitespace().nth(1).and_then(|path| path.rsplit('/').next()).unwrap_or_default().to_owned();
    let mut length = 0;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).unwrap();
        let header = header.to_ascii_lowercase();
        if let Some(value) = header.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if header.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let mut heard = heard.lock().unwrap();
    if let Some(between) = heard.between.filter(|_| path == "result") {
        let _ = write!(stream, "HTTP/1.1 {between}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        return;
    }
    heard.requests.push((path.clone(), body));
    let reply = match path.as_str() {
        "enrol" => Some(json!({"device_id": "d-1", "token": "ghd_secret", "trusted_keys": [key]})),
        "claim" if !heard.queue.is_empty() => {
            let package = heard.queue.remove(0);
            Some(json!({"claim_token": ClaimToken::from_random(&[1; 32]), "package": package}))
        }
        _ => None,
    };
    let (status, text) = reply.map_or(("204 No Content", String::new()), |reply| ("200 OK", reply.to_string()));
    let length = if text.is_empty() { String::new() } else { format!("content-length: {}\r\n", text.len()) };
    let _ = write!(stream, "HTTP/1.1 {status}\r\n{length}connection: close\r\n\r\n{text}");
}
