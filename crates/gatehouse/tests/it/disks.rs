//! A disk that is full, and one that fails, under eight callers: no result without its record, a
//! clear answer to everybody, and the server goes on by itself as soon as it can.

use crate::callers::{Callers, Progress, lay_out, yard};
use crate::kills::{assert_whole, not_in_the_chain, not_on_record};
use serde_json::{Value, json};
use testkit::{Client, Disk, Reply, Server, ServerBuilder, tally};

/// How often the disk is filled up and freed again.
const FULL: usize = 4;
/// Read-only before the start, and while it serves.
const READ_ONLY: usize = 2;
/// Room for the ledger, its journal of 4 MB, and as much again.
const MEGABYTES: u32 = 16;
const ROUNDS: &str = "full and read-only disk rounds";

#[test]
fn nothing_is_lost_on_a_disk_that_is_full_or_fails() {
    let disk = Disk::mount(MEGABYTES).expect("a disk of its own; mounting is for root");
    lay_out(&disk.path());
    let mut server = no_reserve().on(&disk).start();
    let callers = Callers::of(&server);
    for round in 0..FULL {
        fill_up(&callers, &server, &disk, round as u64);
    }
    server = make_read_only(server, &disk);
    fail(&callers, &mut server, &disk);
    drop(server);
    let disk = disk.repair();
    let server = no_reserve().on(&disk).start();
    let mut lost = not_on_record(&callers, &server, &mut 0);
    assert_served(&callers, &server);
    assert_whole(&server);
    drop(server);
    lost.extend(not_in_the_chain(&callers, copy_of_ledger(&disk).path()));
    println!("{:#?}", callers.told.lock().unwrap().kinds);
    tally("ledger", ROUNDS, FULL + READ_ONLY, "records lost", lost.len());
    assert!(lost.is_empty(), "{lost:?}");
}

/// Before the disk is full, new work is refused, and what is under way is recorded all the same.
#[test]
fn a_disk_that_is_nearly_full_takes_no_new_work_and_records_what_is_under_way() {
    const WHAT: &str = "requests to a nearly full disk";
    let disk = Disk::mount(64).expect("a disk of its own; mounting is for root");
    lay_out(&disk.path());
    let (elsewhere, analysts) = analysts_database();
    let server = yard().env("RUN_TIMEOUT_SECONDS", "600").env("CLAUDE_DA_DB_PATH", &analysts).on(&disk).start();
    let admin = server.client("root", "admin");
    enrol(&server, &admin);
    let sql = |text: &str| admin.post("/datasets/yard/query", &json!({ "sql": text }));
    assert_eq!(sql("SELECT 1 AS one").status, 200);
    assert_eq!(disk_finding(&server)["verdict"], "ok");
    let endless = "SELECT count(*) FROM range(1000000) AS a (x), range(1000000) AS b (y) WHERE hash(x, y) = 42";
    let under_way = std::thread::spawn({
        let admin = admin.clone();
        move || admin.events("/chat/stream", &json!({ "dataset_id": "yard", "message": endless }))
    });
    while !admin.get("/metrics").text().contains("gatehouse_active_runs 1") {}
    let reserve = metric(&admin, "gatehouse_ledger_disk_reserve_bytes");
    assert!(reserve > 1 << 20 && reserve < 4 << 20, "a part of a small disk: {reserve}");

    disk.fill_up_to(reserve * 3);
    assert_eq!(disk_finding(&server)["verdict"], "warn");
    assert_eq!(sql("SELECT 2 AS two").status, 200, "there is still room for work");

    disk.fill_up_to(reserve);
    // A look is good for a moment.
    while server.stranger().get("/healthz").status == 200 {}
    let health = server.stranger().get("/healthz").json();
    assert_eq!(health["dependencies"]["ledger"], "disk nearly full");
    let asked = new_work(&server, &admin);
    let is_refused =
        |(status, part, reply): &&(u16, &str, Reply)| reply.status == *status && reply.text().contains(part);
    let taken = asked.iter().filter(|asked| !is_refused(asked)).map(|(.., reply)| (reply.status, reply.text()));
    assert_eq!(taken.collect::<Vec<_>>(), [], "each door refuses in an envelope of its own");
    assert!(metric(&admin, "gatehouse_ledger_disk_free_bytes") < reserve);
    assert_eq!(disk_finding(&server)["verdict"], "fail");

    let running = admin.get("/runs?limit=1");
    assert_eq!(running.status, 200, "what is on record can be read");
    let mut server = server;
    assert!(server.terminate().success());
    let events = under_way.join().unwrap();
    let result = events.iter().find(|event| event.name == "result").expect("an end that is on record");
    assert_eq!(result.data["status"], "cancelled", "{}", result.data);
    let run_id = result.data["run_id"].as_str().unwrap().to_owned();
    disk.free();
    drop(elsewhere);
    let server = yard().on(&disk).start();
    let kept = server.client("root", "admin").get(&format!("/runs/{run_id}"));
    tally("ledger", WHAT, asked.len(), "records lost", usize::from(kept.status != 200));
    assert_eq!((kept.status, &kept.json()["status"]), (200, &"cancelled".into()), "{}", kept.text());
    assert_whole(&server);
}

/// One request through each door, with the status that it is refused with and a part of the reply. In MCP a refusal is a
/// result of the tool; the Analyst's codes are its specification's.
fn new_work(server: &Server, admin: &Client) -> Vec<(u16, &'static str, Reply)> {
    const CODE: &str = "disk_nearly_full";
    let engineer = server.client("eva", "engineer");
    let messages = json!([{ "role": "user", "content": "How many notes are there?" }]);
    let tool = json!({ "name": "execute_sql", "arguments": { "dataset_id": "yard", "sql": "SELECT 4 AS four" } });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": tool });
    let mcp = admin
        .clone()
        .header("accept", "application/json, text/event-stream")
        .header("content-type", "application/json");
    let outputs = json!([{ "command": "df", "text": "/dev/sda1 100% full" }]);
    vec![
        (503, CODE, admin.post("/chat", &json!({ "dataset_id": "yard", "message": "how many gates" }))),
        (503, CODE, admin.post("/datasets/yard/query", &json!({ "sql": "SELECT 3 AS three" }))),
        (
            503,
            "disk that holds the ledger is nearly full",
            admin.post("/v1/chat/completions", &json!({ "model": "claude-da/analyst", "messages": messages })),
        ),
        (503, CODE, admin.post("/agent/db", &json!({ "natural_language": "Show all gates" }))),
        (503, CODE, admin.post("/api/query", &json!({ "sql": "SELECT * FROM gates" }))),
        (503, CODE, admin.post("/api/v2/scan", &json!({ "table_id": "gates" }))),
        (200, CODE, mcp.post("/mcp", &call)),
        (503, CODE, admin.post("/tools/execute_sql", &json!({ "dataset_id": "yard", "sql": "SELECT 5 AS five" }))),
        (503, CODE, engineer.post("/api/v1/ai/diagnostics", &json!({ "device_id": "pump-1", "outputs": outputs }))),
        (503, CODE, engineer.post("/api/v1/ai/analyses", &json!({ "diagnostics_id": "dg-0" }))),
    ]
}

fn enrol(server: &Server, admin: &Client) {
    let code = admin.post("/api/v1/devices", &json!({ "device_id": "pump-1" })).json()["code"].clone();
    let grants = json!({ "network": false, "capabilities": [], "writable_roots": [] });
    let enrol = json!({ "code": code, "grants": grants, "sandbox_tier": "T1", "version": "1" });
    let enrolled = server.stranger().post("/api/v1/devices/enrol", &enrol);
    assert_eq!(enrolled.status, 200, "{}", enrolled.text());
}

/// A database for the Analyst, on another disk and read-only.
fn analysts_database() -> (tempfile::TempDir, String) {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let file = dir.path().join("notes.sqlite");
    rusqlite::Connection::open(&file).unwrap().execute_batch("CREATE TABLE notes (title TEXT)").unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o444)).unwrap();
    let path = file.to_str().unwrap().to_owned();
    (dir, path)
}

fn metric(admin: &Client, name: &str) -> u64 {
    let text = admin.get("/metrics").text();
    let line = text.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("no {name} in {text}"));
    line.split(' ').nth(1).unwrap().parse().unwrap()
}

fn disk_finding(server: &Server) -> Value {
    let output = server.command(&["doctor", "--json"]);
    let findings: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    findings.into_iter().find(|finding| finding["check"] == "disk").expect("a finding about the disk")
}

/// Without space nobody is told that anything is done; with space everybody is served again, by the same server.
fn fill_up(callers: &Callers, server: &Server, disk: &Disk, seed: u64) {
    callers.ask(&server.url, seed, || {
        callers.wait("before the disk is full", |now| now.iter().all(|p| p.succeeded > 0));
        disk.fill();
        callers.wait("on a full disk", all_told_that_nothing_is_recorded);
        let health = unwell(server, disk);
        assert_eq!((health.status, &health.json()["dependencies"]["ledger"]), (503, &"not writable".into()));
        let before = callers.progress();
        disk.free();
        let served = |now: &[Progress; _]| before.iter().zip(now).all(|(then, now)| now.succeeded > then.succeeded);
        callers.wait("after there is space again", served);
    });
    assert_whole(server);
}

/// The reply of `/healthz` once nothing more can be written. ext4 sets blocks aside for what is yet to be written,
/// and gives back what it did not need after the disk was filled: a write may then succeed once more.
fn unwell(server: &Server, disk: &Disk) -> Reply {
    loop {
        let health = server.stranger().get("/healthz");
        if health.status != 200 {
            return health;
        }
        disk.fill();
    }
}

/// Without a reserve, so that the disk is found full by what writes to it.
fn no_reserve() -> ServerBuilder {
    yard().env("GATEHOUSE_LEDGER_RESERVE_BYTES", "0")
}

/// A server does not start that could keep no record, and says why. What is there can still be checked.
fn make_read_only(mut server: Server, disk: &Disk) -> Server {
    assert!(server.terminate().success());
    disk.set_read_only(true);
    let said = no_reserve().on(disk).try_start().err().expect("no server on a read-only disk");
    assert!(said.contains("the ledger is read-only; hint: check the mode and the mount of its directory"), "{said}");
    assert_whole(&server);
    disk.set_read_only(false);
    no_reserve().on(disk).start()
}

/// The kernel takes the disk away from those who write: the server answers, and says no.
fn fail(callers: &Callers, server: &mut Server, disk: &Disk) {
    callers.ask(&server.url, 0, || {
        callers.wait("before the disk fails", |now| now.iter().all(|p| p.succeeded > 0));
        disk.fail();
        callers.wait("on a read-only disk", all_told_that_nothing_is_recorded);
    });
    assert_eq!(server.stranger().get("/livez").status, 200);
    assert_eq!(server.stranger().get("/healthz").status, 503);
    server.kill();
    assert_whole(server);
}

/// SQLite would look for the file where it seems to be, and not on the disk.
fn copy_of_ledger(disk: &Disk) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    for file in ["ledger.sqlite", "ledger.sqlite-wal"] {
        std::fs::copy(disk.path().join(file), copy.path().join(file)).unwrap();
    }
    copy
}

fn all_told_that_nothing_is_recorded(now: &[Progress; crate::callers::CALLERS]) -> bool {
    now.iter().all(|p| p.not_recorded >= 3)
}

fn assert_served(callers: &Callers, server: &Server) {
    callers.ask(&server.url, 0, || callers.wait("after the repair", |now| now.iter().all(|p| p.succeeded > 0)));
}
