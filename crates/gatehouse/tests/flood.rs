//! Under attack others are served, and the server's memory stays flat. Alone in its binary: it measures, one test at a time.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops where it fails"
)]

use serde_json::json;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use testkit::{Client, Server, ServerBuilder};

/// Held by the test that measures.
static MACHINE: Mutex<()> = Mutex::new(());

const CALLERS: usize = 1_000;
const CHEAP: &str = "SELECT count(*) AS orders FROM orders";
const LARGE: &str = "SELECT * FROM order_items a, order_items b LIMIT 10000";
const HEAVY: &str = "SELECT count(*) FROM order_items a, order_items b WHERE a.quantity + b.quantity < 0";

fn demo() -> Server {
    ServerBuilder::new(env!("CARGO_BIN_EXE_gatehouse")).demo().env("RUN_TIMEOUT_SECONDS", "2").start()
}

/// The 95th percentile of the times of `count` cheap queries, asked one after the other and not more often than a caller
/// may.
fn p95(client: &Client, count: usize) -> Duration {
    let mut times: Vec<_> = (0..count)
        .map(|_| {
            let start = Instant::now();
            let _pace = Pace(start);
            let reply = client.post("/datasets/shop/query", &json!({ "sql": CHEAP }));
            assert_eq!(reply.status, 200, "{}", reply.text());
            start.elapsed()
        })
        .collect();
    times.sort();
    times[count * 95 / 100]
}

/// A caller's own pace: 40 requests a second.
struct Pace(Instant);

impl Drop for Pace {
    fn drop(&mut self) {
        thread::sleep(Duration::from_millis(25).saturating_sub(self.0.elapsed()));
    }
}

/// Resident memory of the server itself, in MiB.
fn memory(server: &Server) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.pid())).unwrap();
    let line = status.lines().find_map(|l| l.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() / 1024
}

/// A request as bytes, so that a thousand clients cost little beside the server that they attack.
fn request(token: &str, sql: &str) -> Vec<u8> {
    let body = json!({ "sql": sql }).to_string();
    format!(
        "POST /datasets/shop/query HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// Reads one reply whole; its status.
fn reply(socket: &mut TcpStream) -> Option<u16> {
    let (mut read, mut chunk) = (Vec::new(), [0; 16 << 10]);
    let (head, body) = loop {
        let count = socket.read(&mut chunk).ok().filter(|count| *count > 0)?;
        read.extend_from_slice(&chunk[..count]);
        if let Some(end) = read.windows(4).position(|w| w == b"\r\n\r\n") {
            break (String::from_utf8_lossy(&read[..end]).to_lowercase(), read.len() - end - 4);
        }
    };
    let length: usize = head.split("content-length: ").nth(1)?.lines().next()?.parse().ok()?;
    let mut rest = length.saturating_sub(body);
    while rest > 0 {
        rest = rest.saturating_sub(socket.read(&mut chunk).ok().filter(|count| *count > 0)?);
    }
    head.split(' ').nth(1)?.parse().ok()
}

/// An attack that goes on until it is dropped.
struct Attack {
    over: Arc<AtomicBool>,
    sent: Arc<AtomicUsize>,
    threads: Vec<thread::JoinHandle<()>>,
}

impl Attack {
    fn new() -> Self {
        Self { over: Arc::default(), sent: Arc::default(), threads: Vec::new() }
    }

    /// So many clients that each do `work` over and over, on a connection that is opened anew when it breaks.
    fn clients(
        &mut self,
        server: &Server,
        count: usize,
        work: impl Fn(&mut TcpStream) -> Option<()> + Clone + Send + 'static,
    ) {
        for _ in 0..count {
            let (over, sent, work) = (self.over.clone(), self.sent.clone(), work.clone());
            let address = server.url.strip_prefix("http://").unwrap().to_owned();
            let attacker = move || {
                while !over.load(Ordering::Relaxed) {
                    let Ok(mut socket) = TcpStream::connect(&address) else { continue };
                    socket.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
                    while !over.load(Ordering::Relaxed) && work(&mut socket).is_some() {
                        sent.fetch_add(1, Ordering::Relaxed);
                    }
                }
            };
            self.threads.push(thread::Builder::new().stack_size(128 << 10).spawn(attacker).unwrap());
        }
    }

    fn stop(self) -> usize {
        self.over.store(true, Ordering::Relaxed);
        self.threads.into_iter().for_each(|t| t.join().unwrap());
        self.sent.load(Ordering::Relaxed)
    }
}

/// Everything at once that somebody can do with one token and many connections.
fn attack(server: &Server, token: &str) -> Attack {
    let mut attack = Attack::new();
    for (callers, sql) in [(CALLERS / 2, CHEAP), (CALLERS / 4, HEAVY), (CALLERS / 4, LARGE)] {
        let request = request(token, sql);
        attack.clients(server, callers, move |socket| {
            socket.write_all(&request).ok()?;
            reply(socket).map(drop)
        });
    }
    // Asks for much and reads nothing.
    let large = request(token, LARGE);
    attack.clients(server, 50, move |socket| {
        socket.write_all(&large).ok()?;
        idle()
    });
    // Opens and says nothing, or never comes to the end of its headers.
    attack.clients(server, 100, |_| idle());
    attack.clients(server, 50, |socket| {
        socket.write_all(b"GET / HTTP/1.1\r\nHost: l").ok()?;
        idle()
    });
    // Guesses.
    let guess = request(&format!("gh_{}_{}", "0".repeat(16), "0".repeat(64)), CHEAP);
    attack.clients(server, 50, move |socket| {
        socket.write_all(&guess).ok()?;
        reply(socket).map(drop)
    });
    attack
}

fn idle() -> Option<()> {
    thread::sleep(Duration::from_millis(200));
    Some(())
}

/// What the middle of five measurements under attack is of a quiet one, and how much was sent meanwhile.
fn slowed_down(server: &Server, victim: &Client, hostile: &str) -> (f64, usize) {
    let quiet = p95(victim, 200);
    let attack = attack(server, hostile);
    let mut attacked = [(); 5].map(|()| p95(victim, 80));
    let sent = attack.stop();
    attacked.sort();
    (attacked[2].as_secs_f64() / quiet.as_secs_f64(), sent)
}

/// Whatever else this machine does meanwhile only makes it worse: one good measurement of three is enough.
#[test]
fn others_are_served_while_one_caller_does_its_worst() {
    let _machine = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut ratios = Vec::new();
    for _ in 0..3 {
        let server = demo();
        let victim = server.client("victim", "analyst");
        let hostile = server.token("hostile", "analyst");
        p95(&victim, 50);
        let before = memory(&server);
        let (ratio, sent) = slowed_down(&server, &victim, &hostile);
        let after = memory(&server);
        assert!(after <= before + 100, "the server grew from {before} to {after} MiB");
        if ratio <= 3.0 {
            let what = "hostile requests while another caller is served";
            return testkit::tally("house", what, sent, "slower than 3 × quiet", 0);
        }
        ratios.push(ratio);
    }
    panic!("a cheap query takes {ratios:.1?} × as long under attack");
}

/// Never comes to an end by itself.
const ENDLESS: &str = "WITH RECURSIVE t (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT count(*) FROM t";
const SAMPLES: usize = 500;

/// Where statements are asked, and by actors of which roles.
struct Asked {
    paths: &'static [&'static str],
    cheap: &'static str,
    roles: &'static [&'static str],
}

impl Asked {
    fn cheap(&self, client: &Client, turn: usize) {
        let path = self.paths[turn % self.paths.len()];
        let reply = client.post(path, &json!({ "sql": self.cheap }));
        assert_eq!(reply.status, 200, "{path}: {}", reply.text());
    }

    /// The 95th percentile of cheap queries by all paths.
    fn p95(&self, client: &Client) -> Duration {
        let mut times: Vec<_> = (0..SAMPLES)
            .map(|turn| {
                let start = Instant::now();
                let _pace = Pace(start);
                self.cheap(client, turn);
                start.elapsed()
            })
            .collect();
        times.sort();
        times[SAMPLES * 95 / 100]
    }

    /// So many actors, each with three endless statements at a time, over and over.
    fn endless(&self, server: &Server, actors: usize) -> Attack {
        let mut attack = Attack::new();
        for (actor, role) in (0..actors).zip(self.roles.iter().cycle()) {
            let token = server.token(&format!("hostile-{actor}"), role);
            for path in self.paths.iter().cycle().take(3) {
                let body = json!({ "sql": ENDLESS }).to_string();
                let request = format!(
                    "POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\
                     Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
                    body.len()
                );
                attack.clients(server, 1, move |socket| {
                    socket.set_read_timeout(Some(Duration::from_secs(60))).ok()?;
                    socket.write_all(request.as_bytes()).ok()?;
                    reply(socket).map(drop)
                });
            }
        }
        attack
    }

    /// Measures beside so many actors; a second and a third time where something else was at work on the machine.
    fn is_answered_soon(&self, server: &Server, victim: &Client, actors: usize, what: &str) {
        let mut measured = Vec::new();
        for _ in 0..3 {
            let quiet = self.p95(victim);
            let attack = self.endless(server, actors);
            let beside = self.p95(victim);
            let tried = attack.stop();
            assert!(tried >= actors, "only {tried} endless statements were tried");
            measured.push((quiet, beside));
            if is_soon(quiet, beside) {
                break;
            }
        }
        let (quiet, beside) = *measured.last().unwrap();
        let ratio = beside.as_secs_f64() / quiet.as_secs_f64();
        testkit::figure("house", what, SAMPLES, &format!("{ratio:.1} × quiet ({quiet:.1?})"));
        assert!(is_soon(quiet, beside), "{what}: {measured:.1?}");
    }
}

fn is_soon(quiet: Duration, beside: Duration) -> bool {
    beside <= (3 * quiet).max(quiet + Duration::from_millis(50))
}

/// Some actors ask for what never ends: a cheap query of another is answered, and soon.
#[test]
fn a_cheap_query_is_answered_soon_beside_endless_ones() {
    let _machine = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
    let server = ServerBuilder::new(env!("CARGO_BIN_EXE_gatehouse")).demo().env("RUN_TIMEOUT_SECONDS", "5").start();
    let roles = &["analyst", "agent", "admin"];
    let asked = Asked { paths: &["/datasets/shop/query", "/api/query"], cheap: CHEAP, roles };
    let victim = server.client("victim", "analyst");
    (0..50).for_each(|turn| asked.cheap(&victim, turn));
    for actors in [2, 5, 16] {
        let what = format!("p95 of a cheap query beside {actors} actors with endless ones");
        asked.is_answered_soon(&server, &victim, actors, &what);
    }
    let of_files = "SELECT count(*) FROM sales_orders WHERE region = 'EMEA'";
    let asked = Asked { paths: &["/datasets/sales/query"], cheap: of_files, roles };
    (0..50).for_each(|turn| asked.cheap(&victim, turn));
    let what = "p95 of a cheap query of files beside 16 actors with endless ones";
    asked.is_answered_soon(&server, &victim, 16, what);
}

/// The same where the connections to a database are what is shared.
#[test]
fn a_cheap_query_of_a_database_is_answered_soon_beside_endless_ones() {
    let _machine = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
    let cluster = testkit::Postgres::start();
    let database = cluster.database();
    cluster.sql(
        &database,
        "CREATE TABLE orders AS SELECT n AS id FROM generate_series(1, 100) AS n; \
         CREATE ROLE reader LOGIN PASSWORD 'reader'; GRANT SELECT ON orders TO reader;",
    );
    let server = ServerBuilder::new(env!("CARGO_BIN_EXE_gatehouse"))
        .file(
            "gatehouse.toml",
            "[sources.firm]\nkind = 'postgres'\nurl_env = 'FIRM_URL'\nsslmode = 'disable'\nconnections = 3\n",
        )
        .env("FIRM_URL", &cluster.url_as("reader", "reader", &database))
        .env("RUN_TIMEOUT_SECONDS", "5")
        .start();
    let asked = Asked { paths: &["/datasets/firm/query"], cheap: CHEAP, roles: &["admin"] };
    let victim = server.client("victim", "admin");
    (0..50).for_each(|turn| asked.cheap(&victim, turn));
    asked.is_answered_soon(&server, &victim, 5, "p95 of a cheap query of Postgres beside 5 actors with endless ones");
}
