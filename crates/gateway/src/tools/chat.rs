//! The five tools of spec 001 §5.

use super::{Bound, Called, Tool, parse, unknown};
use crate::doors::chat::{datasets, runs};
use domain::{Fault, Kind, Proposal, RunId};
use schemars::{JsonSchema, schema_for};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Nothing {}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OfDataset {
    dataset_id: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlanArguments {
    dataset_id: String,
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

/// The tools of Chat, in the order of the specification.
pub fn chat() -> Vec<Tool> {
    vec![
        Tool::new("list_datasets", "Lists the datasets that can be asked about.", schema_for!(Nothing)),
        Tool::new("get_dataset_schema", "Tables, columns and types of a dataset.", schema_for!(OfDataset)),
        Tool {
            name: "execute_query_plan",
            description: "Checks a QueryPlan, compiles it and runs it in the sandbox.",
            input_schema: plan_arguments(),
        },
        Tool::new(
            "execute_sql",
            "Checks one read-only SQL query and runs it in the sandbox.",
            schema_for!(SqlArguments),
        ),
        Tool::new("get_run_status", "The record of a run.", schema_for!(OfRun)),
    ]
}

/// The schema of a QueryPlan as part of another: what it refers to as its own root is a definition here. That unknown
/// keys are refused goes without saying, forty times.
fn plan_arguments() -> Value {
    let mut plan = policy::query_plan_json_schema();
    let definitions = plan.as_object_mut().and_then(|plan| {
        plan.remove("$schema");
        plan.remove("title");
        plan.remove("$defs")
    });
    let mut definitions = definitions.unwrap_or_else(|| json!({}));
    if let Some(definitions) = definitions.as_object_mut() {
        definitions.insert("QueryPlan".to_owned(), plan);
        definitions.values_mut().for_each(adapt);
    }
    json!({
        "type": "object",
        "properties": { "dataset_id": { "type": "string" }, "plan_json": { "$ref": "#/$defs/QueryPlan" } },
        "required": ["dataset_id", "plan_json"],
        "additionalProperties": false,
        "$defs": definitions,
    })
}

fn adapt(schema: &mut Value) {
    match schema {
        Value::Object(keys) => {
            if keys.get("additionalProperties") == Some(&Value::Bool(false)) {
                keys.remove("additionalProperties");
            }
            if keys.get("$ref").is_some_and(|root| root == "#") {
                keys.insert("$ref".to_owned(), json!("#/$defs/QueryPlan"));
            }
            keys.values_mut().for_each(adapt);
        }
        Value::Array(items) => items.iter_mut().for_each(adapt),
        _ => {}
    }
}

/// Calls a tool of [`chat`].
pub async fn call(bound: &Bound<'_>, name: &str, arguments: Value) -> Result<Called, Fault> {
    let Bound { house, caller, .. } = *bound;
    match name {
        "list_datasets" => {
            let Nothing {} = parse(arguments)?;
            bound.told(&datasets::list_for(house, caller).await)
        }
        "get_dataset_schema" => {
            let OfDataset { dataset_id } = parse(arguments)?;
            let (dataset, view) = house.dataset(caller, &dataset_id).await?;
            bound.told(&datasets::schema_of(house, caller, (dataset, &bound.shown(view)), 0).await?)
        }
        "execute_query_plan" => {
            let PlanArguments { dataset_id, plan_json } = parse(arguments)?;
            let plan = match policy::parse_plan_value(&plan_json) {
                Ok(plan) => Box::new(plan),
                Err(fault) => return Err(bound.refuse(fault).await),
            };
            bound.run(Proposal::Query { source: dataset_id, plan }).await.map(Called::Ran)
        }
        "execute_sql" => {
            let SqlArguments { dataset_id, sql } = parse(arguments)?;
            bound.run(Proposal::Sql { source: dataset_id, text: sql }).await.map(Called::Ran)
        }
        "get_run_status" => {
            let OfRun { run_id } = parse(arguments)?;
            status(bound, &run_id).await
        }
        _ => Err(unknown(name, &chat())),
    }
}

async fn status(bound: &Bound<'_>, id: &str) -> Result<Called, Fault> {
    let Bound { house, caller, .. } = *bound;
    let shown = || id.chars().take(64).collect::<String>();
    let run_id: RunId =
        id.parse().map_err(|_| Fault::new(Kind::Invalid, "request.id", format!("`{}` is not a run id", shown())))?;
    if house.active.get(caller, run_id).is_some() {
        return Called::value(&json!({ "run_id": run_id, "status": "running" }));
    }
    Ok(Called::Recorded(Box::new(runs::visible(house, caller, run_id).await?)))
}
