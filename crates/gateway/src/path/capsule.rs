//! The record of a walk: what is known when it begins, and what it came to.

use super::{LIGHT_BYTES, Reply, Seen};
use crate::active::Watch;
use crate::aside::aside;
use crate::{answer, rows};
use domain::{Ask, Caller, Changed, Fault, Outcome, Rows, Run, Status, Timings, Wish};
use jiff::Timestamp;
use serde_json::value::RawValue;

pub(crate) fn begin(caller: &Caller, ask: &Ask, watch: &Watch, policy_fingerprint: &str) -> Run {
    Run {
        run_id: watch.run_id,
        session_id: ask.session,
        thread_id: ask.thread,
        request_id: caller.request_id.clone(),
        created_at: Timestamp::now(),
        door: ask.door,
        purpose: ask.purpose,
        actor: caller.actor.clone(),
        role: caller.role.clone(),
        end_user: caller.end_user.clone(),
        dataset_id: ask.source.clone(),
        dataset_version_hash: None,
        question: match &ask.wish {
            Wish::Question { text, .. } | Wish::Instruction { text, .. } => Some(text.clone()),
            Wish::Proposal(_) | Wish::Step { .. } => None,
        },
        reading: None,
        planner: None,
        query_mode: None,
        plan_json: None,
        sql_text: None,
        compiled_sql: None,
        params: Vec::new(),
        proposal_hash: None,
        policy_fingerprint: policy_fingerprint.to_owned(),
        contracts: Vec::new(),
        filtered_by: Vec::new(),
        status: Status::Failed,
        assistant_message: String::new(),
        result_json: None,
        clarification: None,
        error_json: None,
        exec_time_ms: None,
        timings: Timings::default(),
        sandbox_tier: None,
        unenforced: Vec::new(),
        cost_usd: None,
        model: None,
    }
}

/// Turns the outcome into what is recorded and replied.
pub(super) async fn conclude(mut run: Run, ask: &Ask, outcome: Outcome, seen: Seen) -> Result<Reply, Fault> {
    let (mut kept, mut affected) = (None, None);
    if let Outcome::Changed(changed) = &outcome {
        affected = Some(changed.affected);
    }
    match outcome {
        Outcome::Rows(result) | Outcome::Changed(Changed { rows: result, .. }) => {
            let json = match result.ipc.len() > LIGHT_BYTES {
                true => {
                    let rows = result.clone();
                    aside(move || result_json(&rows)).await?
                }
                false => result_json(&result),
            };
            run.status = Status::Succeeded;
            run.result_json = Some(json?);
            run.assistant_message = answer::sentence(&run, ask, &result);
            kept = Some(result);
        }
        Outcome::Sent => run.assistant_message = "The script waits for its device.".to_owned(),
        Outcome::Told(text) => {
            run.status = Status::Succeeded;
            run.assistant_message = text;
        }
        Outcome::Clarify(clarification) => {
            run.status = Status::Clarify;
            run.assistant_message.clone_from(&clarification.question);
            run.clarification = Some(clarification);
        }
        Outcome::Refused(fault) => fail(&mut run, Status::Refused, fault),
        Outcome::Failed(fault) => fail(&mut run, Status::Failed, fault),
        Outcome::Cancelled => {
            run.status = Status::Cancelled;
            run.assistant_message = "Cancelled.".to_owned();
        }
    }
    Ok(Reply { run, rows: kept, seen, affected, routed: None })
}

/// The result as it is recorded, and as open doors reply it.
fn result_json(result: &Rows) -> Result<Box<RawValue>, Fault> {
    let recorded = serde_json::json!({
        "columns": result.columns.iter().map(|c| &c.name).collect::<Vec<_>>(),
        "types": result.columns.iter().map(|c| c.kind).collect::<Vec<_>>(),
        "row_count": result.row_count,
        "truncated": result.truncated,
    });
    // The rows are text already, with every digit: they are joined on, not parsed.
    let head = recorded.to_string();
    let joined = format!("{},\"rows\":{}}}", head.trim_end_matches('}'), rows::to_json(result)?.get());
    RawValue::from_string(joined).map_err(|_| Fault::internal("path.result"))
}

pub(crate) fn fail(run: &mut Run, status: Status, fault: Fault) {
    run.status = status;
    run.assistant_message = answer::refusal(&fault);
    run.error_json = Some(fault);
}

/// One line a run. Samples and values are read in dozens: they are on record, and need none.
pub(crate) fn log(run: &Run) {
    tracing::info!(
        run_id = %run.run_id, request_id = %run.request_id, actor = run.actor, role = run.role,
        door = run.door.as_str(), dataset = run.dataset_id, status = run.status.as_str(),
        code = run.error_json.as_ref().map(|f| f.code.as_str()),
        plan_ms = run.timings.plan_ms, check_ms = run.timings.check_ms, run_ms = run.timings.run_ms,
        "run"
    );
}
