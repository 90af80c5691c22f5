//! What holds a scan: rows, bytes, time, quotas, and a client that goes away.

use crate::scan_support::{Slow, all, audited, batches, data, over, row_count, runs, scan, until};
use serde_json::{Value, json};
use testkit::workers_of;

#[test]
fn a_result_that_is_too_large_is_cut_and_says_so() {
    let dir = data(200_000);
    let server = over(&dir).env("GATEHOUSE_API_SCAN_MAX_RESULT_BYTES", "100000").start();
    let client = server.client("ann", "analyst");
    let reply = scan(&client, &all("numbers"));
    assert_eq!((reply.header("x-agnes-truncated"), reply.header("x-gatehouse-truncated")), ("true", "true"));
    let rows = row_count(&reply);
    assert!((1_000..10_000).contains(&rows), "{rows}");
    assert_eq!(reply.header("x-gatehouse-rows"), rows.to_string());
    assert_eq!(audited(&server, "fetch_scan")[0]["status"], "truncated");
    assert_eq!(runs(&server, "ann")[0]["result"]["truncated"], true);
    let asked_for = scan(&client, &json!({ "table_id": "numbers", "limit": 5 }));
    assert_eq!(asked_for.header("x-agnes-truncated"), "false", "a limit of one's own cuts nothing");
}

/// Also where the cap is so far that no LIMIT is written for DuckDB: its worker holds it alone.
#[test]
fn a_long_result_tells_in_its_trailer_that_it_was_cut() {
    cut(300_000, 200_000);
    cut(1_050_000, 1_000_000);
}

fn cut(rows: u64, most: u64) {
    let dir = data(rows);
    let server = over(&dir).env("GATEHOUSE_API_SCAN_MAX_LIMIT", &most.to_string()).start();
    let token = server.token("ann", "analyst");
    let whole = Slow::scan(&server, &token, &all("numbers")).rest();
    let text = String::from_utf8_lossy(&whole);
    let (head, _) = text.split_once("\r\n\r\n").unwrap();
    assert!(head.contains("trailer: x-agnes-truncated") && !head.contains("x-agnes-truncated: "), "{head}");
    let end = text.get(text.len().saturating_sub(200)..).unwrap_or(&text);
    for line in ["x-agnes-truncated: true", "x-gatehouse-truncated: true", &format!("x-gatehouse-rows: {most}")] {
        assert!(end.contains(line), "{end}");
    }
}

#[test]
fn who_goes_away_stops_the_engine_and_is_on_record() {
    let dir = data(6_000_000);
    let server = over(&dir).start();
    let token = server.token("ann", "analyst");
    let before = workers_of(server.pid());
    let mut slow = Slow::scan(&server, &token, &all("numbers"));
    slow.read(1_000_000);
    let at_it: Vec<u32> = workers_of(server.pid()).into_iter().filter(|pid| !before.contains(pid)).collect();
    assert!(!at_it.is_empty(), "a worker is at it");
    drop(slow);
    let run = until("the end of the run", || runs(&server, "ann").into_iter().next());
    assert_eq!(run["status"], "cancelled", "{run}");
    let entry = &audited(&server, "fetch_scan")[0];
    assert_eq!(entry["status"], "cancelled");
    let sent = entry["actual_result_bytes"].as_u64().unwrap();
    assert!(sent > 0 && sent < 100_000_000, "counted as far as it was sent: {sent}");
    until("the end of the worker", || (!workers_of(server.pid()).iter().any(|pid| at_it.contains(pid))).then_some(()));
    assert_eq!(row_count(&scan(&server.client("ann", "analyst"), &json!({ "table_id": "numbers", "limit": 7 }))), 7);
}

#[test]
fn a_slow_reader_holds_up_the_engine_and_not_the_memory() {
    let dir = data(6_000_000);
    let server = over(&dir).start();
    let token = server.token("ann", "analyst");
    let mut slow = Slow::scan(&server, &token, &all("numbers"));
    slow.read(1_000_000);
    // Others are served meanwhile, and the server does not gather what nobody reads.
    let client = server.client("bob", "analyst");
    for _ in 0..20 {
        assert_eq!(row_count(&scan(&client, &json!({ "table_id": "numbers", "limit": 7 }))), 7);
    }
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.pid())).unwrap();
    let rss = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    let rss: u64 = rss.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(rss < 250_000, "{rss} kB");
    drop(slow);
}

#[test]
fn scans_at_the_same_time_have_a_quota() {
    let dir = data(6_000_000);
    let server = over(&dir).env("GATEHOUSE_API_SCAN_MAX_CONCURRENT_PER_USER", "1").start();
    let token = server.token("ann", "analyst");
    let mut slow = Slow::scan(&server, &token, &all("numbers"));
    slow.read(1_000);
    let client = server.client("ann", "analyst");
    let refused = scan(&client, &all("events"));
    let mut told = refused.json();
    assert_eq!(told["request_id"].take(), refused.header("x-request-id"));
    told.as_object_mut().unwrap().remove("request_id");
    let expected = json!({ "error": "quota_exceeded", "kind": "concurrent_scans", "current": 1, "limit": 1,
        "retry_after_seconds": 0 });
    assert_eq!((refused.status, told), (429, expected));
    assert_eq!(audited(&server, "fetch_scan")[0]["status"], "quota_exceeded");
    let estimate = client.post("/api/v2/scan/estimate", &all("events"));
    assert_eq!(
        (estimate.status, &estimate.json()["kind"]),
        (429, &json!("concurrent_scans")),
        "estimates count as well"
    );
    assert_eq!(audited(&server, "fetch_estimate")[0]["status"], "quota_exceeded");
    assert_eq!(scan(&server.client("bob", "analyst"), &all("events")).status, 200, "another's quota is another's");
    drop(slow);
    until("the place to be free", || (scan(&client, &all("events")).status == 200).then_some(()));
}

#[test]
fn bytes_of_a_day_are_counted_over_restarts() {
    let dir = data(50_000);
    let builder = || over(&dir).env("GATEHOUSE_API_SCAN_MAX_DAILY_BYTES_PER_USER", "400000");
    let mut server = builder().start();
    let client = server.client("ann", "analyst");
    let first = scan(&client, &all("numbers"));
    assert_eq!(first.header("x-agnes-truncated"), "true", "no scan gets more than the day has left");
    assert!(first.body.len() < 440_000, "{}", first.body.len());
    until("the day to be used up", || (scan(&client, &all("numbers")).status == 429).then_some(()));
    server.terminate();
    let server = builder().start();
    let refused = scan(&server.client("ann", "analyst"), &all("numbers"));
    let told = refused.json();
    assert_eq!((refused.status, &told["kind"], &told["limit"]), (429, &json!("daily_bytes"), &json!(400_000)));
    let wait = told["retry_after_seconds"].as_u64().unwrap();
    assert!((1..=86_400).contains(&wait), "until midnight: {wait}");
}

#[test]
fn a_scan_that_takes_too_long_is_cut_off() {
    let dir = data(6_000_000);
    let server = over(&dir).env("GATEHOUSE_API_SCAN_REQUEST_TIMEOUT_SECONDS", "1").start();
    let token = server.token("ann", "analyst");
    let mut slow = Slow::scan(&server, &token, &all("numbers"));
    slow.read(1);
    let run = until("the time to run out", || runs(&server, "ann").into_iter().next());
    assert_eq!(
        (&run["status"], &run["result"]["error"]["code"]),
        (&json!("failed"), &json!("engine.timeout")),
        "{run}"
    );
}

#[test]
fn metrics_have_the_specifications_names() {
    let dir = data(1_000);
    let server = over(&dir).start();
    scan(&server.client("ann", "analyst"), &all("numbers"));
    scan(&server.client("ann", "analyst"), &json!({ "table_id": "numbers", "where": "no" }));
    let page = server.client("root", "admin").get("/metrics").text();
    for line in [
        "agnes_v2_scan_request_total{status=\"ok\",user=\"ann\"} 1",
        "agnes_v2_scan_request_total{status=\"rejected\",user=\"ann\"} 1",
        "agnes_v2_scan_bytes_total{user=\"ann\"} ",
        "agnes_v2_scan_latency_seconds{quantile=\"0.5\"} ",
        "agnes_v2_scan_latency_seconds_count 2",
        "agnes_v2_scan_concurrent_gauge{user=\"ann\"} 0",
    ] {
        assert!(page.contains(line), "{line} is missing: {page}");
    }
    assert_eq!(page.matches("# EOF").count(), 1);
    assert_eq!(server.client("ann", "analyst").get("/metrics").status, 403);
}

#[test]
fn nothing_that_is_kept_outlives_a_change_of_policy() {
    let dir = data(1_000);
    let server = over(&dir).start();
    let client = server.client("ann", "analyst");
    let seen = |path: &str| client.get(path).text();
    for path in ["/api/v2/schema/events", "/api/v2/sample/events", "/api/v2/catalog"] {
        assert!(seen(path).contains("session_id") || path.ends_with("catalog"), "{path}");
    }
    let contract = dir.path().join("contracts/events.yaml");
    let text = std::fs::read_to_string(&contract).unwrap();
    std::fs::write(&contract, text.replace("hide: [secret]}", "hide: [secret, session_id]}")).unwrap();
    until("the reload", || (!seen("/api/v2/schema/events").contains("session_id")).then_some(()));
    assert!(!seen("/api/v2/sample/events").contains("session_id"));
    let refused: Value = scan(&client, &json!({ "table_id": "events", "select": ["session_id"] })).json();
    assert_eq!(refused["kind"], "unknown_column");
    assert!(batches(&scan(&client, &all("events")))[0].column_by_name("session_id").is_none());
}

/// Whether each scan of an actor came from the cache, in their order.
fn cached(server: &testkit::Server, actor: &str) -> Vec<bool> {
    let ledger = rusqlite::Connection::open(server.data().join("ledger.sqlite")).unwrap();
    let sql = "SELECT result_json ->> '$.cached' FROM run_capsules WHERE actor = ?1 ORDER BY created_at, run_id";
    let mut runs = ledger.prepare(sql).unwrap();
    runs.query_map([actor], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

#[test]
fn what_was_sent_before_is_sent_again_only_while_it_is_right() {
    let dir = data(100_000);
    let server = over(&dir).start();
    let client = server.client("ann", "analyst");
    let slice = json!({ "table_id": "numbers", "where": "n >= 50000" });
    let first = scan(&client, &slice);
    let again = scan(&client, &slice);
    assert_eq!(first.body, again.body);
    assert_eq!((again.header("x-gatehouse-rows"), again.header("x-agnes-truncated")), ("50000", "false"));
    scan(&client, &json!({ "table_id": "events", "where": "event_date < CURRENT_DATE" }));
    scan(&client, &json!({ "table_id": "events", "where": "event_date < CURRENT_DATE" }));
    assert_eq!(cached(&server, "ann"), [false, true, false, false], "what changes by itself is asked again");
    assert_eq!(audited(&server, "fetch_scan").len(), 4, "each of them is on record");

    // Two who see different rows of one table never see each other's.
    for actor in ["ann", "bot", "ann", "bot"] {
        let own = server.client(actor, "agent").header("accept", "application/json");
        let rows = scan(&own, &json!({ "table_id": "events", "select": ["owner"] })).json();
        assert!(rows.as_array().unwrap().iter().all(|row| row["owner"] == actor), "{actor}");
    }
    assert_eq!(cached(&server, "bot"), [false, true]);

    let off = data(100_000);
    let without = over(&off).env("GATEHOUSE_API_SCAN_RESULT_CACHE_MB", "0").start();
    let other = without.client("ann", "analyst");
    assert_eq!((scan(&other, &slice).body, scan(&other, &slice).body), (first.body.clone(), first.body));
    assert_eq!(cached(&without, "ann"), [false, false]);

    let fewer = duckdb::Connection::open_in_memory().unwrap();
    let path = dir.path().join("datasets/numbers.parquet");
    let sql = "SELECT 50001 AS n, 'new' AS name, 0.5 AS share";
    fewer.execute_batch(&format!("COPY ({sql}) TO '{}'", path.display())).unwrap();
    assert_eq!(row_count(&scan(&client, &slice)), 1, "new data, new answer");
}
