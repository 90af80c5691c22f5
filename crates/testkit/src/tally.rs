//! What the tests of the promise report: how much was tried, and how much went wrong.

use std::fs;
use std::path::PathBuf;

/// One row of the table that `make test` ends with (`scripts/tally`): so many `cases` of `what` were tried on `layer`,
/// and this many of the `bad` thing ("escapes", "false refusals", "records lost") were seen. The test itself must fail
/// when that is not 0; the table shows that it was looked at.
///
/// Writes to the directory that `GATEHOUSE_TALLY` names; without it (plain `cargo test`) there is no table.
pub fn tally(layer: &str, what: &str, cases: usize, bad: &str, seen: usize) {
    report(layer, what, &format!("{cases}\t{bad}\t{seen}"));
}

/// Replies that were compared: two copies of the data that differ in what is hidden gave them. The table adds them up, with the
/// share of those that had rows, since refusing everything would be no way to be the same.
pub fn compared(layer: &str, what: &str, replies: usize, with_rows: usize, differences: usize) {
    report(layer, what, &format!("{replies}\tdifferences\t{differences}\t{with_rows}"));
}

/// The same, with the number of pairs that gave them: a pair is one source in two copies.
pub fn compared_pairs(layer: &str, what: &str, pairs: usize, replies: usize, with_rows: usize, differences: usize) {
    report(layer, what, &format!("{replies}\tdifferences\t{differences}\t{with_rows}\t{pairs}"));
}

/// A row that tells what was measured instead: no pass mark, as machines differ.
pub fn figure(layer: &str, what: &str, cases: usize, measured: &str) {
    report(layer, what, &format!("{cases}\t{measured}"));
}

fn report(layer: &str, what: &str, came_of_it: &str) {
    let Some(dir) = std::env::var_os("GATEHOUSE_TALLY").map(PathBuf::from) else { return };
    let name: String =
        format!("{layer} {what}").chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    fs::create_dir_all(&dir).expect("the tally's directory");
    fs::write(dir.join(name), format!("{layer}\t{what}\t{came_of_it}\n")).expect("the tally is written");
}
