//! Signed heads are the proof: a chain without those that it should have is not whole, and says what it cannot know.

use crate::place::Place;
use crate::tamper::{every_case_is_found, rehash};
use ed25519_dalek::{Signer, SigningKey};
use ledger::{AuditEvent, FlawKind, Ledger, SignedHead};
use std::fs;
use std::io::Write;

on_both! {
    heads_that_are_gone_are_missed,
    a_head_deleted_under_its_server_is_put_back,
    a_start_signs_the_tail_that_a_killed_server_left,
    processes_that_never_sign_leave_no_tail_to_the_next,
    the_unsigned_tail_is_told,
    exports_that_failed_are_made_up_for,
    lost_exports_are_told_for_good,
    a_first_start_tells_of_no_lost_exports,
    times_that_a_running_server_signed_need_not_run_forwards,
    a_head_is_not_signed_with_another_key,
}

/// Six entries over three hours, with heads of the second, the fourth and the last.
async fn long_chain(place: &Place) {
    for (first, at) in [(1, "2020-01-01T00:00:00"), (3, "2020-01-01T01:00:00")] {
        add(place, 2).await;
        set_back(place, first..=first + 1, at);
        sign_as_of(place, first + 1, at);
    }
    add(place, 2).await;
    set_back(place, 5..=5, "2020-01-01T02:00:00");
    set_back(place, 6..=6, "2020-01-01T03:00:00");
    sign_as_of(place, 6, "2020-01-01T03:00:00");
    place.keep_older();
}

async fn add(place: &Place, entries: usize) {
    let ledger = place.open();
    for _ in 0..entries {
        ledger.append(AuditEvent::new("contracts.reloaded").about("ops", "admin")).await.unwrap();
    }
}

/// Makes entries that were added just now some of an earlier time. No head may cover them yet.
fn set_back(place: &Place, entries: std::ops::RangeInclusive<i64>, at: &str) {
    let first = *entries.start();
    for seq in entries {
        let entry = place.one(&format!("SELECT entry_json FROM audit WHERE seq = {seq}"));
        let (before, rest) = entry.split_once("\"at\":\"").unwrap();
        let (_, after) = rest.split_once('"').unwrap();
        place.tamper(&format!(
            "UPDATE audit SET entry_json = '{before}\"at\":\"{at}.000000000Z\"{after}' WHERE seq = {seq}"
        ));
    }
    rehash(place, first);
}

/// Signs the chain as a server did that had it then.
fn sign_as_of(place: &Place, seq: i64, at: &str) {
    let hash = place.one(&format!("SELECT hash FROM audit WHERE seq = {seq}"));
    let at = format!("{at}.000000000Z");
    let mut seed = [0; 32];
    hex::decode_to_slice(fs::read_to_string(place.keys().join("audit.ed25519")).unwrap().trim(), &mut seed).unwrap();
    let key = SigningKey::from_bytes(&seed);
    let signature = key.sign(format!("gatehouse audit head 1\n{seq}\n{hash}\n{at}\n").as_bytes());
    let (key, signature) = (hex::encode(key.verifying_key().as_bytes()), hex::encode(signature.to_bytes()));
    place.tamper(&format!("INSERT INTO audit_heads VALUES ({seq}, '{hash}', '{at}', '{key}', '{signature}')"));
    let head = SignedHead { seq, hash, at, key, signature };
    let mut file = fs::OpenOptions::new().append(true).create(true).open(place.heads()).unwrap();
    writeln!(file, "{}", serde_json::to_string(&head).unwrap()).unwrap();
}

async fn heads_that_are_gone_are_missed(place: Place) {
    long_chain(&place).await;
    every_case_is_found(&place, include_str!("heads.sql"), "manipulations of signed heads", &[]).await;
}

fn delete_heads(place: &Place) {
    place.tamper("DELETE FROM audit_heads");
    fs::write(place.heads(), "").unwrap();
}

/// Whoever deletes the last head from both places and writes the tail anew has not reckoned with the server's memory.
async fn a_head_deleted_under_its_server_is_put_back(place: Place) {
    let ledger = place.open();
    for _ in 0..3 {
        ledger.append(AuditEvent::new("contracts.reloaded").about("ops", "admin")).await.unwrap();
    }
    ledger.sign_head().await.unwrap();
    delete_heads(&place);
    place.tamper("UPDATE audit SET entry_json = replace(entry_json, 'ops', 'eve') WHERE seq = 3");
    rehash(&place, 3);
    ledger.append(AuditEvent::new("contracts.reloaded")).await.unwrap();
    ledger.sign_head().await.unwrap();
    let flaw = ledger.verify().await.unwrap().flaw.unwrap();
    assert_eq!((flaw.seq, flaw.kind), (Some(3), FlawKind::Rewritten), "{flaw}");
}

async fn a_start_signs_the_tail_that_a_killed_server_left(place: Place) {
    add(&place, 3).await;
    set_back(&place, 1..=3, "2020-01-01T00:00:00");
    let ledger = place.open();
    assert_eq!(ledger.verify().await.unwrap().signed, 0);
    ledger.take_up_chain().await.unwrap();
    // Years later than the entries before it, which have their head.
    ledger.append(AuditEvent::new("server.started")).await.unwrap();
    let report = ledger.verify().await.unwrap();
    assert_eq!((report.flaw, report.signed, report.entries), (None, 3, 4));
}

/// Commands that add an entry each, years apart, with no server between them.
async fn processes_that_never_sign_leave_no_tail_to_the_next(place: Place) {
    for (seq, year) in [(1, 2020), (2, 2021), (3, 2022)] {
        add(&place, 1).await;
        // What was before it is signed: it is the only one that can still be changed.
        assert_eq!(place.open().verify().await.unwrap().signed, seq - 1);
        set_back(&place, seq..=seq, &format!("{year}-01-01T00:00:00"));
    }
    add(&place, 1).await;
    let report = place.open().verify().await.unwrap();
    assert_eq!((report.flaw, report.signed, report.entries), (None, 3, 4));
}

async fn the_unsigned_tail_is_told(place: Place) {
    let ledger = place.open();
    ledger.append(AuditEvent::new("server.started")).await.unwrap();
    ledger.sign_head().await.unwrap();
    let report = ledger.verify().await.unwrap();
    assert_eq!((report.entries - report.signed, report.unsigned_since), (0, None));
    for _ in 0..2 {
        ledger.append(AuditEvent::new("contracts.reloaded")).await.unwrap();
    }
    let report = ledger.verify().await.unwrap();
    let said = place.one("SELECT entry_json FROM audit WHERE seq = 2");
    let since = report.unsigned_since.unwrap();
    assert!(said.contains(&format!("\"at\":\"{since}\"")), "{since} in {said}");
    assert_eq!((report.entries - report.signed, report.exported), (2, Some(1)));
    fs::remove_file(place.heads()).unwrap();
    assert_eq!(ledger.verify().await.unwrap().exported, None);
}

/// A disk that was full, or a machine that stopped between table and file.
async fn exports_that_failed_are_made_up_for(place: Place) {
    let ledger = place.open();
    for round in 1..=4 {
        ledger.append(AuditEvent::new("contracts.reloaded")).await.unwrap();
        if round == 2 {
            fs::rename(place.heads(), place.dir.path().join("aside")).unwrap();
            fs::create_dir(place.heads()).unwrap();
        }
        assert_eq!(ledger.sign_head().await.is_ok(), ![2, 3].contains(&round));
        if round == 3 {
            fs::remove_dir(place.heads()).unwrap();
            fs::rename(place.dir.path().join("aside"), place.heads()).unwrap();
        }
    }
    assert_eq!(exported(&place), [1, 2, 3, 4]);
    // A file that lacks some in its middle is made whole at a start, where it is the only one.
    let text = fs::read_to_string(place.heads()).unwrap();
    let kept: String = text.split_inclusive('\n').filter(|line| !line.contains("\"seq\":2,")).collect();
    fs::write(place.heads(), kept).unwrap();
    let ledger = place.open();
    assert_eq!(ledger.verify().await.unwrap().flaw.unwrap().kind, FlawKind::HeadUnexported);
    let missing = ledger.take_up_chain().await.unwrap();
    assert_eq!(missing, usize::from(place.is_sqlite()));
    if place.is_sqlite() {
        assert!(ledger.verify().await.unwrap().is_whole());
        assert_eq!(ledger.take_up_chain().await.unwrap(), 0);
    }
}

type Lose = fn(&Place);

/// Ways of losing exported heads of a chain of six entries with heads of 2, 4 and 6.
const LOSSES: [(&str, Lose); 4] = [
    ("the file is removed", |place| fs::remove_file(place.heads()).unwrap()),
    ("the file is emptied", |place| fs::write(place.heads(), "").unwrap()),
    ("the file is of two hours ago", |place| keep_lines(place, &[1])),
    ("the file lacks a head in its middle", |place| keep_lines(place, &[1, 3])),
];

fn keep_lines(place: &Place, lines: &[usize]) {
    let text = fs::read_to_string(place.heads()).unwrap();
    let kept = text.split_inclusive('\n').enumerate().filter(|(i, _)| lines.contains(&(i + 1)));
    fs::write(place.heads(), kept.map(|(_, line)| line).collect::<String>()).unwrap();
}

async fn restart(place: &Place) -> Ledger {
    let ledger = place.open();
    ledger.join("server").await.unwrap();
    ledger.take_up_chain().await.unwrap();
    ledger.append(AuditEvent::new("server.started")).await.unwrap();
    ledger.sign_head().await.unwrap();
    ledger
}

/// A start makes the file whole, from what the ledger has: which may be an older copy of it.
async fn lost_exports_are_told_for_good(original: Place) {
    long_chain(&original).await;
    for (loss, lose) in LOSSES {
        let place = original.copy();
        lose(&place);
        for start in 1..=2 {
            let report = restart(&place).await.verify().await.unwrap();
            // Where each server has a file of its own, it may have begun after the ledger.
            let told = report.reexported.map(|told| (told.seq, told.times));
            assert_eq!(told, place.is_sqlite().then_some((7, 1)), "{loss}, start {start}");
            if place.is_sqlite() {
                assert_eq!((report.flaw, report.exported), (None, Some(report.heads)), "{loss}, start {start}");
            }
        }
    }
    let place = original.copy();
    let ledger = place.open();
    ledger.append(AuditEvent::new("contracts.reloaded")).await.unwrap();
    ledger.sign_head().await.unwrap();
    place.restore(&original);
    assert_eq!(place.open().verify().await.unwrap().flaw.unwrap().kind, FlawKind::TailCut);
    fs::remove_file(place.heads()).unwrap();
    // A command comes before the server.
    place.open().append(AuditEvent::new("contracts.reloaded")).await.unwrap();
    let report = restart(&place).await.verify().await.unwrap();
    assert_eq!((report.flaw, report.reexported.is_some()), (None, place.is_sqlite()));
}

async fn a_first_start_tells_of_no_lost_exports(place: Place) {
    // A command comes before the first server.
    add(&place, 1).await;
    for _ in 0..2 {
        let report = restart(&place).await.verify().await.unwrap();
        assert_eq!((report.flaw, report.reexported), (None, None));
    }
}

/// The clock of its machine was set, by hours: nothing is missing, and the chain must not say so for good.
async fn times_that_a_running_server_signed_need_not_run_forwards(place: Place) {
    let ledger = restart(&place).await;
    let last: i64 = place.one("SELECT max(seq) FROM audit").parse().unwrap();
    for _ in 0..2 {
        ledger.append(AuditEvent::new("contracts.reloaded")).await.unwrap();
    }
    set_back(&place, last + 1..=last + 1, "2020-01-01T00:00:00");
    assert_eq!(ledger.verify().await.unwrap().flaw.unwrap().kind, FlawKind::HeadsMissing);
    ledger.sign_head().await.unwrap();
    let report = ledger.verify().await.unwrap();
    assert_eq!((report.flaw, report.signed), (None, last + 2));
}

fn exported(place: &Place) -> Vec<i64> {
    let lines = fs::read_to_string(place.heads()).unwrap();
    lines.lines().map(|line| serde_json::from_str::<SignedHead>(line).unwrap().seq).collect()
}

/// Of a command on a machine that shares the database, and not the key.
async fn a_head_is_not_signed_with_another_key(place: Place) {
    let ledger = place.open();
    ledger.join("first").await.unwrap();
    ledger.append(AuditEvent::new("server.started")).await.unwrap();
    let other = Ledger::open(&place.home(), &place.dir.path().join("other-keys")).unwrap();
    assert!(other.sign_head().await.is_err());
    other.append(AuditEvent::new("contracts.reloaded")).await.unwrap();
    let report = ledger.verify().await.unwrap();
    assert_eq!((report.flaw, report.entries, report.signed), (None, 2, 0));
    ledger.sign_head().await.unwrap();
    assert_eq!(ledger.verify().await.unwrap().signed, 2);
}
