//! What a statement would read and give, without running it.
//!
//! Postgres's own figures are made from statistics over all rows, also those that row-level security hides, and sizes of all
//! columns. Where something of that is hidden, the rows are counted as the caller, for a short time, or not known.

use super::params;
use super::rows::Raw;
use super::session::Session;
use crate::protocol::{Estimate, Query};
use serde_json::Value;
use std::time::Duration;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Error, Row};

/// How long rows are counted for an estimate.
const COUNTING: Duration = Duration::from_secs(2);

/// Whether all of these are plain tables without row-level security, and how large they are. One that is not found, or found
/// twice, may be anything.
const TABLES: &str = "SELECT coalesce(bool_and(c.relkind IN ('r', 'p') AND NOT c.relrowsecurity), false) \
    AND count(*) = (SELECT count(DISTINCT t) FROM unnest($1::text[]) AS t), \
    coalesce(sum(pg_relation_size(c.oid)), 0)::bigint \
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
    WHERE CASE n.nspname WHEN 'public' THEN c.relname ELSE n.nspname || '.' || c.relname END = ANY($1::text[])";

pub struct Asked<'a> {
    pub query: &'a Query,
    pub tables: &'a [String],
    /// Whether policy shows some of the rows only.
    pub filtered: bool,
}

impl Asked<'_> {
    pub async fn of(&self, session: Session) -> Result<Estimate, Error> {
        let tables = session.client().query_one(TABLES, &[&self.tables]).await?;
        let (open, bytes): (bool, i64) = (tables.try_get(0)?, tables.try_get(1)?);
        if !open || self.filtered || !self.query.sees_all {
            return self.counted(session).await;
        }
        let explained = self.ask(&session, &format!("EXPLAIN (FORMAT JSON) {}", self.query.sql)).await?;
        session.finish().await;
        let plan: Value = explained
            .try_get::<_, Raw<'_>>(0)
            .map(|Raw(json)| json.to_vec())
            .map_or(Value::Null, |json| serde_json::from_slice(&json).unwrap_or_default());
        let figure = |name: &str| plan.pointer(&format!("/0/Plan/{name}")).and_then(Value::as_u64);
        let result_rows = figure("Plan Rows").map(|rows| rows.min(self.query.rows));
        Ok(Estimate {
            scan_bytes: u64::try_from(bytes).ok(),
            result_rows,
            result_bytes: result_rows.zip(figure("Plan Width")).map(|(rows, width)| rows.saturating_mul(width)),
        })
    }

    /// As the caller, so that it tells nothing that they could not count themselves.
    async fn counted(&self, session: Session) -> Result<Estimate, Error> {
        let sql = format!("SELECT count(*) FROM ({}) AS counted", self.query.sql);
        let counted = match tokio::time::timeout(COUNTING, self.ask(&session, &sql)).await {
            Ok(row) => {
                session.finish().await;
                Some(row?.try_get::<_, i64>(0)?)
            }
            // Its session is dropped here, and the count is cancelled with it.
            Err(_) => None,
        };
        let result_rows = counted.and_then(|rows| u64::try_from(rows).ok()).map(|rows| rows.min(self.query.rows));
        Ok(Estimate { scan_bytes: None, result_rows, result_bytes: None })
    }

    async fn ask(&self, session: &Session, sql: &str) -> Result<Row, Error> {
        let (types, values) = params::of(&self.query.params);
        let statement = session.client().prepare_typed(sql, &types).await?;
        let values: Vec<&(dyn ToSql + Sync)> = values.iter().map(|v| v.as_ref() as &(dyn ToSql + Sync)).collect();
        session.client().query_one(&statement, &values).await
    }
}
