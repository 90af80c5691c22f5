//! A connection that is cut in the middle of a result: what came so far is not taken for the whole, by anybody.

use crate::scan_support::{ARROW, runs};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use testkit::{BigQuery, Client, Gate, Mode, Postgres, Sail, Server, Wire};
use ureq::http::Method;

const FORMS: [&str; 3] = [ARROW, "application/json", "text/csv"];

/// All of the table `lines`, as far as it comes.
fn scan(client: &Client, form: &str) -> Result<testkit::Reply, testkit::Cut> {
    let body = json!({ "table_id": "lines" }).to_string().into_bytes();
    client.clone().header("accept", form).try_send(Method::POST, "/api/v2/scan", body)
}

/// The numbers of a reply in CSV, added up, and how many they are.
fn numbers(text: &str) -> (u64, u64) {
    let numbers = text.lines().skip(1).map(|line| line.split(',').next().unwrap().parse::<u64>().unwrap());
    numbers.fold((0, 0), |(count, sum), n| (count + 1, sum + n))
}

fn sum(rows: u64) -> (u64, u64) {
    (rows, rows * (rows + 1) / 2)
}

/// What the last run of root's came to, once that is recorded.
fn last_run(server: &Server) -> (Value, Value) {
    let patience = Instant::now() + Duration::from_secs(60);
    loop {
        let run = runs(server, "root").into_iter().next().unwrap_or_default();
        if run["status"] != "running" || Instant::now() > patience {
            return (run["status"].clone(), run["result"]["error"]["code"].clone());
        }
    }
}

/// Scans of a table of so many rows, over a wire that is cut in the middle of each.
fn none_is_taken_for_whole(server: &Server, wire: &Wire, rows: u64, middle: u64, code: &str) {
    let root = server.client("root", "admin");
    assert_eq!(numbers(&scan(&root, "text/csv").unwrap().text()), sum(rows), "whole, before anything is cut");
    for (n, form) in FORMS.into_iter().enumerate() {
        wire.cut_after(middle);
        match scan(&root, form) {
            Ok(reply) => panic!("{form}: taken for whole: {} {} bytes", reply.status, reply.body.len()),
            Err(cut) => assert!(!cut.body.is_empty(), "{form}: it was cut before anything came: {}", cut.why),
        }
        assert_eq!(wire.cuts(), n + 1, "{form}");
        assert_eq!(last_run(server), (json!("failed"), json!(code)), "{form}");
        // A cut costs one result, not the next.
        assert_eq!(numbers(&scan(&root, "text/csv").unwrap().text()), sum(rows), "{form}");
    }
}

#[test]
fn a_cut_result_of_postgres_is_not_taken_for_whole() {
    const ROWS: u64 = 400_000;
    let cluster = Postgres::shared();
    let (database, port) = (cluster.database(), cluster.port());
    cluster.sql(
        &database,
        &format!("CREATE TABLE lines AS SELECT n, 'line ' || n AS line FROM generate_series(1, {ROWS}) AS n"),
    );
    let wire = Wire::to(port);
    let toml = "[sources.crm]\nkind = 'postgres'\nurl_env = 'CRM_URL'\nsslmode = 'disable'\n";
    let server = crate::support::server().file("gatehouse.toml", toml);
    let server = server.env("CRM_URL", &wire.of(&cluster.url(&database), port)).start();
    none_is_taken_for_whole(&server, &wire, ROWS, 6_000_000, "source.lost");
}

#[test]
fn a_cut_result_of_sail_is_not_taken_for_whole() {
    const ROWS: u64 = 1_000_000;
    let sail = Sail::start(Mode::Local);
    sail.sql(&format!("CREATE TABLE lines AS SELECT id + 1 AS n, concat('line ', id) AS line FROM range({ROWS})"));
    let port = sail.url().rsplit_once(':').unwrap().1.parse().unwrap();
    let wire = Wire::to(port);
    let toml = format!("[sources.lake]\nkind = 'flight'\nurl = '{}'\n", wire.of(&sail.url(), port));
    let server = crate::support::server().file("gatehouse.toml", &toml).start();
    none_is_taken_for_whole(&server, &wire, ROWS, 12_000_000, "source.unreachable");
}

/// What BigQuery keeps ready is taken up where it was cut; only what stays away is told.
#[test]
fn a_cut_result_of_bigquery_is_taken_up_where_it_was_cut() {
    // The emulator sends a million rows, eight million bytes, at once.
    const ROWS: u64 = 1_200_000;
    let emulator = BigQuery::start();
    emulator.sql(&format!("CREATE TABLE lines AS SELECT n FROM UNNEST(GENERATE_ARRAY(1, {ROWS})) AS n"));
    let gate = Gate::before(&emulator.url());
    let rows = gate.before_rows(&emulator.storage_url());
    let port = rows.url.rsplit_once(':').unwrap().1.parse().unwrap();
    let wire = Wire::to(port);
    let toml = format!(
        "[sources.firm]\nkind = 'bigquery'\nproject = '{}'\ndatasets = ['{}']\nurl = '{}'\nstorage_url = '{}'\n\
         token_env = 'WAREHOUSE_TOKEN'\n",
        BigQuery::PROJECT,
        BigQuery::DATASET,
        gate.url,
        wire.of(&rows.url, port),
    );
    let server = crate::support::server().file("gatehouse.toml", &toml).env("WAREHOUSE_TOKEN", "token-1").start();
    let root = server.client("root", "admin");
    // Within the first piece, within the second, and in the session before any.
    for (n, bytes) in [2_000_000, 8_900_000, 20].into_iter().enumerate() {
        wire.cut_after(bytes);
        let reply = scan(&root, "text/csv").unwrap_or_else(|cut| panic!("{bytes}: {}", cut.why));
        assert_eq!(numbers(&reply.text()), sum(ROWS), "{bytes}");
        assert_eq!(wire.cuts(), n + 1, "{bytes}");
    }
    // Too much is going on over there, for a moment: sessions and streams are asked for again.
    rows.busy(3);
    assert_eq!(numbers(&scan(&root, "text/csv").unwrap().text()), sum(ROWS));
    // It stays away.
    wire.break_after(8_900_000);
    let cut = scan(&root, "text/csv").expect_err("half a result");
    assert!(!cut.body.is_empty(), "{}", cut.why);
    assert_eq!(last_run(&server), (json!("failed"), json!("source.unreachable")));
    wire.mend();
    assert_eq!(numbers(&scan(&root, "text/csv").unwrap().text()), sum(ROWS));
    // Rows are asked for with the token too.
    rows.demand("another");
    let reply = scan(&root, "text/csv").unwrap();
    assert_eq!((reply.status, &reply.json()["kind"]), (503, &json!("credentials")), "{}", reply.text());
}
