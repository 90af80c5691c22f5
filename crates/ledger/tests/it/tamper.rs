//! A chain that was touched is found, and the report says where.

use crate::place::{Place, run};
use ledger::{AuditEvent, FlawKind, Home, Ledger};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

on_both! {
    every_way_of_tampering_is_found,
    the_exported_heads_show_a_cut_that_the_table_hides,
    heads_of_another_key_and_broken_lines_are_found,
    a_head_is_signed_once_and_exported_even_if_late,
    entries_hold_no_question_sql_or_rows,
    the_chain_is_handed_out_line_by_line,
}

const ENTRIES: i64 = 6;
const INTERVAL: Duration = Duration::from_secs(60);

/// Six entries, a head at the fourth and at the last, and an older copy that has the first four.
async fn chain(place: &Place) -> Ledger {
    let ledger = place.open();
    for i in 0..3 {
        ledger.record(&run("ann", &format!("question {i}"))).await.unwrap();
    }
    ledger.append(AuditEvent::new("contracts.reloaded").about("ops", "admin")).await.unwrap();
    ledger.sign_head().await.unwrap().unwrap();
    drop(ledger);
    place.keep_older();
    let ledger = place.open();
    ledger.record(&run("bob", "question 4")).await.unwrap();
    ledger.append(AuditEvent::new("server.stopped")).await.unwrap();
    ledger.sign_head().await.unwrap().unwrap();
    let report = ledger.verify().await.unwrap();
    assert_eq!((report.flaw, report.entries, report.heads, report.capsules), (None, ENTRIES, 2, 4));
    ledger
}

/// A manipulation, and what the walk must say of it.
struct Case {
    what: &'static str,
    said: &'static str,
    how: Vec<&'static str>,
}

fn cases(text: &'static str) -> Vec<Case> {
    let blocks = text.split("\n--- ").skip(1);
    let case = |block: &'static str| {
        let mut lines = block.lines();
        let what = lines.next().unwrap();
        let said =
            lines.next().and_then(|line| line.strip_prefix("--> ")).unwrap_or_else(|| panic!("{what}: no `-->`"));
        Case { what, said, how: lines.collect() }
    };
    blocks.map(case).collect()
}

async fn every_way_of_tampering_is_found(original: Place) {
    drop(chain(&original).await);
    every_case_is_found(&original, include_str!("manipulations.sql"), "manipulations", &[]).await;
}

/// Carries out each case on a copy of the original, which itself must be whole. `names` stand for texts that differ each
/// time. No ledger may be open.
pub async fn every_case_is_found(original: &Place, table: &'static str, what: &str, names: &[(String, &str)]) {
    let mut cases = cases(table);
    cases.retain(|case| original.is_sqlite() || !case.how.contains(&"!sqlite"));
    assert_eq!(original.copy().open().verify().await.unwrap().flaw, None, "untouched");
    let mut unlike = Vec::new();
    let mut not_found = 0;
    for case in &cases {
        let place = original.copy();
        let ledger = manipulated(original, &place, &case.how, names).await;
        let said = match ledger.verify().await.map(|report| report.flaw) {
            Ok(None) => {
                not_found += 1;
                "nothing".to_owned()
            }
            Ok(Some(flaw)) => format!("{}: {flaw}", serde_json::to_value(flaw.kind).unwrap().as_str().unwrap()),
            Err(error) => error.to_string(),
        };
        let said = names.iter().fold(without_run_id(&said), |said, (text, name)| said.replace(text, name));
        if said != case.said {
            unlike.push(format!("{}\n  is told as `{said}`\n  and not as `{}`", case.what, case.said));
        }
    }
    testkit::tally("ledger", &original.told(what), cases.len(), "not found", not_found);
    assert!(unlike.is_empty(), "{}", unlike.join("\n"));
}

/// Carries out the steps of a case; the ledger as it is to be opened then.
async fn manipulated(original: &Place, place: &Place, how: &[&str], names: &[(String, &str)]) -> Ledger {
    let mut ledger = place.open();
    for step in how.chunk_by(|a, b| !a.starts_with('!') && !b.starts_with('!')) {
        let step = step.join("\n");
        let (word, rest) = step.split_once(' ').unwrap_or((&step, ""));
        match word {
            "!rehash" => rehash(place, rest.parse().unwrap()),
            "!heads" => keep_heads(place, rest.parse().unwrap()),
            "!head" => add_head(place, rest),
            "!sign" => drop(ledger.sign_head().await.unwrap()),
            "!cut" => cut(place),
            "!unline" => remove_line(place, rest.parse().unwrap()),
            "!no-file" => fs::remove_file(place.heads()).unwrap(),
            "!restart" => {
                ledger = place.open();
                ledger.take_up_chain().await.unwrap();
                ledger.append(AuditEvent::new("server.started")).await.unwrap();
                ledger.sign_head().await.unwrap();
            }
            "!sqlite" => {}
            "!restore" => {
                place.restore(original);
                ledger = place.open();
            }
            "!key" => {
                fs::remove_dir_all(place.keys()).unwrap();
                ledger = place.open();
            }
            _ => place.tamper(&named(&step, names)),
        }
    }
    ledger
}

/// A statement with the texts that its names stand for.
fn named(sql: &str, names: &[(String, &str)]) -> String {
    names.iter().fold(sql.to_owned(), |sql, (text, name)| sql.replace(&format!("'{name}'"), &format!("'{text}'")))
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
pub fn rehash(place: &Place, from: i64) {
    let last: i64 = place.one("SELECT max(seq) FROM audit").parse().unwrap();
    let entry = |seq: i64| {
        format!(
            "UPDATE audit SET prev_hash = before.hash, hash = link(before.hash, entry_json) FROM \
             (SELECT coalesce((SELECT hash FROM audit WHERE seq = {seq} - 1), '{}') AS hash) AS before \
             WHERE seq = {seq};",
            "0".repeat(64)
        )
    };
    place.tamper(&(from..=last).map(entry).collect::<String>());
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

fn remove_line(place: &Place, line: usize) {
    let heads = fs::read_to_string(place.heads()).unwrap();
    let kept = heads.split_inclusive('\n').enumerate().filter(|(i, _)| i + 1 != line);
    fs::write(place.heads(), kept.map(|(_, line)| line).collect::<String>()).unwrap();
}

/// A copy among backups, in a directory that this user may not write to (root may all the same; `it::disks` has a disk
/// that is read-only for everybody), under a name that an address would read otherwise.
#[tokio::test]
async fn a_ledger_is_checked_where_nothing_can_be_written() {
    let place = Place::sqlite();
    let _ledger = chain(&place).await;
    let backup = tempfile::tempdir().unwrap();
    let file = backup.path().join("50% of #2?.sqlite");
    place.outside().execute("VACUUM INTO ?1", [file.to_str().unwrap()]).unwrap();
    rusqlite::Connection::open(&file).unwrap().pragma_update(None, "journal_mode", "wal").unwrap();
    fs::set_permissions(backup.path(), fs::Permissions::from_mode(0o500)).unwrap();
    let report = Ledger::verify_at(&Home::File(file.clone()), &place.keys(), INTERVAL).unwrap();
    assert_eq!((report.flaw, report.entries, report.signed), (None, ENTRIES, ENTRIES));
    let error = Ledger::verify_at(&Home::File(file), backup.path(), INTERVAL).unwrap_err().to_string();
    assert!(error.contains("audit.ed25519"), "{error}");
    assert!(!backup.path().join("audit.ed25519").exists(), "no key is made to check with");
    fs::set_permissions(backup.path(), fs::Permissions::from_mode(0o700)).unwrap();
}

async fn the_exported_heads_show_a_cut_that_the_table_hides(place: Place) {
    let ledger = chain(&place).await;
    place.tamper("DELETE FROM audit WHERE seq = 6; DELETE FROM audit_heads WHERE seq = 6;");
    let flaw = ledger.verify().await.unwrap().flaw.unwrap();
    assert_eq!(flaw.to_string(), "entry 6: it is missing; a signed head knows of 6 entries, so the tail was cut");
    // Growing again over the cut does not heal it.
    ledger.append(AuditEvent::new("server.started")).await.unwrap();
    ledger.append(AuditEvent::new("server.stopped")).await.unwrap();
    assert_eq!(ledger.verify().await.unwrap().flaw.unwrap().kind, FlawKind::Rewritten);
}

async fn heads_of_another_key_and_broken_lines_are_found(place: Place) {
    let ledger = chain(&place).await;
    let good = fs::read_to_string(place.heads()).unwrap();
    fs::write(place.heads(), format!("{good}nonsense\n")).unwrap();
    let flaw = ledger.verify().await.unwrap().flaw.unwrap();
    assert_eq!(flaw.to_string(), "line 3 of `audit-heads.jsonl` is no signed head");
    // A line that was being written when the machine stopped, on the other hand, is nobody's crime.
    fs::write(place.heads(), format!("{good}{{\"seq\":7")).unwrap();
    assert!(ledger.verify().await.unwrap().is_whole());
    ledger.append(AuditEvent::new("server.started")).await.unwrap();
    ledger.sign_head().await.unwrap();
    assert_eq!(ledger.verify().await.unwrap().heads, 3);
    assert!(fs::read_to_string(place.heads()).unwrap().starts_with(&good));

    fs::remove_dir_all(place.keys()).unwrap();
    let flaw = place.open().verify().await.unwrap().flaw.unwrap();
    assert_eq!(flaw.to_string(), "entry 4: a head of it is not signed with this ledger's key");
}

async fn a_head_is_signed_once_and_exported_even_if_late(place: Place) {
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

async fn entries_hold_no_question_sql_or_rows(place: Place) {
    let ledger = chain(&place).await;
    drop(ledger);
    let mut all = Vec::new();
    assert_eq!(Ledger::export_chain(&place.home(), &mut all).unwrap(), 6);
    let all = String::from_utf8(all).unwrap();
    for text in ["question", "SELECT", "[[42", "There are", "orders by month"] {
        assert!(!all.contains(text), "{text} in {all}");
    }
    assert!(all.contains("\"policy_fingerprint\""));
}

/// Whoever has the lines can check them without us.
async fn the_chain_is_handed_out_line_by_line(place: Place) {
    drop(chain(&place).await);
    let mut lines = Vec::new();
    Ledger::export_chain(&place.home(), &mut lines).unwrap();
    let mut last = "0".repeat(64);
    for line in std::str::from_utf8(&lines).unwrap().lines() {
        let line: BTreeMap<String, Box<serde_json::value::RawValue>> = serde_json::from_str(line).unwrap();
        assert_eq!(line["prev_hash"].get(), format!("\"{last}\""));
        last = domain::sha256_hex(format!("{last}{}", line["entry"].get()).as_bytes());
        assert_eq!(line["hash"].get(), format!("\"{last}\""));
    }
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
                    let place = Place::sqlite();
                    let ledger = runtime.block_on(chain(&place));
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
