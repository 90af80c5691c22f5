//! Power cuts, races and servers that go away: the copy that was there stays, or the new one is whole.

use crate::support::{Da, House, said};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::Child;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use testkit::tally;

const OLD: i64 = 1_000;
const NEW: i64 = 100_000;

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
    let sidecar = std::fs::read_to_string(da.root().join("snapshots/copy.meta.json")).unwrap();
    let sidecar: serde_json::Value = serde_json::from_str(&sidecar).unwrap();
    assert_eq!(sidecar["rows"].as_i64(), Some(da.number("SELECT count(*) FROM copy")));
    rows
}

/// Kill -9 at ten points from the start to beyond the end of a fetch. Where they fall differs from run to run.
#[test]
fn killed_at_any_point_a_fetch_leaves_one_whole_copy() {
    let house = House::new(NEW.unsigned_abs());
    let da = house.da();
    let start = Instant::now();
    da.ok(&slice("n < 100000", &[]));
    let whole = start.elapsed();
    let mut finished = 0;
    for round in 0..10u32 {
        da.ok(&slice("n < 1000", &["--force"]));
        let mut child = da.start(&slice("n < 100000", &["--force"]));
        let moment = moment_of(whole * (round + 1) / 10, round);
        kill_after(&mut child, moment);
        finished += usize::from(must_be_consistent(&da) == NEW);
    }
    assert!(finished < 10, "every kill came too late to show anything");
    tally("da", "kill -9 during a fetch", 10, "broken copies", 0);
}

/// A little off the grid, by the clock: no two runs kill at the same places.
fn moment_of(around: Duration, round: u32) -> Duration {
    let nanos = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().subsec_nanos();
    around.saturating_sub(Duration::from_millis(u64::from((nanos / 1000 + round * 37) % 30)))
}

fn kill_after(child: &mut Child, moment: Duration) {
    let start = Instant::now();
    while start.elapsed() < moment && child.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    let _ = child.kill();
    child.wait().unwrap();
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

/// Something between us and the server that stops in the middle, in each way that there is.
#[derive(Clone, Copy)]
enum Cut {
    /// The connection breaks.
    Break,
    /// The reply claims to end here.
    EndOfChunks,
}

fn proxy(server: &str, after: usize, cut: Cut) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = server.trim_start_matches("http://").to_owned();
    std::thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let server = TcpStream::connect(&server).unwrap();
            std::thread::spawn(move || forward(client, server, after, cut));
        }
    });
    format!("http://{address}")
}

/// Replies to scans are cut after so many bytes.
fn forward(mut client: TcpStream, mut server: TcpStream, after: usize, cut: Cut) {
    let scans = Arc::new(AtomicBool::new(false));
    let (requests, requested) = ((client.try_clone().unwrap(), server.try_clone().unwrap()), scans.clone());
    std::thread::spawn(move || ask(requests, &requested));
    let (mut sent, mut reply) = (0, vec![0; 16 * 1024]);
    while let Ok(read @ 1..) = server.read(&mut reply) {
        if client.write_all(&reply[..read]).is_err() {
            break;
        }
        sent += if scans.load(Ordering::SeqCst) { read } else { 0 };
        if sent >= after {
            if matches!(cut, Cut::EndOfChunks) {
                // Fills up the chunk that was begun, with nothing, and ends.
                let _ = client.write_all(&vec![0; 4 << 20]);
                let _ = client.write_all(b"\r\n0\r\n\r\n");
            }
            break;
        }
    }
    let _ = client.shutdown(Shutdown::Both);
    let _ = server.shutdown(Shutdown::Both);
}

/// Passes requests on, to a server that is asked by its own name.
fn ask((mut client, mut server): (TcpStream, TcpStream), scans: &AtomicBool) {
    let (ours, theirs) = (client.local_addr().unwrap().to_string(), server.peer_addr().unwrap().to_string());
    let mut request = vec![0; 64 * 1024];
    while let Ok(read @ 1..) = client.read(&mut request) {
        let text = String::from_utf8_lossy(&request[..read]).replace(&ours, &theirs);
        if text.starts_with("POST /api/v2/scan HTTP") {
            scans.store(true, Ordering::SeqCst);
        }
        if server.write_all(text.as_bytes()).is_err() {
            return;
        }
    }
}

#[test]
fn a_stream_that_is_cut_is_never_taken_for_a_whole_one() {
    let house = House::new(NEW.unsigned_abs());
    let da = house.da();
    da.ok(&slice("n < 1000", &[]));
    let mut cases = 0;
    for after in [2_000, 100_000, 1_000_000] {
        for cut in [Cut::Break, Cut::EndOfChunks] {
            let url = proxy(&house.server.url, after, cut);
            let said = da.run(&slice("n < 100000", &["--force", "--server", &url]));
            assert_eq!(said.code, 9, "after {after}: {}{}", said.out, said.err);
            assert_eq!(must_be_consistent(&da), OLD);
            cases += 1;
        }
    }
    // And the whole of it through the same proxy.
    let url = proxy(&house.server.url, usize::MAX, Cut::Break);
    let said = da.run(&slice("n < 100000", &["--force", "--server", &url]));
    assert_eq!(said.code, 0, "{}", said.err);
    tally("da", "streams cut on their way", cases, "taken for whole", 0);
}
