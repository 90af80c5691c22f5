//! A token that an engine does not know, over a real connection: told as what it is, and shown to nobody.

use serde_json::{Value, json};
use testkit::{GrpcGate, Mode, Sail};

#[test]
fn a_wrong_token_is_told_and_not_shown() {
    let sail = Sail::start(Mode::Local);
    sail.sql("CREATE TABLE lines AS SELECT id FROM range(3)");
    let gate = GrpcGate::before(&sail.url(), "right-secret");
    let toml = format!("[sources.lake]\nkind = 'flight'\nurl = '{}'\ntoken_env = 'LAKE_TOKEN'\n", gate.url);
    let server = |token: &str| {
        let server = crate::support::server().file("gatehouse.toml", &toml).env("LAKE_TOKEN", token);
        server.env("LOG_LEVEL", "debug").start()
    };
    let count = json!({ "sql": "SELECT count(*) AS n FROM lines" });

    // Wrong from the beginning: the catalog cannot be read, and the doctor says so.
    let wrong = server("wrong-secret");
    let reply = wrong.client("root", "admin").post("/datasets/lake/query", &count);
    assert_eq!(reply.status, 503, "{}", reply.text());
    assert_eq!(reply.json()["error"]["code"], "source.credentials", "{}", reply.text());
    let doctor = wrong.command(&["doctor", "--json"]);
    let found: Value = serde_json::from_slice(&doctor.stdout).unwrap();
    assert!(!doctor.status.success() && found.to_string().contains("does not accept the credentials"), "{found}");
    let seen = format!("{}{found}{}", reply.text(), wrong.stop());
    assert!(seen.contains("credentials") && !seen.contains("wrong-secret"), "a token is shown");

    // Right, then taken back, then right again: nothing is remembered.
    let right = server("right-secret");
    let root = right.client("root", "admin");
    assert_eq!(root.post("/api/query", &count).json(), json!([{ "n": 3 }]));
    gate.demand("another-secret");
    let refused = root.post("/api/query", &count);
    assert_eq!((refused.status, refused.json()["kind"].clone()), (503, json!("credentials")), "{}", refused.text());
    gate.demand("right-secret");
    assert_eq!(root.post("/api/query", &count).json(), json!([{ "n": 3 }]));
    let seen = format!("{}{}", refused.text(), right.stop());
    assert!(!seen.contains("right-secret") && !seen.contains("another-secret"), "a token is shown");
}
