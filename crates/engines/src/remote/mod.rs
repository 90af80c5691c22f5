//! Engines on other machines.
//!
//! They are not jailed: what keeps them in their place is that they are only ever given what policy has approved, over an
//! address that configuration names, as a user who may do no more than read (and write where the source is writable). Their rows are written by the same writers
//! as those of the workers.
//!
//! A new kind of engine is a module beside [`crate::postgres`] and a variant of [`Remote`]: it makes [`Pieces`].

mod broken;
mod encode;
mod pieces;

pub(crate) use broken::is_broken;
pub(crate) use encode::{encode, sending};
pub(crate) use pieces::{Outbox, Pieces};

use crate::bigquery::BigQuery;
use crate::change::Unanswered;
use crate::fault;
use crate::flight::Flight;
use crate::places::{Attempt, Place};
use crate::postgres::Postgres;
use crate::protocol::{Queried, Query};
use crate::rest::Rest;
use crate::source::{Source, SourceKind};
use bytes::Bytes;
use domain::{Fault, SourceSchema};
use policy::{Approved, Change};
use std::future::pending;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// One engine on another machine.
#[derive(Clone)]
pub(crate) enum Remote {
    Postgres(Arc<Postgres>),
    Flight(Arc<Flight>),
    BigQuery(Arc<BigQuery>),
    Rest(Arc<Rest>),
}

impl Remote {
    fn open(source: &Source, queue: Duration) -> Option<Result<Self, Fault>> {
        match &source.kind {
            SourceKind::Files(_)
            | SourceKind::Sqlite(_)
            | SourceKind::SqliteWritable(_)
            | SourceKind::Joined { .. } => None,
            SourceKind::Flight(settings) => {
                Some(Flight::open(&source.name, settings, queue).map(Arc::new).map(Self::Flight))
            }
            SourceKind::BigQuery(settings) => {
                Some(BigQuery::open(&source.name, settings, queue).map(Arc::new).map(Self::BigQuery))
            }
            SourceKind::Postgres(settings) => {
                Some(Postgres::open(&source.name, settings, queue).map(Arc::new).map(Self::Postgres))
            }
            SourceKind::Rest(settings) => Some(Rest::open(&source.name, settings).map(Arc::new).map(Self::Rest)),
        }
    }

    /// Begins a statement. Dropping the pieces cancels it there.
    pub async fn begin(&self, approved: &Approved, query: Query) -> Result<Pieces, Fault> {
        match self {
            Self::Postgres(postgres) => postgres.begin(approved, query).await,
            Self::Flight(flight) => flight.begin(approved, query).await,
            Self::BigQuery(warehouse) => warehouse.begin(approved, query).await,
            Self::Rest(rest) => rest.begin(approved, query).await,
        }
    }

    /// A place for a statement, where those are shared out among actors: where a statement that is told to stop does. On
    /// others even a short one takes long, and places are given in the order in which they are asked for.
    pub async fn place(&self, approved: &Approved, attempt: Attempt) -> Result<Option<Place>, Fault> {
        match self {
            Self::Postgres(postgres) => postgres.places().take(&approved.caller().actor, attempt).await.map(Some),
            Self::Flight(_) | Self::BigQuery(_) | Self::Rest(_) => Ok(None),
        }
    }

    /// Runs a statement to its end, for small results, within its time.
    pub async fn whole(&self, approved: &Approved, query: Query) -> Result<(Queried, Bytes), Fault> {
        let seconds = approved.limits().seconds;
        let mut attempt = Attempt::First;
        loop {
            let place = self.place(approved, attempt).await?;
            let overstayed = async {
                match &place {
                    Some(place) => place.overstayed().await,
                    None => pending().await,
                }
            };
            let query = query.clone();
            let whole = async { self.begin(approved, query).await?.whole().await };
            tokio::select! {
                whole = tokio::time::timeout(Duration::from_secs(seconds), whole) => {
                    return whole.map_err(|_| fault::timeout(seconds))?;
                }
                // Nothing of it was seen by anybody: it begins anew where it may take its time.
                () = overstayed => attempt = Attempt::Again,
            }
        }
    }

    /// Makes a change: the row afterwards, and how many were written.
    pub async fn change(&self, approved: &Approved, change: &Change) -> Result<(Queried, Bytes, u64), Unanswered> {
        match self {
            Self::Postgres(postgres) => {
                let place = postgres.places().take(&approved.caller().actor, Attempt::First).await?;
                tokio::select! {
                    changed = postgres.change(approved, change) => changed,
                    // A write is never broken off for others.
                    never = place.counted() => match never {},
                }
            }
            // Policy approves no change there.
            Self::Flight(_) | Self::BigQuery(_) => Err(Fault::internal("engine.read_only").into()),
            Self::Rest(rest) => rest.change(approved, change).await,
        }
    }

    /// Whether a change of longer ago than this may still be made.
    pub async fn is_changing(&self, since: Duration) -> Result<bool, Fault> {
        match self {
            Self::Postgres(postgres) => postgres.is_changing(since).await,
            // Nothing is ever changed there.
            Self::Flight(_) | Self::BigQuery(_) => Ok(false),
            // A service cannot be asked; by then its own time-out is long over.
            Self::Rest(_) => Ok(false),
        }
    }

    pub async fn describe(&self) -> Result<SourceSchema, Fault> {
        match self {
            Self::Postgres(postgres) => postgres.describe().await,
            Self::Flight(flight) => flight.describe().await,
            Self::BigQuery(warehouse) => warehouse.describe().await,
            // Only contracts know what a service has.
            Self::Rest(_) => Err(Fault::internal("engine.describe")),
        }
    }

    /// Proves that what runs there cannot write.
    pub async fn prove_read_only(&self) -> Result<(), Fault> {
        match self {
            Self::Postgres(postgres) => postgres.prove_read_only().await,
            // It has no users whose rights could be tried: nothing but queries that policy wrote ever reaches it.
            Self::Flight(_) => Ok(()),
            Self::BigQuery(warehouse) => warehouse.prove_read_only().await,
            // Only approved changes are ever sent.
            Self::Rest(_) => Ok(()),
        }
    }
}

/// The engines in use, each opened with its first statement.
#[derive(Default)]
pub(crate) struct Remotes {
    open: Mutex<Vec<(Source, Remote)>>,
}

impl Remotes {
    /// The engine of a source; none where workers read it.
    pub fn of(&self, source: &Source, queue: Duration) -> Result<Option<Remote>, Fault> {
        // What the lock guards is only ever added to.
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, remote)) = open.iter().find(|(known, _)| known == source) {
            return Ok(Some(remote.clone()));
        }
        let Some(remote) = Remote::open(source, queue).transpose()? else { return Ok(None) };
        open.push((source.clone(), remote.clone()));
        Ok(Some(remote))
    }
}
