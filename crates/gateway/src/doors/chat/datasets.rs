//! `/datasets`: what there is to ask about, as far as the caller may see it.

use crate::House;
use crate::datasets::Dataset;
use crate::http::identify::Identified;
use crate::http::{HttpFault, Path, Query};
use crate::versions::Version;
use axum::Json;
use axum::extract::State;
use domain::plan::{Aggregate, AggregateFn, Expr, SelectItem};
use domain::{Ask, Caller, Door, Fault, Kind, Proposal, Purpose, QueryPlan, SessionId, SourceSchema, Table, Wish};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

const MOST_SAMPLES: u64 = 100;

pub async fn list(State(house): State<Arc<House>>, Identified(caller): Identified) -> Json<Value> {
    Json(list_for(&house, &caller).await)
}

/// The datasets of which this caller may see something. One that cannot be read is left out, and
/// the log says why.
pub async fn list_for(house: &Arc<House>, caller: &Caller) -> Value {
    // All at once: a source that takes long to open does not hold up the others.
    let looks = house.datasets.iter().map(async |dataset| match house.dataset(caller, &dataset.id).await {
        Ok((_, view)) => Some(entry(dataset, &view, house.version(caller, dataset).await)),
        Err(fault) if fault.kind == Kind::NotFound => None,
        Err(fault) => {
            tracing::warn!(dataset = dataset.id, %fault, "dataset left out");
            None
        }
    });
    let datasets: Vec<Value> = futures_util::future::join_all(looks).await.into_iter().flatten().collect();
    json!({ "datasets": datasets })
}

fn entry(dataset: &Dataset, view: &SourceSchema, version: Version) -> Value {
    let files: Vec<Value> = dataset
        .source
        .paths()
        .iter()
        .map(|path| {
            // The size of a file tells of what is hidden in it.
            let bytes = std::fs::metadata(path).map(|m| m.len()).ok().filter(|_| version.is_of_all);
            json!({ "path": path.file_name().map(|n| n.to_string_lossy()), "bytes": bytes })
        })
        .collect();
    json!({
        "id": dataset.id,
        "name": dataset.name,
        "description": dataset.description,
        "prompts": dataset.prompts,
        "version_hash": version.hash,
        "tables": view.tables.iter().map(|t| &t.name).collect::<Vec<_>>(),
        "files": files,
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SchemaQuery {
    /// Rows of each table to show, at most 100.
    sample: Option<u64>,
}

pub async fn schema(
    State(house): State<Arc<House>>,
    Identified(caller): Identified,
    Path(id): Path<String>,
    Query(query): Query<SchemaQuery>,
) -> Result<Json<Value>, HttpFault> {
    Ok(Json(schema_for(&house, &caller, &id, query.sample.unwrap_or(0)).await?))
}

pub async fn schema_for(house: &Arc<House>, caller: &Caller, id: &str, sample: u64) -> Result<Value, Fault> {
    if sample > MOST_SAMPLES {
        let message = format!("`sample` is at most {MOST_SAMPLES}");
        return Err(Fault::new(Kind::Invalid, "request.query", message));
    }
    let (dataset, view) = house.dataset(caller, id).await?;
    schema_of(house, caller, (dataset, &view), sample).await
}

/// What a view holds, with so many sample rows of each table.
pub async fn schema_of(
    house: &Arc<House>,
    caller: &Caller,
    (dataset, view): (&Dataset, &SourceSchema),
    sample: u64,
) -> Result<Value, Fault> {
    let session = SessionId::new();
    let mut tables = Vec::new();
    for table in &view.tables {
        let mut shown = json!({
            "name": table.name,
            "description": table.description,
            "row_count": row_count(house, caller, view, table, session).await?,
            "columns": table.columns.iter().map(column).collect::<Vec<_>>(),
        });
        if sample > 0
            && let Some(object) = shown.as_object_mut()
        {
            object.insert("sample".into(), sample_rows(house, caller, view, table, sample, session).await?);
        }
        tables.push(shown);
    }
    let version = house.version(caller, dataset).await;
    Ok(json!({ "dataset_id": view.source, "version_hash": version.hash, "tables": tables }))
}

fn column(column: &domain::Column) -> Value {
    json!({
        "name": column.name,
        "type": column.kind,
        "nullable": column.nullable,
        "description": column.description,
    })
}

/// Where policy hides rows, the count is of those that this caller may see.
async fn row_count(
    house: &Arc<House>,
    caller: &Caller,
    view: &SourceSchema,
    table: &Table,
    session: SessionId,
) -> Result<Option<u64>, Fault> {
    if !table.hides_rows {
        return Ok(table.row_count);
    }
    let mut plan = QueryPlan::over(&table.name);
    let count = Expr::Aggregate(Aggregate { function: AggregateFn::Count, of: None });
    plan.select.push(SelectItem { expr: count, alias: Some("row_count".into()) });
    let rows = describe(house, caller, view, plan, session).await?;
    Ok(rows.first().and_then(|row| row.first()).and_then(Value::as_u64))
}

async fn sample_rows(
    house: &Arc<House>,
    caller: &Caller,
    view: &SourceSchema,
    table: &Table,
    sample: u64,
    session: SessionId,
) -> Result<Value, Fault> {
    let mut plan = QueryPlan::over(&table.name);
    plan.select = table.columns.iter().map(|c| SelectItem { expr: Expr::field(&c.name), alias: None }).collect();
    plan.limit = Some(sample);
    let names = table.columns.iter().map(|c| c.name.clone());
    let rows = describe(house, caller, view, plan, session).await?;
    Ok(rows.into_iter().map(|row| names.clone().zip(row).collect::<serde_json::Map<_, _>>()).collect())
}

/// Runs a plan for the schema page, on the path like any other.
async fn describe(
    house: &Arc<House>,
    caller: &Caller,
    view: &SourceSchema,
    plan: QueryPlan,
    session: SessionId,
) -> Result<Vec<Vec<Value>>, Fault> {
    let ask = Ask {
        door: Door::Chat,
        purpose: Purpose::Describe,
        source: view.source.clone(),
        wish: Wish::Proposal(Proposal::Query { source: view.source.clone(), plan: Box::new(plan) }),
        session,
        thread: None,
    };
    let reply = house.start(caller.clone(), ask).reply().await?;
    match (&reply.rows, &reply.run.error_json) {
        (Some(rows), _) => crate::rows::head(rows, usize::try_from(MOST_SAMPLES).unwrap_or(usize::MAX)),
        (None, Some(fault)) => Err(fault.clone()),
        (None, None) => Ok(Vec::new()),
    }
}
