//! How much of a run is kept. Callers choose questions, statements and how wide a result is; none of them decides how much
//! disk a run takes. What is cut names the size and the digest of the whole.

use crate::LedgerError;
use domain::{Clarification, Fault, Run, Value, sha256_hex};
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Bytes of a result, where nothing else is said.
pub(crate) const RESULT_BYTES: usize = 64 << 10;
/// Bytes of a question, a plan, a statement, its values, an answer: each of them. Policy accepts no longer statement.
pub(crate) const TEXT_BYTES: usize = 64 << 10;
/// Bytes of a name, a part of an error, a choice.
const WORD_BYTES: usize = 4 << 10;
/// Parts of an error, choices of a question.
const PARTS: usize = 64;

/// The run as it is kept.
pub(crate) fn kept(run: &Run, result_bytes: usize) -> Result<Cow<'_, Run>, LedgerError> {
    let result = match &run.result_json {
        Some(whole) if whole.get().len() > result_bytes => Some(cut_result(whole, result_bytes)?),
        _ => None,
    };
    if result.is_none() && is_small(run)? {
        return Ok(Cow::Borrowed(run));
    }
    // A large result is not copied to be thrown away.
    let mut kept = Run { result_json: None, ..shallow(run) };
    kept.result_json = result.or_else(|| run.result_json.clone());
    for text in
        [&mut kept.question, &mut kept.reading, &mut kept.sql_text, &mut kept.compiled_sql].into_iter().flatten()
    {
        cut(text, TEXT_BYTES);
    }
    cut(&mut kept.assistant_message, TEXT_BYTES);
    for word in [Some(&mut kept.dataset_id), kept.end_user.as_mut()].into_iter().flatten() {
        cut(word, WORD_BYTES);
    }
    kept.params = params(&run.params)?;
    kept.plan_json = run.plan_json.as_ref().map(plan).transpose()?;
    kept.error_json = kept.error_json.map(fault);
    kept.clarification = kept.clarification.map(clarification);
    Ok(Cow::Owned(kept))
}

/// Nothing but its result could be too large.
fn is_small(run: &Run) -> Result<bool, LedgerError> {
    let long = |text: &Option<String>| text.as_ref().is_some_and(|text| text.len() > WORD_BYTES);
    Ok(![&run.question, &run.reading, &run.sql_text, &run.compiled_sql, &run.end_user].into_iter().any(long)
        && run.assistant_message.len() <= WORD_BYTES
        && run.dataset_id.len() <= WORD_BYTES
        && run.error_json.is_none()
        && run.clarification.is_none()
        && run.params.len() <= PARTS
        && serde_json::to_string(&run.params)?.len() <= TEXT_BYTES
        && run.plan_json.as_ref().is_none_or(|plan| plan.to_string().len() <= TEXT_BYTES))
}

/// A copy of everything but the result.
fn shallow(run: &Run) -> Run {
    let Run {
        run_id,
        session_id,
        thread_id,
        request_id,
        created_at,
        door,
        purpose,
        actor,
        role,
        end_user,
        dataset_id,
        dataset_version_hash,
        question,
        reading,
        planner,
        query_mode,
        plan_json: _,
        sql_text,
        compiled_sql,
        params: _,
        proposal_hash,
        policy_fingerprint,
        contracts,
        filtered_by,
        status,
        assistant_message,
        result_json: _,
        clarification,
        error_json,
        exec_time_ms,
        timings,
        sandbox_tier,
        unenforced,
        cost_usd,
        model,
    } = run;
    Run {
        run_id: *run_id,
        session_id: *session_id,
        thread_id: *thread_id,
        request_id: request_id.clone(),
        created_at: *created_at,
        door: *door,
        purpose: *purpose,
        actor: actor.clone(),
        role: role.clone(),
        end_user: end_user.clone(),
        dataset_id: dataset_id.clone(),
        dataset_version_hash: dataset_version_hash.clone(),
        question: question.clone(),
        reading: reading.clone(),
        planner: planner.clone(),
        query_mode: *query_mode,
        plan_json: None,
        sql_text: sql_text.clone(),
        compiled_sql: compiled_sql.clone(),
        params: Vec::new(),
        proposal_hash: proposal_hash.clone(),
        policy_fingerprint: policy_fingerprint.clone(),
        contracts: contracts.clone(),
        filtered_by: filtered_by.clone(),
        status: *status,
        assistant_message: assistant_message.clone(),
        result_json: None,
        clarification: clarification.clone(),
        error_json: error_json.clone(),
        exec_time_ms: *exec_time_ms,
        timings: *timings,
        sandbox_tier: sandbox_tier.clone(),
        unenforced: unenforced.clone(),
        cost_usd: *cost_usd,
        model: model.clone(),
    }
}

/// A result with rows, as doors record it.
#[derive(Deserialize)]
struct Table<'a> {
    #[serde(borrow)]
    columns: Vec<&'a RawValue>,
    #[serde(borrow)]
    types: Vec<&'a RawValue>,
    row_count: u64,
    truncated: bool,
    #[serde(borrow)]
    rows: &'a RawValue,
}

/// What is kept of one that is too large: as many of its first rows as fit, and size and digest of all of them as text.
#[derive(Serialize)]
struct Kept<'a> {
    columns: Vec<&'a RawValue>,
    types: Vec<&'a RawValue>,
    row_count: u64,
    truncated: bool,
    result_truncated: bool,
    bytes: usize,
    sha256: String,
    rows: Vec<&'a RawValue>,
}

fn cut_result(whole: &RawValue, most: usize) -> Result<Box<RawValue>, LedgerError> {
    let Ok(table) = serde_json::from_str::<Table<'_>>(whole.get()) else {
        let (bytes, sha256) = (whole.get().len(), sha256_hex(whole.get().as_bytes()));
        let kept = json!({ "result_truncated": true, "bytes": bytes, "sha256": sha256 });
        return Ok(RawValue::from_string(kept.to_string())?);
    };
    let (bytes, sha256) = (table.rows.get().len(), sha256_hex(table.rows.get().as_bytes()));
    let Table { mut columns, mut types, row_count, truncated, .. } = table;
    // Names of columns are the caller's too. A row without the names of its values says nothing.
    let named = fitting(&columns, most / 2);
    let is_named = named == columns.len();
    columns.truncate(named);
    types.truncate(named);
    let mut rows: Vec<&RawValue> = if is_named { serde_json::from_str(table.rows.get())? } else { Vec::new() };
    let mut kept =
        Kept { columns, types, row_count, truncated, result_truncated: true, bytes, sha256, rows: Vec::new() };
    let left = most.saturating_sub(serde_json::to_string(&kept)?.len());
    rows.truncate(fitting(&rows, left));
    kept.rows = rows;
    Ok(RawValue::from_string(serde_json::to_string(&kept)?)?)
}

/// How many of the first values go into so many bytes.
fn fitting(values: &[&RawValue], most: usize) -> usize {
    let mut bytes = 0usize;
    let fits = |value: &&&RawValue| {
        bytes = bytes.saturating_add(value.get().len() + 1);
        bytes <= most
    };
    values.iter().take_while(fits).count()
}

/// The statement as it is kept: what today's policy writes can be compared with it.
pub fn kept_statement(mut text: String) -> String {
    cut(&mut text, TEXT_BYTES);
    text
}

/// The values of a statement as they are kept.
pub fn kept_params(values: &[Value]) -> Vec<Value> {
    params(values).unwrap_or_default()
}

fn params(values: &[Value]) -> Result<Vec<Value>, LedgerError> {
    let whole = serde_json::to_string(values)?;
    if whole.len() <= TEXT_BYTES {
        return Ok(values.to_vec());
    }
    let (mut kept, mut bytes) = (Vec::new(), 0usize);
    for value in values {
        let mut value = value.clone();
        if let Value::Text(text) = &mut value {
            cut(text, WORD_BYTES);
        }
        bytes = bytes.saturating_add(serde_json::to_string(&value)?.len() + 1);
        if bytes > TEXT_BYTES {
            break;
        }
        kept.push(value);
    }
    let note =
        format!("(cut: {} values, {} bytes, sha256 {})", values.len(), whole.len(), sha256_hex(whole.as_bytes()));
    kept.push(Value::Text(note));
    Ok(kept)
}

fn plan(plan: &serde_json::Value) -> Result<serde_json::Value, LedgerError> {
    let whole = serde_json::to_string(plan)?;
    Ok(match whole.len() > TEXT_BYTES {
        true => json!({ "cut": true, "bytes": whole.len(), "sha256": sha256_hex(whole.as_bytes()) }),
        false => plan.clone(),
    })
}

fn fault(mut fault: Fault) -> Fault {
    cut(&mut fault.message, WORD_BYTES);
    cut(&mut fault.hint, WORD_BYTES);
    if let Some(details) = &mut fault.details {
        let parts = std::mem::take(&mut **details).into_iter().take(PARTS);
        **details = parts.map(|(name, value)| (short(name), short(value))).collect();
    }
    fault
}

fn clarification(asked: Clarification) -> Clarification {
    let Clarification { question, choices } = asked;
    Clarification { question: short(question), choices: choices.into_iter().take(PARTS).map(short).collect() }
}

pub(crate) fn short(mut word: String) -> String {
    cut(&mut word, WORD_BYTES);
    word
}

/// Cuts a text that is too long, and says so at its end.
fn cut(text: &mut String, most: usize) {
    if text.len() <= most {
        return;
    }
    let note = format!("… (cut: {} bytes, sha256 {})", text.len(), sha256_hex(text.as_bytes()));
    text.truncate(text.floor_char_boundary(most.saturating_sub(note.len())));
    text.push_str(&note);
}
