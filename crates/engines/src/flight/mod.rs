//! Arrow Flight SQL: engines that work on many machines at once.
//!
//! Such an engine may take statements from anybody, and read any path that a statement names. What keeps it in its place is
//! that nothing reaches it from here but what policy has approved and written in its SQL, over the one address that
//! configuration names: places that the engine itself points at are never connected to.

mod batches;
mod catalog;
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
use arrow_array::RecordBatch;
use arrow_flight::FlightInfo;
use connect::Connection;
use domain::{Dialect, Fault, SourceSchema};
use futures_util::TryStreamExt;
use policy::Approved;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How long a look at the catalog may take.
const LOOK: Duration = Duration::from_secs(30);
/// How long rows are counted for an estimate.
const COUNTING: Duration = Duration::from_secs(2);
/// How long an engine may work on a statement that nobody waits for any more, before its place is given to another.
const LEFT_BEHIND: Duration = Duration::from_secs(3_600);

/// One engine.
pub(crate) struct Flight {
    connection: Connection,
    /// Spark's or DataFusion's.
    dialect: Dialect,
    databases: Vec<String>,
    places: Arc<Semaphore>,
    queue: Duration,
}

impl Flight {
    pub fn open(name: &str, settings: &FlightSource, queue: Duration) -> Result<Self, Fault> {
        let connection = Connection::open(name, settings)?;
        let places = Arc::new(Semaphore::new(settings.connections));
        Ok(Self { connection, dialect: settings.dialect, databases: settings.databases.clone(), places, queue })
    }

    /// Begins a statement. Dropping the pieces takes the call back, and with it the work there.
    pub async fn begin(&self, approved: &Approved, query: Query) -> Result<Pieces, Fault> {
        let began = Instant::now();
        let place = self.place().await?;
        let filtered = approved.hides_rows();
        if query.form == Form::Estimate {
            return Ok(self.estimating(place, query, filtered));
        }
        let connection = self.connection.clone();
        let (info, place) = planned(&connection, query.sql.clone(), place).await?;
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
        let (connection, dialect) = (self.connection.clone(), self.dialect);
        Pieces::fed(move |outbox| async move {
            let estimate = estimated(&connection, dialect, &query, filtered, place).await?;
            let json = serde_json::to_vec(&estimate).map_err(|_| Fault::internal("engine.estimate"))?;
            drop(outbox.send(Ok(Piece::Columns(Vec::new()))).await);
            drop(outbox.send(Ok(Piece::Bytes(json.into()))).await);
            Ok(Queried { columns: Vec::new(), row_count: 0, truncated: false, exec_ms: 0.0 })
        })
    }

    /// The tables of the databases that are shown, each with the columns that a statement over it would have.
    pub async fn describe(&self) -> Result<SourceSchema, Fault> {
        let tables = catalog::tables(&self.connection, self.dialect, &self.databases);
        let tables = tokio::time::timeout(LOOK, tables).await.map_err(|_| crate::fault::timeout(LOOK.as_secs()))??;
        Ok(SourceSchema { source: String::new(), dialect: self.dialect, tables, data_version: String::new() })
    }
}

/// Has a statement planned, in a place among those that are under way.
///
/// Some engines work it out to its end before they answer this, and cannot be told to stop: whoever leaves meanwhile leaves
/// the place to it, so that no more are under way there than have places.
async fn planned(
    connection: &Connection,
    sql: String,
    place: OwnedSemaphorePermit,
) -> Result<(FlightInfo, OwnedSemaphorePermit), Fault> {
    let connection = connection.clone();
    let asked = tokio::spawn(async move {
        let info = tokio::time::timeout(LEFT_BEHIND, connection.execute(&sql)).await;
        info.unwrap_or_else(|_| Err(crate::fault::timeout(LEFT_BEHIND.as_secs()))).map(|info| (info, place))
    });
    asked.await.map_err(|_| Fault::internal("flight.planned"))?
}

/// From the engine's plan; where a row filter hides rows its statistics would tell of them, so that the rows are counted as
/// the caller would see them, for a short time, or not known.
async fn estimated(
    connection: &Connection,
    dialect: Dialect,
    query: &Query,
    filtered: bool,
    place: OwnedSemaphorePermit,
) -> Result<Estimate, Fault> {
    if !filtered && query.sees_all {
        let plan = connection.plan(dialect, &query.sql).await?;
        let Estimate { scan_bytes, result_rows, result_bytes } = estimate::read(&plan);
        let result_rows = result_rows.map(|rows| rows.min(query.rows));
        return Ok(Estimate { scan_bytes, result_rows, result_bytes });
    }
    let counting = async {
        let sql = format!("SELECT count(*) AS n FROM ({}) AS counted", query.sql);
        let (info, _place) = planned(connection, sql, place).await?;
        let counted = catalog::texts(&connection.all(info).await?, "n")?;
        Ok::<_, Fault>(counted.first().and_then(|number| number.parse::<u64>().ok()))
    };
    let counted = tokio::time::timeout(COUNTING, counting).await.ok().transpose()?.flatten();
    Ok(Estimate { scan_bytes: None, result_rows: counted.map(|rows| rows.min(query.rows)), result_bytes: None })
}

/// Small answers about the engine itself.
impl Connection {
    /// Everything that a result holds.
    async fn all(&self, info: FlightInfo) -> Result<Vec<RecordBatch>, Fault> {
        let mut found = Vec::new();
        for ticket in info.endpoint.into_iter().filter_map(|endpoint| endpoint.ticket) {
            let batches = self.batches(ticket).await?.try_collect::<Vec<_>>().await;
            found.extend(batches.map_err(|error| fault::from_flight(&self.name, error))?);
        }
        Ok(found)
    }

    /// How the engine would go about a statement, with what it knows of sizes.
    async fn plan(&self, dialect: Dialect, sql: &str) -> Result<String, Fault> {
        if dialect == Dialect::Spark {
            let info = self.execute(&format!("EXPLAIN COST {sql}")).await?;
            return Ok(catalog::texts(&self.all(info).await?, "plan")?.concat());
        }
        let rows = self.all(self.execute(&format!("EXPLAIN VERBOSE {sql}")).await?).await?;
        let (kinds, plans) = (catalog::texts(&rows, "plan_type")?, catalog::texts(&rows, "plan")?);
        let known = kinds.iter().zip(plans).find(|(kind, _)| *kind == "physical_plan_with_stats");
        Ok(known.map(|(_, plan)| plan).unwrap_or_default())
    }
}
