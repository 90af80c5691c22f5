//! Internal services that Records reads and writes over HTTP.
//!
//! A service gives rows and takes changes; it knows nothing of policy. What it gives goes into a table in memory, and the
//! approved statements run over that: fields, rows, order and limits are those of every other source. A change is tried
//! there first, guards and all, and only then sent; what the service says the row is now comes back the same way.

mod ask;
mod rows;

use crate::change::{Unanswered, request};
use crate::fault::{self, from_worker};
use crate::protocol::{Cause, Change, Failed, Queried, Query};
use crate::remote::{Pieces, sending};
use crate::source::RestSource;
use crate::worker::Engine;
use crate::worker::encode::Sink;
use crate::worker::sqlite::{Shape, Sqlite};
use ask::Asking;
use bytes::Bytes;
use domain::{Fault, Kind, ResultColumn, Value};
use policy::{Approved, Service};
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

/// One service.
pub(crate) struct Rest {
    name: String,
    settings: RestSource,
    client: reqwest::Client,
}

impl Rest {
    pub fn open(name: &str, settings: &RestSource) -> Result<Self, Fault> {
        let client = ask::client(settings).map_err(|_| Fault::internal("engine.rest"))?;
        Ok(Self { name: name.to_owned(), settings: settings.clone(), client })
    }

    /// The rows of a READ.
    pub async fn begin(&self, approved: &Approved, query: Query) -> Result<Pieces, Fault> {
        let service = self.service(approved)?;
        let asking = Asking { rest: self, approved, service };
        let found = asking.fetch().await?;
        let (shape, rows) = (shape(service), found.rows(service));
        Ok(Pieces::fed(move |outbox| async move {
            let run = move || {
                let table = Sqlite::mirror(&shape, &rows)?;
                sending(outbox, |sink| table.query(&query, sink))
            };
            aside(run).await
        }))
    }

    /// Makes a change, or none at all: the row as it is now, and how many were written.
    pub async fn change(
        &self,
        approved: &Approved,
        change: &policy::Change,
    ) -> Result<(Queried, Bytes, u64), Unanswered> {
        let service = self.service(approved)?;
        let asking = Asking { rest: self, approved, service };
        let limits = approved.limits();
        let fetched = tokio::time::timeout(Duration::from_secs(limits.seconds), asking.fetch()).await;
        let found = fetched.map_err(|_| fault::timeout(limits.seconds))??;
        let (change, rows) = (Arc::new(request(change, limits.bytes)), found.rows(service));
        let (tried, shape_of) = (change.clone(), shape(service));
        let (queried, affected, image) = aside(move || {
            let mut kept = Kept::default();
            let (queried, affected) = Sqlite::mirror(&shape_of, &rows)?.change(&tried, &mut kept)?;
            Ok((queried, affected, Bytes::from(kept.0)))
        })
        .await?;
        if affected == 0 {
            // It was made before.
            return Ok((queried, image, affected));
        }
        let row = asking.send(&found).await.map_err(unanswered)?.rows(service);
        let key = row.first().map(|row| key(service, row)).unwrap_or_default();
        let shape = shape(service);
        // From here on it is made, whatever is told of it.
        let (queried, image) = aside(move || image_of(&shape, &row, key, &change)).await.map_err(Unanswered::Unseen)?;
        match queried.row_count {
            1 => Ok((queried, image, affected)),
            _ => {
                let outside = Failed::new(Cause::Outside, "the service made a row that is not yours to see");
                Err(Unanswered::Unseen(from_worker(&outside)))
            }
        }
    }

    fn service<'a>(&self, approved: &'a Approved) -> Result<&'a Service, Fault> {
        approved.service().ok_or_else(|| {
            let message = format!("`{}` is a service: it is read and written through Records", self.name);
            Fault::new(Kind::Forbidden, "source.records_only", message).hint("send the request to `/agent/db`")
        })
    }
}

/// A service that did not answer, or failed while it did, may have made the change.
fn unanswered(fault: Fault) -> Unanswered {
    match fault.kind {
        Kind::Unavailable | Kind::Timeout | Kind::Internal => Unanswered::Unseen(fault),
        _ => Unanswered::NotMade(fault),
    }
}

fn shape(service: &Service) -> Shape {
    let columns = service.columns().iter().map(|member| (member.column.clone(), member.kind)).collect();
    Shape { table: service.table().to_owned(), columns, key: service.key().to_vec() }
}

/// The values that name a row.
fn key(service: &Service, row: &[Value]) -> Vec<Value> {
    let place = |name: &String| service.columns().iter().position(|member| member.column.eq_ignore_ascii_case(name));
    service.key().iter().filter_map(|name| row.get(place(name)?).cloned()).collect()
}

fn image_of(shape: &Shape, row: &[Vec<Value>], key: Vec<Value>, change: &Change) -> Result<(Queried, Bytes), Failed> {
    let params = key.into_iter().chain(change.image.params.iter().skip(change.key).cloned()).collect();
    let query = Query { sql: change.image.sql.clone(), params, rows: 1, bytes: change.bytes, ..Query::default() };
    let mut kept = Kept::default();
    let queried = Sqlite::mirror(shape, row)?.query(&query, &mut kept)?;
    Ok((queried, Bytes::from(kept.0)))
}

/// A statement is not for the threads that serve everybody.
async fn aside<T: Send + 'static>(run: impl FnOnce() -> Result<T, Failed> + Send + 'static) -> Result<T, Fault> {
    let done = tokio::task::spawn_blocking(run).await.map_err(|_| Fault::internal("engine.mirror"))?;
    done.map_err(|failed| from_worker(&failed))
}

/// A small result, whole.
#[derive(Default)]
struct Kept(Vec<u8>);

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Sink for Kept {
    fn columns(&mut self, _: &[ResultColumn]) -> io::Result<()> {
        Ok(())
    }
}
