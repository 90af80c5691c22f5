//! Results in every form: on the terminal, in files, from here and from the server.

use crate::proxy::{At, Proxy, Then};
use crate::support::House;

#[test]
fn every_format() {
    let house = House::new(10);
    let da = house.da();
    da.ok(&["fetch", "events", "--quiet"]);
    let sql = "SELECT event_date, country_code, clicks, {'a': [1, NULL], 'b': 'x|\"y'} AS nested, clicks / 3 AS third, \
               TIMESTAMP '2026-01-01 10:00:00.5' AS at FROM events ORDER BY clicks, event_date LIMIT 2";
    let mut text = String::new();
    for format in ["table", "json", "csv", "markdown"] {
        text.push_str(&format!("{format}\n{}\n", da.ok(&["query", sql, "--format", format])));
    }
    text.push_str(&format!("empty\n{}\n", da.ok(&["query", "FROM events WHERE false"])));
    text.push_str(&format!("long\n{}\n", da.ok(&["query", "SELECT range AS n FROM range(100)", "--rows", "4"])));
    insta::assert_snapshot!(text);
    assert_eq!(da.run_with(&["query", "--stdin", "--format", "csv"], "SELECT 1 AS one").out, "one\n1\n");
}

#[test]
fn files_of_every_kind_read_back_the_same() {
    let house = House::new(10);
    let da = house.da();
    da.ok(&["fetch", "events", "--quiet"]);
    let rows = da.ok(&["query", "FROM events ORDER BY session_id", "--json"]);
    for file in ["e.csv", "e.json", "e.parquet", "e.arrow"] {
        let said = da.run(&["query", "FROM events", "-o", file]);
        assert_eq!((said.code, said.err.as_str()), (0, format!("Wrote 120 rows to {file}\n").as_str()));
    }
    for reader in ["read_csv('e.csv')", "read_json('e.json')", "'e.parquet'"] {
        assert_eq!(da.ok(&["query", &format!("FROM {reader} ORDER BY session_id"), "--json"]), rows, "{reader}");
    }
    let arrow = std::fs::File::open(da.home.path().join("e.arrow")).unwrap();
    let reader = arrow_ipc::reader::FileReader::try_new(arrow, None).unwrap();
    assert_eq!(reader.map(|batch| batch.unwrap().num_rows()).sum::<usize>(), 120);
    let left: Vec<_> = std::fs::read_dir(da.home.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().contains("part")), "{left:?}");
}

/// A file that is there stays until the new one is known to be whole: also when the last of a result is missing, and when
/// all of it came but the server does not say so.
#[test]
fn a_file_is_replaced_by_a_whole_result_only() {
    let house = House::forgetful(200_000);
    let da = house.da();
    let file = da.home.path().join("n.csv");
    std::fs::write(&file, "mine").unwrap();
    for (at, then) in [(At::Byte(300_000), Then::Break), (At::Request("GET /runs/"), Then::Break)] {
        let proxy = Proxy::new(&house.server.url, at, then);
        let args = ["query", "--remote", "SELECT * FROM numbers", "-o", "n.csv", "--server", &proxy.url];
        let said = da.run(&args);
        assert_eq!(said.code, 9, "{said:?}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
    }
    let broken = da.run(&["query", "SELECT CAST('x' || range AS INTEGER) FROM range(10)", "-o", "n.csv"]);
    assert_eq!((broken.code, std::fs::read_to_string(&file).unwrap().as_str()), (2, "mine"));
    // What can be known before is told before anything runs.
    assert_eq!(da.run(&["query", "--remote", "SELECT 1", "-o", "nowhere/n.csv"]).code, 1);
    da.ok(&["query", "--remote", "SELECT * FROM numbers", "-o", "n.csv"]);
    assert_eq!(std::fs::read_to_string(&file).unwrap().lines().count(), 200_001);
    let left: Vec<_> = std::fs::read_dir(da.home.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().contains("part")), "{left:?}");
}

/// Spec 004 §4.2: only where the snapshot is named.
#[test]
fn an_old_snapshot_is_told() {
    let house = House::new(10);
    let da = house.da();
    da.ok(&["fetch", "events", "--quiet"]);
    da.ok(&["fetch", "numbers", "--quiet"]);
    let path = da.root().join("snapshots/events.meta.json");
    let text = std::fs::read_to_string(&path).unwrap();
    let mut sidecar: serde_json::Value = serde_json::from_str(&text).unwrap();
    let long_ago = jiff::Timestamp::now() - jiff::SignedDuration::from_hours(12 * 24 + 1);
    sidecar["fetched_at"] = serde_json::json!(long_ago.to_string());
    std::fs::write(&path, sidecar.to_string()).unwrap();
    let said = da.run(&["query", "SELECT 'events' AS word, count(*) FROM (SELECT * FROM Events)", "--format", "csv"]);
    assert_eq!(said.err, "WARN: snapshot `events` is 12 days old; consider `da snapshot refresh events`\n");
    assert_eq!(da.run(&["query", "SELECT 'events' AS word FROM numbers"]).err, "");
    // The oldest goes first when room is made.
    let pruned = crate::support::Da { home: da.home, env: da.env }.with("DA_SNAPSHOT_QUOTA_GB", "0");
    assert!(pruned.run(&["fetch", "orders"]).err.contains("WARN: snapshots take"));
    let gone = pruned.json(&["snapshot", "prune", "--auto", "--dry-run"]);
    assert_eq!(gone["dropped"][0], "events");
}
