//! Opening what is there, and refusing what must not be touched.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test stops where it fails")]

mod common;

use common::{Place, run};
use domain::{Fault, Kind};
use ledger::{Ledger, LedgerError};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

fn refusal(place: &Place) -> String {
    let error = Ledger::open(&place.file(), &place.dir.path().join("keys")).err().unwrap();
    error.to_string().replace(place.dir.path().to_str().unwrap(), "DIR")
}

#[tokio::test]
async fn a_ledger_is_there_after_opening_it_again() {
    let place = Place::new();
    let run = run("ann", "q");
    place.open().record(&run).await.unwrap();
    assert!(place.open().run(run.run_id).await.unwrap().is_some());
}

#[test]
fn a_newer_ledger_is_refused() {
    let place = Place::new();
    drop(place.open());
    place.tamper("PRAGMA user_version = 99;");
    insta::assert_snapshot!(refusal(&place), @"the ledger has version 99, this program knows 5; hint: use the newer gatehouse that wrote it, or restore a backup");
}

#[test]
fn another_database_is_left_alone() {
    let place = Place::new();
    rusqlite::Connection::open(place.file()).unwrap().execute_batch("CREATE TABLE customers (id)").unwrap();
    let before = (fs::read(place.file()).unwrap(), fs::metadata(place.file()).unwrap().permissions());
    insta::assert_snapshot!(refusal(&place), @"`DIR/ledger.sqlite` is a SQLite database, but not a ledger; hint: give the ledger a path of its own");
    assert_eq!((fs::read(place.file()).unwrap(), fs::metadata(place.file()).unwrap().permissions()), before);
    fs::write(place.file(), "id,name\n".repeat(1000)).unwrap();
    insta::assert_snapshot!(refusal(&place), @"the file is damaged or is no SQLite database; hint: restore the ledger from a backup");
}

#[test]
fn a_key_that_others_may_read_is_refused() {
    let place = Place::new();
    drop(place.open());
    let key = place.dir.path().join("keys/audit.ed25519");
    fs::set_permissions(&key, Permissions::from_mode(0o644)).unwrap();
    insta::assert_snapshot!(refusal(&place), @"others may read the audit key `DIR/keys/audit.ed25519`; hint: chmod 600, and consider the key known");
    fs::set_permissions(&key, Permissions::from_mode(0o600)).unwrap();
    fs::write(&key, "nothing").unwrap();
    insta::assert_snapshot!(refusal(&place), @"`DIR/keys/audit.ed25519` is no audit key; hint: restore it from a backup, heads signed with it cannot be checked without");
}

#[test]
fn a_place_that_cannot_be_is_an_error() {
    let place = Place::new();
    fs::create_dir(place.file()).unwrap();
    insta::assert_snapshot!(refusal(&place), @"the file of the ledger cannot be opened; hint: check its path, owner and mode, and those of its directory");
}

#[test]
fn many_may_open_a_new_ledger_at_once() {
    let place = Place::new();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| place.open());
        }
    });
}

#[test]
fn a_caller_is_told_nothing_of_the_inside() {
    let fault = Fault::from(LedgerError::DiskFull);
    assert_eq!((fault.kind, fault.code.as_str()), (Kind::Unavailable, "ledger.unavailable"));
    assert_eq!(Fault::from(LedgerError::Damaged), fault);
}
