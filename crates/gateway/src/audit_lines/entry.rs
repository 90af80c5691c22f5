//! One audit line: everything needed to trace an answer back to the queries that it came from.

use super::AuditLines;
use domain::{Caller, Fault, Purpose, Run, SessionId};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::time::{Duration, Instant};

/// A request, as its line tells of it before anything came of it.
#[derive(Debug, Clone)]
pub struct Asked {
    pub session: SessionId,
    pub caller: Caller,
    pub question: String,
    pub at: Timestamp,
    pub since: Instant,
}

impl Asked {
    pub fn new(caller: &Caller, question: &str) -> Self {
        Self {
            session: SessionId::new(),
            caller: caller.clone(),
            question: question.to_owned(),
            at: Timestamp::now(),
            since: Instant::now(),
        }
    }
}

/// AC-06.2, in its words. What it does not name stands in `metadata`.
#[derive(Serialize)]
struct Entry<'a> {
    session_id: SessionId,
    timestamp: Timestamp,
    user_question: &'a str,
    /// In the order in which they ran; also those that were refused or failed.
    sql_queries_executed: Vec<&'a str>,
    /// One for each query, in the same order.
    query_results_summary: Vec<Summary<'a>>,
    final_response: &'a str,
    metadata: Metadata<'a>,
}

#[derive(Serialize)]
struct Summary<'a> {
    row_count: u64,
    columns: Vec<String>,
    truncated: bool,
    /// Only as many of its first rows as the ledger keeps are among `rows`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    result_truncated: bool,
    /// The values bound to the query's placeholders.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    params: &'a [domain::Value],
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    /// The whole result, where lines are verbose.
    #[serde(skip_serializing_if = "Option::is_none")]
    rows: Option<&'a RawValue>,
}

#[derive(Serialize)]
struct Metadata<'a> {
    model: Option<&'a str>,
    prompt_tokens: u64,
    completion_tokens: u64,
    cost_estimate_usd: Option<f64>,
    duration_seconds: f64,
    tool_call_count: usize,
    request_id: &'a domain::RequestId,
    actor: &'a str,
    user: Option<&'a str>,
    error: Option<&'a str>,
}

/// A stored result, as far as lines tell of it.
#[derive(Deserialize, Default)]
struct Stored<'a> {
    columns: Vec<String>,
    row_count: u64,
    truncated: bool,
    #[serde(default)]
    result_truncated: bool,
    #[serde(borrow)]
    rows: Option<&'a RawValue>,
}

impl AuditLines {
    /// Hands in the line of a request that has ended; `runs` are those of its session, in order.
    pub fn tell(&self, asked: &Asked, took: Duration, response: Result<&str, &Fault>, runs: &[Run]) {
        let entry = entry(asked, took, response, runs, self.verbose);
        match serde_json::to_string(&entry) {
            Ok(line) => self.write(line),
            Err(error) => tracing::error!(%error, "an audit line cannot be made"),
        }
    }
}

fn entry<'a>(
    asked: &'a Asked,
    took: Duration,
    response: Result<&'a str, &'a Fault>,
    runs: &'a [Run],
    verbose: bool,
) -> Entry<'a> {
    let planned = runs.iter().rev().find(|run| run.planner.is_some());
    let model = planned.and_then(|run| run.model.as_ref());
    // What a model asked for ran in steps; what is shown with its answer is one of them.
    let statements = runs.iter().filter(|run| model.is_none() || run.purpose == Purpose::Step);
    let statements: Vec<(&Run, &str)> = statements.filter_map(|run| Some((run, statement(run)?))).collect();
    Entry {
        session_id: asked.session,
        timestamp: asked.at,
        user_question: &asked.question,
        sql_queries_executed: statements.iter().map(|(_, sql)| *sql).collect(),
        query_results_summary: statements.iter().map(|(run, _)| summary(run, verbose)).collect(),
        final_response: response.unwrap_or_default(),
        metadata: Metadata {
            model: model.map(|model| model.name.as_str()).or(planned.and_then(|run| run.planner.as_deref())),
            prompt_tokens: model.map_or(0, |model| model.prompt_tokens),
            completion_tokens: model.map_or(0, |model| model.completion_tokens),
            cost_estimate_usd: planned.map_or(Some(0.0), |run| run.cost_usd),
            duration_seconds: took.as_secs_f64(),
            tool_call_count: model.map_or(statements.len(), |model| model.tool_calls as usize),
            request_id: &asked.caller.request_id,
            actor: &asked.caller.actor,
            user: asked.caller.end_user.as_deref(),
            error: response.err().map(|fault| fault.code.as_str()),
        },
    }
}

/// What ran; or what was sent, if policy refused it.
fn statement(run: &Run) -> Option<&str> {
    run.compiled_sql.as_deref().or(run.sql_text.as_deref())
}

fn summary(run: &Run, verbose: bool) -> Summary<'_> {
    let stored = run.result_json.as_deref().and_then(|raw| serde_json::from_str(raw.get()).ok());
    let Stored { columns, row_count, truncated, result_truncated, rows } = stored.unwrap_or_default();
    Summary {
        row_count,
        columns,
        truncated,
        result_truncated: result_truncated && verbose,
        params: &run.params,
        error: run.error_json.as_ref().map(|fault| fault.code.as_str()),
        rows: rows.filter(|_| verbose),
    }
}
