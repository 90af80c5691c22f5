//! Changes whose end nobody saw: they are found, or told to be unknown and settled later.

use super::books::Books;
use crate::records_support::{email, error, read, step, update, versioned};
use crate::scan_support::audited;
use crate::support::{server, verify};
use serde_json::json;
use std::time::{Duration, Instant};
use testkit::{Postgres, Server, Wire};

/// A database that says no at COMMIT by ending the connection, where a subject says so.
const DOOM: &str = "
    CREATE FUNCTION doom() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
    BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$;
    CREATE CONSTRAINT TRIGGER doomed AFTER INSERT ON client_communications DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (NEW.subject = 'Doomed') EXECUTE FUNCTION doom();";
/// One whose COMMIT takes as long as somebody holds a lock, whoever cancels it.
const SLOW: &str = "
    CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN LOOP
        BEGIN PERFORM pg_advisory_xact_lock(7); RETURN NULL; EXCEPTION WHEN query_canceled THEN NULL; END;
    END LOOP; END $$;
    CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON client_communications DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION slow();";
const SENT: &str = "SELECT count(*) FROM client_communications WHERE case_id = 'case_460'";

fn wired() -> (Books, Wire, Server) {
    let books = Books::new();
    let port = Postgres::shared().port();
    let wire = Wire::to(port);
    let server = books.server_at(&wire.of(&books.url(), port), "writable = true").start();
    (books, wire, server)
}

fn under_way(server: &Server) -> i64 {
    let ledger = rusqlite::Connection::open(server.data().join("ledger.sqlite")).unwrap();
    ledger.query_row("SELECT count(*) FROM changes_under_way", [], |row| row.get(0)).unwrap()
}

/// The answer to a COMMIT is lost: the database knows whether the transaction was committed, and is asked.
#[test]
fn a_lost_answer_is_asked_for() {
    let (books, wire, server) = wired();
    let agent = server.client("bob", "agent");
    wire.lose_next();
    let made = step(&agent, &email("case_460", "Answer lost"));
    assert_eq!((made.status, &made.json()["count"]), (200, &json!(1)), "{}", made.text());
    wire.lose_next();
    let updated = step(&agent, &update("case_460", &json!({ "status": "CLOSED" })));
    assert_eq!(updated.json()["data"][0]["status"], "CLOSED", "{}", updated.text());

    books.sql(DOOM);
    let doomed = step(&agent, &email("case_460", "Doomed"));
    assert_eq!(error(&doomed), (503, "UNAVAILABLE".into(), "source.lost".into()), "{}", doomed.text());
    assert!(doomed.text().contains("not made"), "{}", doomed.text());
    assert_eq!((books.sql(SENT).as_str(), under_way(&server)), ("1", 0));
}

/// It is lost and the database with it: the caller is told that nobody knows, and the audit says later what became of it.
#[test]
fn what_cannot_be_found_out_is_told_and_settled_later() {
    let (books, wire, server) = wired();
    let agent = server.client("bob", "agent");
    assert_eq!(step(&agent, &email("case_461", "First")).status, 200, "its tables are known by then");
    wire.break_at_next();
    let told = step(&agent, &email("case_460", "Who knows"));
    assert_eq!(error(&told).2, "change.unknown_outcome", "{}", told.text());
    assert!(told.status >= 500 && told.text().contains("READ the row"), "{}", told.text());
    assert_eq!((books.sql(SENT).as_str(), under_way(&server)), ("1", 1), "it was made, and its note stays");

    wire.mend();
    let patience = Instant::now() + Duration::from_secs(60);
    while under_way(&server) > 0 {
        assert!(Instant::now() < patience, "nobody looked for the change");
        assert_eq!(server.stranger().get("/healthz").status, 200);
    }
    assert_eq!(audited(&server, "change.reconciled"), [json!({ "found": "made" })]);
    let again = step(&agent, &email("case_460", "Who knows"));
    assert_eq!((again.status, books.sql(SENT).as_str()), (200, "1"), "{}", again.text());
    assert!(verify(&server)["flaw"].is_null());
}

fn wait_for(what: &str, seen: impl Fn() -> bool) {
    let patience = Instant::now() + Duration::from_secs(90);
    while !seen() {
        assert!(Instant::now() < patience, "{what}");
    }
}

/// A COMMIT that has not ended is neither made nor not made: nobody is told to send it again.
#[test]
fn a_commit_that_takes_its_time_is_not_taken_for_none() {
    let books = Books::new();
    let server = books.server().start();
    let agent = server.client("bob", "agent");
    books.sql(SLOW);
    let held = books.hold("SELECT pg_advisory_xact_lock(7)");
    let told = step(&agent, &email("case_460", "In its time"));
    assert_eq!(error(&told).2, "change.unknown_outcome", "{}", told.text());
    assert_eq!((books.sql(SENT).as_str(), under_way(&server)), ("0", 1), "its note stays");
    drop(held);
    wait_for("nobody looked for the change", || under_way(&server) == 0);
    assert_eq!(
        (audited(&server, "change.reconciled"), books.sql(SENT).as_str()),
        (vec![json!({ "found": "made" })], "1")
    );
}

/// It outlives its server: the next one waits for its end too, however old its note is.
#[test]
fn a_commit_that_outlives_its_server_is_waited_for() {
    let (books, data) = (Books::new(), tempfile::tempdir().unwrap());
    let start = || books.server().data(data.path()).env("RUN_TIMEOUT_SECONDS", "5").start();
    let mut server = start();
    let agent = server.client("bob", "agent");
    assert_eq!(step(&agent, &email("case_461", "First")).status, 200);
    books.sql(SLOW);
    let held = books.hold("SELECT pg_advisory_xact_lock(7)");
    let plan = json!({ "version": "1", "steps": [email("case_460", "Left alone")] }).to_string().into_bytes();
    let sent = std::thread::spawn(move || agent.try_send("POST".parse().unwrap(), "/agent/db/plan", plan).is_ok());
    wait_for("no COMMIT", || books.is_waited_for());
    server.kill();
    assert!(!sent.join().unwrap());
    let ledger = rusqlite::Connection::open(data.path().join("ledger.sqlite")).unwrap();
    let age = "UPDATE changes_under_way SET begun = json_set(begun, '$.noted', '2026-01-01T00:00:00Z')";
    assert_eq!(ledger.execute(age, []).unwrap(), 1);
    let old = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() \
               AND backend_xid IS NOT NULL AND xact_start < clock_timestamp() - interval '5 seconds'";
    wait_for("no old transaction", || books.sql(old) == "1");

    let server = start();
    let looked = || ledger.query_row("SELECT server = '' FROM changes_under_way", [], |row| row.get(0)).unwrap_or(true);
    wait_for("nobody looked for the change", looked);
    drop(held);
    wait_for("nobody looked again", || under_way(&server) == 0);
    assert_eq!(
        (audited(&server, "change.reconciled"), books.sql(SENT).as_str()),
        (vec![json!({ "found": "made" })], "1")
    );
}

/// A change is made, and the ledger is away: its caller is told, and it is recorded when the ledger is back.
#[test]
fn what_the_ledger_could_not_take_is_recorded_later() {
    let (books, mut ledger) = (Books::new(), Postgres::start());
    let database = ledger.database();
    let server = books.server().env("GATEHOUSE_LEDGER_URL", &ledger.url(&database));
    let server = server.env("GATEHOUSE_LEDGER_WAIT_SECONDS", "5").start();
    let agent = server.client("bob", "agent");
    let held = books.hold("SELECT 1 FROM cases WHERE id = 'case_463' FOR UPDATE");
    let told = std::thread::scope(|scope| {
        let sent = scope.spawn(|| step(&agent, &update("case_463", &json!({ "status": "CLOSED" }))));
        while !books.is_waited_for() {}
        ledger.crash();
        drop(held);
        sent.join().unwrap()
    });
    assert_eq!(error(&told), (503, "UNAVAILABLE".into(), "change.unrecorded".into()), "{}", told.text());
    assert_eq!(books.sql("SELECT status FROM cases WHERE id = 'case_463'"), "CLOSED");
    ledger.restart();
    let patience = Instant::now() + Duration::from_secs(60);
    while ledger.sql(&database, "SELECT count(*) FROM changes_under_way") != "0" {
        assert!(Instant::now() < patience, "nobody recorded the change");
    }
    let kept = "SELECT status FROM run_capsules WHERE query_mode = 'change' ORDER BY created_at DESC LIMIT 1";
    assert_eq!(ledger.sql(&database, kept), "succeeded");
    assert!(verify(&server)["flaw"].is_null());
}

/// A change of SQLite that takes too long is ended and undone. Where a version tells so, its caller is told; where none does,
/// somebody else may have written what is there.
#[test]
fn a_change_that_took_too_long_is_looked_for() {
    let data = tempfile::tempdir().unwrap();
    assert!(server().demo().data(data.path()).start().terminate().success());
    let crm = rusqlite::Connection::open(data.path().join("datasets/crm/crm.sqlite")).unwrap();
    crm.execute_batch(
        "CREATE TRIGGER slow AFTER UPDATE ON cases WHEN NEW.title = 'For ever' BEGIN
         SELECT max(n) FROM (WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n FROM c); END",
    )
    .unwrap();
    let server = server().demo().data(data.path()).env("RUN_TIMEOUT_SECONDS", "5").start();
    let agent = server.client("bob", "agent");
    let seen =
        read(&agent, "cases", &["updated_at"], &[("id", "=", json!("case_462"))])["data"][0]["updated_at"].clone();
    let for_ever = update("case_462", &json!({ "title": "For ever" }));
    let late = step(&agent, &versioned(for_ever.clone(), &seen));
    assert_eq!(error(&late), (504, "TIMEOUT".into(), "engine.timeout".into()), "{}", late.text());
    assert!(late.text().contains("not made"), "{}", late.text());
    let next = step(&agent, &update("case_462", &json!({ "title": "In time" })));
    assert_eq!((next.status, under_way(&server)), (200, 0), "{}", next.text());
    let late = step(&agent, &for_ever);
    assert_eq!(error(&late), (504, "TIMEOUT".into(), "change.unknown_outcome".into()), "{}", late.text());
}
