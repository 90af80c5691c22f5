//! A chain that was touched is found, and the report says where.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test stops where it fails")]

mod common;

use common::{Place, run};
use ledger::{AuditEvent, FlawKind, Ledger};
use std::fs;
use std::os::unix::fs::PermissionsExt;

const ENTRIES: i64 = 6;

/// Six entries, a head at the fourth and at the last, and an older copy that has the first four.
async fn chain() -> (Place, Ledger) {
    let place = Place::new();
    let ledger = place.open();
    for i in 0..3 {
        ledger.record(&run("ann", &format!("question {i}"))).await.unwrap();
    }
    ledger.append(AuditEvent::new("contracts.reloaded").about("ops", "admin")).await.unwrap();
    ledger.sign_head().await.unwrap().unwrap();
    place.outside().execute("VACUUM INTO ?1", [place.older().to_str().unwrap()]).unwrap();
    ledger.record(&run("bob", "question 4")).await.unwrap();
    ledger.append(AuditEvent::new("server.stopped")).await.unwrap();
    ledger.sign_head().await.unwrap().unwrap();
    let report = ledger.verify().await.unwrap();
    assert_eq!((report.flaw, report.entries, report.heads, report.capsules), (None, ENTRIES, 2, 4));
    (place, ledger)
}

/// A manipulation, and what the walk must say of it.
struct Case {
    what: &'static str,
    said: &'static str,
    how: Vec<&'static str>,
}

fn cases() -> Vec<Case> {
    let blocks = include_str!("manipulations.sql").split("\n--- ").skip(1);
    let case = |block: &'static str| {
        let mut lines = block.lines();
        let what = lines.next().unwrap();
        let said =
            lines.next().and_then(|line| line.strip_prefix("--> ")).unwrap_or_else(|| panic!("{what}: no `-->`"));
        Case { what, said, how: lines.collect() }
    };
    blocks.map(case).collect()
}

#[tokio::test]
async fn every_way_of_tampering_is_found() {
    let cases = cases();
    let mut unlike = Vec::new();
    let mut not_found = 0;
    let (original, ledger) = chain().await;
    drop(ledger);
    for case in &cases {
        let place = original.copy();
        let ledger = place.open();
        let ledger = manipulated(&place, ledger, &case.how).await;
        let said = match ledger.verify().await.map(|report| report.flaw) {
            Ok(None) => {
                not_found += 1;
                "nothing".to_owned()
            }
            Ok(Some(flaw)) => format!("{}: {flaw}", serde_json::to_value(flaw.kind).unwrap().as_str().unwrap()),
            Err(error) => error.to_string(),
        };
        let said = without_run_id(&said);
        if said != case.said {
            unlike.push(format!("{}\n  is told as `{said}`\n  and not as `{}`", case.what, case.said));
        }
    }
    testkit::tally("ledger", "manipulations", cases.len(), "not found", not_found);
    assert!(unlike.is_empty(), "{}", unlike.join("\n"));
}

/// Carries out the steps of a case; the ledger as it is to be opened then.
async fn manipulated(place: &Place, mut ledger: Ledger, how: &[&str]) -> Ledger {
    for step in how.chunk_by(|a, b| !a.starts_with('!') && !b.starts_with('!')) {
        let step = step.join("\n");
        let (word, rest) = step.split_once(' ').unwrap_or((&step, ""));
        match word {
            "!rehash" => rehash(place, rest.parse().unwrap()),
            "!heads" => keep_heads(place, rest.parse().unwrap()),
            "!head" => add_head(place, rest),
            "!sign" => drop(ledger.sign_head().await.unwrap()),
            "!cut" => cut(place),
            "!restore" => ledger = restored(place),
            "!key" => {
                fs::remove_dir_all(place.dir.path().join("keys")).unwrap();
                ledger = place.open();
            }
            _ => place.tamper(&step),
        }
    }
    ledger
}

/// Runs have an id of their own each time.
fn without_run_id(said: &str) -> String {
    let mut parts: Vec<String> = said.split('`').map(str::to_owned).collect();
    for part in &mut parts {
        if part.parse::<domain::RunId>().is_ok() {
            *part = "RUN".to_owned();
        }
    }
    parts.join("`")
}

/// What makes a chain whole again after a change, for whoever has no key: every hash after it.
fn rehash(place: &Place, from: i64) {
    let conn = place.outside();
    let last: i64 = conn.query_row("SELECT max(seq) FROM audit", [], |row| row.get(0)).unwrap();
    for seq in from..=last {
        let sql = "UPDATE audit SET prev_hash = before.hash, hash = link(before.hash, entry_json) FROM \
                   (SELECT coalesce((SELECT hash FROM audit WHERE seq = ?1 - 1), printf('%064d', 0)) AS hash) AS before \
                   WHERE seq = ?1";
        conn.execute(sql, [seq]).unwrap();
    }
}

/// Another file in the place of this one, as a backup is put back.
fn restored(place: &Place) -> Ledger {
    for end in ["", "-wal", "-shm"] {
        fs::remove_file(format!("{}{end}", place.file().display())).unwrap();
    }
    fs::copy(place.older(), place.file()).unwrap();
    place.open()
}

fn cut(place: &Place) {
    place.tamper("PRAGMA wal_checkpoint(TRUNCATE)");
    let file = fs::OpenOptions::new().write(true).open(place.file()).unwrap();
    file.set_len(file.metadata().unwrap().len() / 2).unwrap();
}

fn add_head(place: &Place, line: &str) {
    let heads = fs::read_to_string(place.heads()).unwrap();
    fs::write(place.heads(), format!("{heads}{line}\n")).unwrap();
}

fn keep_heads(place: &Place, lines: usize) {
    let heads = fs::read_to_string(place.heads()).unwrap();
    let kept: String = heads.split_inclusive('\n').take(lines).collect();
    fs::write(place.heads(), kept).unwrap();
}

/// A copy among backups, in a directory that this user may not write to (root may all the same; `it::disks` has a disk
/// that is read-only for everybody), under a name that an address would read otherwise.
#[tokio::test]
async fn a_ledger_is_checked_where_nothing_can_be_written() {
    let (place, _ledger) = chain().await;
    let backup = tempfile::tempdir().unwrap();
    let file = backup.path().join("50% of #2?.sqlite");
    place.outside().execute("VACUUM INTO ?1", [file.to_str().unwrap()]).unwrap();
    rusqlite::Connection::open(&file).unwrap().pragma_update(None, "journal_mode", "wal").unwrap();
    fs::set_permissions(backup.path(), fs::Permissions::from_mode(0o500)).unwrap();
    let report = Ledger::verify_at(&file, &place.dir.path().join("keys")).unwrap();
    assert_eq!((report.flaw, report.entries, report.signed), (None, ENTRIES, ENTRIES));
    let error = Ledger::verify_at(&file, backup.path()).unwrap_err().to_string();
    assert!(error.contains("audit.ed25519"), "{error}");
    assert!(!backup.path().join("audit.ed25519").exists(), "no key is made to check with");
    fs::set_permissions(backup.path(), fs::Permissions::from_mode(0o700)).unwrap();
}

#[tokio::test]
async fn the_exported_heads_show_a_cut_that_the_table_hides() {
    let (place, ledger) = chain().await;
    place.tamper("DELETE FROM audit WHERE seq = 6; DELETE FROM audit_heads WHERE seq = 6;");
    let flaw = ledger.verify().await.unwrap().flaw.unwrap();
    insta::assert_snapshot!(flaw, @"entry 6: it is missing; a signed head knows of 6 entries, so the tail was cut");
    // Growing again over the cut does not heal it.
    ledger.append(AuditEvent::new("server.started")).await.unwrap();
    ledger.append(AuditEvent::new("server.stopped")).await.unwrap();
    assert_eq!(ledger.verify().await.unwrap().flaw.unwrap().kind, FlawKind::Rewritten);
}

#[tokio::test]
async fn heads_of_another_key_and_broken_lines_are_found() {
    let (place, ledger) = chain().await;
    let good = fs::read_to_string(place.heads()).unwrap();
    fs::write(place.heads(), format!("{good}nonsense\n")).unwrap();
    let flaw = ledger.verify().await.unwrap().flaw.unwrap();
    insta::assert_snapshot!(flaw, @"line 3 of `audit-heads.jsonl` is no signed head");
    // A line that was being written when the machine stopped, on the other hand, is nobody's crime.
    fs::write(place.heads(), format!("{good}{{\"seq\":7")).unwrap();
    assert!(ledger.verify().await.unwrap().is_whole());
    ledger.append(AuditEvent::new("server.started")).await.unwrap();
    ledger.sign_head().await.unwrap();
    assert_eq!(ledger.verify().await.unwrap().heads, 3);
    assert!(fs::read_to_string(place.heads()).unwrap().starts_with(&good));

    fs::remove_dir_all(place.dir.path().join("keys")).unwrap();
    let flaw = place.open().verify().await.unwrap().flaw.unwrap();
    insta::assert_snapshot!(flaw, @"entry 4: a head of it is not signed with this ledger's key");
}

#[tokio::test]
async fn a_head_is_signed_once_and_exported_even_if_late() {
    let place = Place::new();
    let ledger = place.open();
    assert_eq!(ledger.sign_head().await.unwrap(), None);
    ledger.append(AuditEvent::new("server.started")).await.unwrap();
    let head = ledger.sign_head().await.unwrap();
    assert_eq!(ledger.sign_head().await.unwrap(), head);
    assert_eq!(fs::read_to_string(place.heads()).unwrap().lines().count(), 1);
    fs::remove_file(place.heads()).unwrap();
    assert_eq!(ledger.sign_head().await.unwrap(), head);
    assert_eq!(fs::read_to_string(place.heads()).unwrap().lines().count(), 1);
}

#[tokio::test]
async fn entries_hold_no_question_sql_or_rows() {
    let (place, _ledger) = chain().await;
    let conn = rusqlite::Connection::open(place.file()).unwrap();
    let all: String = conn.query_row("SELECT group_concat(entry_json) FROM audit", [], |row| row.get(0)).unwrap();
    for text in ["question", "SELECT", "[[42", "There are", "orders by month"] {
        assert!(!all.contains(text), "{text} in {all}");
    }
    assert!(all.contains("\"policy_fingerprint\""));
}

mod any_byte {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

        /// Any change of any one byte of what is stored of an entry.
        #[test]
        fn change_is_found(
            seq in 1..=ENTRIES,
            column in prop::sample::select(vec!["entry_json", "prev_hash", "hash"]),
            place_in_text in any::<prop::sample::Index>(),
            flip in 1..=255_u8,
        ) {
            thread_local! {
                static CHAIN: (tokio::runtime::Runtime, Place, Ledger) = {
                    let runtime = tokio::runtime::Runtime::new().unwrap();
                    let (place, ledger) = runtime.block_on(chain());
                    // Without the columns that SQLite reads from the entry, for it would refuse to write nonsense.
                    place.tamper(
                        "CREATE TABLE bare AS SELECT seq, entry_json, prev_hash, hash FROM audit;
                         DROP TABLE audit; ALTER TABLE bare RENAME TO audit;",
                    );
                    (runtime, place, ledger)
                };
            }
            CHAIN.with(|(runtime, place, ledger)| {
                let conn = place.outside();
                let sql = format!("SELECT CAST({column} AS BLOB) FROM audit WHERE seq = ?1");
                let good: Vec<u8> = conn.query_row(&sql, [seq], |row| row.get(0)).unwrap();
                let mut bad = good.clone();
                bad[place_in_text.index(good.len())] ^= flip;
                let write = format!("UPDATE audit SET {column} = CAST(?2 AS TEXT) WHERE seq = ?1");
                conn.execute(&write, (seq, bad)).unwrap();
                let flaw = runtime.block_on(ledger.verify()).unwrap().flaw;
                conn.execute(&write, (seq, good)).unwrap();
                prop_assert_eq!(flaw.and_then(|flaw| flaw.seq), Some(seq));
                prop_assert!(runtime.block_on(ledger.verify()).unwrap().is_whole());
                Ok(())
            })?;
        }
    }
}
