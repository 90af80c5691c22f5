//! What a database of its own might tell a writer, or keep it waiting with.

use super::books::Books;
use crate::records_support::{error, step, update};
use serde_json::json;

/// A row that a caller cannot see is not waited for: neither does the time tell that it is there, nor is its owner stalled.
#[test]
fn a_hidden_row_is_not_waited_for() {
    let books = Books::new();
    let server = books.server().start();
    let agent = server.client("bob", "agent");
    books.sql("UPDATE cases SET deleted_at = now() WHERE id = 'case_470'");
    let _held = books.hold("SELECT 1 FROM cases WHERE id = 'case_470' FOR UPDATE");
    let hidden = step(&agent, &update("case_470", &json!({ "status": "CLOSED" })));
    let nobodys = step(&agent, &update("case_0", &json!({ "status": "CLOSED" })));
    assert_eq!((hidden.status, error(&hidden)), (404, error(&nobodys)), "{}", hidden.text());
}

/// What is wrong with its triggers and policies is told to whoever reads the log.
#[test]
fn its_own_words_are_not_passed_on() {
    let books = Books::new();
    let server = books.server().start();
    let agent = server.client("bob", "agent");
    books.sql(
        "CREATE FUNCTION broken() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
             IF NEW.title = 'Types' THEN PERFORM secret_limit(NEW.title); END IF;
             RAISE EXCEPTION 'secret_limit is not supported' USING ERRCODE = '0A000'; END $$;
         CREATE TRIGGER broken BEFORE UPDATE ON cases FOR EACH ROW WHEN (NEW.title IN ('Types', 'Features'))
         EXECUTE FUNCTION broken();",
    );
    for title in ["Types", "Features"] {
        let reply = step(&agent, &update("case_471", &json!({ "title": title })));
        assert_eq!(error(&reply).2, "engine.statement", "{}", reply.text());
        assert!(!reply.text().contains("secret_limit"), "{}", reply.text());
    }
}

/// What is refused costs nobody a connection.
#[test]
fn a_refusal_keeps_its_connection() {
    let books = Books::new();
    let server = books.server().start();
    let agent = server.client("bob", "agent");
    assert_eq!(step(&agent, &update("case_472", &json!({ "status": "CLOSED" }))).status, 200);
    let open = || {
        let asked = "SELECT string_agg(pid::text, ' ' ORDER BY pid) FROM pg_stat_activity \
                     WHERE application_name = 'gatehouse' AND datname = current_database()";
        books.sql(asked)
    };
    let before = open();
    for _ in 0..10 {
        assert_eq!(step(&agent, &update("case_0", &json!({ "status": "CLOSED" }))).status, 404);
        let negative = step(&agent, &update("case_472", &json!({ "claim_amount": -1 })));
        assert_eq!(error(&negative).2, "change.constraint", "{}", negative.text());
    }
    assert_eq!(open(), before);
    assert_eq!(books.sql("SELECT status FROM cases WHERE id = 'case_472'"), "CLOSED");
}
