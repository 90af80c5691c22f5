//! What policy accepts, the engine itself prepares as one pure read of what was granted. And it runs.

use crate::cases::{accepted, accepted_plans, check, contracts, shown, sql};
use crate::firm::{Firm, callers};
use crate::jail::quick_engines;
use crate::queries;
use domain::{Caller, Dialect, SourceSchema, Value};
use policy::{Approved, Policy};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use std::sync::{Arc, Mutex};

/// The operators of DuckDB's plans that only read and compute.
#[rustfmt::skip]
const READS: &[&str] = &[
    "ASOF_JOIN", "BLOCKWISE_NL_JOIN", "COLUMN_DATA_SCAN", "CROSS_PRODUCT", "CTE", "CTE_SCAN", "DELIM_SCAN", "DUMMY_SCAN",
    "EMPTY_RESULT", "EXPRESSION_SCAN", "FILTER", "GENERATE_SERIES", "HASH_GROUP_BY", "HASH_JOIN", "IE_JOIN",
    "INOUT_FUNCTION", "LEFT_DELIM_JOIN", "LIMIT", "LIMITED_DISTINCT", "LIMIT_PERCENT", "NESTED_LOOP_JOIN", "ORDER_BY",
    "PARTITIONED_AGGREGATE", "PERFECT_HASH_GROUP_BY", "PIECEWISE_MERGE_JOIN", "PIVOT", "POSITIONAL_JOIN",
    "POSITIONAL_SCAN", "PROJECTION", "RANGE", "REC_CTE", "REC_CTE_SCAN", "RESERVOIR_SAMPLE", "RIGHT_DELIM_JOIN",
    "SEQ_SCAN", "STREAMING_LIMIT", "STREAMING_SAMPLE", "STREAMING_WINDOW", "TOP_N", "UNGROUPED_AGGREGATE", "UNION",
    "UNNEST", "WINDOW",
];

/// Functions that read rows from their arguments.
const ROW_FUNCTIONS: &[&str] = &["json_each", "json_tree"];

#[tokio::test]
async fn accepted_statements_run() {
    let dir = tempfile::tempdir().unwrap();
    let (engines, policy) = (quick_engines(), contracts());
    let (mut ran, mut wrong) = (0, Vec::new());
    for dialect in [Dialect::DuckDb, Dialect::Sqlite] {
        let source = Firm::new().source(dialect, dir.path());
        let schema = engines.describe(&source).await.unwrap();
        for proposal in accepted(dialect).iter().chain(&accepted_plans()) {
            let approved = check(&policy, &callers()[0], &schema, proposal);
            let outcome = match &approved {
                Ok(approved) => engines.run(&source, approved, ()).await.map(drop),
                Err(fault) => Err(fault.clone()),
            };
            ran += 1;
            wrong.extend(outcome.err().map(|fault| format!("{dialect:?}: {}\n  {fault}", shown(proposal))));
        }
    }
    testkit::tally("engine", "accepted statements and plans, run for real", ran, "false refusals", wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// An engine that tells what it makes of a statement.
pub trait Witness {
    /// `Ok(false)` when the engine does not take it; `Err` says what it would touch that it must not.
    fn is_pure(&self, approved: &Approved, may: &SourceSchema) -> Result<bool, String>;
}

pub struct Duck(pub duckdb::Connection);

impl Witness for Duck {
    fn is_pure(&self, approved: &Approved, may: &SourceSchema) -> Result<bool, String> {
        let tree: String = self
            .0
            .query_row("SELECT json_serialize_sql($1::VARCHAR)", [approved.sql()], |row| row.get(0))
            .map_err(|e| e.to_string())?;
        let tree: serde_json::Value = serde_json::from_str(&tree).unwrap();
        if tree["error"] != false || tree["statements"].as_array().is_none_or(|s| s.len() != 1) {
            return Err(format!("not one SELECT: {}", tree["error_message"]));
        }
        let explain = format!("EXPLAIN (FORMAT JSON) {}", approved.sql());
        let params = duckdb::params_from_iter(approved.params().iter().map(duck_value));
        let Ok(mut statement) = self.0.prepare(&explain) else { return Ok(false) };
        let plan = statement.query_row(params, |row| row.get::<_, String>(1));
        let Ok(plan) = plan else { return Ok(false) };
        let plan: serde_json::Value = serde_json::from_str(&plan).unwrap();
        operators(&plan, &mut |node| only_reads(node, approved, may))?;
        Ok(true)
    }
}

fn operators(
    plan: &serde_json::Value,
    look: &mut impl FnMut(&serde_json::Value) -> Result<(), String>,
) -> Result<(), String> {
    for node in plan.as_array().into_iter().flatten() {
        look(node)?;
        operators(&node["children"], look)?;
    }
    Ok(())
}

fn only_reads(node: &serde_json::Value, approved: &Approved, may: &SourceSchema) -> Result<(), String> {
    let (name, info) = (node["name"].as_str().unwrap().trim(), &node["extra_info"]);
    if !READS.contains(&name) {
        return Err(format!("operator {name} {info}"));
    }
    let Some(table) = info["Table"].as_str() else { return Ok(()) };
    let table = table.rsplit('.').next().unwrap();
    if !approved.tables().iter().any(|t| t == table) {
        return Err(format!("a scan of {table}"));
    }
    let texts = |value: &serde_json::Value| match value {
        serde_json::Value::Array(list) => list.iter().map(|v| v.as_str().unwrap().to_owned()).collect(),
        serde_json::Value::String(text) => vec![text.clone()],
        _ => Vec::new(),
    };
    let granted = |column: &str| {
        // Of a struct it may read some fields only: `device.os`.
        let field_of = column.split_once('.').map(|(whole, _)| whole);
        let is_struct = |c: &domain::Column| c.kind == domain::FieldType::Struct;
        let mut tables = may.tables.iter().filter(|t| t.name == table);
        tables.any(|t| t.column(column).is_some() || field_of.and_then(|c| t.column(c)).is_some_and(is_struct))
    };
    match texts(&info["Projections"]).iter().find(|column| !column.is_empty() && !granted(column)) {
        Some(column) => Err(format!("column {column} of {table}")),
        None => Ok(()),
    }
}

fn duck_value(value: &Value) -> duckdb::types::Value {
    match value {
        Value::Null => duckdb::types::Value::Null,
        Value::Bool(b) => duckdb::types::Value::Boolean(*b),
        Value::Int(i) => duckdb::types::Value::BigInt(*i),
        Value::Float(f) => duckdb::types::Value::Double(*f),
        Value::Text(t) => duckdb::types::Value::Text(t.clone()),
    }
}

struct Sqlite {
    connection: rusqlite::Connection,
    /// What SQLite asked its authorizer about: what it would do, and to what.
    asked: Arc<Mutex<Vec<Asked>>>,
}

enum Asked {
    Compute,
    Read(String, String),
    Other(String),
}

impl Sqlite {
    fn new(mut connection: rusqlite::Connection) -> Self {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let log = asked.clone();
        let authorizer = move |context: AuthContext<'_>| {
            log.lock().unwrap().push(match context.action {
                AuthAction::Select | AuthAction::Recursive | AuthAction::Function { .. } => Asked::Compute,
                AuthAction::Read { table_name, column_name } => Asked::Read(table_name.into(), column_name.into()),
                other => Asked::Other(format!("{other:?}")),
            });
            Authorization::Allow
        };
        connection.authorizer(Some(authorizer)).unwrap();
        Self { connection, asked }
    }
}

impl Witness for Sqlite {
    fn is_pure(&self, approved: &Approved, may: &SourceSchema) -> Result<bool, String> {
        self.asked.lock().unwrap().clear();
        let Ok(statement) = self.connection.prepare(approved.sql()) else { return Ok(false) };
        if !statement.readonly() {
            return Err("not read-only".to_owned());
        }
        for asked in self.asked.lock().unwrap().iter() {
            match asked {
                Asked::Compute => {}
                Asked::Read(table, _) if ROW_FUNCTIONS.contains(&table.as_str()) => {}
                Asked::Read(table, column) => {
                    let granted = may.table(table).filter(|_| approved.tables().contains(table));
                    if granted.is_none_or(|t| !column.is_empty() && t.column(column).is_none()) {
                        return Err(format!("reads {table}.{column}"));
                    }
                }
                Asked::Other(action) => return Err(action.clone()),
            }
        }
        Ok(true)
    }
}

fn look(
    witness: &dyn Witness,
    policy: &Policy,
    caller: &Caller,
    schema: &SourceSchema,
    count: &mut usize,
) -> Vec<String> {
    let may = policy.view(caller, schema);
    let mut runner = TestRunner::deterministic();
    let any_query = queries::query();
    let fresh = (0..200).map(|_| sql(any_query.new_tree(&mut runner).unwrap().current()));
    let proposals = accepted(schema.dialect).into_iter().chain(accepted_plans()).chain(fresh);
    let mut impure = Vec::new();
    for proposal in proposals {
        let Ok(approved) = check(policy, caller, schema, &proposal) else { continue };
        match witness.is_pure(&approved, &may) {
            Ok(prepared) => *count += usize::from(prepared),
            Err(why) => impure.push(format!("{:?}, {}: {}\n  {why}", schema.dialect, caller.role, shown(&proposal))),
        }
    }
    impure
}

#[tokio::test]
async fn accepted_statements_are_one_pure_read() {
    let dir = tempfile::tempdir().unwrap();
    let (engines, policy) = (quick_engines(), contracts());
    let (mut count, mut impure) = (0, Vec::new());
    let witnesses: [(Dialect, Box<dyn Witness>); 2] = [
        (Dialect::DuckDb, Box::new(Duck(Firm::new().duckdb()))),
        (Dialect::Sqlite, Box::new(Sqlite::new(Firm::new().sqlite()))),
    ];
    for (dialect, witness) in witnesses {
        let schema = engines.describe(&Firm::new().source(dialect, dir.path())).await.unwrap();
        for caller in callers() {
            impure.extend(look(witness.as_ref(), &policy, &caller, &schema, &mut count));
        }
    }
    testkit::tally(
        "engine",
        "accepted statements are one pure read of what was granted",
        count,
        "impure",
        impure.len(),
    );
    assert!(count > 500, "only {count} were looked at");
    assert!(impure.is_empty(), "{} of {count}:\n{}", impure.len(), impure.join("\n"));
}

/// What our parser reads and the engine's own does not.
const UNREAD: [(Dialect, &str); 13] = [
    (Dialect::DuckDb, "SELECT status FROM cases AS order"),
    (Dialect::DuckDb, "SELECT status desc FROM cases AS desc"),
    (Dialect::DuckDb, "WITH end AS (SELECT status FROM cases) SELECT * FROM end"),
    (Dialect::DuckDb, "SELECT x FROM (SELECT 1 AS x) AS where"),
    (Dialect::DuckDb, "SELECT a.x FROM (VALUES (1)) a(order)"),
    (Dialect::DuckDb, "SELECT DATE '2024-01-01' + INTERVAL '1' DAY TO SECOND"),
    (Dialect::Sqlite, "SELECT status AS order FROM cases"),
    (Dialect::Sqlite, "SELECT status AS group FROM cases"),
    (Dialect::Sqlite, "SELECT status FROM cases AS order"),
    (Dialect::Sqlite, "WITH order AS (SELECT status FROM cases) SELECT * FROM order"),
    (Dialect::Sqlite, "SELECT x FROM (SELECT 1 AS x) AS select"),
    (Dialect::Sqlite, "SELECT DISTINCT ON (status) status FROM cases"),
    (Dialect::Sqlite, "SELECT c.status FROM clients k, LATERAL (SELECT status FROM cases) c"),
];

/// Whoever wrote it can mend it: it is no escape that the engine's locks stopped, and must not look like one.
#[tokio::test]
async fn what_only_our_parser_reads_is_a_syntax_error() {
    let dir = tempfile::tempdir().unwrap();
    let (engines, policy) = (quick_engines(), contracts());
    let mut wrong = Vec::new();
    for dialect in [Dialect::DuckDb, Dialect::Sqlite] {
        let source = Firm::new().source(dialect, dir.path());
        let schema = engines.describe(&source).await.unwrap();
        for (_, text) in UNREAD.iter().filter(|(of, _)| *of == dialect) {
            let approved =
                check(&policy, &callers()[0], &schema, &sql(*text)).unwrap_or_else(|f| panic!("{text}: {f}"));
            let said = engines.run(&source, &approved, ()).await.map_or_else(|fault| fault, |_| panic!("{text} ran"));
            let is_told = said.code == "engine.syntax" && said.kind.model_can_fix() && !said.hint.is_empty();
            wrong.extend((!is_told).then(|| format!("{dialect:?}: {text}\n  {said}")));
        }
    }
    testkit::tally("engine", "statements that only our parser reads", UNREAD.len(), "false alarms", wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
