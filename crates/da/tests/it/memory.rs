//! A fetch takes as much memory as a few batches and a row group, however long the result is.

use crate::proxy::{At, Proxy, Then};
use crate::support::{Da, House, said};
use testkit::tally;

const MB: u64 = 1_000_000;

/// Six times as much data would show as 200 MB more, if it were kept. Some batches more may wait than the first time.
#[test]
fn memory_does_not_grow_with_the_result() {
    let house = House::forgetful(10);
    // About 115 bytes a row, of which the server sends 65 536 at a time.
    house.change("numbers", "SELECT range AS n, repeat('x', 94) || range AS name, 0.5 AS share FROM range(2100000)");
    let da = house.da();
    let [short, long] = ["n < 350000", "n >= 0"].map(|rows| peak(&house, &da, rows));
    assert!(long < short + 100 * MB, "{} MB for 40 MB, {} MB for 240 MB", short / MB, long / MB);
    assert!(long < 300 * MB, "{} MB", long / MB);
    tally("da", "memory of a fetch six times as long", 2, "that grew", 0);
}

/// The most that a fetch had in memory, looked up when all of the result is on the disk and the server is about to be
/// asked whether it was all.
fn peak(house: &House, da: &Da, rows: &str) -> u64 {
    let proxy = Proxy::new(&house.server.url, At::Request("GET /runs/"), Then::Hold);
    let args = ["fetch", "numbers", "--where", rows, "--no-estimate", "--force", "--server", &proxy.url];
    let mut child = da.start(&args);
    proxy.reached(&mut child);
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak: u64 = line.trim().trim_end_matches(" kB").parse().unwrap();
    proxy.go_on();
    let said = said(child);
    assert_eq!(said.code, 0, "{said:?}");
    peak * 1024
}
