//! Who is who: an actor is a subject and where it comes from, and names that people would confuse are not given.

use crate::records::jwt::{SECRET, hs256};
use crate::support::{rows, server, sql};
use serde_json::{Value, json};
use testkit::{Client, Server, ServerBuilder};

fn house() -> ServerBuilder {
    server().demo().env("GATEHOUSE_AUTH_JWT_SECRET", SECRET)
}

/// Somebody by a JWT.
fn by_jwt(server: &Server, subject: &str, role: &str) -> Client {
    let claims = json!({ "sub": subject, "role": role, "exp": 4_000_000_000_u64 });
    Client::new(&server.url).bearer(&hs256(SECRET.as_bytes(), &claims))
}

fn actor(client: &Client) -> Value {
    client.get("/session").json()["actor"].clone()
}

#[test]
fn a_jwts_owner_is_not_the_local_owner() {
    let server = house().start();
    let (local, foreign) = (server.client("owner", "analyst"), by_jwt(&server, "owner", "analyst"));
    assert_eq!((actor(&local), actor(&foreign)), (json!("owner"), json!("jwt:owner")));

    let runs =
        [&local, &foreign].map(|who| who.ask("sales", "How many orders?")["run_id"].as_str().unwrap().to_owned());
    for (who, own, other, name) in [(&local, 0, 1, "jwt:owner"), (&foreign, 1, 0, "owner")] {
        assert_eq!(who.get(&format!("/runs/{}", runs[own])).status, 200);
        assert_eq!(who.get(&format!("/runs/{}", runs[other])).status, 404);
        assert_eq!(who.delete(&format!("/runs/{}", runs[other])).status, 404);
        assert_eq!(who.get(&format!("/runs?actor={name}")).status, 403);
        let listed = who.get("/runs").text();
        assert!(listed.contains(&runs[own]) && !listed.contains(&runs[other]), "{listed}");
    }
    // A name with spaces at its ends is no other spelling of one without.
    for subject in [" owner", "owner\u{a0}", "\u{3000}owner"] {
        assert_eq!(by_jwt(&server, subject, "analyst").get("/session").status, 401, "{subject:?}");
    }
}

const TEAMS: &str = r#"
version: "1"
resource: agents
source: support
table: agents
fields:
  - {name: agent_id, type: integer}
  - {name: team, type: string}
roles:
  reader: {ops: [READ], rows: "team = $actor"}
  lead: {ops: [READ]}
grants: {"jwt:Billing": lead, "token:Billing": lead}
"#;

/// The teams that a client sees, without those of others.
fn teams(client: &Client) -> usize {
    rows(&sql(client, "support", "SELECT DISTINCT team FROM agents")).len()
}

/// `$actor` and grants mean the whole name; which origin is bare, configuration says.
#[test]
fn row_filters_and_grants_compare_whole_actors() {
    for (bare, of_token, of_jwt) in [("token", "Platform", "jwt:Platform"), ("jwt", "token:Platform", "Platform")] {
        let server = house().file("contracts/agents.yaml", TEAMS).env("GATEHOUSE_AUTH_BARE_ORIGIN", bare).start();
        let (local, foreign) = (server.client("Platform", "reader"), by_jwt(&server, "Platform", "reader"));
        assert_eq!((actor(&local), actor(&foreign)), (json!(of_token), json!(of_jwt)), "{bare}");
        let seen = (teams(&local), teams(&foreign));
        assert_eq!(seen, if bare == "token" { (1, 0) } else { (0, 1) }, "{bare}");
        // Those who are not bare are granted more, by their whole name.
        let (local, foreign) = (server.client("Billing", "reader"), by_jwt(&server, "Billing", "reader"));
        let seen = (teams(&local) > 1, teams(&foreign) > 1);
        assert_eq!(seen, (bare == "jwt", bare == "token"), "{bare}");

        let prefixed = by_jwt(&server, "token:Billing", "reader");
        assert_eq!(actor(&prefixed), "jwt:token:Billing", "{bare}: nobody gets in by a prefix of their own");
        let link = server.welcome[0].split_whitespace().nth(1).unwrap().strip_prefix(&server.url).unwrap();
        let cookie = server.stranger().get(link).header("set-cookie").split(';').next().unwrap().to_owned();
        let page = actor(&server.stranger().header("cookie", &cookie));
        assert_eq!(page, if bare == "jwt" { "token:owner" } else { "owner" }, "the page's own session");
    }
}

/// One's rate is not used up by somebody of the same subject.
#[test]
fn rates_are_of_whole_actors() {
    let server = house().env("GATEHOUSE_LIMITS_REQUESTS_PER_SECOND", "1").env("GATEHOUSE_LIMITS_BURST", "3").start();
    let greedy = by_jwt(&server, "ann", "analyst");
    let statuses: Vec<u16> = (0..6).map(|_| greedy.get("/tools").status).collect();
    assert!(statuses.contains(&429), "{statuses:?}");
    assert_eq!(server.client("ann", "analyst").get("/tools").status, 200);
}

#[test]
fn a_token_is_not_given_to_a_name_like_another() {
    let server = server().start();
    let admin = server.client("root", "admin");
    server.token("Ann", "analyst");
    let like = ["ann", "ANN", "Ann ", "\u{2003}Ann", "ann\u{200b}", "ROOT", "Owner"];
    for name in like {
        let reply = admin.post("/tokens", &json!({ "actor": name, "role": "analyst" }));
        assert_eq!((reply.status, reply.code().as_str()), (409, "token.name_taken"), "{name:?}: {}", reply.text());
        for command in ["create", "link"] {
            let output = server.command(&["tokens", command, "--actor", name, "--role", "analyst"]);
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(!output.status.success() && said.contains("only by case or by spaces"), "{name:?}: {said}");
            assert!(output.stdout.is_empty());
        }
    }
    for name in ["jwt:ann", "JWT:ann", "token:ann", "device:pump"] {
        let reply = admin.post("/tokens", &json!({ "actor": name, "role": "analyst" }));
        assert_eq!((reply.status, reply.code().as_str()), (400, "token.name"), "{name}");
        assert!(
            !server.command(&["tokens", "create", "--actor", name, "--role", "analyst"]).status.success(),
            "{name}"
        );
    }
    // The same name may have another token, and be known by it at once.
    assert_eq!(actor(&server.client("Ann", "analyst")), "Ann");
    assert_eq!(admin.post("/tokens", &json!({ "actor": "Ann", "role": "reader" })).status, 201);
}
