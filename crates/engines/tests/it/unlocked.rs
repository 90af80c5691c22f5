//! The third layer alone: an engine with every door open runs hostile statements, and the jail holds it.

use crate::cases::lines;
use crate::firm::Firm;
use crate::jail::sandbox;
use crate::secrets::{Place, engine};
use crate::talk::{Answer, Talk};
use domain::Dialect;
use engines::Source;
use sandbox::{JailLimits, Sandbox};
use std::time::Duration;

/// What the worker says of a statement that gave no rows.
const NO_ROWS: &[u8] = br#"{"ran":""}"#;

/// After this a statement is stopped, as the pool would. Those that ask for too much need not take long.
fn patience(word: &str) -> Duration {
    if word == "stopped" { Duration::from_millis(300) } else { Duration::from_secs(20) }
}

fn start(sandbox: &Sandbox, source: &Source) -> Talk {
    let limits = JailLimits { cpus: 2.0, ..JailLimits::default() };
    let read = source.paths().into_iter().map(Into::into).collect();
    let mut talk = Talk::start(sandbox, read, limits);
    let open = engine(source, |path| talk.inside(path));
    talk.open(&open);
    talk
}

/// `None` when all is as it must be.
fn judge(word: &str, answer: &Answer, place: &Place) -> Option<String> {
    let as_expected = match (word, answer) {
        ("fails", Answer::Failed(_)) | ("harmless", Answer::Ran(_) | Answer::Failed(_)) => true,
        ("nothing", Answer::Failed(_)) => true,
        ("nothing", Answer::Ran(bytes)) => bytes == NO_ROWS,
        ("stopped", Answer::Failed(_) | Answer::Died | Answer::Late) => true,
        _ => false,
    };
    match answer {
        Answer::Ran(bytes) if place.shows_a_secret(bytes) => Some("it read what is not its own".to_owned()),
        Answer::Failed(message) if place.shows_a_secret(message.as_bytes()) => Some(format!("it told: {message}")),
        _ if as_expected => None,
        Answer::Ran(bytes) => Some(format!("it ran: {:.300}", String::from_utf8_lossy(bytes))),
        other => Some(format!("wanted {word}, got {other:?}")),
    }
}

/// How many were tried, and what got out.
fn contain(tier: &str, dialect: Dialect, cases: &str) -> (usize, Vec<String>) {
    let Some(sandbox) = sandbox(tier, "unlocked") else { return (0, Vec::new()) };
    let place = Place::new();
    let source = Firm::new().source(dialect, place.path());
    let before = place.fingerprint();
    let (mut tried, mut escapes) = (0, Vec::new());
    let mut talk = start(&sandbox, &source);
    for line in lines(cases) {
        let (word, text) = line.split_once(" | ").unwrap();
        let inside = talk.inside(source.paths()[0]);
        let answer = talk.query(&place.fill(text, inside.parent().unwrap()), patience(word));
        tried += 1;
        escapes.extend(judge(word, &answer, &place).map(|why| format!("{tier}, {dialect:?}: {text}\n  {why}")));
        if place.fingerprint() != before {
            panic!("{tier}, {dialect:?}: a file was changed or made: {text}");
        }
        if matches!(answer, Answer::Died | Answer::Late) {
            talk = start(&sandbox, &source);
        }
    }
    if place.was_called() {
        escapes.push(format!("{tier}, {dialect:?}: somebody got out to the network"));
    }
    (tried, escapes)
}

fn hold(dialect: Dialect, cases: &str) {
    let found: Vec<_> = ["T1", "T2"].map(|tier| contain(tier, dialect, cases)).into();
    let tried: usize = found.iter().map(|(tried, _)| tried).sum();
    let escapes: Vec<String> = found.into_iter().flat_map(|(_, escapes)| escapes).collect();
    let what = format!("hostile statements, engine unlocked: {dialect:?}");
    testkit::tally("jail", &what, tried, "escapes", escapes.len());
    assert!(tried > 0, "this machine offers no tier");
    assert!(escapes.is_empty(), "{}", escapes.join("\n"));
}

#[test]
fn the_jail_alone_holds_duckdb() {
    hold(Dialect::DuckDb, include_str!("../cases/unlocked/duckdb.txt"));
}

#[test]
fn the_jail_alone_holds_sqlite() {
    hold(Dialect::Sqlite, include_str!("../cases/unlocked/sqlite.txt"));
}
