//! Several servers on one ledger in Postgres: they are one to their callers, and one of them may die.

use crate::scan_support::{Slow, all, data, scan};
use crate::support::{server, sql, verify};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use testkit::{Client, Postgres, Server, ServerBuilder, tally};

const URL: &str = "GATEHOUSE_LEDGER_URL";
const ENDLESS: &str =
    "SELECT count(*) FROM sales_orders a, sales_orders b, sales_orders c WHERE a.quantity + b.quantity < c.quantity";

/// A server of its own data directory, with the key that all replicas have.
fn replica(url: &str, dir: &Path, key_of: Option<&Path>) -> ServerBuilder {
    if let Some(first) = key_of {
        std::fs::create_dir_all(dir.join("keys")).unwrap();
        std::fs::copy(first.join("keys/audit.ed25519"), dir.join("keys/audit.ed25519")).unwrap();
    }
    server().data(dir).env(URL, url).env("GATEHOUSE_LEDGER_LEASE_SECONDS", "2")
}

fn directories() -> (TempDir, TempDir) {
    (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap())
}

/// Two demos on one database.
fn pair(url: &str, dirs: &(TempDir, TempDir)) -> (Server, Server) {
    let one = replica(url, dirs.0.path(), None).demo().start();
    let other = replica(url, dirs.1.path(), Some(dirs.0.path())).demo().start();
    (one, other)
}

fn database() -> String {
    Postgres::shared().url(&Postgres::shared().database())
}

/// The same caller at another server.
fn at(server: &Server, token: &str) -> Client {
    Client::new(&server.url).bearer(token)
}

/// Asks again until it is so, for things that take their time.
fn until<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(60) {
        if let Some(found) = ask() {
            return found;
        }
        std::thread::yield_now();
    }
    panic!("{what} did not happen");
}

#[test]
fn replicas_are_one_to_their_callers() {
    let (url, dirs) = (database(), directories());
    let (one, other) = pair(&url, &dirs);
    let token = one.token("ann", "analyst");
    let (here, there) = (at(&one, &token), at(&other, &token));

    let asked = here.ask("sales", "How many orders are there?");
    let run = format!("/runs/{}", asked["run_id"].as_str().unwrap());
    assert_eq!(there.get(&run).json(), here.get(&run).json(), "a run of one is read at the other");
    let thread = json!({ "dataset_id": "sales", "message": "by region", "thread_id": asked["thread_id"] });
    assert_eq!(there.post("/chat", &thread).json()["status"], "succeeded", "a thread goes on at the other");
    let listed = |client: &Client| client.get("/runs").json()["runs"].as_array().unwrap().len();
    assert_eq!((listed(&here), listed(&there)), (2, 2));

    let id = token.split('_').nth(1).unwrap();
    assert!(other.command(&["tokens", "revoke", id]).status.success());
    assert_eq!(here.get("/runs").status, 401, "what is revoked at one is revoked at the other");
    for server in [&one, &other] {
        let report = verify(server);
        assert_eq!((&report["flaw"], report["capsules"].as_u64() >= Some(2)), (&Value::Null, true), "{report}");
    }
}

#[test]
fn what_runs_at_one_is_said_to_run_there() {
    let (url, dirs) = (database(), directories());
    let (one, other) = pair(&url, &dirs);
    let token = one.token("ann", "analyst");
    let asking = std::thread::spawn({
        let here = at(&one, &token);
        move || here.events("/chat/stream", &json!({ "dataset_id": "sales", "message": ENDLESS }))
    });
    let running = "SELECT split_part(running_json, '\"', 2) FROM servers WHERE running_json <> '{}'";
    let name = url.rsplit('/').next().unwrap();
    let id = until("the run to be told of", || Some(Postgres::shared().sql(name, running)).filter(|id| !id.is_empty()));
    let run = format!("/runs/{id}");
    let there = at(&other, &token);
    let told = there.get(&run).json();
    assert_eq!(told["status"], "running", "{told}");
    assert!(one.url.ends_with(told["server"].as_str().unwrap().split(' ').nth(1).unwrap()), "{told}");
    for reply in [there.delete(&run), there.get(&format!("{run}/events"))] {
        assert_eq!(
            (reply.status, reply.json()["error"]["code"].as_str()),
            (409, Some("run.elsewhere")),
            "{}",
            reply.text()
        );
    }
    assert_eq!(other.client("bob", "analyst").get(&run).status, 404, "another's run is no more there than here");
    assert_eq!(at(&one, &token).delete(&run).status, 202);
    assert!(asking.join().unwrap().iter().any(|event| event.data["status"] == "cancelled"));
    assert_eq!(there.get(&run).json()["status"], "cancelled");
}

#[test]
fn rates_are_counted_over_all() {
    let (url, dirs) = (database(), directories());
    let slow = |builder: ServerBuilder| {
        let builder = builder.env("GATEHOUSE_LIMITS_REQUESTS_PER_SECOND", "1").env("GATEHOUSE_LIMITS_BURST", "20");
        builder.env("GATEHOUSE_LIMITS_ROLES", "agent=1/24").demo().start()
    };
    let one = slow(replica(&url, dirs.0.path(), None));
    let other = slow(replica(&url, dirs.1.path(), Some(dirs.0.path())));
    let servers = [&one, &other];
    let flood = |tokens: &[String], most: usize| {
        let start = Instant::now();
        let ask = &|i: usize| at(servers[i % 2], &tokens[i / 2 % tokens.len()]).get("/runs").status;
        // At once: who is told to wait is told so late.
        let statuses: Vec<u16> = std::thread::scope(|scope| {
            let asking: Vec<_> = (0..60).map(|i| scope.spawn(move || ask(i))).collect();
            asking.into_iter().map(|asking| asking.join().unwrap()).collect()
        });
        let admitted = statuses.iter().filter(|status| **status == 200).count();
        let earned = start.elapsed().as_secs() as usize + 1;
        assert!((most..=most + earned).contains(&admitted), "{admitted} in {:?}: {statuses:?}", start.elapsed());
        assert!(statuses.iter().all(|status| [200, 429].contains(status)));
    };
    flood(&[one.token("ann", "analyst")], 20);
    // Three of a role, of whom each could send 20, have 24 together.
    flood(&["bob", "eve", "joe"].map(|actor| one.token(actor, "agent")), 24);
}

/// Scans of one actor at both servers share one quota. One server is killed in the middle of its scans: the other goes
/// on, and settles them, but not its own.
#[test]
fn a_quota_is_held_over_all_and_a_dead_servers_share_is_given_back() {
    let (url, dirs) = (database(), (data(6_000_000), data(6_000_000)));
    let mut one = replica(&url, dirs.0.path(), None).start();
    let other = replica(&url, dirs.1.path(), Some(dirs.0.path())).start();
    let token = one.token("ann", "analyst");
    let begin = |server: &Server| {
        let mut slow = Slow::scan(server, &token, &all("numbers"));
        slow.read(1_000);
        slow
    };
    let of_one = [begin(&one), begin(&one), begin(&one)];
    let of_other = [begin(&other), begin(&other)];
    let refused = scan(&at(&other, &token), &all("events"));
    assert_eq!((refused.status, &refused.json()["current"]), (429, &json!(5)), "five, wherever they are");

    one.kill();
    drop(of_one);
    until("the dead one's scans to be settled", || {
        (scan(&at(&other, &token), &all("events")).status == 200).then_some(())
    });
    let name = url.rsplit('/').next().unwrap();
    let held = Postgres::shared().sql(name, "SELECT count(*) FROM scans_under_way");
    assert_eq!(held, "2", "those of the living go on");
    let entries = String::from_utf8(other.command(&["audit", "export"]).stdout).unwrap();
    let count = |kind: &str| entries.matches(&format!("\"kind\":\"{kind}\"")).count();
    assert_eq!((count("scan.interrupted"), count("server.lost")), (3, 1));
    drop(of_other);
    assert_eq!(verify(&other)["flaw"], Value::Null);
}

/// Callers ask both, one server is killed and started again, again and again: whatever was told is on record.
#[test]
fn one_is_killed_in_the_middle_and_the_other_goes_on() {
    const ROUNDS: usize = 4;
    let (url, dirs) = (database(), directories());
    let (mut one, other) = pair(&url, &dirs);
    let token = one.token("ann", "analyst");
    let (told, stop) = (Mutex::new(Vec::new()), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let steady = scope.spawn(|| ask_until(&stop, &at(&other, &token), &told));
        for _ in 0..ROUNDS {
            let (killed, client) = (AtomicBool::new(false), at(&one, &token));
            std::thread::scope(|round| {
                let asking = round.spawn(|| ask_until(&killed, &client, &told));
                let before = told.lock().unwrap().len();
                until("answers of both", || (told.lock().unwrap().len() >= before + 10).then_some(()));
                one.kill();
                killed.store(true, Ordering::Relaxed);
                asking.join().unwrap();
            });
            one = replica(&url, dirs.0.path(), None).demo().start();
        }
        stop.store(true, Ordering::Relaxed);
        assert_eq!(steady.join().unwrap(), 0, "the other answers all the time");
    });
    let told = told.into_inner().unwrap();
    let client = at(&other, &token);
    let lost = told.iter().filter(|run| client.get(&format!("/runs/{run}")).status != 200).count();
    assert_eq!(verify(&other)["flaw"], Value::Null);
    tally("ledger", "answers of two servers, one of them killed", told.len(), "records lost", lost);
    assert_eq!(lost, 0);
}

/// Asks until it is to stop; how often there was no good answer.
fn ask_until(stop: &AtomicBool, client: &Client, told: &Mutex<Vec<String>>) -> usize {
    let mut failed = 0;
    while !stop.load(Ordering::Relaxed) {
        let body = json!({ "sql": "SELECT 1 AS one" }).to_string().into_bytes();
        match client.try_send(ureq::http::Method::POST, "/datasets/shop/query", body) {
            Ok(reply) if reply.status == 200 => {
                told.lock().unwrap().push(reply.json()["run_id"].as_str().unwrap().to_owned());
            }
            _ => failed += 1,
        }
    }
    failed
}

/// The database goes away: requests wait for it, then say so; when it is back, everything goes on by itself.
#[test]
fn a_lost_database_is_waited_for_and_then_told() {
    let mut postgres = Postgres::start();
    let url = postgres.url(&postgres.database());
    let dirs = directories();
    let one = replica(&url, dirs.0.path(), None).env("GATEHOUSE_LEDGER_WAIT_SECONDS", "60").demo().start();
    let builder = replica(&url, dirs.1.path(), Some(dirs.0.path()));
    let hasty = builder.env("GATEHOUSE_LEDGER_WAIT_SECONDS", "5").demo().start();
    let token = one.token("ann", "analyst");
    let warm = |server: &Server| assert_eq!(sql(&at(server, &token), "shop", "SELECT 1 AS one")["status"], "succeeded");
    warm(&one);
    warm(&hasty);

    postgres.crash();
    let refused = at(&hasty, &token).post("/datasets/shop/query", &json!({ "sql": "SELECT 2 AS two" }));
    assert_eq!(
        (refused.status, refused.json()["error"]["code"].as_str()),
        (503, Some("ledger.unavailable")),
        "{}",
        refused.text()
    );
    assert_eq!(hasty.stranger().get("/healthz").status, 503);
    let waiting = std::thread::spawn({
        let client = at(&one, &token);
        move || sql(&client, "shop", "SELECT 3 AS three")
    });
    postgres.restart();
    let waited = waiting.join().unwrap();
    assert_eq!(waited["status"], "succeeded", "{waited}");
    until("readiness", || (hasty.stranger().get("/healthz").status == 200).then_some(()));
    warm(&hasty);
    let report = verify(&one);
    assert_eq!((&report["flaw"], &report["capsules"].as_u64().is_some()), (&Value::Null, &true), "{report}");
    let runs = at(&one, &token).get("/runs").json();
    assert_eq!(runs["runs"].as_array().unwrap().len(), 4, "each that was answered, once: {runs}");
}

#[test]
fn a_replica_with_a_key_of_its_own_does_not_start() {
    let (url, dirs) = (database(), directories());
    let _one = replica(&url, dirs.0.path(), None).demo().start();
    let said = replica(&url, dirs.1.path(), None).demo().try_start().err().unwrap();
    assert!(said.contains("heads of this ledger are signed with another key"), "{said}");
}

/// The address holds a password: it comes from the environment or a file, and is shown to nobody.
#[test]
fn the_address_is_a_secret() {
    let (url, dirs) = (database(), directories());
    std::fs::write(dirs.0.path().join("ledger.url"), format!("{url}\n")).unwrap();
    let server = server().data(dirs.0.path()).env("GATEHOUSE_LEDGER_URL_FILE", "ledger.url").demo().start();
    server.client("ann", "analyst").ask("sales", "How many orders are there?");
    let password = "owner%27s%20secret";
    assert!(url.contains(password));
    for command in [["config", "show"], ["tokens", "list"], ["audit", "verify"], ["doctor", "--json"]] {
        let output = server.command(&command);
        let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(!said.contains(password) && !said.contains("owner's secret"), "{said}");
        if command[0] == "doctor" {
            assert!(said.contains("Postgres at 127.0.0.1:"), "{said}");
        }
    }
    std::fs::write(dirs.1.path().join("gatehouse.toml"), format!("[ledger]\nurl = '{url}'\n")).unwrap();
    let said = crate::support::server().data(dirs.1.path()).try_start().err().unwrap();
    assert!(said.contains("`ledger.url`: is a secret") && !said.contains(password), "{said}");
}

/// A backup is made while the server serves, and is a ledger that a server starts on.
#[test]
fn backups_are_made_while_serving_and_restored() {
    let dirs = directories();
    let file = server().data(dirs.0.path()).demo().start();
    let restored = restore(&file, None, |backup| {
        let ledger = rusqlite::Connection::open(file.data().join("ledger.sqlite")).unwrap();
        ledger.execute("VACUUM INTO ?1", [backup.join("ledger.sqlite").to_str().unwrap()]).unwrap();
    });
    drop((file, restored));

    let (url, to) = (database(), database());
    let shared = replica(&url, dirs.1.path(), None).demo().start();
    restore(&shared, Some(&to), |backup| {
        let dump = backup.join("ledger.dump");
        run(Command::new("pg_dump").args(["--format=custom", "--file"]).arg(&dump).arg(&url));
        run(Command::new("pg_restore").args(["--exit-on-error", "--no-owner", "--dbname", &to]).arg(&dump));
    });
}

/// Asks, makes a backup, and starts a server on it: everything that was answered before is there, and the chain whole.
fn restore(from: &Server, url: Option<&str>, back_up: impl FnOnce(&Path)) -> (Server, TempDir) {
    let token = from.token("ann", "analyst");
    let run = at(from, &token).ask("sales", "How many orders are there?")["run_id"].as_str().unwrap().to_owned();
    let backup = tempfile::tempdir().unwrap();
    back_up(backup.path());
    std::fs::create_dir(backup.path().join("keys")).unwrap();
    std::fs::copy(from.data().join("keys/audit.ed25519"), backup.path().join("keys/audit.ed25519")).unwrap();
    let builder = match url {
        Some(url) => replica(url, backup.path(), None),
        None => server().data(backup.path()),
    };
    let restored = builder.demo().start();
    let reply = at(&restored, &token).get(&format!("/runs/{run}"));
    assert_eq!((reply.status, &reply.json()["status"]), (200, &json!("succeeded")), "{}", reply.text());
    assert_eq!(verify(&restored)["flaw"], Value::Null);
    (restored, backup)
}

fn run(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
