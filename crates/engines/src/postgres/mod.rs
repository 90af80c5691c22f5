//! Postgres: statements in READ ONLY transactions that know who asks; changes in transactions of their own.
//!
//! Each transaction is told the caller's claims, and where configured takes the caller's role, before anything else: the
//! database's own row-level security applies. Rows are streamed in binary form and become Arrow in a thread aside; a
//! statement that nobody waits for any more is cancelled by protocol.

mod cells;
mod change;
mod columns;
mod describe;
mod estimate;
mod fate;
mod fault;
mod guard;
mod numeric;
mod params;
mod pool;
mod rows;
mod session;
mod tls;

use crate::places::Places;
use crate::protocol::{Form, Queried, Query};
use crate::remote::Pieces;
use crate::source::PostgresSource;
use domain::{Fault, SourceSchema};
use policy::Approved;
use pool::Pool;
use session::{Session, Who};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a look at the catalog may take.
const LOOK_SECONDS: u64 = 30;

/// One database.
pub(crate) struct Postgres {
    pool: Arc<Pool>,
    schemas: Vec<String>,
    roles: std::collections::BTreeMap<String, String>,
    writable: bool,
    places: Places,
}

impl Postgres {
    pub fn open(name: &str, settings: &PostgresSource, queue: Duration) -> Result<Self, Fault> {
        let pool = Arc::new(Pool::new(name, settings, queue)?);
        let (schemas, roles) = (settings.schemas.clone(), settings.roles.clone());
        let places = Places::new(settings.connections, queue);
        Ok(Self { pool, schemas, roles, writable: settings.writable, places })
    }

    /// The connections, as they are shared out among actors.
    pub fn places(&self) -> &Places {
        &self.places
    }

    pub async fn begin(&self, approved: &Approved, query: Query) -> Result<Pieces, Fault> {
        let began = Instant::now();
        let seconds = approved.limits().seconds;
        let who = Who::caller(approved.caller(), &self.roles)?;
        let session = Session::begin(&self.pool, &self.schemas, &who, seconds).await?;
        if query.form == Form::Estimate {
            return Ok(self.estimating(session, approved, query));
        }
        let told = move |error: &tokio_postgres::Error, name: &str| fault::of(name, error, seconds);
        let name = self.pool.name().to_owned();
        let (types, values) = params::of(&query.params);
        let statement = session.client().prepare_typed(&query.sql, &types).await.map_err(|e| told(&e, &name))?;
        let columns = columns::of(statement.columns()).map_err(|failed| crate::fault::from_worker(&failed))?;
        let rows = session.client().query_raw(&statement, values).await.map_err(|e| told(&e, &name))?;
        Ok(Pieces::fed(move |outbox| async move {
            let gathering = rows::Gathering { rows, columns, query };
            let (mut queried, ended) = gathering.pour(outbox, |error| told(error, &name)).await?;
            // Who has enough before the end leaves a statement at work: it is cancelled with its session.
            if ended {
                session.finish().await;
            }
            queried.exec_ms = began.elapsed().as_secs_f64() * 1e3;
            Ok(queried)
        }))
    }

    fn estimating(&self, session: Session, approved: &Approved, query: Query) -> Pieces {
        let (tables, filtered) = (approved.tables().to_vec(), approved.hides_rows());
        let (name, seconds) = (self.pool.name().to_owned(), approved.limits().seconds);
        Pieces::fed(move |outbox| async move {
            let asked = estimate::Asked { query: &query, tables: &tables, filtered };
            let estimate = asked.of(session).await.map_err(|e| fault::of(&name, &e, seconds))?;
            let json = serde_json::to_vec(&estimate).map_err(|_| Fault::internal("engine.estimate"))?;
            drop(outbox.send(Ok(crate::client::Piece::Columns(Vec::new()))).await);
            drop(outbox.send(Ok(crate::client::Piece::Bytes(json.into()))).await);
            Ok(Queried { columns: Vec::new(), row_count: 0, truncated: false, exec_ms: 0.0 })
        })
    }

    pub async fn describe(&self) -> Result<SourceSchema, Fault> {
        let session = Session::begin(&self.pool, &self.schemas, &Who::house(), LOOK_SECONDS).await?;
        let schema = describe::describe(&session, &self.schemas).await;
        let schema = schema.map_err(|e| fault::of(self.pool.name(), &e, LOOK_SECONDS))?;
        session.finish().await;
        schema.map_err(|failed| crate::fault::from_worker(&failed))
    }
}
