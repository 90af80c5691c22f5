//! The firm's records in Postgres.

use crate::support::server;
use std::sync::LazyLock;
use testkit::{Postgres, ServerBuilder};

/// Roles belong to a cluster: they are made once. Gatehouse signs in as one that may do nothing but take the others.
static ROLES: LazyLock<()> = LazyLock::new(|| {
    let sql = "CREATE ROLE crm_gatehouse LOGIN NOINHERIT PASSWORD 'g'; CREATE ROLE crm_agent; CREATE ROLE crm_reader; \
               GRANT crm_agent, crm_reader TO crm_gatehouse";
    Postgres::shared().sql("postgres", sql);
});

const CONTRACTS: [(&str, &str); 3] = [
    ("contracts/cases.yaml", include_str!("../../../../../demo/contracts/cases.yaml")),
    ("contracts/client_communications.yaml", include_str!("../../../../../demo/contracts/client_communications.yaml")),
    ("contracts/document_analysis.yaml", include_str!("../../../../../demo/contracts/document_analysis.yaml")),
];

/// A transaction that is over when this is dropped.
pub struct Held {
    _client: tokio_postgres::Client,
    _runtime: tokio::runtime::Runtime,
}

/// A database with the firm's records in it.
pub struct Books {
    database: String,
}

impl Books {
    pub fn new() -> Self {
        LazyLock::force(&ROLES);
        let database = Postgres::shared().database();
        Postgres::shared().sql(&database, include_str!("crm.sql"));
        Self { database }
    }

    pub fn sql(&self, sql: &str) -> String {
        Postgres::shared().sql(&self.database, sql)
    }

    pub fn url(&self) -> String {
        Postgres::shared().url_as("crm_gatehouse", "g", &self.database)
    }

    /// Holds what a statement locks until it is let go.
    pub fn hold(&self, sql: &str) -> Held {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let url = Postgres::shared().url(&self.database);
        let client = runtime.block_on(async {
            let (client, connection) = tokio_postgres::connect(&url, tokio_postgres::NoTls).await.unwrap();
            tokio::spawn(connection);
            client.batch_execute(&format!("BEGIN; {sql}")).await.unwrap();
            client
        });
        Held { _client: client, _runtime: runtime }
    }

    /// Whether somebody waits for a lock.
    pub fn is_waited_for(&self) -> bool {
        let waiting =
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
        self.sql(waiting) != "0"
    }

    /// A server that writes to them.
    pub fn server(&self) -> ServerBuilder {
        self.server_at(&self.url(), "writable = true")
    }

    /// A server that finds them elsewhere, with more to its section.
    pub fn server_at(&self, url: &str, more: &str) -> ServerBuilder {
        let toml = format!(
            "[sources.crm]\nkind = 'postgres'\nurl_env = 'CRM_URL'\nsslmode = 'disable'\n\
             roles = {{agent = 'crm_agent', lead = 'crm_agent', reader = 'crm_reader', admin = 'crm_reader'}}\n{more}\n"
        );
        let server = server().env("CRM_URL", url).file("gatehouse.toml", &toml);
        CONTRACTS.iter().fold(server, |server, (path, text)| server.file(path, text))
    }
}
