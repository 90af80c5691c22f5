//! The way to a database: encrypted, to a server that is who it says it is, or not at all.

use serde_json::json;
use testkit::{Postgres, Reply};

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
