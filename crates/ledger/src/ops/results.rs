//! How packages ended: what the device tells becomes a run on record.

use super::packages::{claimed, unknown_claim};
use super::{Answer, note, refuse};
use crate::LedgerError;
use crate::bounds::RESULT_BYTES;
use crate::runs::Sealed;
use crate::store::{Conn, args};
use domain::package::{Ending, ScriptResult};
use domain::{Caller, Fault, Kind, Run, RunId, Status};
use serde_json::json;
use serde_json::value::RawValue;

pub(super) fn end(conn: &dyn Conn, caller: &Caller, (device, hash): (&str, &str), result: &ScriptResult) -> Answer<()> {
    let detail = json!({ "device": device, "rollback": result.rollback });
    let Some(row) = claimed(conn, device, hash)? else {
        return refuse(conn, "script.result_refused", caller, detail, unknown_claim());
    };
    let (id, digest): (String, String) = (row.get("id")?, row.get("digest")?);
    let detail = json!({
        "package": id, "device": device, "digest": digest, "rollback": result.rollback, "ending": result.ending,
        "exit_code": result.exit_code, "code": result.code, "duration_ms": result.duration_ms,
    });
    let column = if result.rollback { "undone_json" } else { "result_json" };
    let before: Option<ScriptResult> = row.json_or_none(column)?;
    if before.as_ref() == Some(result) {
        return Ok(Ok(()));
    }
    // What can't be opened has neither id nor digest that could be believed.
    let same = result.ending == Ending::Refused || (result.package_id == id && result.digest == digest);
    let fault = match () {
        () if before.is_some() => Some(Fault::new(Kind::Conflict, "claim.used", "the package has ended already")),
        () if !same => Some(Fault::new(Kind::Conflict, "claim.other_package", "the result is of another package")),
        () if result.rollback && row.json_or_none::<ScriptResult>("result_json")?.is_none() => {
            Some(Fault::new(Kind::Conflict, "claim.nothing_to_undo", "the package has not ended yet"))
        }
        () => None,
    };
    if let Some(fault) = fault {
        return refuse(conn, "script.result_refused", caller, detail, fault);
    }
    let begun: Run = row.json("run_json")?;
    let run = match result.rollback || is_on_record(conn, &begun)? {
        true => Run { run_id: RunId::new(), created_at: result.started_at, ..begun.clone() },
        false => begun.clone(),
    };
    // The run of a package is the one with its end.
    let run_json = serde_json::to_string(if result.rollback { &begun } else { &run })?;
    let sql = format!("UPDATE packages SET state = 'done', run_json = $2, {column} = $3 WHERE id = $1");
    conn.execute(&sql, args![&id, run_json, serde_json::to_string(result)?])?;
    Sealed::of(&ended(run, result)?, RESULT_BYTES)?.keep(conn)?;
    note(conn, if result.rollback { "script.undone" } else { "script.ended" }, caller, detail)?;
    Ok(Ok(()))
}

/// The run with its end.
fn ended(mut run: Run, result: &ScriptResult) -> Result<Run, LedgerError> {
    let what = if result.rollback { "rollback" } else { "script" };
    run.result_json = Some(RawValue::from_string(serde_json::to_string(result)?)?);
    run.exec_time_ms = Some(result.duration_ms as f64);
    run.timings.run_ms = result.duration_ms as f64;
    run.sandbox_tier.clone_from(&result.sandbox_tier);
    run.unenforced.clone_from(&result.unenforced);
    let fault = match (result.ending, result.exit_code) {
        (Ending::Exited, Some(0)) => {
            run.status = Status::Succeeded;
            run.assistant_message = format!("The {what} ran to its end.");
            return Ok(run);
        }
        (Ending::Exited, code) => {
            let code = code.map_or_else(|| "none".to_owned(), |code| code.to_string());
            Fault::new(Kind::Execution, "script.exit", format!("the {what} ended with exit code {code}"))
        }
        (Ending::TimedOut, _) => Fault::new(Kind::Timeout, "script.timed_out", format!("the {what} took too long")),
        (Ending::OutOfMemory, _) => {
            Fault::new(Kind::ResourceExceeded, "script.out_of_memory", format!("the {what} took too much memory"))
        }
        (Ending::OutputExceeded, _) => {
            Fault::new(Kind::ResourceExceeded, "script.output_exceeded", format!("the {what} said too much"))
        }
        (Ending::Killed, _) => Fault::new(Kind::Execution, "script.killed", format!("the {what} was killed")),
        (Ending::Refused, _) => {
            let code = result.code.clone().unwrap_or_else(|| "script.refused".to_owned());
            refused(code, what)
        }
        (Ending::Interrupted, _) => {
            Fault::new(Kind::Unavailable, "script.interrupted", format!("the device went down while the {what} ran"))
        }
    };
    run.status = if result.ending == Ending::Refused { Status::Refused } else { Status::Failed };
    run.assistant_message = format!("It did not work: {}.", fault.message);
    run.error_json = Some(fault);
    Ok(run)
}

/// What the house's policy had accepted, the device's own did not: its owner may have said less than the house allows.
fn refused(code: String, what: &str) -> Fault {
    if !code.starts_with("script.") {
        return Fault::new(Kind::Forbidden, code, format!("the device did not run the {what}"));
    }
    let message = format!("the device did not run the {what}: its own rules are stricter than the house's (`{code}`)");
    Fault::new(Kind::Forbidden, code, message)
        .hint("ask for less, or let the device's owner change `scripts` and `grants` of its `device.json`")
}

/// Puts a run on record whose script no device has had.
pub(super) fn close(conn: &dyn Conn, mut run: Run, fault: Fault) -> Result<(), LedgerError> {
    run.status = Status::Cancelled;
    run.assistant_message = format!("It was not run: {}.", fault.message);
    keep(conn, Run { error_json: Some(fault), ..run })
}

/// Puts a run on record of which nobody knows how it went.
pub(super) fn leave_open(conn: &dyn Conn, mut run: Run, fault: Fault) -> Result<(), LedgerError> {
    run.status = Status::Failed;
    run.assistant_message = format!("It may have run: {}.", fault.message);
    keep(conn, Run { error_json: Some(fault), ..run })
}

fn keep(conn: &dyn Conn, mut run: Run) -> Result<(), LedgerError> {
    if is_on_record(conn, &run)? {
        run.run_id = RunId::new();
    }
    Sealed::of(&run, RESULT_BYTES)?.keep(conn)
}

/// One whose sending was taken for lost may be there as failed already, or one as unheard: what is told of it later is
/// another run.
fn is_on_record(conn: &dyn Conn, run: &Run) -> Result<bool, LedgerError> {
    let known = conn.first("SELECT run_id FROM run_capsules WHERE run_id = $1", args![run.run_id.to_string()])?;
    Ok(known.is_some())
}
