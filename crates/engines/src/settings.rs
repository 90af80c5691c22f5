//! How many workers there are, and what each may use.

use crate::hot::HotSettings;
use sandbox::JailLimits;
use std::time::Duration;

/// How many workers, how long each may live.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Statements that run at the same time; others wait.
    pub concurrency: usize,
    /// Workers kept warm, over all sources and roles.
    pub warm: usize,
    /// How long a statement may wait for its turn.
    pub queue: Duration,
    pub worker_max_age: Duration,
    pub worker_max_statements: u32,
    /// One statement, one worker.
    pub strict: bool,
    pub jail: JailLimits,
    /// Workers that stream whole tables.
    pub scan: Scanning,
    /// Where copies of hot tables are kept; none are without.
    pub hot: Option<HotSettings>,
}

/// The profile of workers for large results: fewer, with more of the machine each.
#[derive(Debug, Clone, Copy)]
pub struct Scanning {
    /// Scans that run at the same time; others wait.
    pub concurrency: usize,
    pub jail: JailLimits,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            concurrency: 6,
            warm: 8,
            queue: Duration::from_secs(10),
            worker_max_age: Duration::from_secs(600),
            worker_max_statements: 1_000,
            strict: false,
            jail: JailLimits::default(),
            scan: Scanning::default(),
            hot: None,
        }
    }
}

impl Default for Scanning {
    fn default() -> Self {
        let cpus = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let jail = JailLimits {
            cpus: f64::from(u32::try_from(cpus).unwrap_or(1)),
            memory_bytes: 1 << 30,
            address_space_bytes: (1 << 30) / 2 * 3,
            ..JailLimits::default()
        };
        Self { concurrency: 8, jail }
    }
}
