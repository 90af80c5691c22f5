//! What a database of its own might tell a writer, or keep it waiting with.

use super::books::Books;
use crate::records_support::{error, step, update};
use serde_json::json;

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
