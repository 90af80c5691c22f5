//! Servers that share a ledger: who is there, what each is working on, and what a dead one left behind.

use crate::audit::{self, AuditEvent};
use crate::store::{Conn, Dialect, Store, args, postgres};
use crate::{Ledger, LedgerError, rates, scans, time};
use domain::RunId;
use jiff::Timestamp;
use serde_json::json;
use std::collections::BTreeMap;
use std::fs::File;
use std::sync::{Mutex, PoisonError};
use tokio::sync::OnceCell;

/// This process among the servers, once it has joined them.
#[derive(Default)]
pub(crate) struct Membership {
    joined: OnceCell<Joined>,
    /// What was said last of the requests on their way.
    told: Mutex<String>,
}

struct Joined {
    id: String,
    /// Held as long as this server lives, where the ledger is a file.
    _life: Option<File>,
}

/// A request on its way, and whose it is.
pub type Running = (RunId, String);

/// Where a run is on its way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Elsewhere {
    /// The name of that server.
    pub server: String,
    pub actor: String,
}

/// Beats after which what nobody needs any more is cleared away.
const TIDY: i64 = 64;
/// Requests on their way that others are told of; more are served all the same.
const TOLD: usize = 1_000;

impl Ledger {
    /// Joins the servers of this ledger under a name for people. Refused where the audit key is another one than theirs.
    pub async fn join(&self, name: &str) -> Result<(), LedgerError> {
        let public = self.key.public();
        let known: String = self.write(move |conn| keep_key(conn, &public)).await?;
        if known != self.key.public() {
            return Err(LedgerError::OtherKey);
        }
        self.membership.joined.get_or_try_init(|| self.become_server(name)).await.map(drop)
    }

    /// Whose work is under way. A process that serves nobody (the command line) joins when it begins some.
    pub async fn server_id(&self) -> Result<&str, LedgerError> {
        let name = format!("process {}", std::process::id());
        let joined = self.membership.joined.get_or_try_init(|| self.become_server(&name)).await?;
        Ok(&joined.id)
    }

    async fn become_server(&self, name: &str) -> Result<Joined, LedgerError> {
        let (id, name) = (uuid::Uuid::new_v4().simple().to_string(), name.to_owned());
        let life = match &*self.store {
            Store::Sqlite(store) => Some(store.lives.begin(&id)?),
            Store::Postgres(_) => None,
        };
        let lives = match &*self.store {
            Store::Sqlite(_) => None,
            Store::Postgres(store) => Some(store.lives.clone()),
        };
        let new = id.clone();
        self.write(move |conn| {
            if let Some(lives) = &lives {
                lives.begin(conn, &new)?;
            }
            enter(conn, &new, &name)
        })
        .await?;
        Ok(Joined { id, _life: life })
    }

    /// Every second or so, by a server: it lives, and these requests are on their way. What servers left behind that are
    /// dead is settled; how many those were.
    pub async fn beat(&self, running: &[Running]) -> Result<usize, LedgerError> {
        let beaten = self.try_beat(running).await;
        if let (Err(_), Store::Postgres(store)) = (&beaten, &*self.store) {
            store.lives.begin_anew();
        }
        beaten
    }

    async fn try_beat(&self, running: &[Running]) -> Result<usize, LedgerError> {
        let id = self.server_id().await?.to_owned();
        let running: BTreeMap<String, &str> =
            running.iter().take(TOLD).map(|(run, actor)| (run.to_string(), actor.as_str())).collect();
        let running = serde_json::to_string(&running)?;
        let others = self.tell_and_look(&id, running).await?;
        let overdue = match &*self.store {
            Store::Sqlite(store) => {
                others.iter().map(|(id, _)| id).filter(|id| store.lives.is_over(id)).cloned().collect()
            }
            Store::Postgres(store) => store.lives.overdue(&others),
        };
        let mut buried = 0;
        for dead in overdue {
            if self.bury(dead).await? {
                buried += 1;
            }
        }
        Ok(buried)
    }

    /// Says what there is to say; the other servers with their beats. A file has locks to tell who lives: it is written
    /// only for what is new.
    async fn tell_and_look(&self, id: &str, running: String) -> Result<Vec<(String, i64)>, LedgerError> {
        let (me, said) = (id.to_owned(), running.clone());
        let told = self.membership.told.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if !self.is_shared() && told == running {
            return self.read(move |conn| others(conn, &me)).await;
        }
        let others = self.write(move |conn| tell(conn, &me, &said).and_then(|()| others(conn, &me))).await?;
        *self.membership.told.lock().unwrap_or_else(PoisonError::into_inner) = running;
        Ok(others)
    }

    /// Settles what a server left behind, if it is as dead as it seems.
    async fn bury(&self, dead: String) -> Result<bool, LedgerError> {
        let id = dead.clone();
        let buried = self.write(move |conn| bury(conn, &id)).await?;
        if let (true, Store::Sqlite(store)) = (buried, &*self.store) {
            store.lives.forget(&dead);
        }
        Ok(buried)
    }

    /// At a stop, when nothing is under way any more.
    pub async fn leave(&self) -> Result<(), LedgerError> {
        let Some(joined) = self.membership.joined.get() else { return Ok(()) };
        let id = joined.id.clone();
        self.write(move |conn| {
            // What is left all the same is settled like that of a dead server.
            scans::abandon(conn, &id, Timestamp::now())?;
            conn.execute("DELETE FROM servers WHERE id = $1", args![&id]).map(drop)
        })
        .await?;
        if let Store::Sqlite(store) = &*self.store {
            store.lives.forget(&joined.id);
        }
        Ok(())
    }

    /// A run that is on its way at another server.
    pub async fn running_elsewhere(&self, run: RunId) -> Result<Option<Elsewhere>, LedgerError> {
        let run = run.to_string();
        self.read(move |conn| elsewhere(conn, &run)).await
    }
}

/// The key of this ledger: that of the first server that joined.
fn keep_key(conn: &dyn Conn, public: &str) -> Result<String, LedgerError> {
    conn.execute("INSERT INTO audit_key (one, public) VALUES (1, $1) ON CONFLICT (one) DO NOTHING", args![public])?;
    conn.only("SELECT public FROM audit_key", &[])?.get("public")
}

fn enter(conn: &dyn Conn, id: &str, name: &str) -> Result<(), LedgerError> {
    let sql = "INSERT INTO servers (id, name, started_at, beat, running_json) VALUES ($1, $2, $3, 0, '{}')";
    conn.execute(sql, args![id, name, time::text(Timestamp::now())]).map(drop)
}

fn tell(conn: &dyn Conn, id: &str, running: &str) -> Result<(), LedgerError> {
    let sql = "UPDATE servers SET beat = beat + 1, running_json = $2 WHERE id = $1 RETURNING beat";
    let beat = conn.first(sql, args![id, running])?.map(|row| row.get::<i64>("beat")).transpose()?;
    match beat {
        // Others took us for dead. What was under way is settled; we go on.
        None => enter(conn, id, "back from the dead"),
        Some(beat) if beat % TIDY == 0 && conn.dialect() == Dialect::Postgres => rates::forget_quiet(conn),
        Some(_) => Ok(()),
    }
}

fn others(conn: &dyn Conn, id: &str) -> Result<Vec<(String, i64)>, LedgerError> {
    let found = conn.query("SELECT id, beat FROM servers WHERE id <> $1", args![id])?;
    found.iter().map(|row| Ok((row.get("id")?, row.get("beat")?))).collect()
}

/// Every kind of work that a server may leave behind is settled here. False when it lives after all, or another server
/// was faster.
fn bury(conn: &dyn Conn, id: &str) -> Result<bool, LedgerError> {
    if conn.dialect() == Dialect::Postgres && !postgres::is_let_go(conn, id)? {
        return Ok(false);
    }
    let Some(dead) = conn.first("DELETE FROM servers WHERE id = $1 RETURNING name", args![id])? else {
        return Ok(false);
    };
    let name: String = dead.get("name")?;
    let scans = scans::abandon(conn, id, Timestamp::now())?;
    let detail = json!({ "server": id, "name": name, "scans": scans });
    audit::append(conn, &AuditEvent::new("server.lost").detail(detail)).map(|_| true)
}

fn elsewhere(conn: &dyn Conn, run: &str) -> Result<Option<Elsewhere>, LedgerError> {
    for server in conn.query("SELECT name, running_json FROM servers", &[])? {
        let mut running: BTreeMap<String, String> = server.json("running_json")?;
        if let Some(actor) = running.remove(run) {
            return Ok(Some(Elsewhere { server: server.get("name")?, actor }));
        }
    }
    Ok(None)
}
