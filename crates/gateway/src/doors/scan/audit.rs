//! What the chain and the capsule say of a fetch: spec 004 §10.1, the predicate as a hash only.

use domain::{Ask, Fault, Kind, Proposal, Purpose, ResultColumn, Run, Status, Wish};
use engines::Total;
use ledger::AuditEvent;
use md5::{Digest, Md5};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::time::Duration;

/// What a fetch came to.
#[derive(Debug, Clone, Copy, Default)]
pub struct Figures {
    pub latency: Duration,
    pub rows: Option<u64>,
    pub bytes: Option<u64>,
    pub truncated: bool,
    pub over_quota: bool,
    pub estimated_scan_bytes: Option<u64>,
}

impl Figures {
    /// `ok`, `rejected`, `quota_exceeded`, `truncated` or `error`; `cancelled` for a client that went away.
    pub fn status(&self, run: &Run) -> &'static str {
        match run.status {
            _ if self.over_quota => "quota_exceeded",
            Status::Succeeded if self.truncated => "truncated",
            Status::Succeeded => "ok",
            Status::Refused => "rejected",
            Status::Cancelled => "cancelled",
            Status::Failed | Status::Clarify => "error",
        }
    }
}

/// The row of §10.1.
pub fn event(ask: &Ask, run: &Run, figures: &Figures) -> AuditEvent {
    let mut detail = described(&ask.wish);
    if run.status == Status::Refused {
        hide_names(&mut detail);
    }
    let error_kind = run.error_json.as_ref().filter(|_| !figures.over_quota).map(error_kind);
    let more = json!({
        "estimated_scan_bytes": figures.estimated_scan_bytes,
        "actual_result_rows": figures.rows,
        "actual_result_bytes": figures.bytes,
        "latency_ms": u64::try_from(figures.latency.as_millis()).unwrap_or(u64::MAX),
        "status": figures.status(run),
        "error_kind": error_kind,
        "filtered_by": run.filtered_by,
    });
    if let (Value::Object(detail), Value::Object(more)) = (&mut detail, more) {
        detail.extend(more);
    }
    let mut event = AuditEvent::new(kind(ask)).about(&run.actor, &run.role).through(ask.door).detail(detail);
    event.run_id = Some(run.run_id);
    event.request_id = Some(run.request_id.clone());
    event
}

/// Names that policy did not accept may be any text.
fn hide_names(detail: &mut Value) {
    let Some(detail) = detail.as_object_mut() else { return };
    for name in ["select", "order_by"] {
        if let Some(said) = detail.get_mut(name).map(Value::take).filter(|said| !said.is_null()) {
            detail.insert(format!("{name}_hash"), hash(&said.to_string()).into());
        }
    }
}

fn kind(ask: &Ask) -> &'static str {
    match (&ask.wish, ask.purpose) {
        (Wish::Proposal(Proposal::Sql { .. }), _) => "fetch_query",
        (Wish::Proposal(Proposal::Query { .. }), _) => "fetch_statistics",
        (_, Purpose::Estimate) => "fetch_estimate",
        (_, Purpose::Describe) => "fetch_sample",
        _ => "fetch_scan",
    }
}

/// What was asked for, without the constants in it: they may say as much as the data does.
fn described(wish: &Wish) -> Value {
    match wish {
        Wish::Proposal(Proposal::Scan { scan, .. }) => json!({
            "table_id": scan.table,
            "select": scan.select,
            "where_hash": hash(scan.filter.as_deref().unwrap_or_default()),
            "order_by": scan.order_by,
            "limit": scan.limit,
        }),
        Wish::Proposal(Proposal::Sql { text, .. }) => json!({ "sql_hash": hash(text) }),
        _ => json!({}),
    }
}

/// The specification asks for MD5: it tells equal predicates apart, and protects nothing.
fn hash(text: &str) -> String {
    Md5::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn error_kind(fault: &Fault) -> &'static str {
    match fault.kind {
        Kind::Forbidden | Kind::NotFound | Kind::Unauthenticated => "rbac",
        Kind::Invalid | Kind::SqlPolicy => "validator",
        _ => "engine",
    }
}

/// A fetch that did not come as far as a run: an unknown table, a body that is none.
pub fn refused(kind: &'static str, table: &str, fault: &Fault) -> AuditEvent {
    // A table that is not there may be any text.
    let detail = json!({
        "table_hash": hash(table), "status": "rejected", "error_kind": error_kind(fault), "code": fault.code,
    });
    AuditEvent::new(kind).detail(detail)
}

/// What the capsule keeps of the result: everything but the rows.
pub fn result(
    columns: &[ResultColumn],
    total: Option<Total>,
    sent: u64,
    cached: bool,
    sha256: Option<String>,
) -> Option<Box<RawValue>> {
    let mut kept = json!({
        "columns": columns.iter().map(|c| &c.name).collect::<Vec<_>>(),
        "types": columns.iter().map(|c| c.kind).collect::<Vec<_>>(),
        "row_count": total.map_or(0, |total| total.rows),
        "truncated": total.is_some_and(|total| total.truncated),
        "complete": total.is_some(),
        "bytes": sent,
        "cached": cached,
    });
    if let (Some(sha256), Some(object)) = (sha256, kept.as_object_mut()) {
        object.insert("sha256".into(), json!(sha256));
    }
    serde_json::value::to_raw_value(&kept).ok()
}
