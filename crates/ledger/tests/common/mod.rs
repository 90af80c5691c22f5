//! A ledger in a directory of its own, runs to put into it, and a second way into its file.

#![allow(dead_code, reason = "each test uses its part")]

use domain::plan::QueryPlan;
use domain::{ContractUse, Door, Purpose, QueryMode, RequestId, Run, RunId, SessionId, Status, Timings, Value};
use ledger::Ledger;
use rusqlite::Connection;
use rusqlite::functions::{Context, FunctionFlags};
use serde_json::value::RawValue;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

pub struct Place {
    pub dir: TempDir,
}

impl Place {
    pub fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    pub fn open(&self) -> Ledger {
        open(self.dir.path())
    }

    pub fn file(&self) -> PathBuf {
        self.dir.path().join("ledger.sqlite")
    }

    pub fn heads(&self) -> PathBuf {
        self.dir.path().join("audit-heads.jsonl")
    }

    /// Another one with the same in it: ledger, key, heads, and the older copy.
    pub fn copy(&self) -> Self {
        let copy = Self::new();
        self.outside().execute("VACUUM INTO ?1", [copy.file().to_str().unwrap()]).unwrap();
        fs::create_dir(copy.dir.path().join("keys")).unwrap();
        for file in ["keys/audit.ed25519", "audit-heads.jsonl", "older.sqlite"] {
            fs::copy(self.dir.path().join(file), copy.dir.path().join(file)).unwrap();
        }
        copy
    }

    /// An older copy of the file, for tests that make one.
    pub fn older(&self) -> PathBuf {
        self.dir.path().join("older.sqlite")
    }

    /// A connection of somebody who knows how entries are linked: `link(prev_hash, entry_json)`.
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

    /// The file as somebody has it who stands outside the house, triggers gone.
    pub fn tamper(&self, sql: &str) {
        let conn = self.outside();
        conn.execute_batch(
            "DROP TRIGGER IF EXISTS audit_keeps_entries; DROP TRIGGER IF EXISTS audit_keeps_all;
             DROP TRIGGER IF EXISTS heads_keep_entries; DROP TRIGGER IF EXISTS heads_keep_all;",
        )
        .unwrap();
        conn.execute_batch(sql).unwrap();
    }
}

pub fn open(dir: &Path) -> Ledger {
    Ledger::open(&dir.join("ledger.sqlite"), &dir.join("keys")).unwrap()
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
