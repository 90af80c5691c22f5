//! One line a request, with every field of spec 002 §4.3. Statements stand in it with placeholders, those that have none
//! as their hash, and the router names words of contracts only: no values, no rows, no text of the instruction.

use crate::House;
use crate::path::Reply;
use domain::{ContractUse, Run, sha256_hex};
use std::time::Duration;

pub fn tell(house: &House, reply: &Reply, all: Duration) {
    let run = &reply.run;
    tracing::info!(
        req_id = %run.request_id,
        run_id = %run.run_id,
        actor = run.actor,
        role = run.role,
        router_output = reply.routed.as_ref().and_then(|routed| serde_json::to_string(routed).ok()),
        contracts = contracts(&run.contracts),
        dsl_fingerprint = run.proposal_hash,
        compiled_calls = compiled_calls(house, run),
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

/// The statements that ran, with placeholders. Where values are literals in them, their hash: the ledger has the text,
/// under the same run.
fn compiled_calls(house: &House, run: &Run) -> Option<String> {
    let text = run.compiled_sql.as_ref()?;
    let binds = house.datasets.source(&run.dataset_id).is_some_and(|dataset| dataset.source.binds_values());
    Some(if binds { text.clone() } else { format!("sha256:{}", sha256_hex(text.as_bytes())) })
}

/// `cases@2, clients@3`.
fn contracts(used: &[ContractUse]) -> String {
    used.iter().map(|used| format!("{}@{}", used.resource, used.version)).collect::<Vec<_>>().join(", ")
}

fn outcome(run: &Run) -> &str {
    run.error_json.as_ref().map_or(run.status.as_str(), |fault| fault.code.as_str())
}
