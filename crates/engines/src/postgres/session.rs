//! A transaction that knows who asks.

use super::fault;
use super::pool::{Connection, Pool};
use domain::{Caller, Fault, Kind};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio_postgres::Client;
use tokio_postgres::types::{ToSql, Type};

/// Said before anything else in a transaction, for this transaction alone.
///
/// Names without a schema mean Postgres's own first. The role comes last: what it may not set is set by then.
const INTRODUCTION: &str = "SELECT \
    set_config('search_path', $1, true), set_config('statement_timeout', $2, true), \
    set_config('idle_in_transaction_session_timeout', $2, true), set_config('standard_conforming_strings', 'on', true), \
    set_config('row_security', 'on', true), set_config('TimeZone', 'UTC', true), set_config('DateStyle', 'ISO', true), \
    set_config('IntervalStyle', 'postgres', true), set_config('request.jwt.claims', $3, true), \
    set_config('role', $4, true)";

/// On whose behalf a transaction is.
pub struct Who {
    claims: String,
    /// The role of the database that it takes; `none` is the one that signed in.
    role: String,
}

impl Who {
    /// Claims as PostgREST and Supabase have them, so that policies written for these hold here. Where roles are
    /// configured, a caller whose role has none there may not read.
    pub fn caller(caller: &Caller, roles: &BTreeMap<String, String>) -> Result<Self, Fault> {
        let role = match roles.get(&caller.role) {
            Some(role) => role.clone(),
            None if roles.is_empty() => "none".to_owned(),
            None => {
                let message = format!("your role `{}` has no role in that database", caller.role);
                let hint = "ask whoever keeps gatehouse.toml to name one in the source's `roles`";
                return Err(Fault::new(Kind::Forbidden, "source.no_role", message).hint(hint));
            }
        };
        let mut claims = json!(caller.claims);
        if let Some(object) = claims.as_object_mut() {
            // No claim of a token stands in for who its holder is.
            object.extend(
                [("sub", &caller.actor), ("actor", &caller.actor), ("role", &caller.role)]
                    .map(|(name, value)| (name.to_owned(), json!(value))),
            );
        }
        Ok(Self { claims: claims.to_string(), role })
    }

    /// The house itself, to look at the catalog: nobody's claims.
    pub fn house() -> Self {
        Self { claims: "{}".to_owned(), role: "none".to_owned() }
    }
}

/// What a transaction may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    Read,
    /// Each statement sees what others have committed by then: a change looks again after it has waited for a lock.
    Write,
}

impl Access {
    fn begin(self) -> &'static str {
        match self {
            Self::Read => "BEGIN TRANSACTION READ ONLY",
            Self::Write => "BEGIN TRANSACTION ISOLATION LEVEL READ COMMITTED READ WRITE",
        }
    }
}

/// A connection in a transaction. Unless it is finished, what runs in it is cancelled and the connection lost:
/// any failure may have left something behind in it.
pub struct Session {
    pool: Arc<Pool>,
    connection: Option<Connection>,
}

impl Session {
    /// Begins one that only reads.
    pub async fn begin(pool: &Arc<Pool>, schemas: &[String], who: &Who, seconds: u64) -> Result<Self, Fault> {
        Self::begin_to(Access::Read, pool, schemas, who, seconds).await
    }

    pub async fn begin_to(
        access: Access,
        pool: &Arc<Pool>,
        schemas: &[String],
        who: &Who,
        seconds: u64,
    ) -> Result<Self, Fault> {
        let mut connection = pool.take().await?;
        let mut introduced = introduce(&connection.client, access, schemas, who, seconds).await;
        if introduced.as_ref().is_err_and(fault::is_lost) {
            // It died while it was idle: that should cost nobody a request.
            connection = pool.replace(connection).await?;
            introduced = introduce(&connection.client, access, schemas, who, seconds).await;
        }
        introduced.map_err(|error| fault::introducing(pool.name(), &error, seconds))?;
        Ok(Self { pool: pool.clone(), connection: Some(connection) })
    }

    #[allow(clippy::expect_used, reason = "it is taken out by `finish` and `drop` only, and both end the session")]
    pub fn client(&self) -> &Client {
        &self.connection.as_ref().expect("a session in use has its connection").client
    }

    /// Ends the transaction, and keeps the connection for another.
    pub async fn finish(self) {
        // Nothing was written: whatever keeps it from its end, nothing is lost.
        drop(self.commit().await);
    }

    /// Ends the transaction. What an error means for what was written, only its kind tells.
    pub async fn commit(self) -> Result<(), tokio_postgres::Error> {
        self.end("COMMIT").await
    }

    /// Undoes the transaction, and keeps the connection for another: for when nothing runs in it any more.
    pub async fn undo(self) {
        drop(self.end("ROLLBACK").await);
    }

    async fn end(mut self, word: &str) -> Result<(), tokio_postgres::Error> {
        self.client().batch_execute(word).await?;
        if let Some(connection) = self.connection.take() {
            self.pool.put_back(connection);
        }
        Ok(())
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            self.pool.cancel(connection);
        }
    }
}

async fn introduce(
    client: &Client,
    access: Access,
    schemas: &[String],
    who: &Who,
    seconds: u64,
) -> Result<(), tokio_postgres::Error> {
    let quoted = schemas.iter().map(|schema| format!(", \"{schema}\""));
    let path = format!("pg_catalog{}", quoted.collect::<String>());
    let timeout = seconds.saturating_mul(1_000).min(i32::MAX as u64).to_string();
    let words: [&(dyn ToSql + Sync); 4] = [&path, &timeout, &who.claims, &who.role];
    let params: Vec<_> = words.into_iter().map(|word| (word, Type::TEXT)).collect();
    // Both at once: one way there and back.
    tokio::try_join!(
        biased;
        client.batch_execute(access.begin()),
        client.query_typed(INTRODUCTION, &params),
    )?;
    Ok(())
}
