//! Power cuts, races and servers that go away: the copy that was there stays, or the new one is whole.

use crate::proxy::{At, Proxy, Then};
use crate::support::{Da, House, said};
use testkit::tally;

const OLD: i64 = 1_000;
/// So many that the server says at the end how many they were.
const NEW: i64 = 200_000;

fn slice<'a>(rows: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["fetch", "numbers", "--as", "copy", "--no-estimate", "--where", rows], more].concat()
}

/// Whatever happened, one whole copy is there, its sidecar is of it, and the next fetch works.
fn must_be_consistent(da: &Da) -> i64 {
    let rows = da.number("SELECT count(*) FROM copy");
    assert!(rows == OLD || rows == NEW, "{rows} rows");
    assert_eq!(da.number("SELECT max(n) + 1 FROM copy"), rows);
    // Doctor takes the lock, which finishes or sweeps what was left, and counts each file's rows.
    let doctor = da.run(&["doctor"]);
    assert_eq!(doctor.code, 0, "{}{}", doctor.out, doctor.err);
    assert_eq!(da.files(), ["copy.meta.json", "copy.parquet"], "no debris");
    assert_eq!(rows_of_sidecar(da), da.number("SELECT count(*) FROM copy"));
    rows
}

/// Kill -9 at ten points: at bytes of the result that differ from run to run, before the server has said that it was
/// whole, and while the view waits for its database.
#[test]
fn killed_at_any_point_a_fetch_leaves_one_whole_copy() {
    let house = House::forgetful(NEW.unsigned_abs());
    let da = house.da();
    da.ok(&slice("n < 1000", &[]));
    let whole = Proxy::new(&house.server.url, At::Nowhere, Then::Break);
    da.ok(&["fetch", "numbers", "--as", "aside", "--no-estimate", "--server", &whole.url]);
    da.ok(&["snapshot", "drop", "aside"]);
    // Chunks may fall differently: the end is left alone.
    let points = (0..8).map(|round| At::Byte(somewhere(round) % (whole.passed() * 9 / 10)));
    let mut cases = 0;
    for at in points.chain([At::Request("GET /runs/")]) {
        let proxy = Proxy::new(&house.server.url, at, Then::Hold);
        let mut child = da.start(&slice("n < 200000", &["--force", "--server", &proxy.url]));
        proxy.reached(&mut child);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(must_be_consistent(&da), OLD);
        cases += 1;
    }
    let holder = duckdb::Connection::open(da.root().join("duckdb/analytics.duckdb")).unwrap();
    let mut child = da.start(&slice("n < 200000", &["--force"]));
    while rows_of_sidecar(&da) != NEW && child.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    holder.close().unwrap();
    assert_eq!(must_be_consistent(&da), NEW);
    tally("da", "kill -9 during a fetch", cases + 1, "broken copies", 0);
}

/// By the clock: no two runs kill at the same places.
fn somewhere(round: usize) -> usize {
    let nanos = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().subsec_nanos();
    (usize::try_from(nanos).unwrap() / 100 + round).wrapping_mul(0x9e37_79b9)
}

fn rows_of_sidecar(da: &Da) -> i64 {
    let sidecar = std::fs::read_to_string(da.root().join("snapshots/copy.meta.json")).unwrap();
    let sidecar: serde_json::Value = serde_json::from_str(&sidecar).unwrap();
    sidecar["rows"].as_i64().unwrap()
}

/// A commit that was not finished is finished by whoever comes next, query or fetch.
#[test]
fn a_commit_is_finished_by_the_next_command() {
    let house = House::new(2_000);
    let da = house.da();
    let dir = da.root().join("snapshots");
    da.ok(&slice("n < 1000", &[]));
    da.ok(&["fetch", "numbers", "--as", "other", "--no-estimate"]);
    // As the program leaves it when it dies right after its decision: the part is whole, and the sidecar decides.
    std::fs::rename(dir.join("other.parquet"), dir.join(".copy.part")).unwrap();
    let sidecar = std::fs::read_to_string(dir.join("other.meta.json")).unwrap();
    std::fs::write(dir.join(".copy.commit"), sidecar.replace("\"other\"", "\"copy\"")).unwrap();
    std::fs::write(da.root().join("duckdb/.behind"), "").unwrap();
    std::fs::remove_file(dir.join("other.meta.json")).unwrap();
    assert_eq!(da.number("SELECT count(*) FROM copy"), 2_000);
    assert_eq!(da.files(), ["copy.meta.json", "copy.parquet"]);
    let gone = da.run(&["query", "FROM other"]);
    assert_eq!(gone.code, 2, "the view went with its snapshot: {}", gone.out);
}

#[test]
fn of_two_at_once_one_wins() {
    let house = House::new(50_000);
    let da = house.da();
    for round in 0..3 {
        let name = format!("race_{round}");
        let args = ["fetch", "numbers", "--no-estimate", "--as", &name];
        let both = [da.start(&args), da.start(&args)].map(said);
        let mut codes = both.clone().map(|said| said.code);
        codes.sort_unstable();
        assert_eq!(codes, [0, 6], "{both:?}");
        assert_eq!(da.number(&format!("SELECT count(*) FROM {name}")), 50_000);
    }
    // Under different names both come through.
    let both =
        ["one_side", "other_side"].map(|name| da.start(&["fetch", "numbers", "--no-estimate", "--as", name])).map(said);
    assert_eq!(both.clone().map(|said| said.code), [0, 0], "{both:?}");
    assert_eq!(da.number("SELECT count(*) FROM one_side JOIN other_side USING (n)"), 50_000);
}

/// A query that runs while snapshots change, and a program that holds the database, block nobody.
#[test]
fn readers_and_writers_do_not_block_each_other() {
    let house = House::new(100);
    let da = house.da();
    da.ok(&["fetch", "events"]);
    let database = da.root().join("duckdb/analytics.duckdb");
    let holder = duckdb::Connection::open(&database).unwrap();
    let said = da.run(&["fetch", "numbers"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.err.contains("WARN: `analytics.duckdb` is open in another program"), "{}", said.err);
    assert_eq!(da.number("SELECT count(*) FROM numbers"), 100);
    assert_eq!(da.number("SELECT count(*) FROM events"), 120);
    holder.execute_batch("CREATE TABLE mine AS SELECT 42 AS answer").unwrap();
    holder.close().unwrap();
    // The view follows, and what others made there stays.
    assert_eq!(da.number("SELECT answer + (SELECT count(*) FROM numbers) FROM mine"), 142);
    let holder = duckdb::Connection::open(&database).unwrap();
    let views: i64 = holder.query_row("SELECT count(*) FROM numbers", [], |row| row.get(0)).unwrap();
    assert_eq!(views, 100);
}

#[test]
fn a_stream_that_is_cut_is_never_taken_for_a_whole_one() {
    let house = House::new(NEW.unsigned_abs());
    let da = house.da();
    da.ok(&slice("n < 1000", &[]));
    let mut cases = 0;
    for after in [2_000, 100_000, 1_000_000] {
        for cut in [Then::Break, Then::EndOfChunks] {
            let proxy = Proxy::new(&house.server.url, At::Byte(after), cut);
            let said = da.run(&slice("n < 200000", &["--force", "--server", &proxy.url]));
            assert_eq!(said.code, 9, "after {after}: {}{}", said.out, said.err);
            assert_eq!(must_be_consistent(&da), OLD);
            cases += 1;
        }
    }
    // And the whole of it through the same proxy.
    let proxy = Proxy::new(&house.server.url, At::Nowhere, Then::Break);
    let said = da.run(&slice("n < 200000", &["--force", "--server", &proxy.url]));
    assert_eq!(said.code, 0, "{}", said.err);
    tally("da", "streams cut on their way", cases, "taken for whole", 0);
}
