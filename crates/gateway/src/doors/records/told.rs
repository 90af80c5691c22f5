//! One line a request, with every field of spec 002 §4.3. Statements stand in it with placeholders, and the router names
//! words of contracts only: no values, no rows, no text of the instruction.

use crate::path::Reply;
use domain::{ContractUse, Run};
use std::time::Duration;

pub fn tell(reply: &Reply, all: Duration) {
    let run = &reply.run;
    tracing::info!(
        req_id = %run.request_id,
        run_id = %run.run_id,
        actor = run.actor,
        role = run.role,
        router_output = reply.routed.as_ref().and_then(|routed| serde_json::to_string(routed).ok()),
        contracts = contracts(&run.contracts),
        dsl_fingerprint = run.proposal_hash,
        compiled_calls = run.compiled_sql,
        rows_affected = reply.affected,
        rows_returned = reply.rows.as_ref().map(|rows| rows.row_count),
        outcome = outcome(run),
        plan_ms = run.timings.plan_ms,
        check_ms = run.timings.check_ms,
        run_ms = run.timings.run_ms,
        total_ms = all.as_secs_f64() * 1e3,
        "agent_db"
    );
}

/// `cases@2, clients@3`.
fn contracts(used: &[ContractUse]) -> String {
    used.iter().map(|used| format!("{}@{}", used.resource, used.version)).collect::<Vec<_>>().join(", ")
}

fn outcome(run: &Run) -> &str {
    run.error_json.as_ref().map_or(run.status.as_str(), |fault| fault.code.as_str())
}
