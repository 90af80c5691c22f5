//! The house: everything that requests share.

use crate::active::Active;
use crate::config::Config;
use crate::contracts::Contracts;
use crate::datasets::{Dataset, Datasets};
use crate::http::rates::Rates;
use crate::metrics::Metrics;
use crate::planning::Planning;
use domain::{Caller, Fault, Kind, SourceSchema};
use engines::{Engines, Source};
use ledger::Ledger;
use policy::Policy;
use sandbox::{Host, Program, Sandbox};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub struct House {
    pub config: Config,
    pub ledger: Ledger,
    pub engines: Engines,
    pub contracts: Contracts,
    pub datasets: Datasets,
    pub planning: Planning,
    pub metrics: Metrics,
    pub rates: Rates,
    /// Requests on their way, by run.
    pub active: Active,
    /// Every request runs in a task of its own that shutdown waits for.
    pub tasks: TaskTracker,
    pub shutdown: CancellationToken,
    pub started: Instant,
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
        let ledger = Ledger::open(&config.ledger.path, &config.data.join("keys")).map_err(|e| e.to_string())?;
        let datasets = Datasets::load(&config).map_err(CannotOpen)?;
        let engines = Engines::new(open_sandbox(&config)?, config.engines.clone());
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
            planning: Planning::default(),
            metrics: Metrics::default(),
            rates: Rates::new(&config.requests),
            active: Active::default(),
            tasks: TaskTracker::new(),
            shutdown: CancellationToken::new(),
            started: Instant::now(),
            config,
        }))
    }

    pub fn policy(&self) -> Arc<Policy> {
        self.contracts.policy()
    }

    /// What a dataset's source holds, before policy has looked at it.
    pub async fn schema(&self, dataset: &Dataset) -> Result<SourceSchema, Fault> {
        self.engines.describe(&dataset.source).await
    }

    /// A dataset and as much of its schema as this caller may see. One of which they may see
    /// nothing does not exist for them.
    pub async fn dataset(&self, caller: &Caller, id: &str) -> Result<(&Dataset, SourceSchema), Fault> {
        let Some(dataset) = self.datasets.get(id) else { return Err(no_dataset(id)) };
        let view = self.policy().view(caller, &self.schema(dataset).await?);
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
    let libraries = duckdb_library().into_iter().collect();
    let program = Program { path, args: vec![OsString::from("runner")], libraries };
    let host = Host::detect(config.sandbox_user.as_deref()).map_err(|e| e.to_string())?;
    Sandbox::probe(host, program).map_err(|e| {
        CannotOpen(vec![
            e.to_string(),
            "hint: install bubblewrap, or use a kernel with Landlock (`gatehouse doctor` says more)".into(),
        ])
    })
}

/// Where the loader found `libduckdb.so`, if it is not part of this program.
fn duckdb_library() -> Option<PathBuf> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let file = maps.lines().filter_map(|line| line.split_whitespace().nth(5)).find(|f| f.contains("libduckdb"))?;
    PathBuf::from(file).parent().map(PathBuf::from)
}

/// What the house does on its own while it serves.
pub async fn keep_house(house: Arc<House>) {
    let mut reload = tokio::time::interval(Duration::from_millis(500));
    let mut head = tokio::time::interval(house.config.ledger.head_interval);
    let mut daily = tokio::time::interval(Duration::from_secs(24 * 3600));
    loop {
        tokio::select! {
            () = house.shutdown.cancelled() => return,
            _ = reload.tick() => {
                house.contracts.reload(&house.ledger).await;
                house.engines.sweep(Instant::now());
                house.rates.forget_quiet();
            }
            _ = head.tick() => {
                if let Err(error) = house.ledger.sign_head().await {
                    tracing::error!(%error, "the audit chain's head cannot be signed");
                }
            }
            _ = daily.tick() => {
                if let Err(error) = house.ledger.prune(house.config.ledger.keep_days).await {
                    tracing::error!(%error, "old runs cannot be pruned");
                }
            }
        }
    }
}
