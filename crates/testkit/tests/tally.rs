//! The table that `make test` ends with fails on whatever is no success.

#![allow(clippy::unwrap_used, reason = "a test stops where it fails")]

use std::process::Command;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/tally");

/// A row as it is reported, whether the table passes with it, and a part of what is said then.
const ROWS: [(&str, bool, &str); 7] = [
    ("jail\tabuse cases\t3\tescapes\t0", true, "escapes: 0"),
    ("jail\tabuse cases\t3\tescapes\t1", false, "something got out"),
    ("jail\tabuse cases\t0\tescapes\t0", false, "nothing was tried of:\njail\tabuse cases"),
    ("jail\tabuse cases\t20\t3 ms", true, "3 ms"),
    ("jail\tabuse cases\t0\t3 ms", false, "nothing was tried of:\njail\tabuse cases"),
    ("jail\tabuse cases\t0\tdifferences\t0\t0", false, "nothing was tried of:\njail\tabuse cases"),
    ("jail\tother cases\t3\tescapes\t0", false, "nothing was reported of:\njail\tabuse cases"),
];

#[test]
fn tally_fails_on_rows_that_are_bad_empty_or_missing() {
    for (row, passes, part) in ROWS {
        let dir = tempfile::tempdir().unwrap();
        let (reports, wanted) = (dir.path().join("reports"), dir.path().join("rows"));
        std::fs::create_dir(&reports).unwrap();
        std::fs::write(reports.join("one"), format!("{row}\n")).unwrap();
        std::fs::write(&wanted, "jail\tabuse cases\n").unwrap();
        let output = Command::new(SCRIPT).args([&reports, &wanted]).output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        assert_eq!(output.status.success(), passes, "{row}: {said}");
        assert!(said.contains(part), "{row}: {said}");
    }
}
