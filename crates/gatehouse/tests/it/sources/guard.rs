//! What a statement may do in a Postgres, whatever the rights of the user that signs in: read, for a time, as the caller's
//! role. And that the doctor knows a user who may do more.

use serde_json::{Value, json};
use testkit::{Postgres, Server};

/// A user who may write, by a role that it takes: all that keeps it from that is the transaction. The views say what holds
/// where they are read, and one writes when it is read.
const DATABASE: &str = "
    CREATE TABLE trail (at timestamptz);
    CREATE FUNCTION leave_a_trail() RETURNS int VOLATILE LANGUAGE sql AS
        'INSERT INTO public.trail VALUES (now()) RETURNING 1';
    CREATE VIEW what_holds AS SELECT 1 AS id, current_setting('transaction_read_only') AS read_only,
        current_setting('statement_timeout') AS time_limit, current_user::text AS who,
        current_setting('row_security') AS guarded, current_setting('search_path') AS path;
    CREATE VIEW writing AS SELECT leave_a_trail() AS n;
    CREATE ROLE guard_user LOGIN NOINHERIT PASSWORD 'g';
    CREATE ROLE guard_writer NOLOGIN;
    GRANT guard_writer TO guard_user;
    GRANT SELECT, INSERT ON trail TO guard_writer;
    GRANT SELECT ON what_holds, writing TO guard_writer;";

struct House {
    server: Server,
    cluster: Postgres,
    database: String,
}

fn house() -> House {
    let cluster = Postgres::start();
    let database = cluster.database();
    cluster.sql(&database, DATABASE);
    let toml = "[sources.crm]\nkind = 'postgres'\nurl_env = 'CRM_URL'\nsslmode = 'disable'\nroles = {admin = 'guard_writer'}\n";
    let server = crate::support::server()
        .file("gatehouse.toml", toml)
        .env("CRM_URL", &cluster.url_as("guard_user", "g", &database))
        .env("RUN_TIMEOUT_SECONDS", "7")
        .start();
    House { server, cluster, database }
}

impl House {
    fn doctor(&self) -> Value {
        let findings: Value = serde_json::from_slice(&self.server.command(&["doctor", "--json"]).stdout).unwrap();
        findings.as_array().unwrap().iter().find(|f| f["check"] == "source").cloned().unwrap_or_default()
    }
}

#[test]
fn a_statement_only_reads_for_a_time_as_the_callers_role() {
    let House { server, cluster, database } = &house();
    let root = server.client("root", "admin").header("accept", "application/json");
    let sql = json!({ "sql": "SELECT read_only, time_limit, who, guarded, path FROM what_holds" });
    let holds = |time_limit: &str| {
        json!({
            "read_only": "on", "time_limit": time_limit, "who": "guard_writer", "guarded": "on",
            "path": "pg_catalog, \"public\"",
        })
    };
    let chat = root.post("/datasets/crm/query", &sql).json();
    assert_eq!(chat["result"]["rows"], json!([["on", "7s", "guard_writer", "on", "pg_catalog, \"public\""]]), "{chat}");
    // The scan's own limits have another time.
    let scan = json!({ "table_id": "what_holds", "select": ["read_only", "time_limit", "who", "guarded", "path"] });
    for (path, body) in [("/api/query", &sql), ("/api/v2/scan", &scan)] {
        let said = root.post(path, body).json();
        let time_limit = said[0]["time_limit"].as_str().unwrap_or_default();
        assert_eq!(said, json!([holds(time_limit)]), "{path}");
        assert!(!matches!(time_limit, "" | "0"), "{path}: {said}");
    }
    // Writing is refused though the role may: by a statement, a scan, a part of a join, an estimate, a sample.
    let writing = json!({ "sql": "SELECT n FROM writing" });
    let part = json!({ "register": [{ "name": "w", "sql": "SELECT n FROM writing" }], "sql": "SELECT * FROM w" });
    let asked = [
        ("/datasets/crm/query", &writing, 400),
        ("/api/query", &writing, 400),
        ("/api/query/hybrid", &part, 400),
        ("/api/v2/scan", &json!({ "table_id": "writing" }), 400),
        ("/api/v2/scan/estimate", &json!({ "table_id": "writing", "where": "n > 0" }), 400),
    ];
    for (path, body, status) in asked {
        let reply = root.post(path, body);
        assert_eq!(reply.status, status, "{path}: {}", reply.text());
        assert!(reply.text().contains("writes, and nothing here may"), "{path}: {}", reply.text());
    }
    assert_ne!(root.get("/api/v2/sample/writing").status, 200);
    assert_eq!(cluster.sql(database, "SELECT count(*) FROM trail"), "0");
    // It is the transaction that keeps it from that.
    assert_eq!(cluster.sql(database, "SET ROLE guard_writer; SELECT n FROM writing").lines().last(), Some("1"));
}

#[test]
fn the_doctor_names_a_user_who_may_write() {
    let house = house();
    let found = |change: &str| {
        house.cluster.sql(&house.database, change);
        house.doctor()
    };
    let cases = [
        ("SELECT 1", "`guard_writer`, who may write to `trail`"),
        (
            "REVOKE INSERT ON trail FROM guard_writer; GRANT UPDATE (at) ON trail TO guard_user",
            "`guard_user`, who may write to `trail`",
        ),
        ("REVOKE UPDATE (at) ON trail FROM guard_user; GRANT TRUNCATE ON trail TO PUBLIC", "who may write to `trail`"),
        (
            "REVOKE TRUNCATE ON trail FROM PUBLIC; GRANT CREATE ON SCHEMA public TO guard_writer",
            "who may make tables in `public`",
        ),
    ];
    for (change, told) in cases {
        let found = found(change);
        assert_eq!(found["verdict"], "fail", "{change}: {found}");
        assert!(found.to_string().contains(told), "{change}: {found}");
    }
    let reader = found("REVOKE CREATE ON SCHEMA public FROM guard_writer");
    assert_eq!(reader["verdict"], "ok", "{reader}");
    assert!(reader.to_string().contains("read-only"), "{reader}");
    assert_eq!(house.cluster.sql(&house.database, "SELECT count(*) FROM trail"), "0", "nothing is written to find out");
}
