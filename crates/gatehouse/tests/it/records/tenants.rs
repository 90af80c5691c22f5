//! Two tenants on one Postgres with row-level security: what one's agent tries against the other's rows sees nothing,
//! changes nothing, and does not even find out that they are there.

use crate::said::said;
use crate::support::server;
use serde_json::json;
use testkit::{Client, Postgres, Reply, Server, tally};

const TRICKS: &str = include_str!("tenants.txt");

/// What stands for what the other tenant has, and for what nobody has. Each has the same form, so that nothing else tells
/// them apart.
const THEIRS: [(&str, &str); 5] = [
    ("$NOTE", "eeeeeeee-0000-4000-8000-000000000001"),
    ("$TENANT", "globex"),
    ("$TITLE", "Zebra"),
    ("$ID", "m_zebra1"),
    ("$NO", "Z-0001"),
];
const NOBODYS: [(&str, &str); 5] = [
    ("$NOTE", "dddddddd-0000-4000-8000-000000000001"),
    ("$TENANT", "nobody"),
    ("$TITLE", "Xebec"),
    ("$ID", "m_xebec1"),
    ("$NO", "X-0009"),
];
/// Words that stand in the other's rows only.
const SECRETS: [&str; 8] = ["Zebra one", "Zebra two", "Zebra note", "71.37", "72.37", "m_zebra2", "Z-0002", "m_zebra1"];
const STATE: &str = "SELECT md5(string_agg(t::text, '|' ORDER BY id)) FROM matters t WHERE tenant <> 'acme' \
     UNION ALL SELECT md5(string_agg(t::text, '|' ORDER BY id)) FROM notes t WHERE tenant <> 'acme' \
     UNION ALL SELECT count(*)::text FROM notes WHERE matter_id NOT IN (SELECT id FROM matters WHERE tenant = notes.tenant)";

const MATTERS: &str = "version: \"1\"
resource: matters
source: crm
table: matters
key: [id]
natural_key: [number]
fields:
  - {name: id, type: string, generated: true}
  - {name: tenant, type: string}
  - {name: number, type: string}
  - {name: title, type: string}
  - {name: fee, type: number, nullable: true}
  - {name: version, type: integer}
  - {name: removed, type: timestamp, nullable: true}
roles:
  agent: {ops: [READ, INSERT, UPDATE], write: [tenant, number, title, fee, removed]}
version_field: version
soft_delete: removed
";
const NOTES: &str = "version: \"1\"
resource: notes
source: crm
table: notes
key: [id]
natural_key: [matter_id, body]
fields:
  - {name: id, type: uuid, generated: true}
  - {name: tenant, type: string}
  - {name: matter_id, type: string}
  - {name: body, type: string}
roles:
  agent: {ops: [READ, INSERT, UPDATE], write: [tenant, matter_id, body]}
joins: [{target: matters, on: {matter_id: id}, type: inner}]
";

struct Trick {
    name: &'static str,
    method: &'static str,
    path: &'static str,
    body: &'static str,
    header: Option<(&'static str, &'static str)>,
}

fn tricks() -> Vec<Trick> {
    let lines = TRICKS.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let (name, request) = line.split_once(": ").unwrap();
            let (request, header) = match request.rsplit_once(" @ ") {
                Some((request, header)) => (request, header.split_once(": ")),
                None => (request, None),
            };
            let mut parts = request.splitn(3, ' ');
            let mut part = || parts.next().unwrap_or_default();
            Trick { name, method: part(), path: part(), body: part(), header }
        })
        .collect()
}

impl Trick {
    fn send(&self, client: &Client, words: &[(&str, &str)]) -> Reply {
        let put = |text: &str| words.iter().fold(text.to_owned(), |text, (mark, word)| text.replace(mark, word));
        let client = self.header.map_or(client.clone(), |(name, value)| client.clone().header(name, &put(value)));
        client.send(self.method.parse().unwrap(), &put(self.path), put(self.body).into_bytes())
    }
}

fn house(cluster: &Postgres, database: &str) -> Server {
    let toml = "[sources.crm]\nkind = 'postgres'\nurl_env = 'CRM_URL'\nsslmode = 'disable'\nwritable = true\n\
                roles = {agent = 'tenant_agent'}\n";
    server()
        .file("gatehouse.toml", toml)
        .file("contracts/matters.yaml", MATTERS)
        .file("contracts/notes.yaml", NOTES)
        .env("CRM_URL", &cluster.url_as("tenant_gatehouse", "g", database))
        .start()
}

fn agent(server: &Server, tenant: &str) -> Client {
    let (actor, claim) = (format!("bob@{tenant}"), format!("tenant={tenant}"));
    let output = server.command(&["tokens", "create", "--actor", &actor, "--role", "agent", "--claim", &claim]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Client::new(&server.url).bearer(String::from_utf8_lossy(&output.stdout).trim())
}

#[test]
fn neither_sees_or_changes_what_is_the_others() {
    let cluster = Postgres::shared();
    let database = cluster.database();
    cluster.sql(
        &database,
        "CREATE ROLE tenant_gatehouse LOGIN NOINHERIT PASSWORD 'g'; CREATE ROLE tenant_agent; GRANT tenant_agent TO tenant_gatehouse",
    );
    cluster.sql(&database, include_str!("tenants.sql"));
    let server = house(cluster, &database);
    let (agent, other) = (agent(&server, "acme"), agent(&server, "globex"));
    let shown = other.post("/agent/db", &json!({ "natural_language": "Show the matter Z-0002" }));
    assert!(shown.text().contains("Zebra two"), "{}", shown.text());
    let before = cluster.sql(&database, STATE);
    let (tricks, mut escapes) = (tricks(), Vec::new());
    for trick in &tricks {
        // Theirs twice: what a first try left behind must not show either.
        let nobodys = said(&trick.send(&agent, &NOBODYS), &NOBODYS);
        for reply in [trick.send(&agent, &THEIRS), trick.send(&agent, &THEIRS)] {
            let text = THEIRS.iter().fold(reply.text(), |text, (mark, word)| {
                // What was sent is no secret, and stands among one's own runs.
                let sent = trick.method == "GET" || trick.body.contains(mark);
                if sent { text.replace(word, "") } else { text }
            });
            if let Some(secret) = SECRETS.iter().find(|secret| text.contains(*secret) && !trick.body.contains(*secret))
            {
                escapes.push(format!("{}: shows `{secret}`: {text}", trick.name));
            }
            let theirs = said(&reply, &THEIRS);
            if theirs != nobodys && trick.method == "POST" {
                escapes.push(format!("{}: tells them apart:\n  {theirs:?}\n  {nobodys:?}", trick.name));
            }
            assert_ne!(reply.status, 500, "{}: {}", trick.name, reply.text());
        }
        if cluster.sql(&database, STATE) != before {
            escapes.push(format!("{}: changed the other's rows", trick.name));
        }
    }
    tally("source", "tricks of one tenant against the other's records", tricks.len(), "escapes", escapes.len());
    assert!(tricks.len() >= 50, "{}", tricks.len());
    assert!(escapes.is_empty(), "{}", escapes.join("\n"));
    its_own_it_may(&agent);
}

/// The tricks fail for what they are, and not because nothing works.
fn its_own_it_may(agent: &Client) {
    let sent = |body: &str| {
        let reply = agent.send("POST".parse().unwrap(), "/agent/db/plan", body.as_bytes().to_vec());
        assert_eq!(reply.status, 200, "{body}: {}", reply.text());
        reply.json()
    };
    let read = sent(
        r#"{"steps":[{"op":"READ","resource":"notes","select":["body","matters.title"],"limit":10,
        "join":[{"target_resource":"matters","on":[{"leftField":"matter_id","rightField":"id"}]}]}]}"#,
    );
    assert!(read["data"].to_string().contains("Aardvark one"), "{read}");
    let insert = r#"{"steps":[{"op":"INSERT","resource":"notes","values":{"matter_id":"m_acme_1","body":"mine"}}]}"#;
    assert_eq!(sent(insert), sent(insert));
    sent(
        r#"{"steps":[{"op":"UPDATE","resource":"matters","where":[{"field":"id","op":"=","value":"m_acme_1"},
        {"field":"version","op":"=","value":3}],"update":{"title":"renamed"},"limit":1}]}"#,
    );
}
