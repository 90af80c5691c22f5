//! `/runs`: what is on record, and taking back what is still on its way.

use super::ask::respond;
use super::wire::parse_id;
use crate::House;
use crate::http::identify::Identified;
use crate::http::{HttpFault, Path, Query};
use crate::replay::recorded;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use domain::{Caller, Door, Fault, Kind, Proposal, Purpose, QueryMode, Run, RunId, Status};
use ledger::{RunFilter, kept_params, kept_statement};
use serde::Deserialize;
use serde_json::json;
use std::sync::Arc;

pub async fn show(
    State(house): State<Arc<House>>,
    Identified(caller): Identified,
    Path(id): Path<String>,
) -> Result<Response, HttpFault> {
    let run_id: RunId = parse_id(&id, "run")?;
    if house.active.get(&caller, run_id).is_some() {
        return Ok(Json(json!({ "run_id": run_id, "status": "running" })).into_response());
    }
    match visible(&house, &caller, run_id).await {
        Err(fault) if fault.kind == Kind::NotFound => {
            let server = elsewhere(&house, &caller, run_id).await?.ok_or(fault)?;
            Ok(Json(json!({ "run_id": run_id, "status": "running", "server": server })).into_response())
        }
        run => Ok(respond(&run?)),
    }
}

/// A run as this caller may read it today: their own, or anybody's for an admin. If today's policy
/// would not give them these rows (it has changed, or their role has), the rows stay behind.
pub async fn visible(house: &House, caller: &Caller, id: RunId) -> Result<Run, Fault> {
    let run = match caller.is_admin() {
        true => house.ledger.run(id).await,
        false => house.ledger.run_of(id, &caller.actor).await,
    };
    let mut run = run.map_err(Fault::from)?.ok_or_else(|| no_run(id))?;
    if run.result_json.is_some() && !still_allowed(house, caller, &run).await {
        run.result_json = None;
        run.assistant_message = "Policy does not show you the rows of this run any more.".to_owned();
    }
    Ok(run)
}

/// The server at which a run of this caller, or anybody's for an admin, is on its way, where it is not this one.
async fn elsewhere(house: &House, caller: &Caller, id: RunId) -> Result<Option<String>, Fault> {
    let found = house.ledger.running_elsewhere(id).await.map_err(Fault::from)?;
    Ok(found.filter(|run| caller.is_admin() || run.actor == caller.actor).map(|run| run.server))
}

/// A run on record. One that another server is working on can be watched and cancelled there only.
pub async fn ended(house: &House, caller: &Caller, id: RunId) -> Result<Run, Fault> {
    match visible(house, caller, id).await {
        Err(fault) if fault.kind == Kind::NotFound => {
            let server = elsewhere(house, caller, id).await?.ok_or(fault)?;
            let message = format!("run `{id}` is on its way at another server, `{server}`");
            Err(Fault::new(Kind::Conflict, "run.elsewhere", message).hint("ask for the run again when it has ended"))
        }
        run => run,
    }
}

fn no_run(id: RunId) -> Fault {
    Fault::new(Kind::NotFound, "run.unknown", format!("there is no run `{id}`")).hint("`GET /runs` lists yours")
}

/// Whether today's policy compiles the recorded proposal, for this reader, to the very statement
/// that was run. An admin may read what somebody with a narrower view ran.
async fn still_allowed(house: &House, reader: &Caller, run: &Run) -> bool {
    if run.query_mode == Some(QueryMode::Script) {
        // How a script ended is no data of a source: no contract says who sees it.
        return true;
    }
    let policy = house.policy();
    let Some(proposal) = recorded(run) else { return true };
    let (Ok(proposal), Some(dataset)) = (proposal, house.datasets.source(&run.dataset_id)) else { return false };
    let Ok(schema) = house.schema(dataset).await else { return false };
    let limits = if run.door == Door::Scan { &house.config.scan.limits } else { &house.config.limits };
    let approved = policy.check(reader, &schema, &proposal, limits);
    approved.is_ok_and(|approved| {
        let (text, params) = approved.account();
        let same = Some(kept_statement(text)) == run.compiled_sql && kept_params(&params) == run.params;
        // What a change showed of the row afterwards is not in its statement.
        let image = !matches!(proposal, Proposal::Change { .. })
            || run.policy_fingerprint == policy.fingerprint() && run.role == reader.role;
        same && image || reader.is_admin()
    })
}

/// `GET /runs/{id}/sql`: the run's statement as its reader could write it, to be changed and sent
/// again. What was run instead (`compiled_sql`) names tables and columns in a way that nobody may send.
pub async fn sql(
    State(house): State<Arc<House>>,
    Identified(caller): Identified,
    Path(id): Path<String>,
) -> Result<Json<serde_json::Value>, HttpFault> {
    let run = visible(&house, &caller, parse_id(&id, "run")?).await?;
    let text = match (&run.plan_json, run.sql_text) {
        (_, Some(text)) => text,
        // Scans, changes and scripts are no statements that anybody could have written.
        (Some(_), None) if matches!(run.query_mode, Some(QueryMode::Scan | QueryMode::Change | QueryMode::Script)) => {
            return Err(no_statement(run.run_id).into());
        }
        (Some(plan), None) => {
            let dataset = house.datasets.get(&run.dataset_id).ok_or_else(|| no_statement(run.run_id))?;
            let schema = house.schema(dataset).await?;
            house.policy().plan_as_text(&caller, &schema, &policy::parse_plan_value(plan)?)?
        }
        (None, None) => return Err(no_statement(run.run_id).into()),
    };
    Ok(Json(json!({ "run_id": run.run_id, "dataset_id": run.dataset_id, "sql": text })))
}

fn no_statement(id: RunId) -> Fault {
    Fault::new(Kind::NotFound, "run.no_statement", format!("run `{id}` did not come as far as a statement"))
}

/// `GET /runs?dataset_id=&status=&thread_id=&q=&since=&until=&limit=&cursor=&actor=`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListQuery {
    dataset_id: Option<String>,
    status: Option<String>,
    thread_id: Option<String>,
    session_id: Option<String>,
    q: Option<String>,
    since: Option<String>,
    until: Option<String>,
    limit: Option<usize>,
    cursor: Option<String>,
    /// Another actor's: for admins.
    actor: Option<String>,
}

pub async fn list(
    State(house): State<Arc<House>>,
    Identified(caller): Identified,
    Query(query): Query<ListQuery>,
) -> Result<Json<serde_json::Value>, HttpFault> {
    let filter = filter(&caller, query)?;
    let page = house.ledger.runs(&filter).await.map_err(Fault::from)?;
    let runs: Vec<_> = page.runs.iter().map(summary).collect();
    Ok(Json(json!({ "runs": runs, "next_cursor": page.next.map(|c| c.to_string()) })))
}

fn filter(caller: &Caller, query: ListQuery) -> Result<RunFilter, HttpFault> {
    let bad = |what: &str, text: &str| {
        let shown: String = text.chars().take(64).collect();
        HttpFault::new(Kind::Invalid, "request.query", format!("`{what}` cannot be `{shown}`"))
    };
    let time = |what: &'static str, text: Option<String>| {
        text.map(|t| t.parse::<jiff::Timestamp>().map_err(|_| bad(what, &t))).transpose()
    };
    if query.actor.as_ref().is_some_and(|actor| *actor != caller.actor) && !caller.is_admin() {
        return Err(HttpFault::new(Kind::Forbidden, "auth.role", "other actors' runs are for the role `admin`"));
    }
    let actor = match query.actor {
        Some(actor) => Some(actor),
        None if caller.is_admin() => None,
        None => Some(caller.actor.clone()),
    };
    // A session is asked for to see what an answer is made of.
    let purposes: &[Purpose] =
        if query.session_id.is_some() { &[Purpose::Answer, Purpose::Step] } else { &[Purpose::Answer] };
    Ok(RunFilter {
        actor,
        purposes,
        dataset: query.dataset_id,
        status: query.status.map(|s| Status::parse(&s).ok_or_else(|| bad("status", &s))).transpose()?,
        thread: query.thread_id.map(|t| parse_id(&t, "thread")).transpose()?,
        session: query.session_id.map(|s| parse_id(&s, "session")).transpose()?,
        text: query.q,
        since: time("since", query.since)?,
        until: time("until", query.until)?,
        limit: query.limit.unwrap_or(50).clamp(1, RunFilter::MAX_LIMIT),
        after: query.cursor.map(|c| c.parse().map_err(|_| bad("cursor", &c))).transpose()?,
    })
}

/// A run in a list: enough to recognise it.
fn summary(run: &Run) -> serde_json::Value {
    json!({
        "run_id": run.run_id,
        "thread_id": run.thread_id,
        "created_at": run.created_at,
        "dataset_id": run.dataset_id,
        "actor": run.actor,
        "question": run.question,
        "query_mode": run.query_mode,
        "status": run.status,
        "exec_time_ms": run.exec_time_ms,
    })
}

/// `DELETE /runs/{id}`: takes a request back while it runs. Its worker is killed, the run recorded.
pub async fn cancel(
    State(house): State<Arc<House>>,
    Identified(caller): Identified,
    Path(id): Path<String>,
) -> Result<Response, HttpFault> {
    let run_id: RunId = parse_id(&id, "run")?;
    if let Some(watch) = house.active.get(&caller, run_id) {
        watch.cancel.cancel();
        return Ok((StatusCode::ACCEPTED, Json(json!({ "run_id": run_id, "status": "cancelling" }))).into_response());
    }
    let run = ended(&house, &caller, run_id).await?;
    let mut fault =
        HttpFault::new(Kind::Conflict, "run.ended", format!("run `{run_id}` has ended: {}", run.status.as_str()));
    fault.fault.hint = "only a run that is on its way can be cancelled".into();
    Err(fault)
}
