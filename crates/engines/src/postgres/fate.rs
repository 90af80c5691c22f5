//! What became of transactions whose end nobody saw.

use super::session::{Session, Who};
use super::{Postgres, fault};
use domain::Fault;
use std::time::Duration;
use tokio_postgres::{Error, Row};

/// How long an answer may take.
const PATIENCE_SECONDS: u64 = 10;
/// Between two looks at a transaction that has not ended.
const LOOK: Duration = Duration::from_millis(50);

/// Those of ours that have written. One that waits for its COMMIT to be durable is among them.
const CHANGING: &str = "SELECT EXISTS (SELECT FROM pg_stat_activity \
    WHERE usename = session_user AND datname = current_database() AND pid <> pg_backend_pid() \
    AND backend_xid IS NOT NULL AND xact_start < clock_timestamp() - make_interval(secs => $1))";

/// A transaction, and the server that it was one of: another one, that took over from it, may have given its id again.
pub struct Mark {
    xid: String,
    server: String,
}

impl Mark {
    /// Asked within the transaction.
    pub const ASKED: &str = "SELECT pg_current_xact_id_if_assigned()::text, pg_postmaster_start_time()::text";

    /// None where nothing was written.
    pub fn of(row: &Row) -> Result<Option<Self>, Error> {
        let (xid, server) = (row.try_get::<_, Option<String>>(0)?, row.try_get(1)?);
        Ok(xid.map(|xid| Self { xid, server }))
    }

    fn fate(&self, status: Option<&str>, server: &str) -> Fate {
        match status {
            _ if server != self.server => Fate::Forgotten,
            Some("committed") => Fate::Made,
            Some("aborted") => Fate::NotMade,
            Some(_) => Fate::Open,
            None => Fate::Forgotten,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    Made,
    NotMade,
    /// It has ended, and the database does not know how.
    Forgotten,
    /// It has not ended, or the database cannot be asked.
    Open,
}

impl Postgres {
    /// What became of a transaction, as soon as the database says so.
    pub(super) async fn fate(&self, mark: &Mark) -> Fate {
        let asked = async {
            loop {
                match self.status(mark).await {
                    Ok(Fate::Open) | Err(_) => tokio::time::sleep(LOOK).await,
                    Ok(fate) => return fate,
                }
            }
        };
        tokio::time::timeout(Duration::from_secs(PATIENCE_SECONDS), asked).await.unwrap_or(Fate::Open)
    }

    async fn status(&self, mark: &Mark) -> Result<Fate, Fault> {
        let session = Session::begin(&self.pool, &self.schemas, &Who::house(), PATIENCE_SECONDS).await?;
        let asked = "SELECT pg_xact_status($1::text::xid8), pg_postmaster_start_time()::text";
        let row = session.client().query_one(asked, &[&mark.xid]).await.map_err(|e| self.told(&e))?;
        let status: Option<String> = row.try_get(0).map_err(|e| self.told(&e))?;
        let server: String = row.try_get(1).map_err(|e| self.told(&e))?;
        session.finish().await;
        Ok(mark.fate(status.as_deref(), &server))
    }

    /// Whether a change of ours that began longer ago than this has not ended.
    pub async fn is_changing(&self, since: Duration) -> Result<bool, Fault> {
        let session = Session::begin(&self.pool, &self.schemas, &Who::house(), PATIENCE_SECONDS).await?;
        let row = session.client().query_one(CHANGING, &[&since.as_secs_f64()]).await;
        let changing = row.and_then(|row| row.try_get(0)).map_err(|e| self.told(&e))?;
        session.finish().await;
        Ok(changing)
    }

    fn told(&self, error: &Error) -> Fault {
        fault::of(self.pool.name(), error, PATIENCE_SECONDS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Only the server that ran a transaction knows what became of it.
    #[test]
    fn another_server_is_not_believed() {
        let mark = Mark { xid: "7".into(), server: "Monday".into() };
        for (status, same, other) in [
            (Some("committed"), Fate::Made, Fate::Forgotten),
            (Some("aborted"), Fate::NotMade, Fate::Forgotten),
            (Some("in progress"), Fate::Open, Fate::Forgotten),
            (None, Fate::Forgotten, Fate::Forgotten),
        ] {
            assert_eq!((mark.fate(status, "Monday"), mark.fate(status, "Tuesday")), (same, other), "{status:?}");
        }
    }
}
