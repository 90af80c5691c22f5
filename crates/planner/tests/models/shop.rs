//! Tools over a small shop in SQLite: real queries, real errors.

use domain::{Fault, Kind};
use futures_util::future::{BoxFuture, FutureExt};
use planner::{Tool, Tools};
use rusqlite::Connection;
use rusqlite::types::ValueRef;
use serde_json::{Value, json};
use std::sync::Mutex;

const ROWS: &str = "CREATE TABLE orders (id INTEGER PRIMARY KEY, month TEXT NOT NULL, amount REAL NOT NULL);
    INSERT INTO orders (month, amount) VALUES ('2026-08', 120), ('2026-08', 80), ('2026-09', 250), ('2026-10', 400)";

pub struct Shop {
    database: Mutex<Connection>,
}

impl Shop {
    pub fn open() -> Self {
        let database = Connection::open_in_memory().unwrap();
        database.execute_batch(ROWS).unwrap();
        database.pragma_update(None, "query_only", true).unwrap();
        Self { database: Mutex::new(database) }
    }

    fn query(&self, input: &Value) -> Result<String, Fault> {
        let sql = input["sql"].as_str().ok_or(Fault::new(Kind::Invalid, "tool.arguments", "`sql` is missing"))?;
        if sql == "SELECT crash" {
            return Err(Fault::new(Kind::Unavailable, "engine.crashed", "the engine crashed"));
        }
        let failed = |e: rusqlite::Error| Fault::new(Kind::Execution, "engine.failed", e.to_string().to_lowercase());
        let database = self.database.lock().unwrap();
        let mut statement = database.prepare(sql).map_err(failed)?;
        let columns = statement.column_count();
        let mut rows = statement.query([]).map_err(failed)?;
        let mut found = Vec::new();
        while let Some(row) = rows.next().map_err(failed)? {
            found.push((0..columns).map(|at| value(row.get_ref(at).unwrap())).collect::<Value>());
        }
        Ok(json!(found).to_string())
    }
}

fn value(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Integer(number) => json!(number),
        ValueRef::Real(number) => json!(number),
        ValueRef::Text(text) => json!(String::from_utf8_lossy(text)),
        ValueRef::Null | ValueRef::Blob(_) => Value::Null,
    }
}

impl Tools for Shop {
    fn list(&self) -> Vec<Tool> {
        let input_schema = json!({"type": "object", "properties": {"sql": {"type": "string"}}, "required": ["sql"]});
        vec![Tool { name: "read_query".into(), description: "Runs one read-only query.".into(), input_schema }]
    }

    fn call<'a>(&'a self, _name: &'a str, input: Value) -> BoxFuture<'a, Result<String, Fault>> {
        async move { self.query(&input) }.boxed()
    }
}
