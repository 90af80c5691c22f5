//! Whether a database holds Gatehouse to what it is meant to: reading, under row-level security.

use super::session::{Session, Who};
use super::{LOOK_SECONDS, Postgres, fault};
use domain::{Fault, Kind};

/// A role above row-level security that Gatehouse is or can take, whoever's request it is for.
const ABOVE: &str = "SELECT min(rolname) FROM pg_catalog.pg_roles \
    WHERE (rolsuper OR rolbypassrls) AND pg_catalog.pg_has_role(session_user, oid, 'MEMBER')";
/// A table with row-level security that does not hold for such a role, since the role owns it.
const OWNED: &str = "SELECT min(oid::pg_catalog.regclass::text) FROM pg_catalog.pg_class \
    WHERE relrowsecurity AND NOT relforcerowsecurity AND pg_catalog.pg_has_role(session_user, relowner, 'MEMBER')";

/// A role that Gatehouse is or can take, and a table that it may write to. Asked by rights and not tried: in a transaction
/// that only reads, every try fails, whatever the rights.
const WRITES: &str = "SELECT r.rolname::text, c.oid::pg_catalog.regclass::text \
    FROM pg_catalog.pg_roles r, pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
    WHERE pg_catalog.pg_has_role(session_user, r.oid, 'MEMBER') AND c.relkind IN ('r', 'p', 'v', 'f') \
    AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_' \
    AND (pg_catalog.has_table_privilege(r.oid, c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE') \
         OR pg_catalog.has_any_column_privilege(r.oid, c.oid, 'INSERT, UPDATE')) \
    ORDER BY 1, 2 LIMIT 1";
/// Such a role, and a schema that it may make tables in.
const MAKES: &str = "SELECT r.rolname::text, n.nspname::text FROM pg_catalog.pg_roles r, pg_catalog.pg_namespace n \
    WHERE pg_catalog.pg_has_role(session_user, r.oid, 'MEMBER') \
    AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_' \
    AND pg_catalog.has_schema_privilege(r.oid, n.oid, 'CREATE') ORDER BY 1, 2 LIMIT 1";

impl Postgres {
    /// Looks whether the database itself would keep Gatehouse from writing, and whether row-level security holds for it: a
    /// second lock beside the transactions that only read. Where Records may write, so may the user.
    pub async fn prove_read_only(&self) -> Result<(), Fault> {
        let session = Session::begin(&self.pool, &self.schemas, &Who::house(), LOOK_SECONDS).await?;
        let found = self.lack(&session).await.map_err(|e| fault::of(self.pool.name(), &e, LOOK_SECONDS))?;
        session.finish().await;
        match found {
            None => Ok(()),
            Some((message, hint)) => Err(Fault::new(Kind::Unavailable, "source.unguarded", message)
                .hint(format!("{hint}: docs/OPERATIONS.md has the SQL"))),
        }
    }

    /// What it is not held to, the worst first, and what to do about it.
    async fn lack(&self, session: &Session) -> Result<Option<(String, &'static str)>, tokio_postgres::Error> {
        let name = self.pool.name();
        if let Some(role) = first(session, ABOVE).await? {
            let message =
                format!("source `{name}` signs in as, or can take, `{role}`: a role above row-level security");
            let hint = "sign in as a role that is SUPERUSER or BYPASSRLS neither itself nor by membership";
            return Ok(Some((message, hint)));
        }
        if let Some(table) = first(session, OWNED).await? {
            let message = format!(
                "source `{name}` can act as the owner of `{table}`, for whom its row-level security does not hold"
            );
            return Ok(Some((message, "sign in as another role, or ALTER TABLE … FORCE ROW LEVEL SECURITY")));
        }
        if self.writable {
            return Ok(None);
        }
        if let Some((role, table)) = pair(session, WRITES).await? {
            let message = format!("source `{name}` signs in as, or can take, `{role}`, who may write to `{table}`");
            return Ok(Some((message, "grant that role SELECT and nothing else")));
        }
        let made = pair(session, MAKES).await?;
        Ok(made.map(|(role, schema)| {
            let message =
                format!("source `{name}` signs in as, or can take, `{role}`, who may make tables in `{schema}`");
            (message, "REVOKE CREATE on that schema from the role and from PUBLIC")
        }))
    }
}

async fn first(session: &Session, sql: &str) -> Result<Option<String>, tokio_postgres::Error> {
    session.client().query_one(sql, &[]).await?.try_get(0)
}

async fn pair(session: &Session, sql: &str) -> Result<Option<(String, String)>, tokio_postgres::Error> {
    let row = session.client().query_opt(sql, &[]).await?;
    row.map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).transpose()
}
