//! The house: everything that requests share.

use crate::active::Active;
use crate::audit_lines::AuditLines;
use crate::changes::Owed;
use crate::config::Config;
use crate::contracts::Contracts;
use crate::datasets::{Dataset, Datasets};
use crate::disk::Disk;
use crate::doors::scan::cache::Shelf;
use crate::doors::scan::results::Results;
use crate::http::attempts::Attempts;
use crate::http::jwt::Verifier;
use crate::http::rates::Rates;
use crate::metrics::Metrics;
use crate::planning::Planning;
use crate::scripts::Ops;
use crate::turns::Turns;
use crate::versions::Versions;
use domain::{Caller, Fault, Kind, SourceSchema};
use engines::{Engines, HotSettings, Settings, Source};
use ledger::Ledger;
use policy::Policy;
use sandbox::{Container, Host, Program, Sandbox, Unavailable};
use std::collections::HashMap;
use std::ffi::OsString;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub struct House {
    pub config: Config,
    pub ledger: Ledger,
    pub engines: Engines,
    pub contracts: Contracts,
    pub datasets: Datasets,
    /// The Analyst's audit, besides the ledger.
    pub audit_lines: AuditLines,
    /// What each source was found to hold, by the version of its schema.
    schemas: Mutex<HashMap<String, (String, Arc<SourceSchema>)>>,
    pub planning: Planning,
    /// What judges scripts and signs them.
    pub ops: Ops,
    /// How many statements each actor may have running.
    pub turns: Turns,
    pub metrics: Metrics,
    pub rates: Rates,
    pub attempts: Attempts,
    /// Checks JWTs, where there are keys for them.
    pub verifier: Option<Verifier>,
    /// Replies that are held back at the moment.
    pub held_back: AtomicUsize,
    /// Catalogs, schemas and samples of the Scan door.
    pub shelf: Shelf,
    /// What scans have given before.
    pub results: Results,
    /// Requests on their way, by run.
    pub active: Active,
    /// Changes that have ended and could not be recorded yet.
    pub(crate) owed: Owed,
    /// Every request runs in a task of its own that shutdown waits for.
    pub tasks: TaskTracker,
    pub shutdown: CancellationToken,
    /// The port that it listens on, once it does.
    pub port: OnceLock<u16>,
    /// When the ledger was last tried, and whether it took the write.
    pub(crate) disk: Disk,
    pub(crate) versions: Versions,
    pub(crate) ledger_tried: tokio::sync::Mutex<Option<(Instant, bool)>>,
}

/// Why the house cannot open, each line a problem with its hint.
#[derive(Debug, thiserror::Error)]
#[error("{}", .0.join("\n"))]
pub struct CannotOpen(pub Vec<String>);

impl From<String> for CannotOpen {
    fn from(problem: String) -> Self {
        Self(vec![problem])
    }
}

impl House {
    /// Opens everything that configuration names. Nothing is listening yet.
    pub fn open(config: Config) -> Result<Arc<Self>, CannotOpen> {
        let ledger = config.open_ledger().map_err(|e| e.to_string())?;
        let datasets = Datasets::load(&config).map_err(CannotOpen)?;
        let most_bytes = config.scan.hot_copy_bytes;
        let hot = (most_bytes > 0).then(|| HotSettings { dir: config.data.join("hot"), most_bytes });
        let engines = Engines::new(open_sandbox(&config)?, Settings { hot, ..config.engines.clone() });
        // What a crash left behind of statements over several sources.
        drop(std::fs::remove_dir_all(config.data.join(crate::doors::scan::hybrid::DIRECTORY)));
        Self::of(config, ledger, engines, datasets)
    }

    /// A house over one source that no configuration names, for the command line. It shares the
    /// engines and the ledger of another.
    pub fn over(&self, source: Source) -> Result<Arc<Self>, CannotOpen> {
        Self::of(self.config.clone(), self.ledger.clone(), self.engines.clone(), Datasets::only(source))
    }

    fn of(config: Config, ledger: Ledger, engines: Engines, datasets: Datasets) -> Result<Arc<Self>, CannotOpen> {
        Ok(Arc::new(Self {
            ledger,
            engines,
            contracts: Contracts::open(&config.contracts_dir).map_err(CannotOpen)?,
            datasets,
            audit_lines: AuditLines::new(&config.audit).map_err(|e| format!("no thread for the audit lines: {e}"))?,
            schemas: Mutex::default(),
            planning: Planning::new(&config),
            ops: Ops::open(&config)?,
            turns: Turns::new(config.engines.concurrency, config.engines.queue),
            metrics: Metrics::default(),
            rates: Rates::new(&config),
            attempts: Attempts::default(),
            verifier: Verifier::new(&config.jwt, config.names),
            held_back: AtomicUsize::new(0),
            shelf: Shelf::default(),
            results: Results::new(config.scan.result_cache_bytes),
            versions: Versions::default(),
            active: Active::default(),
            owed: Owed::default(),
            tasks: TaskTracker::new(),
            shutdown: CancellationToken::new(),
            port: OnceLock::new(),
            ledger_tried: tokio::sync::Mutex::default(),
            disk: Disk::of(&config),
            config,
        }))
    }

    pub fn policy(&self) -> Arc<Policy> {
        self.contracts.policy()
    }

    /// What a dataset's source holds, before policy has looked at it. Asked anew when the data has
    /// changed.
    pub async fn schema(&self, dataset: &Dataset) -> Result<Arc<SourceSchema>, Fault> {
        if dataset.source.is_service() {
            return Ok(Arc::new(self.policy().service_schema(&dataset.id)));
        }
        let (data_version, version) = (dataset.source.data_version()?, dataset.source.schema_version()?);
        let known =
            self.schemas().get(&dataset.id).filter(|(seen, _)| *seen == version).map(|(_, known)| known.clone());
        let schema = match known {
            Some(known) if known.data_version == data_version => return Ok(known),
            // Rows have come or changed, and the tables are what they were.
            Some(known) => Arc::new(SourceSchema { data_version, ..(*known).clone() }),
            None => Arc::new(self.describe(dataset).await?),
        };
        self.schemas().insert(dataset.id.clone(), (version, schema.clone()));
        Ok(schema)
    }

    /// Files declare no foreign keys, and databases not always: those that follow from the names are
    /// added, so that they can be joined along.
    async fn describe(&self, dataset: &Dataset) -> Result<SourceSchema, Fault> {
        let mut schema = self.engines.describe(&dataset.source).await?;
        for (table, key) in planner::offline::inferred_keys(&schema) {
            if let Some(table) = schema.tables.iter_mut().find(|t| t.name == table) {
                table.inferred.extend(key.columns.iter().cloned());
                table.foreign_keys.push(key);
            }
        }
        Ok(schema)
    }

    /// All sources are looked at anew: nobody tells when one on another machine has changed.
    pub(crate) fn forget_schemas(&self) {
        self.schemas().clear();
    }

    /// A source that has changed under a statement is looked at anew before the next one.
    pub(crate) fn note_change(&self, dataset: &Dataset, fault: &Fault) {
        if matches!(fault.code.as_str(), "source.table_gone" | "source.schema_changed") {
            self.schemas().remove(&dataset.id);
        }
    }

    fn schemas(&self) -> std::sync::MutexGuard<'_, HashMap<String, (String, Arc<SourceSchema>)>> {
        self.schemas.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A dataset and as much of its schema as this caller may see. One of which they may see
    /// nothing does not exist for them.
    pub async fn dataset(&self, caller: &Caller, id: &str) -> Result<(&Dataset, SourceSchema), Fault> {
        self.seen(caller, id, self.datasets.get(id)).await
    }

    /// The same for who plans for Records: services are there too.
    pub async fn source(&self, caller: &Caller, id: &str) -> Result<(&Dataset, SourceSchema), Fault> {
        self.seen(caller, id, self.datasets.source(id)).await
    }

    async fn seen<'h>(
        &self,
        caller: &Caller,
        id: &str,
        found: Option<&'h Dataset>,
    ) -> Result<(&'h Dataset, SourceSchema), Fault> {
        let Some(dataset) = found else { return Err(no_dataset(id)) };
        let schema = self.schema(dataset).await?;
        let view = self.policy().view(caller, &schema);
        if view.tables.is_empty() { Err(no_dataset(id)) } else { Ok((dataset, view)) }
    }
}

fn no_dataset(id: &str) -> Fault {
    let shown: String = id.chars().take(64).collect();
    Fault::new(Kind::NotFound, "dataset.unknown", format!("there is no dataset `{shown}`"))
        .hint("`GET /datasets` lists those that you can see")
}

/// Finds out what this machine can hold a worker with. The worker is this program itself.
pub fn open_sandbox(config: &Config) -> Result<Sandbox, CannotOpen> {
    let path = std::env::current_exe().map_err(|e| format!("cannot find this program's own file: {e}"))?;
    let program = Program { path, args: vec![OsString::from("runner")], libraries: engines::duckdb_libraries() };
    let mut host = Host::detect(config.sandbox_user.as_deref()).map_err(unavailable)?;
    host.container = config.sandbox_image.as_deref().map(Container::of);
    let hint = match host.container {
        None => "hint: install bubblewrap, or use a kernel with Landlock (`gatehouse doctor` says more)",
        Some(_) => {
            "hint: start the Docker engine and build the image (docs/OPERATIONS.md), or unset `sandbox.image` \
             (`RUNNER_IMAGE`) to use the native sandbox"
        }
    };
    Sandbox::probe(host, program).map_err(|e| CannotOpen(vec![unavailable(e), hint.to_owned()]))
}

fn unavailable(why: Unavailable) -> String {
    let fault = Fault::from(why);
    format!("{}: {}", fault.code, fault.message)
}

/// What the house does on its own while it serves.
pub async fn keep_house(house: Arc<House>) {
    let mut reload = tokio::time::interval(Duration::from_millis(500));
    let mut head = tokio::time::interval(house.config.ledger.head_interval);
    let mut daily = tokio::time::interval(Duration::from_secs(24 * 3600));
    let mut expiries = tokio::time::interval(Duration::from_secs(30));
    loop {
        tokio::select! {
            () = house.shutdown.cancelled() => return,
            _ = reload.tick() => {
                house.contracts.reload(&house.ledger).await;
                house.engines.sweep(Instant::now());
                house.rates.forget_quiet();
                house.attempts.forget_quiet(Instant::now());
            }
            _ = head.tick() => {
                if let Err(error) = house.ledger.sign_head().await {
                    tracing::error!(%error, "the audit chain's head cannot be signed");
                }
            }
            _ = expiries.tick() => house.expire_scripts().await,
            _ = daily.tick() => {
                if let Err(error) = house.ledger.prune(house.config.ledger.keep_days).await {
                    tracing::error!(%error, "old runs cannot be pruned");
                }
            }
        }
    }
}
