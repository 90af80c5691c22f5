//! A Postgres server, reached as a user who may only read.

use super::{Had, Source, Trouble, data};

pub struct Postgres {
    cluster: testkit::Postgres,
    database: String,
    trouble: Option<Trouble>,
}

const READER: &str = "gatehouse";
const PASSWORD: &str = "reader's pass@word";

impl Postgres {
    pub fn new() -> Self {
        let cluster = testkit::Postgres::start();
        let database = cluster.database();
        let mut script = data::kinds(|kind| kind.postgres);
        for table in data::tables() {
            let columns: Vec<String> = table.columns.iter().map(|(name, kind)| format!("{name} {kind}")).collect();
            script.push_str(&format!("\nCREATE TABLE {} ({});\n", table.name, columns.join(", ")));
            script.push_str(&format!("COPY {} FROM stdin WITH (FORMAT csv);\n{}\\.\n", table.name, table.csv));
        }
        let password = PASSWORD.replace('\'', "''");
        script.push_str(&format!(
            "CREATE ROLE {READER} LOGIN PASSWORD '{password}'; GRANT SELECT ON ALL TABLES IN SCHEMA public TO {READER};"
        ));
        cluster.sql(&database, &script);
        Self { cluster, database, trouble: None }
    }

    fn change(&self, sql: &str) {
        self.cluster.sql(&self.database, sql);
    }
}

impl Source for Postgres {
    fn kind(&self) -> &'static str {
        "postgres"
    }

    fn section(&self) -> String {
        "kind = 'postgres'\nurl_env = 'FIRM_URL'\nsslmode = 'disable'".to_owned()
    }

    fn variables(&self) -> Vec<(String, String)> {
        vec![("FIRM_URL".to_owned(), self.cluster.url_as(READER, PASSWORD, &self.database))]
    }

    fn has(&self, kind: &data::Kind) -> bool {
        kind.postgres.is_some()
    }

    fn trouble(&mut self, trouble: Trouble) -> Had {
        self.trouble = Some(trouble);
        match trouble {
            Trouble::Lost => self.cluster.crash(),
            Trouble::Credentials => self.change(&format!(
                "ALTER ROLE {READER} PASSWORD 'another'; \
                 SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '{READER}'"
            )),
            Trouble::TableGone => self.change("ALTER TABLE doomed RENAME TO hidden"),
            Trouble::TypeChanged => self.change("ALTER TABLE doomed ALTER word TYPE integer USING 7"),
            Trouble::ColumnGone => self.change("ALTER TABLE doomed DROP COLUMN word"),
        }
        Had::Yes
    }

    fn mend(&mut self) {
        match self.trouble.take() {
            Some(Trouble::Lost) => self.cluster.restart(),
            Some(Trouble::Credentials) => {
                self.change(&format!("ALTER ROLE {READER} PASSWORD '{}'", PASSWORD.replace('\'', "''")));
            }
            Some(Trouble::TableGone) => self.change("ALTER TABLE hidden RENAME TO doomed"),
            Some(Trouble::TypeChanged | Trouble::ColumnGone) | None => {}
        }
    }

    fn is_idle(&self) -> bool {
        let active = format!("SELECT count(*) FROM pg_stat_activity WHERE usename = '{READER}' AND state = 'active'");
        // It is told to stop by another connection, which takes its time.
        (0..2000).any(|_| self.cluster.sql(&self.database, &active) == "0")
    }
}
