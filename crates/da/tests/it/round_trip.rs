//! Catalog → schema → describe → estimate → fetch → query → refresh → prune, as a person sees it.

use crate::support::{House, events};
use std::os::unix::fs::PermissionsExt;

const SLICE: [&str; 8] = [
    "fetch",
    "events",
    "--select",
    "event_date,country_code,clicks",
    "--where",
    "country_code = 'CZ'",
    "--as",
    "cz_recent",
];

#[test]
fn the_round_trip() {
    let house = House::new(10);
    let da = house.da();
    let mut text = String::new();
    let mut say = |args: &[&str]| text.push_str(&format!("{}\n", da.shown(args)));
    say(&["whoami"]);
    say(&["catalog"]);
    say(&["schema", "events"]);
    say(&["describe", "events", "-n", "2"]);
    say(&[&SLICE[..], &["--estimate"]].concat());
    say(&SLICE);
    say(&["query", "SELECT event_date, sum(clicks) AS clicks FROM cz_recent GROUP BY 1 ORDER BY 1 LIMIT 3"]);
    say(&["snapshot", "list"]);
    say(&["snapshot", "refresh", "cz_recent"]);
    house.change("events", &events(150));
    say(&["snapshot", "refresh", "cz_recent"]);
    say(&SLICE);
    say(&["disk-info"]);
    say(&["snapshot", "prune", "--older-than", "7d"]);
    say(&["snapshot", "prune", "--larger-than", "1k", "--dry-run"]);
    say(&["snapshot", "prune", "--larger-than", "1k"]);
    say(&["snapshot", "list"]);
    say(&["query", "SELECT * FROM cz_recent"]);
    insta::assert_snapshot!(text);
}

/// `--json` is the server's reply, word for word, and a kept one is the same.
#[test]
fn json_is_what_the_server_said() {
    let house = House::new(10);
    let da = house.da();
    let client = house.server.client("ann", "analyst");
    let catalog = da.json(&["catalog"]);
    assert_eq!(catalog["tables"], client.get("/api/v2/catalog").json()["tables"]);
    for table in catalog["tables"].as_array().unwrap() {
        assert!(table["sql_flavor"].is_string(), "{table}");
    }
    assert_eq!(da.ok(&["schema", "events", "--json"]).trim_end(), client.get("/api/v2/schema/events").text());
    let described = da.json(&["describe", "events", "-n", "3"]);
    assert_eq!(described["sample"], client.get("/api/v2/sample/events?n=3").json());

    // Kept: a change is seen with --refresh only, and another token sees nothing of it.
    let kept = da.ok(&["catalog", "--json"]);
    house.change(
        "orders",
        "SELECT 1 AS id, 'EMEA' AS region, 1.5::DECIMAL(12,2) AS amount, DATE '2026-01-01' AS ordered_on",
    );
    assert_eq!(da.ok(&["catalog", "--json"]), kept);
    assert_ne!(da.ok(&["catalog", "--json", "--refresh"]), kept);
    let other = house.server.token("bob", "nobody");
    let other = crate::support::Da { home: da.home, env: da.env.clone() }.with("DA_TOKEN", &other);
    assert_eq!(other.json(&["catalog"])["tables"], serde_json::json!([]));
}

#[test]
fn the_sidecar_says_everything() {
    let house = House::new(10);
    let da = house.da();
    let told = da.json(&[&SLICE[..], &["--limit", "7", "--order-by", "clicks DESC"]].concat());
    let kept = std::fs::read_to_string(da.root().join("snapshots/cz_recent.meta.json")).unwrap();
    let kept: serde_json::Value = serde_json::from_str(&kept).unwrap();
    assert_eq!(kept, told);
    assert_eq!(kept["select"], serde_json::json!(["event_date", "country_code", "clicks"]));
    assert_eq!(kept["where"], "country_code = 'CZ'");
    assert_eq!((kept["limit"].as_u64(), kept["rows"].as_u64()), (Some(7), Some(7)));
    assert_eq!(kept["order_by"], serde_json::json!(["clicks DESC"]));
    assert_eq!(kept["result_hash_md5"].as_str().unwrap().len(), 32);
    assert!(kept["estimated_scan_bytes_at_fetch"].as_u64().unwrap() > 0);
    let size = std::fs::metadata(da.root().join("snapshots/cz_recent.parquet")).unwrap().len();
    assert_eq!(kept["bytes_local"].as_u64(), Some(size));
    for instant in ["fetched_at", "effective_as_of"] {
        assert!(kept[instant].as_str().unwrap().starts_with("20"), "{instant}");
    }
    assert_eq!(da.files(), ["cz_recent.meta.json", "cz_recent.parquet"]);
    // What came under ann's rights is for ann alone.
    let mode = std::fs::metadata(da.root()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

/// Spec 004 §10.6.
#[test]
fn a_schema_that_drifts() {
    let house = House::new(10);
    let da = house.da();
    da.ok(&SLICE);
    // A column that came is left out.
    let columns = |more: &str| format!("SELECT *{more} FROM ({})", events(120));
    house.change("events", &columns(", 1 AS fresh"));
    let refreshed = da.run(&["snapshot", "refresh", "cz_recent"]);
    assert_eq!(refreshed.code, 0, "{}", refreshed.err);
    assert!(refreshed.out.contains("identical: yes"), "{}", refreshed.out);
    // One whose type changed is told.
    house.change("events", &columns(" REPLACE (clicks::BIGINT AS clicks)"));
    let refreshed = da.run(&["snapshot", "refresh", "cz_recent"]);
    assert_eq!(refreshed.code, 0, "{}", refreshed.err);
    assert!(refreshed.err.contains("column `clicks` type changed INTEGER → BIGINT"), "{}", refreshed.err);
    assert_eq!(da.json(&["query", "SELECT DISTINCT typeof(clicks) AS t FROM cz_recent"])[0]["t"], "BIGINT");
    // One that went fails, and the snapshot stays.
    let before = std::fs::read(da.root().join("snapshots/cz_recent.parquet")).unwrap();
    house.change("events", &columns(" EXCLUDE (clicks)"));
    insta::assert_snapshot!(da.shown(&["snapshot", "refresh", "cz_recent"]), @r"
    $ da snapshot refresh cz_recent
    ! Error: column `clicks` no longer exists in events
    ! Hint: drop the snapshot, and fetch again with another --select; it is unchanged until then
    exit 2
    ");
    assert_eq!(std::fs::read(da.root().join("snapshots/cz_recent.parquet")).unwrap(), before);
}
