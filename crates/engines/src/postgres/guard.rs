//! Whether a database holds Gatehouse to what it is meant to: reading, under row-level security.

use super::session::{Session, Who};
use super::{LOOK_SECONDS, Postgres, fault};
use crate::protocol::{Cause, Failed};
use domain::{Fault, Kind};

/// A role above row-level security that Gatehouse is or can take, whoever's request it is for.
const ABOVE: &str = "SELECT min(rolname) FROM pg_catalog.pg_roles \
    WHERE (rolsuper OR rolbypassrls) AND pg_catalog.pg_has_role(session_user, oid, 'MEMBER')";
/// A table with row-level security that does not hold for such a role, since the role owns it.
const OWNED: &str = "SELECT min(oid::pg_catalog.regclass::text) FROM pg_catalog.pg_class \
    WHERE relrowsecurity AND NOT relforcerowsecurity AND pg_catalog.pg_has_role(session_user, relowner, 'MEMBER')";

impl Postgres {
    /// Tries to write, as a statement of a caller would have to: it must fail. A user to whom row-level security does not
    /// apply is no user for Gatehouse either.
    pub async fn prove_read_only(&self) -> Result<(), Fault> {
        let session = Session::begin(&self.pool, &self.schemas, &Who::house(), LOOK_SECONDS).await?;
        let name = self.pool.name();
        let above = first(&session, ABOVE).await.map_err(|e| fault::of(name, &e, LOOK_SECONDS))?;
        let owned = first(&session, OWNED).await.map_err(|e| fault::of(name, &e, LOOK_SECONDS))?;
        let written = session.client().batch_execute("CREATE TABLE public.gatehouse_probe (n int)").await;
        drop(session);
        if written.is_ok() {
            return Err(crate::fault::from_worker(&Failed::new(Cause::Source, "the source is not read-only")));
        }
        let unguarded = |message: String, hint: &str| {
            Err(Fault::new(Kind::Unavailable, "source.unguarded", message)
                .hint(format!("{hint}: docs/OPERATIONS.md has the SQL")))
        };
        match (above, owned) {
            (Some(role), _) => unguarded(
                format!("source `{name}` signs in as, or can take, `{role}`: a role above row-level security"),
                "sign in as a role that is SUPERUSER or BYPASSRLS neither itself nor by membership",
            ),
            (None, Some(table)) => unguarded(
                format!(
                    "source `{name}` can act as the owner of `{table}`, for whom its row-level security does not hold"
                ),
                "sign in as another role, or ALTER TABLE … FORCE ROW LEVEL SECURITY",
            ),
            (None, None) => Ok(()),
        }
    }
}

async fn first(session: &Session, sql: &str) -> Result<Option<String>, tokio_postgres::Error> {
    session.client().query_one(sql, &[]).await?.try_get(0)
}
