//! A chain that was touched is found, and the report says where.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test stops where it fails")]

mod common;

use common::{Place, run};
use ledger::{AuditEvent, FlawKind, Ledger};
use std::fs;

const ENTRIES: i64 = 6;

/// Six entries, a head at the fourth and at the last.
async fn chain() -> (Place, Ledger) {
    let place = Place::new();
    let ledger = place.open();
    for i in 0..3 {
        ledger.record(&run("ann", &format!("question {i}"))).await.unwrap();
    }
    ledger.append(AuditEvent::new("contracts.reloaded").about("ops", "admin")).await.unwrap();
    ledger.sign_head().await.unwrap().unwrap();
    ledger.record(&run("bob", "question 4")).await.unwrap();
    ledger.append(AuditEvent::new("server.stopped")).await.unwrap();
    ledger.sign_head().await.unwrap().unwrap();
    let report = ledger.verify().await.unwrap();
    assert_eq!((report.flaw, report.entries, report.heads, report.capsules), (None, ENTRIES, 2, 4));
    (place, ledger)
}

/// What makes a chain whole again after a change, for whoever has no key: every hash after it.
fn rehash(place: &Place, from: i64) {
    let conn = rusqlite::Connection::open(place.file()).unwrap();
    for seq in from..=ENTRIES {
        let sql = "SELECT coalesce((SELECT hash FROM audit WHERE seq = ?1 - 1), printf('%064d', 0)), entry_json \
                   FROM audit WHERE seq = ?1";
        let (prev, entry): (String, String) = conn.query_row(sql, [seq], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        let hash = domain::sha256_hex(format!("{prev}{entry}").as_bytes());
        conn.execute("UPDATE audit SET prev_hash = ?2, hash = ?3 WHERE seq = ?1", (seq, prev, hash)).unwrap();
    }
}

#[tokio::test]
async fn every_way_of_tampering_is_found() {
    let swap = "UPDATE audit SET seq = -1 WHERE seq = 2; UPDATE audit SET seq = 2 WHERE seq = 3;
                UPDATE audit SET seq = 3 WHERE seq = -1;";
    let forge = "UPDATE audit_heads SET hash = replace(hash, 'a', 'b'), signature = replace(signature, 'a', 'b');";
    let invent = "INSERT INTO audit_heads SELECT 99, hash, at, key, signature FROM audit_heads WHERE seq = 6;";
    let stray = "CREATE TEMP TABLE t AS SELECT * FROM run_capsules LIMIT 1;
                 UPDATE t SET run_id = 'stray'; INSERT INTO run_capsules SELECT * FROM t;";
    let cases = [
        ("UPDATE audit SET entry_json = replace(entry_json, 'ann', 'eve') WHERE seq = 2;", 2, FlawKind::EntryChanged),
        ("UPDATE audit SET hash = upper(hash) WHERE seq = 5;", 5, FlawKind::EntryChanged),
        ("UPDATE audit SET prev_hash = printf('%064d', 1) WHERE seq = 1;", 1, FlawKind::EntryChanged),
        ("DELETE FROM audit WHERE seq = 3;", 3, FlawKind::EntryMissing),
        ("DELETE FROM audit WHERE seq = 1;", 1, FlawKind::EntryMissing),
        ("DELETE FROM audit WHERE seq >= 5;", 5, FlawKind::TailCut),
        ("DELETE FROM audit;", 1, FlawKind::TailCut),
        (swap, 2, FlawKind::OutOfOrder),
        (invent, 99, FlawKind::HeadForged),
        (forge, 4, FlawKind::HeadForged),
        ("UPDATE run_capsules SET question = 'harmless' WHERE actor = 'bob';", 5, FlawKind::CapsuleChanged),
        ("UPDATE run_capsules SET exec_time_ms = 1.5 WHERE actor = 'bob';", 5, FlawKind::CapsuleChanged),
        ("UPDATE run_capsules SET thread_id = '' WHERE actor = 'bob';", 5, FlawKind::CapsuleChanged),
        ("DELETE FROM run_capsules WHERE actor = 'bob';", 5, FlawKind::CapsuleMissing),
        (stray, 0, FlawKind::CapsuleUnrecorded),
    ];
    for (sql, seq, kind) in cases {
        let (place, ledger) = chain().await;
        place.tamper(sql);
        let flaw = ledger.verify().await.unwrap().flaw.unwrap_or_else(|| panic!("not found: {sql}"));
        assert_eq!((flaw.seq.unwrap_or(0), flaw.kind), (seq, kind), "{sql}: {flaw}");
    }
}

#[tokio::test]
async fn a_chain_written_anew_does_not_match_its_heads() {
    let (place, ledger) = chain().await;
    place.tamper("UPDATE audit SET entry_json = replace(entry_json, 'ops', 'eve') WHERE seq = 4;");
    rehash(&place, 4);
    let flaw = ledger.verify().await.unwrap().flaw.unwrap();
    assert_eq!((flaw.seq, flaw.kind), (Some(4), FlawKind::Rewritten));
    insta::assert_snapshot!(flaw, @"entry 4: a signed head has another hash for it, so the chain was written anew");
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
                let conn = rusqlite::Connection::open(place.file()).unwrap();
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
