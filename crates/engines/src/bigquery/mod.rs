//! BigQuery: a statement is a job, and its rows are a table that is read as Arrow.
//!
//! It is asked over REST, and its rows are read over gRPC (docs/decisions.md says why not by Google's crates). Every job carries a cap on what it may read, since reading costs money;
//! one that nobody waits for any more is cancelled.

mod ask;
mod catalog;
mod fault;
mod identity;
mod job;
mod messages;
mod patience;
mod read;

use crate::client::Piece;
use crate::protocol::{Estimate, Form, Queried, Query};
use crate::remote::Pieces;
use crate::source::BigQuerySource;
use ask::Api;
use domain::{Dialect, Fault, SourceSchema};
use identity::Passes;
use job::{Job, Jobs};
use policy::Approved;
use read::Storage;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How long a look at the catalog may take.
const LOOK: Duration = Duration::from_secs(60);

/// One project's datasets.
pub(crate) struct BigQuery {
    jobs: Arc<Jobs>,
    storage: Storage,
    datasets: Vec<String>,
    places: Arc<Semaphore>,
    queue: Duration,
}

impl BigQuery {
    pub fn open(name: &str, settings: &BigQuerySource, queue: Duration) -> Result<Self, Fault> {
        let client = ask::client()?;
        let passes = Arc::new(Passes::new(name, settings.identity.clone(), client.clone()));
        let storage = Storage::open(name, settings, passes.clone())?;
        let api = Api::new(name, settings, client, passes);
        Ok(Self {
            jobs: Arc::new(Jobs::new(api, settings)),
            storage,
            datasets: settings.datasets.clone(),
            places: Arc::new(Semaphore::new(settings.connections)),
            queue,
        })
    }

    /// Begins a statement. Dropping the pieces cancels its job.
    pub async fn begin(&self, approved: &Approved, query: Query) -> Result<Pieces, Fault> {
        let began = Instant::now();
        let place = self.place().await?;
        let (jobs, storage) = (self.jobs.clone(), self.storage.clone());
        if query.form == Form::Estimate {
            // What a table holds tells of the rows that a filter hides, too.
            let filtered = approved.hides_rows();
            return Ok(Pieces::fed(move |outbox| async move {
                let scan_bytes = if filtered { None } else { jobs.would_read(&query).await? };
                drop(place);
                let estimate = Estimate { scan_bytes, ..Estimate::default() };
                let json = serde_json::to_vec(&estimate).map_err(|_| Fault::internal("engine.estimate"))?;
                drop(outbox.send(Ok(Piece::Columns(Vec::new()))).await);
                drop(outbox.send(Ok(Piece::Bytes(json.into()))).await);
                Ok(Queried { columns: Vec::new(), row_count: 0, truncated: false, exec_ms: 0.0 })
            }));
        }
        let seconds = approved.limits().seconds;
        Ok(Pieces::fed(move |outbox| async move {
            let result = Job::run(&jobs, &query, seconds).await?;
            let queried = storage.encoded(&result, query, outbox).await;
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

    pub async fn describe(&self) -> Result<SourceSchema, Fault> {
        let tables = tokio::time::timeout(LOOK, catalog::tables(&self.jobs.api, &self.datasets)).await;
        let tables = tables.map_err(|_| crate::fault::timeout(LOOK.as_secs()))??;
        Ok(SourceSchema { source: String::new(), dialect: Dialect::BigQuery, tables, data_version: String::new() })
    }

    /// Asks whether its account could make a table in any of the datasets: that must be refused.
    pub async fn prove_read_only(&self) -> Result<(), Fault> {
        for dataset in &self.datasets {
            if self.jobs.would_create(dataset).await? {
                return Err(fault::unguarded(&self.jobs.api.name, dataset));
            }
        }
        Ok(())
    }
}
