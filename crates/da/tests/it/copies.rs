//! `da sync`: whole tables, only what changed, and what others may not see.

use crate::support::{House, orders};

fn synced(da: &crate::support::Da) -> Vec<(String, String)> {
    let all = da.json(&["sync"]);
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    all.as_array().unwrap().iter().map(|table| (text(&table["id"]), text(&table["status"]))).collect()
}

#[test]
fn only_what_changed_is_fetched() {
    let house = House::new(10);
    let da = house.da();
    let is = |status: &str| vec![("orders".to_owned(), status.to_owned())];
    assert_eq!(synced(&da), is("updated"));
    assert_eq!(da.number("SELECT count(*) FROM orders"), 6);
    assert_eq!(synced(&da), is("current"));
    house.change("orders", &orders(9));
    insta::assert_snapshot!(da.shown(&["sync", "--dry-run"]), @r"
    $ da sync --dry-run
    orders would be updated
    1 of 1 table changed
    ");
    assert_eq!(synced(&da), is("updated"));
    assert_eq!(da.number("SELECT count(*) FROM orders"), 9);
    let sidecar = std::fs::read_to_string(da.root().join("tables/orders.meta.json")).unwrap();
    let sidecar: serde_json::Value = serde_json::from_str(&sidecar).unwrap();
    let file = std::fs::read(da.root().join("tables/orders.parquet")).unwrap();
    let hash = domain::sha256_hex(&file);
    assert_eq!(sidecar["sha256"], hash.as_str());
    // The server has the hash of what it sends on record: that is what the copy was checked against.
    let client = house.server.client("ann", "analyst");
    let sent = client.get("/api/sync/tables/orders");
    let run = client.get(&format!("/runs/{}", sent.header("x-gatehouse-run-id"))).json();
    assert_eq!(run["result"]["sha256"], domain::sha256_hex(&sent.body).as_str());
    assert_eq!(run["result"]["complete"], true);
    // A file that went is fetched again; a name that is taken is not touched.
    std::fs::remove_file(da.root().join("tables/orders.parquet")).unwrap();
    assert_eq!(synced(&da), is("updated"));
    assert_eq!(da.run(&["fetch", "orders"]).code, 6);
    insta::assert_snapshot!(da.shown(&["sync", "events"]), @r"
    $ da sync events
    ! Error: `events` is not copied as a whole
    ! Hint: `da catalog` shows the mode of each table; `da fetch events` fetches a slice
    exit 2
    ");
}

/// Who loses access loses the copy with the next sync.
#[test]
fn a_copy_goes_with_the_right_to_it() {
    let house = House::new(10);
    let da = house.da();
    assert_eq!(synced(&da), [("orders".to_owned(), "updated".to_owned())]);
    let nobody = house.server.token("ann", "nobody");
    let da = da.with("DA_TOKEN", &nobody);
    assert_eq!(synced(&da), [("orders".to_owned(), "removed".to_owned())]);
    assert_eq!(da.run(&["query", "FROM orders"]).code, 2);
}
