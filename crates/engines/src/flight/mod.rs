//! Arrow Flight SQL: engines that work on many machines at once.
//!
//! Such an engine may take statements from anybody, and read any path that a statement names. What keeps it in its place is
//! that nothing reaches it from here but what policy has approved and written in its SQL, over the one address that
//! configuration names: places that the engine itself points at are never connected to.

mod batches;
mod columns;
mod connect;
mod estimate;
mod fault;
mod forward;
mod reframe;

use crate::client::Piece;
use crate::protocol::{Estimate, Form, Queried, Query};
use crate::remote::Pieces;
use crate::source::FlightSource;
use arrow_array::cast::AsArray;
use arrow_flight::FlightInfo;
use arrow_schema::DataType;
use connect::Connection;
use domain::{Dialect, Fault, SourceSchema, Table};
use futures_util::TryStreamExt;
use policy::Approved;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How long a look at the catalog may take.
const LOOK: Duration = Duration::from_secs(30);
/// How long rows are counted for an estimate.
const COUNTING: Duration = Duration::from_secs(2);

/// One engine.
pub(crate) struct Flight {
    connection: Connection,
    databases: Vec<String>,
    places: Arc<Semaphore>,
    queue: Duration,
}

impl Flight {
    pub fn open(name: &str, settings: &FlightSource, queue: Duration) -> Result<Self, Fault> {
        let connection = Connection::open(name, settings)?;
        let places = Arc::new(Semaphore::new(settings.connections));
        Ok(Self { connection, databases: settings.databases.clone(), places, queue })
    }

    /// Begins a statement. Dropping the pieces takes the call back, and with it the work there.
    pub async fn begin(&self, approved: &Approved, query: Query) -> Result<Pieces, Fault> {
        let began = Instant::now();
        let place = self.place().await?;
        let filtered = !approved.filtered_by().is_empty();
        if query.form == Form::Estimate {
            return Ok(self.estimating(place, query, filtered));
        }
        let connection = self.connection.clone();
        let info = connection.execute(&query.sql).await?;
        // What stands behind a NULL, and where a batch ends, may tell of rows that a filter hides: those are written anew.
        let as_they_come = query.form == Form::Arrow && !filtered;
        Ok(Pieces::fed(move |outbox| async move {
            let queried = match as_they_come {
                true => forward::forward(&connection, info, &query, &outbox).await,
                false => batches::encoded(&connection, info, query, outbox).await,
            };
            drop(place);
            queried.map(|queried| Queried { exec_ms: began.elapsed().as_secs_f64() * 1e3, ..queried })
        }))
    }

    async fn place(&self) -> Result<OwnedSemaphorePermit, Fault> {
        match tokio::time::timeout(self.queue, self.places.clone().acquire_owned()).await {
            Ok(Ok(place)) => Ok(place),
            _ => Err(crate::fault::busy()),
        }
    }

    fn estimating(&self, place: OwnedSemaphorePermit, query: Query, filtered: bool) -> Pieces {
        let connection = self.connection.clone();
        Pieces::fed(move |outbox| async move {
            let estimate = estimated(&connection, &query, filtered).await?;
            drop(place);
            let json = serde_json::to_vec(&estimate).map_err(|_| Fault::internal("engine.estimate"))?;
            drop(outbox.send(Ok(Piece::Columns(Vec::new()))).await);
            drop(outbox.send(Ok(Piece::Bytes(json.into()))).await);
            Ok(Queried { columns: Vec::new(), row_count: 0, truncated: false, exec_ms: 0.0 })
        })
    }

    /// The tables of the databases that are shown, each with the columns that a statement over it would have.
    pub async fn describe(&self) -> Result<SourceSchema, Fault> {
        let tables = tokio::time::timeout(LOOK, self.tables()).await;
        let tables = tables.map_err(|_| crate::fault::timeout(LOOK.as_secs()))??;
        Ok(SourceSchema { source: String::new(), dialect: Dialect::Spark, tables, data_version: String::new() })
    }

    async fn tables(&self) -> Result<Vec<Table>, Fault> {
        let mut tables = Vec::new();
        for database in &self.databases {
            let info = self.connection.execute(&format!("SHOW TABLES IN `{database}`")).await?;
            for table in self.connection.texts(info, "tableName").await? {
                // A name that cannot be quoted, or would be taken for two, is not shown.
                if table.contains(['`', '"', '\\', '.']) || table.chars().any(char::is_control) {
                    continue;
                }
                let all = format!("SELECT * FROM `{database}`.`{table}` LIMIT 0");
                let schema = self.connection.execute(&all).await?.try_decode_schema();
                let schema = schema.map_err(|_| reframe::unreadable())?;
                let name = if database == USUAL { table } else { format!("{database}.{table}") };
                tables.push(Table { name, columns: columns::of(&schema), ..Table::default() });
            }
        }
        Ok(tables)
    }
}

/// The database whose tables go by their plain names.
const USUAL: &str = "default";

/// From the engine's plan; where a row filter hides rows its statistics would tell of them, so that the rows are counted as
/// the caller would see them, for a short time, or not known.
async fn estimated(connection: &Connection, query: &Query, filtered: bool) -> Result<Estimate, Fault> {
    if !filtered {
        let info = connection.execute(&format!("EXPLAIN COST {}", query.sql)).await?;
        let plan = connection.texts(info, "plan").await?.concat();
        let Estimate { scan_bytes, result_rows, result_bytes } = estimate::read(&plan);
        let result_rows = result_rows.map(|rows| rows.min(query.rows));
        return Ok(Estimate { scan_bytes, result_rows, result_bytes });
    }
    let counting = async {
        let info = connection.execute(&format!("SELECT count(*) AS `n` FROM ({}) AS `counted`", query.sql)).await?;
        connection.numbers(info).await
    };
    let counted = tokio::time::timeout(COUNTING, counting).await.ok().transpose()?.flatten();
    let result_rows = counted.and_then(|rows| u64::try_from(rows).ok()).map(|rows| rows.min(query.rows));
    Ok(Estimate { scan_bytes: None, result_rows, result_bytes: None })
}

/// Small answers about the engine itself.
impl Connection {
    /// The texts of one column.
    async fn texts(&self, info: FlightInfo, column: &str) -> Result<Vec<String>, Fault> {
        let mut found = Vec::new();
        for endpoint in info.endpoint {
            let Some(ticket) = endpoint.ticket else { continue };
            let batches = self.batches(ticket).await?.try_collect::<Vec<_>>().await;
            for batch in batches.map_err(|error| fault::from_flight(&self.name, error))? {
                let Some(column) = batch.column_by_name(column) else { return Err(reframe::unreadable()) };
                let texts = arrow_cast::cast(column, &DataType::Utf8).map_err(|_| reframe::unreadable())?;
                found.extend(texts.as_string::<i32>().iter().flatten().map(str::to_owned));
            }
        }
        Ok(found)
    }

    /// The one number of one row.
    async fn numbers(&self, info: FlightInfo) -> Result<Option<i64>, Fault> {
        let numbers = self.texts(info, "n").await?;
        Ok(numbers.first().and_then(|number| number.parse().ok()))
    }
}
