//! Opening what is there, and refusing what must not be touched.

use crate::place::{Place, run};
use domain::{Fault, Kind};
use ledger::{Ledger, LedgerError};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use testkit::Postgres;

on_both! {
    a_ledger_is_there_after_opening_it_again,
    a_newer_ledger_is_refused,
    anothers_tables_are_left_alone,
    many_may_open_a_new_ledger_at_once,
    a_key_of_ones_own_does_not_join,
    what_a_server_of_an_earlier_version_left_behind_is_settled,
    every_earlier_version_is_brought_up_to_date,
    names_of_an_earlier_version_are_of_nobody_else,
}

fn refusal(place: &Place) -> String {
    let error = Ledger::open(&place.home(), &place.keys()).err().unwrap();
    error.to_string().replace(place.dir.path().to_str().unwrap(), "DIR")
}

async fn a_ledger_is_there_after_opening_it_again(place: Place) {
    let run = run("ann", "q");
    place.open().record(&run).await.unwrap();
    assert!(place.open().run(run.run_id).await.unwrap().is_some());
}

async fn a_newer_ledger_is_refused(place: Place) {
    drop(place.open());
    place.tamper(if place.is_sqlite() {
        "PRAGMA user_version = 99;"
    } else {
        "UPDATE ledger_version SET version = 99;"
    });
    assert_eq!(
        refusal(&place),
        "the ledger has version 99, this program knows 12; hint: use the newer gatehouse that wrote it, or restore a backup"
    );
}

async fn anothers_tables_are_left_alone(place: Place) {
    if let Some(database) = &place.database {
        Postgres::shared().sql(database, "CREATE TABLE audit (id int)");
        assert_eq!(
            refusal(&place),
            "schema `public` has tables of the ledger's names that are another's; hint: give the ledger a database of its own"
        );
        assert_eq!(Postgres::shared().sql(database, "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"), "1");
        return;
    }
    rusqlite::Connection::open(place.file()).unwrap().execute_batch("CREATE TABLE customers (id)").unwrap();
    let before = (fs::read(place.file()).unwrap(), fs::metadata(place.file()).unwrap().permissions());
    assert_eq!(
        refusal(&place),
        "`DIR/ledger.sqlite` is a SQLite database, but not a ledger; hint: give the ledger a path of its own"
    );
    assert_eq!((fs::read(place.file()).unwrap(), fs::metadata(place.file()).unwrap().permissions()), before);
    fs::write(place.file(), "id,name\n".repeat(1000)).unwrap();
    assert_eq!(refusal(&place), "the file is damaged or is no SQLite database; hint: restore the ledger from a backup");
}

/// Two servers whose heads nobody could check together.
async fn a_key_of_ones_own_does_not_join(place: Place) {
    place.open().join("one").await.unwrap();
    fs::rename(place.keys(), place.dir.path().join("away")).unwrap();
    let error = place.open().join("other").await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "heads of this ledger are signed with another key; hint: copy `keys/audit.ed25519` from the server that made the ledger"
    );
}

/// The steps that tables have been through, as `src/migrations.rs` has them.
const STEPS: [&str; 11] = [
    "001_begin",
    "002_owner",
    "003_end_user",
    "004_model",
    "005_scans",
    "006_servers",
    "007_changes",
    "008_ops",
    "009_heard",
    "010_cells",
    "011_origins",
];

/// Makes a ledger as the version left it that knew so many steps.
fn as_of(place: &Place, version: usize, more: &str) {
    let steps = |store: &str| -> String {
        let read = |step: &&str| {
            fs::read_to_string(format!("{}/migrations/{store}/{step}.sql", env!("CARGO_MANIFEST_DIR"))).unwrap()
        };
        STEPS[..version].iter().map(read).collect()
    };
    match &place.database {
        Some(database) => {
            let known = format!(
                "CREATE TABLE ledger_version (version BIGINT NOT NULL); INSERT INTO ledger_version VALUES ({version});"
            );
            Postgres::shared().sql(database, &format!("{known} {} {more}", steps("postgres")));
        }
        None => {
            let known = format!("PRAGMA application_id = 0x47415445; PRAGMA user_version = {version};");
            let conn = rusqlite::Connection::open(place.file()).unwrap();
            conn.execute_batch(&format!("{} {known} {more}", steps("sqlite"))).unwrap();
        }
    }
}

/// A file of the version before there were servers, with a scan in it that a crash left behind. There was no ledger on
/// Postgres then.
#[tokio::test]
async fn what_an_earlier_version_left_behind_is_settled() {
    let place = Place::sqlite();
    as_of(&place, 5, "INSERT INTO scans_under_way VALUES ('r', 'ann', 'q', '2026-01-01T00:00:00.000000000Z', 9);");
    settles(&place).await;
}

/// The first version with servers, of which one died with a scan.
async fn what_a_server_of_an_earlier_version_left_behind_is_settled(place: Place) {
    let left = "INSERT INTO servers VALUES ('0123456789abcdef', 'old', '2026-01-01T00:00:00.000000000Z', 3, '{}');
                INSERT INTO scans_under_way VALUES
                    ('r', 'ann', 'q', '2026-01-01T00:00:00.000000000Z', 9, '0123456789abcdef');";
    as_of(&place, 6, left);
    settles(&place).await;
}

async fn settles(place: &Place) {
    let ledger = place.open();
    assert_eq!(ledger.beat(&[]).await.unwrap(), 1);
    assert_eq!(place.one("SELECT count(*) FROM scans_under_way"), "0");
    assert!(ledger.verify().await.unwrap().is_whole());
}

/// Whichever version wrote it last: who has a token keeps it, and what comes is kept beside what was there. Sign-in codes,
/// of which the chain did not tell, end.
async fn every_earlier_version_is_brought_up_to_date(place: Place) {
    let entry = r#"{"seq":1,"at":"2026-01-01T00:00:00.000000000Z","kind":"token.created","actor":"ann","role":"r","detail":{"token":"t","claims":{},"expires_at":null}}"#;
    let genesis = "0".repeat(64);
    let hash = domain::sha256_hex([genesis.as_str(), entry].concat().as_bytes());
    let token = &format!(
        "INSERT INTO tokens VALUES ('t', 'h', 'ann', 'r', '{{}}', '2026-01-01T00:00:00.000000000Z', NULL, NULL);
         INSERT INTO sign_ins VALUES ('c', 'login', 'h', 'ann', 'r', '2999-01-01T00:00:00.000000000Z');
         INSERT INTO audit (seq, entry_json, prev_hash, hash) VALUES (1, '{entry}', '{genesis}', '{hash}');"
    );
    for version in 1..=STEPS.len() {
        let place = if place.is_sqlite() { Place::sqlite() } else { Place::postgres() };
        as_of(&place, version, token);
        let (ledger, run) = (place.open(), run("ann", "q"));
        ledger.record(&run).await.unwrap();
        assert!(place.open().run(run.run_id).await.unwrap().is_some(), "version {version}");
        let report = ledger.verify().await.unwrap();
        assert_eq!((report.flaw, report.capsules), (None, 1), "version {version}");
        let tokens: Vec<String> = ledger.tokens().await.unwrap().into_iter().map(|token| token.actor).collect();
        assert_eq!(tokens, ["ann"], "version {version}");
    }
}

/// Nobody had to say where an actor comes from: a token's name might begin like those that now do.
async fn names_of_an_earlier_version_are_of_nobody_else(place: Place) {
    let at = "2026-01-01T00:00:00.000000000Z";
    let token = |id: &str, actor: &str, role: &str| {
        format!("INSERT INTO tokens VALUES ('{id}', 'h', '{actor}', '{role}', '{{}}', '{at}', NULL, NULL);")
    };
    let tokens = [
        token("a", "ann", "r"),
        token("b", "jwt:ann", "r"),
        token("c", "device:pump", "device"),
        token("d", "device:pump", "r"),
        token("e", "token:ann", "r"),
        token("f", "JWT:ann", "r"),
    ]
    .concat();
    let device = format!(
        "INSERT INTO devices (id, name, created_at, created_by, token_id) VALUES ('pump', '', '{at}', 'ann', 'c');"
    );
    as_of(&place, 10, &format!("{tokens} {device}"));
    let mut known: Vec<(String, String)> =
        place.open().tokens().await.unwrap().into_iter().map(|token| (token.id, token.actor)).collect();
    known.sort();
    let expected = [
        ("a", "ann"),
        ("b", "token:jwt:ann"),
        ("c", "device:pump"),
        ("d", "token:device:pump"),
        ("e", "token:token:ann"),
        ("f", "JWT:ann"),
    ];
    assert_eq!(known, expected.map(|(id, actor)| (id.to_owned(), actor.to_owned())));
}

#[test]
fn a_key_that_others_may_read_is_refused() {
    let place = Place::sqlite();
    drop(place.open());
    let key = place.dir.path().join("keys/audit.ed25519");
    fs::set_permissions(&key, Permissions::from_mode(0o644)).unwrap();
    insta::assert_snapshot!(refusal(&place), @"others may read the key `DIR/keys/audit.ed25519`; hint: chmod 600, and consider the key known");
    fs::set_permissions(&key, Permissions::from_mode(0o600)).unwrap();
    fs::write(&key, "nothing").unwrap();
    insta::assert_snapshot!(refusal(&place), @"`DIR/keys/audit.ed25519` is no key of the house; hint: restore it from a backup, what was signed with it cannot be checked without");
}

#[test]
fn a_place_that_cannot_be_is_an_error() {
    let place = Place::sqlite();
    fs::create_dir(place.file()).unwrap();
    insta::assert_snapshot!(refusal(&place), @"the file of the ledger cannot be opened; hint: check its path, owner and mode, and those of its directory");
}

async fn many_may_open_a_new_ledger_at_once(place: Place) {
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| place.open());
        }
    });
}

/// What cannot be reached, or does not let us in, is told without the password.
#[test]
fn a_database_that_does_not_let_us_in_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let port = Postgres::shared().port();
    let refusal = |url: &str| {
        let address = ledger::Address::parse(url, None).unwrap();
        let home = ledger::Home::Postgres { address, heads: dir.path().into() };
        let error = Ledger::open(&home, &dir.path().join("keys")).err().unwrap().to_string();
        assert!(!error.contains("hunter2"), "{error}");
        error
    };
    insta::assert_snapshot!(refusal(&format!("postgres://nobody:hunter2@127.0.0.1:{port}/postgres")), @r#"the ledger's database turns us away: password authentication failed for user "nobody"; hint: check user, password, database and rights"#);
    insta::assert_snapshot!(refusal(&Postgres::shared().url("nowhere")), @r#"the ledger's database turns us away: database "nowhere" does not exist; hint: check user, password, database and rights"#);
    insta::assert_snapshot!(refusal("postgres://u:hunter2@127.0.0.1:1/l"), @"the ledger's database is away: error connecting to server: Connection refused (os error 111); hint: see whether it runs and can be reached; the server goes on by itself");
}

/// TLS is there, and proves who the database is.
#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_is_checked() {
    let postgres = Postgres::builder().tls().start();
    let dir = tempfile::tempdir().unwrap();
    let open = |url: &str, authority: Option<std::path::PathBuf>| {
        let address = ledger::Address::parse(url, authority).unwrap();
        Ledger::open(&ledger::Home::Postgres { address, heads: dir.path().into() }, &dir.path().join("keys"))
    };
    let ledger = open(&postgres.url("postgres"), Some(postgres.authority())).unwrap();
    ledger.writable().await.unwrap();
    let sql =
        "SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'gatehouse'";
    assert_eq!(postgres.sql("postgres", sql), "t");
    let unknown = open(&format!("{}?sslmode=require", postgres.url("postgres")), None).err().unwrap().to_string();
    assert!(unknown.contains("UnknownIssuer"), "{unknown}");
    let other_name = postgres.url("postgres").replace("localhost", "127.0.0.1");
    let error = open(&other_name, Some(postgres.authority())).err().unwrap().to_string();
    assert!(error.contains("certificate"), "{error}");
}

#[test]
fn a_caller_is_told_nothing_of_the_inside() {
    let fault = Fault::from(LedgerError::DiskFull);
    assert_eq!((fault.kind, fault.code.as_str()), (Kind::Unavailable, "ledger.unavailable"));
    assert_eq!(Fault::from(LedgerError::Damaged), fault);
}
