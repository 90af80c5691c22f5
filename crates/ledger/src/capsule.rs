//! A run as a row of `run_capsules`, and back.

use crate::store::{Conn, Row, Value};
use crate::{LedgerError, time};
use domain::{Run, RunId, Timings, sha256_hex};
use serde::{Serialize, Serializer};

/// A run in the form in which it is kept.
pub(crate) struct Capsule {
    run_id: RunId,
    /// In the order of the table.
    columns: Vec<(&'static str, Value)>,
}

impl Capsule {
    pub(crate) fn of(run: &Run) -> Result<Self, LedgerError> {
        let columns = vec![
            ("run_id", text(run.run_id)),
            ("created_at", text(time::text(run.created_at))),
            ("dataset_id", text(&run.dataset_id)),
            ("dataset_version_hash", optional(run.dataset_version_hash.as_ref())),
            ("question", optional(run.question.as_ref())),
            ("query_mode", optional(run.query_mode.map(|mode| mode.as_str()))),
            ("plan_json", optional_json(run.plan_json.as_ref())?),
            ("compiled_sql", optional(run.compiled_sql.as_ref())),
            ("status", text(run.status.as_str())),
            ("result_json", optional(run.result_json.as_ref())),
            ("error_json", optional_json(run.error_json.as_ref())?),
            ("exec_time_ms", run.exec_time_ms.into()),
            ("session_id", text(run.session_id)),
            ("thread_id", optional(run.thread_id)),
            ("request_id", text(&run.request_id)),
            ("door", text(run.door.as_str())),
            ("purpose", text(run.purpose.as_str())),
            ("actor", text(&run.actor)),
            ("role", text(&run.role)),
            ("reading", optional(run.reading.as_ref())),
            ("planner", optional(run.planner.as_ref())),
            ("sql_text", optional(run.sql_text.as_ref())),
            ("params_json", json(&run.params)?),
            ("proposal_hash", optional(run.proposal_hash.as_ref())),
            ("policy_fingerprint", text(&run.policy_fingerprint)),
            ("contracts_json", json(&run.contracts)?),
            ("filtered_by_json", json(&run.filtered_by)?),
            ("assistant_message", text(&run.assistant_message)),
            ("clarification_json", optional_json(run.clarification.as_ref())?),
            ("plan_ms", run.timings.plan_ms.into()),
            ("check_ms", run.timings.check_ms.into()),
            ("run_ms", run.timings.run_ms.into()),
            ("sandbox_tier", optional(run.sandbox_tier.as_ref())),
            ("unenforced_json", json(&run.unenforced)?),
            ("cost_usd", run.cost_usd.into()),
            ("end_user", optional(run.end_user.as_ref())),
            ("model_json", optional_json(run.model.as_ref())?),
        ];
        Ok(Self { run_id: run.run_id, columns })
    }

    pub(crate) fn digest(&self) -> Result<String, LedgerError> {
        digest(self.columns.iter().map(|(name, value)| (*name, value)))
    }

    pub(crate) fn insert(&self, conn: &dyn Conn) -> Result<(), LedgerError> {
        let names: Vec<&str> = self.columns.iter().map(|(name, _)| *name).collect();
        let marks: Vec<String> = (1..=names.len()).map(|i| format!("${i}")).collect();
        let (names, marks) = (names.join(","), marks.join(","));
        let sql = format!("INSERT INTO run_capsules ({names}) VALUES ({marks}) ON CONFLICT DO NOTHING");
        let values: Vec<Value> = self.columns.iter().map(|(_, value)| value.clone()).collect();
        match conn.execute(&sql, &values)? {
            0 => Err(LedgerError::AlreadyRecorded(self.run_id)),
            _ => Ok(()),
        }
    }
}

/// The digest of a row of `run_capsules` as it is kept.
pub(crate) fn digest_of_row(row: &Row) -> Result<String, LedgerError> {
    digest(row.cells())
}

/// SHA-256 of the row as one JSON object, columns in the order of the table, JSON columns as the text that they are.
/// Columns that are NULL are left out, so that a column that a later version adds changes no digest.
fn digest<'a>(columns: impl Iterator<Item = (&'a str, &'a Value)>) -> Result<String, LedgerError> {
    let mut canonical = Vec::with_capacity(4096);
    let kept = columns.filter(|(_, value)| **value != Value::Null).map(|(name, value)| (name, Cell(value)));
    serde_json::Serializer::new(&mut canonical).collect_map(kept)?;
    Ok(sha256_hex(&canonical))
}

struct Cell<'a>(&'a Value);

impl Serialize for Cell<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Null => to.serialize_none(),
            Value::Integer(number) => to.serialize_i64(*number),
            Value::Real(number) => to.serialize_f64(*number),
            Value::Text(text) => to.serialize_str(text),
            Value::Blob(bytes) => to.serialize_bytes(bytes),
        }
    }
}

fn text(value: impl ToString) -> Value {
    value.to_string().into()
}

fn optional(value: Option<impl ToString>) -> Value {
    value.map_or(Value::Null, text)
}

fn json(value: &impl Serialize) -> Result<Value, LedgerError> {
    Ok(serde_json::to_string(value)?.into())
}

fn optional_json(value: Option<&impl Serialize>) -> Result<Value, LedgerError> {
    value.map_or(Ok(Value::Null), json)
}

/// The run that a row keeps. The row must have every column of the table.
pub(crate) fn read(row: &Row) -> Result<Run, LedgerError> {
    let ms = |column| Ok::<_, LedgerError>(row.get::<Option<f64>>(column)?.unwrap_or_default());
    Ok(Run {
        run_id: row.word("run_id")?,
        session_id: row.word("session_id")?,
        thread_id: row.word_or_none("thread_id")?,
        request_id: row.word("request_id")?,
        created_at: time::parse("created_at", &row.get::<String>("created_at")?)?,
        door: row.word("door")?,
        purpose: row.word("purpose")?,
        actor: row.get("actor")?,
        role: row.get("role")?,
        end_user: row.get("end_user")?,
        dataset_id: row.get("dataset_id")?,
        dataset_version_hash: row.get("dataset_version_hash")?,
        question: row.get("question")?,
        reading: row.get("reading")?,
        planner: row.get("planner")?,
        query_mode: row.word_or_none("query_mode")?,
        plan_json: row.json_or_none("plan_json")?,
        sql_text: row.get("sql_text")?,
        compiled_sql: row.get("compiled_sql")?,
        params: row.json("params_json")?,
        proposal_hash: row.get("proposal_hash")?,
        policy_fingerprint: row.get("policy_fingerprint")?,
        contracts: row.json("contracts_json")?,
        filtered_by: row.json("filtered_by_json")?,
        status: row.word("status")?,
        assistant_message: row.get("assistant_message")?,
        result_json: row.raw("result_json")?,
        clarification: row.json_or_none("clarification_json")?,
        error_json: row.json_or_none("error_json")?,
        exec_time_ms: row.get("exec_time_ms")?,
        timings: Timings { plan_ms: ms("plan_ms")?, check_ms: ms("check_ms")?, run_ms: ms("run_ms")? },
        sandbox_tier: row.get("sandbox_tier")?,
        unenforced: row.json("unenforced_json")?,
        cost_usd: row.get("cost_usd")?,
        model: row.json_or_none("model_json")?,
    })
}
