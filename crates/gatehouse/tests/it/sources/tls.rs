//! The way to a source: encrypted, to a server that is who it says it is, or not at all.

use serde_json::json;
use tempfile::TempDir;
use testkit::{BigQuery, GrpcGate, Mode, Postgres, Reply, Sail, certificates};

/// A scan of a table on a server with TLS, by a source with these lines in its section.
fn scan(cluster: &Postgres, url: &str, lines: &str) -> Reply {
    let section = format!("[sources.crm]\nkind = 'postgres'\nurl_env = 'CRM_URL'\n{lines}\n");
    let section = section.replace("CA", &cluster.authority().display().to_string());
    let server = crate::support::server().file("gatehouse.toml", &section).env("CRM_URL", url).start();
    server.client("root", "admin").post("/api/query", &json!({ "sql": "SELECT n FROM numbers" }))
}

#[test]
fn only_a_verified_server_is_spoken_to() {
    let (cluster, other) = (Postgres::builder().tls().start(), Postgres::builder().tls().start());
    let database = cluster.database();
    cluster.sql(&database, "CREATE TABLE numbers AS SELECT 1 AS n");
    let url = cluster.url(&database);
    assert_eq!(scan(&cluster, &url, "ca = 'CA'").text(), "[{\"n\":1}]\n");
    // By an authority that it does not come from, by another name than its certificate's, by nobody.
    let by_address = url.replace("localhost", "127.0.0.1");
    let foreign = format!("ca = '{}'", other.authority().display());
    for (url, lines) in [(&url, foreign.as_str()), (&by_address, "ca = 'CA'"), (&url, "")] {
        let reply = scan(&cluster, url, lines);
        assert_eq!((reply.status, reply.json()["kind"].clone()), (503, json!("tls")), "{}", reply.text());
    }
}

/// An engine on many machines, likewise; nothing reaches one that is not who it should be.
#[test]
fn only_a_verified_engine_is_spoken_to() {
    let sail = Sail::start(Mode::Local);
    sail.sql("CREATE TABLE lines AS SELECT id FROM range(3)");
    let (ours, foreign) = (certificates(), certificates());
    let gate = GrpcGate::secured(&sail.url(), "a-pass", ours.path());
    let count = |url: &str, ca: Option<&TempDir>| {
        let ca = ca.map_or(String::new(), |dir| format!("ca = '{}'\n", dir.path().join("ca.crt").display()));
        let toml = format!("[sources.lake]\nkind = 'flight'\nurl = '{url}'\ntoken_env = 'LAKE_TOKEN'\n{ca}");
        let server = crate::support::server().file("gatehouse.toml", &toml).env("LAKE_TOKEN", "a-pass").start();
        server.client("root", "admin").post("/datasets/lake/query", &json!({ "sql": "SELECT count(*) FROM lines" }))
    };
    let reply = count(&gate.url, Some(&ours));
    assert_eq!(reply.json()["result"]["rows"], json!([[3]]), "{}", reply.text());
    let asked = gate.asked();
    let by_address = gate.url.replace("localhost", "127.0.0.1");
    for (url, ca) in [(&gate.url, Some(&foreign)), (&by_address, Some(&ours)), (&gate.url, None)] {
        let reply = count(url, ca);
        let said = (reply.status, reply.json()["error"]["code"].clone());
        assert_eq!(said, (503, json!("source.unreachable")), "{}", reply.text());
    }
    assert_eq!(gate.asked(), asked, "nothing was said to it");
}

/// The rows of BigQuery come by a way that is verified by the machine's own authorities.
#[test]
fn only_a_verified_warehouse_is_read_from() {
    let emulator = BigQuery::start();
    emulator.sql("CREATE TABLE lines AS SELECT 1 AS n");
    let (ours, foreign) = (certificates(), certificates());
    let rows = GrpcGate::secured(&emulator.storage_url(), "a-pass", ours.path());
    let read = |url: &str, authority: &TempDir| {
        let toml = format!(
            "[sources.firm]\nkind = 'bigquery'\nproject = '{}'\ndatasets = ['{}']\nurl = '{}'\nstorage_url = '{url}'\n\
             token_env = 'WAREHOUSE_TOKEN'\n",
            BigQuery::PROJECT,
            BigQuery::DATASET,
            emulator.url(),
        );
        let server = crate::support::server().file("gatehouse.toml", &toml).env("WAREHOUSE_TOKEN", "a-pass");
        let server = server.env("SSL_CERT_FILE", authority.path().join("ca.crt").to_str().unwrap()).start();
        server.client("root", "admin").post("/api/query", &json!({ "sql": "SELECT n FROM lines" }))
    };
    assert_eq!(read(&rows.url, &ours).text(), "[{\"n\":1}]\n");
    let asked = rows.asked();
    let by_address = rows.url.replace("localhost", "127.0.0.1");
    for (url, authority) in [(&rows.url, &foreign), (&by_address, &ours)] {
        let reply = read(url, authority);
        assert_eq!((reply.status, reply.json()["kind"].clone()), (503, json!("unreachable")), "{}", reply.text());
    }
    assert_eq!(rows.asked(), asked, "nothing was said to it");
}
