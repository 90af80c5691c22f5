//! What stands before the emulator in the place of Google's own: tokens, who may pass, and how much is read.

use super::claim;
use crate::GrpcGate;
use crate::service::http::{Request, read, respond};
use serde_json::{Value, json};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread;

/// A running gate. It lives as long as the process of the tests.
pub struct Gate {
    pub url: String,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    /// Where everything goes that may pass.
    beyond: String,
    /// The token that is accepted now; none where nobody is given one any more.
    token: Arc<Mutex<Option<String>>>,
    /// Where it is asked for tokens: what claims must be meant for.
    giver: String,
    /// The public half of the account's key.
    account: Mutex<Option<PathBuf>>,
    given: AtomicU32,
    /// Answers that are still to be 503.
    busy: AtomicU32,
    /// What every dry run says that it would read.
    bytes: Mutex<u64>,
    /// Whether the account may make nothing.
    reads: AtomicBool,
    /// The bodies of all jobs that were asked for.
    jobs: Mutex<Vec<Value>>,
}

impl Gate {
    pub fn before(beyond: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("its address"));
        let token = Arc::new(Mutex::new(Some("token-1".to_owned())));
        let state = State { beyond: beyond.to_owned(), token, giver: format!("{url}/token"), ..State::default() };
        let state = Arc::new(state);
        let shared = state.clone();
        thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let state = shared.clone();
                thread::spawn(move || state.serve(connection));
            }
        });
        Self { url, state }
    }

    /// The key file of an account that it gives tokens to, made in this directory.
    pub fn key_file(&self, dir: &Path) -> PathBuf {
        let pem = dir.join("account.pem");
        let made = Command::new("openssl")
            .args(["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out"])
            .arg(&pem)
            .output();
        assert!(made.expect("openssl to run").status.success(), "openssl makes a key");
        let public = dir.join("account.pub");
        let made = Command::new("openssl").args(["pkey", "-pubout", "-in"]).arg(&pem).arg("-out").arg(&public).output();
        assert!(made.expect("openssl to run").status.success(), "openssl tells the public key");
        *self.state.account.lock().expect("the account") = Some(public);
        let key = json!({
            "type": "service_account",
            "client_email": claim::ACCOUNT,
            "private_key_id": "1",
            "private_key": std::fs::read_to_string(&pem).expect("the key"),
            "token_uri": self.state.giver,
        });
        let file = dir.join("account.json");
        std::fs::write(&file, key.to_string()).expect("the key file");
        file
    }

    /// Another gate, before the rows, that asks for the same tokens.
    pub fn before_rows(&self, beyond: &str) -> GrpcGate {
        GrpcGate::demanding(beyond, self.state.token.clone(), None)
    }

    /// From now on nobody is known, or everybody again.
    pub fn shut(&self, shut: bool) {
        let next = format!("token-{}", 2 + self.state.given.load(Relaxed));
        *self.state.token.lock().expect("the token") = (!shut).then_some(next);
    }

    /// The next answers say that too much is going on.
    pub fn busy(&self, answers: u32) {
        self.state.busy.store(answers, Relaxed);
    }

    /// What a dry run is to say.
    pub fn would_read(&self, bytes: u64) {
        *self.state.bytes.lock().expect("the bytes") = bytes;
    }

    /// From now on the account may read and make nothing, as an account should.
    pub fn only_reads(&self) {
        self.state.reads.store(true, Relaxed);
    }

    /// The jobs that were asked for so far.
    pub fn jobs(&self) -> Vec<Value> {
        self.state.jobs.lock().expect("the jobs").clone()
    }

    /// How many tokens were given.
    pub fn given(&self) -> u32 {
        self.state.given.load(Relaxed)
    }
}

impl State {
    fn serve(&self, mut connection: TcpStream) {
        let Some(request) = read(&mut connection) else { return };
        let (status, body) = self.answer(&request);
        respond(&mut connection, status, &[("content-type", "application/json")], &body);
    }

    fn answer(&self, request: &Request) -> (u16, String) {
        let machine = request.target.starts_with("/computeMetadata/");
        if request.target == "/token" || machine {
            return self.give(request, machine);
        }
        let token = self.token.lock().expect("the token").clone();
        let said = request.headers.get("authorization").and_then(|value| value.strip_prefix("Bearer "));
        if token.is_none() || said != token.as_deref() {
            let error = json!({ "code": 401, "message": "Request had invalid authentication credentials.",
                "errors": [{ "reason": "authError" }], "status": "UNAUTHENTICATED" });
            return (401, json!({ "error": error }).to_string());
        }
        if self.busy.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_ok() {
            let error = json!({ "code": 503, "message": "Try again.", "errors": [{ "reason": "backendError" }] });
            return (503, json!({ "error": error }).to_string());
        }
        self.pass(request)
    }

    /// As Google does: to a machine that says so, or for a claim that is signed.
    fn give(&self, request: &Request, machine: bool) -> (u16, String) {
        let known = match machine {
            true => request.headers.get("metadata-flavor").is_some_and(|value| value == "Google"),
            false => self.account.lock().expect("the account").as_deref().is_some_and(|account| {
                let body = String::from_utf8_lossy(&request.body);
                let asked = body.split_once("&assertion=");
                asked.is_some_and(|(grant, assertion)| {
                    grant == claim::GRANT && claim::holds(assertion, account, &self.giver)
                })
            }),
        };
        match self.token.lock().expect("the token").clone().filter(|_| known) {
            Some(token) => {
                self.given.fetch_add(1, Relaxed);
                (200, json!({ "access_token": token, "expires_in": 3600, "token_type": "Bearer" }).to_string())
            }
            None => {
                (400, json!({ "error": "invalid_grant", "error_description": "Invalid JWT Signature." }).to_string())
            }
        }
    }

    fn pass(&self, request: &Request) -> (u16, String) {
        let body: Option<Value> = serde_json::from_slice(&request.body).ok();
        let job = body.filter(|_| request.method == "POST" && request.target.ends_with("/jobs"));
        self.jobs.lock().expect("the jobs").extend(job.clone());
        let sql = job.as_ref().and_then(|job| job.pointer("/configuration/query/query")?.as_str());
        if self.reads.load(Relaxed) && sql.is_some_and(|sql| sql.starts_with("CREATE")) {
            let error = json!({ "code": 403, "message": "Access Denied: Dataset local:firm: Permission \
                bigquery.tables.create denied", "errors": [{ "reason": "accessDenied" }], "status": "PERMISSION_DENIED" });
            return (403, json!({ "error": error }).to_string());
        }
        let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
        let url = format!("{}{}", self.beyond, request.target);
        let answer = match request.method.as_str() {
            "GET" => agent.get(&url).call(),
            _ => agent.post(&url).content_type("application/json").send(&request.body[..]),
        };
        // It is gone: so is whoever stands before it.
        let Ok(mut answer) = answer else { return (502, String::new()) };
        let (status, text) = (answer.status().as_u16(), answer.body_mut().read_to_string().unwrap_or_default());
        match job.filter(|job| job.pointer("/configuration/dryRun") == Some(&json!(true))) {
            Some(_) if status == 200 => {
                let mut answer: Value = serde_json::from_str(&text).expect("a job");
                answer["statistics"]["totalBytesProcessed"] = json!(self.bytes.lock().expect("the bytes").to_string());
                (status, answer.to_string())
            }
            _ => (status, text),
        }
    }
}
