//! The five tools of spec 001 §5, defined once: for planners, for MCP, and over HTTP for whoever
//! writes an agent of their own. Each call is checked and recorded like any other request.

use crate::House;
use crate::doors::chat;
use crate::http::identify::Identified;
use crate::http::{HttpFault, Path, StrictJson};
use axum::Json;
use axum::extract::State;
use domain::{Caller, Fault, Kind, Proposal};
use schemars::{JsonSchema, schema_for};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::sync::Arc;

/// One tool as models are told of it.
#[derive(Debug, serde::Serialize)]
pub struct Tool {
    pub name: &'static str,
    pub description: &'static str,
    pub input_schema: Value,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Nothing {}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OfDataset {
    dataset_id: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PlanArguments {
    dataset_id: String,
    /// A QueryPlan.
    plan_json: Value,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SqlArguments {
    dataset_id: String,
    /// One read-only query.
    sql: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OfRun {
    run_id: String,
}

/// The tools, in the order of the specification.
pub fn all() -> [Tool; 5] {
    let tool =
        |name, description, schema: schemars::Schema| Tool { name, description, input_schema: schema.to_value() };
    let mut plan_arguments = schema_for!(PlanArguments).to_value();
    if let Some(plan) = plan_arguments.pointer_mut("/properties/plan_json") {
        *plan = policy::query_plan_json_schema();
    }
    [
        tool("list_datasets", "Lists the datasets that can be asked about.", schema_for!(Nothing)),
        tool("get_dataset_schema", "Tables, columns and types of a dataset.", schema_for!(OfDataset)),
        Tool {
            name: "execute_query_plan",
            description: "Checks a QueryPlan, compiles it and runs it in the sandbox.",
            input_schema: plan_arguments,
        },
        tool("execute_sql", "Checks one read-only SQL query and runs it in the sandbox.", schema_for!(SqlArguments)),
        tool("get_run_status", "The record of a run.", schema_for!(OfRun)),
    ]
}

/// Calls a tool for a caller. The answer is JSON that a model can read, its numbers as they are.
pub async fn call(house: &Arc<House>, caller: &Caller, name: &str, arguments: Value) -> Result<Box<RawValue>, Fault> {
    match name {
        "list_datasets" => {
            let Nothing {} = parse(arguments)?;
            raw(&chat::datasets::list_for(house, caller).await)
        }
        "get_dataset_schema" => {
            let OfDataset { dataset_id } = parse(arguments)?;
            raw(&chat::datasets::schema_for(house, caller, &dataset_id, 0).await?)
        }
        "execute_query_plan" => {
            let PlanArguments { dataset_id, plan_json } = parse(arguments)?;
            let plan = match policy::parse_plan_value(&plan_json) {
                Ok(plan) => Box::new(plan),
                Err(fault) => return Err(chat::query::refuse(house, caller, fault).await),
            };
            execute(house, caller, Proposal::Query { source: dataset_id, plan }).await
        }
        "execute_sql" => {
            let SqlArguments { dataset_id, sql } = parse(arguments)?;
            execute(house, caller, Proposal::Sql { source: dataset_id, text: sql }).await
        }
        "get_run_status" => {
            let OfRun { run_id } = parse(arguments)?;
            let id = run_id
                .parse()
                .map_err(|_| Fault::new(Kind::Invalid, "request.id", format!("`{run_id}` is not a run id")))?;
            raw(&chat::RunBody::of(&chat::runs::visible(house, caller, id).await?))
        }
        _ => Err(Fault::new(Kind::NotFound, "tool.unknown", format!("there is no tool `{name}`"))
            .hint("`GET /tools` lists the five there are")),
    }
}

async fn execute(house: &Arc<House>, caller: &Caller, proposal: Proposal) -> Result<Box<RawValue>, Fault> {
    let reply = chat::query::run(house, caller, proposal).await?;
    raw(&chat::RunBody::of(&reply.run))
}

fn raw(answer: &impl serde::Serialize) -> Result<Box<RawValue>, Fault> {
    serde_json::value::to_raw_value(answer).map_err(|_| Fault::internal("tool.answer"))
}

fn parse<T: DeserializeOwned>(arguments: Value) -> Result<T, Fault> {
    serde_path_to_error::deserialize(arguments)
        .map_err(|e| Fault::new(Kind::Invalid, "tool.arguments", format!("`{}`: {}", e.path(), e.inner())))
}

pub async fn list(Identified(_): Identified) -> Json<Value> {
    Json(json!({ "tools": all() }))
}

pub async fn call_over_http(
    State(house): State<Arc<House>>,
    Identified(caller): Identified,
    Path(name): Path<String>,
    StrictJson(arguments): StrictJson<Value>,
) -> Result<Json<Box<RawValue>>, HttpFault> {
    Ok(Json(call(&house, &caller, &name, arguments).await?))
}
