//! A ledger in a place of its own, runs to put into it, and a second way in for those who tamper.

#![allow(dead_code, reason = "the benchmark uses a part of it")]

use domain::plan::QueryPlan;
use domain::{ContractUse, Door, Purpose, QueryMode, RequestId, Run, RunId, SessionId, Status, Timings, Value};
use ledger::{Address, Home, Ledger};
use rusqlite::Connection;
use rusqlite::functions::{Context, FunctionFlags};
use serde_json::value::RawValue;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;
use testkit::Postgres;

/// Each of these is tried on both stores: `async fn name(place: Place)`.
macro_rules! on_both {
    ($($name:ident),* $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                super::$name($crate::place::Place::sqlite()).await;
            })*
        }

        mod postgres {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                super::$name($crate::place::Place::postgres()).await;
            })*
        }
    };
}

/// The name by which a process that a test starts is told where the database is.
pub const DATABASE: &str = "LEDGER_TEST_DATABASE";
const LINK: &str = "CREATE OR REPLACE FUNCTION link(text, text) RETURNS text LANGUAGE sql AS \
                    $$ SELECT encode(sha256(convert_to($1 || $2, 'UTF8')), 'hex') $$;";

/// Keys and exported heads are in `dir`, and the ledger too where it is a file.
pub struct Place {
    pub dir: TempDir,
    /// In the cluster that all tests share.
    pub database: Option<String>,
}

impl Place {
    pub fn sqlite() -> Self {
        Self { dir: tempfile::tempdir().unwrap(), database: None }
    }

    pub fn postgres() -> Self {
        Self { dir: tempfile::tempdir().unwrap(), database: Some(Postgres::shared().database()) }
    }

    pub fn is_sqlite(&self) -> bool {
        self.database.is_none()
    }

    /// What a row of the tally says of this store.
    pub fn told(&self, what: &str) -> String {
        if self.is_sqlite() { what.to_owned() } else { format!("{what}: Postgres") }
    }

    pub fn open(&self) -> Ledger {
        Ledger::open(&self.home(), &self.keys()).unwrap()
    }

    pub fn home(&self) -> Home {
        home(self.dir.path(), self.database.as_ref().map(|name| Postgres::shared().url(name)).as_deref())
    }

    pub fn keys(&self) -> PathBuf {
        self.dir.path().join("keys")
    }

    pub fn file(&self) -> PathBuf {
        self.dir.path().join("ledger.sqlite")
    }

    pub fn heads(&self) -> PathBuf {
        self.dir.path().join("audit-heads.jsonl")
    }

    /// Another one with the same in it: ledger, key, heads, and the older copy. No ledger may be open.
    pub fn copy(&self) -> Self {
        let copy = Self { dir: tempfile::tempdir().unwrap(), database: self.database.as_ref().map(|_| new_name()) };
        match (&self.database, &copy.database) {
            (Some(from), Some(to)) => drop(admin(&format!("CREATE DATABASE {to} TEMPLATE {from}"))),
            _ => {
                self.outside().execute("VACUUM INTO ?1", [copy.file().to_str().unwrap()]).unwrap();
                fs::copy(self.older(), copy.older()).unwrap();
            }
        }
        fs::create_dir(copy.keys()).unwrap();
        for file in ["keys/audit.ed25519", "audit-heads.jsonl"] {
            fs::copy(self.dir.path().join(file), copy.dir.path().join(file)).unwrap();
        }
        copy
    }

    fn older(&self) -> PathBuf {
        self.dir.path().join("older.sqlite")
    }

    /// Keeps a copy of the ledger as it is now, for [`Place::restore`]. No ledger may be open on a database.
    pub fn keep_older(&self) {
        match &self.database {
            Some(name) => drop(admin(&format!("CREATE DATABASE older_{name} TEMPLATE {name}"))),
            None => drop(self.outside().execute("VACUUM INTO ?1", [self.older().to_str().unwrap()]).unwrap()),
        }
    }

    /// Puts the older copy that `of` made in the place of what is here, as a backup is put back.
    pub fn restore(&self, of: &Self) {
        if let (Some(name), Some(of)) = (&self.database, &of.database) {
            admin(&format!("DROP DATABASE {name} WITH (FORCE)"));
            admin(&format!("CREATE DATABASE {name} TEMPLATE older_{of}"));
            return;
        }
        for end in ["", "-wal", "-shm"] {
            fs::remove_file(format!("{}{end}", self.file().display())).unwrap();
        }
        fs::copy(self.older(), self.file()).unwrap();
    }

    /// A connection to the file of somebody who knows how entries are linked: `link(prev_hash, entry_json)`.
    pub fn outside(&self) -> Connection {
        let conn = Connection::open(self.file()).unwrap();
        // Whoever tampers does not wait for the disk.
        conn.pragma_update(None, "synchronous", "OFF").unwrap();
        let link = |args: &Context<'_>| {
            let (prev, entry) = (args.get::<String>(0)?, args.get::<String>(1)?);
            Ok(domain::sha256_hex([prev, entry].concat().as_bytes()))
        };
        conn.create_scalar_function("link", 2, FunctionFlags::SQLITE_UTF8, link).unwrap();
        conn
    }

    /// One value that a statement gives to somebody who stands outside the house.
    pub fn one(&self, sql: &str) -> String {
        match &self.database {
            Some(name) => Postgres::shared().sql(name, sql),
            None => {
                let kept = self.outside().query_row(sql, [], |row| row.get::<_, rusqlite::types::Value>(0)).unwrap();
                match kept {
                    rusqlite::types::Value::Text(text) => text,
                    rusqlite::types::Value::Integer(number) => number.to_string(),
                    other => panic!("{other:?}"),
                }
            }
        }
    }

    /// Statements of somebody who stands outside the house, triggers gone.
    pub fn tamper(&self, sql: &str) {
        match &self.database {
            Some(name) => {
                let free = "DROP TRIGGER IF EXISTS audit_keeps_all ON audit; \
                            DROP TRIGGER IF EXISTS heads_keep_all ON audit_heads;";
                Postgres::shared().sql(name, &format!("SET client_min_messages = error; {LINK} {free} {sql}"));
            }
            None => {
                let free = "DROP TRIGGER IF EXISTS audit_keeps_entries; DROP TRIGGER IF EXISTS audit_keeps_all; \
                            DROP TRIGGER IF EXISTS heads_keep_entries; DROP TRIGGER IF EXISTS heads_keep_all;";
                self.outside().execute_batch(&format!("{free} {sql}")).unwrap();
            }
        }
    }

    /// Everything that is kept, as bytes.
    pub fn dump(&self) -> Vec<u8> {
        match &self.database {
            Some(name) => {
                let output = Command::new("pg_dump").arg(Postgres::shared().url(name)).output().unwrap();
                assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
                output.stdout
            }
            None => {
                let mut kept = fs::read(self.file()).unwrap();
                kept.extend(fs::read(self.file().with_extension("sqlite-wal")).unwrap());
                kept
            }
        }
    }
}

/// Where a ledger is: in a database, if there is one, or in a directory. A server that is dead counts so at once.
pub fn home(dir: &Path, database: Option<&str>) -> Home {
    match database {
        None => Home::File(dir.join("ledger.sqlite")),
        Some(url) => {
            let mut address = Address::parse(url, None).unwrap();
            address.lease = Duration::ZERO;
            address.patience = Duration::from_secs(60);
            Home::Postgres { address, heads: dir.into() }
        }
    }
}

fn new_name() -> String {
    format!("copy_{}", RunId::new().to_string().replace('-', ""))
}

fn admin(sql: &str) -> String {
    Postgres::shared().sql("postgres", sql)
}

/// A run with something in every field.
pub fn run(actor: &str, question: &str) -> Run {
    Run {
        run_id: RunId::new(),
        session_id: SessionId::new(),
        thread_id: None,
        request_id: RequestId::new(),
        created_at: jiff::Timestamp::now(),
        door: Door::Chat,
        purpose: Purpose::Answer,
        actor: actor.into(),
        role: "analyst".into(),
        end_user: Some("user-7".into()),
        dataset_id: "sales".into(),
        dataset_version_hash: Some("v1".into()),
        question: Some(question.into()),
        reading: Some("orders by month".into()),
        planner: Some("offline".into()),
        query_mode: Some(QueryMode::Plan),
        plan_json: Some(serde_json::to_value(QueryPlan::over("orders")).unwrap()),
        sql_text: Some("select count(*) from orders".into()),
        compiled_sql: Some("SELECT count(*) FROM orders WHERE total > $1".into()),
        params: vec![Value::Float(0.1 + 0.2), Value::Int(i64::MAX), Value::Text("ä\0'\"".into()), Value::Null],
        proposal_hash: Some("p".repeat(64)),
        policy_fingerprint: "f".repeat(64),
        contracts: vec![ContractUse { resource: "orders".into(), version: "1".into() }],
        filtered_by: vec!["orders".into()],
        status: Status::Succeeded,
        assistant_message: "There are 42 orders.".into(),
        result_json: Some(RawValue::from_string(r#"{"rows":[[42.000000000000001, 1e400]]}"#.into()).unwrap()),
        clarification: None,
        error_json: None,
        exec_time_ms: Some(1.25),
        timings: Timings { plan_ms: 0.5, check_ms: -0.0, run_ms: 1.25 },
        sandbox_tier: Some("T1".into()),
        unenforced: vec!["cpu".into()],
        cost_usd: Some(0.0),
        model: None,
    }
}
