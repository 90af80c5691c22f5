//! What is counted, for Prometheus. `/metrics` needs an admin's token.

use crate::disk::Space;
use crate::doors::ops::metrics::OpsMetrics;
use crate::doors::records::metrics::RecordsMetrics;
use crate::doors::scan::metrics::ScanMetrics;
use domain::Run;
use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct RequestLabels {
    pub route: String,
    pub method: &'static str,
    pub status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct RunLabels {
    pub door: &'static str,
    pub purpose: &'static str,
    pub status: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct StepLabels {
    pub step: &'static str,
}

pub struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    runs: Family<RunLabels, Counter>,
    steps: Family<StepLabels, Histogram>,
    pub rate_limited: Counter,
    pub active_runs: Gauge,
    disk_free: Gauge,
    disk_reserve: Gauge,
    pub scans: ScanMetrics,
    pub records: RecordsMetrics,
    pub ops: OpsMetrics,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("gatehouse");
        let requests = Family::default();
        let runs = Family::default();
        let steps = Family::new_with_constructor(
            (|| Histogram::new(exponential_buckets(0.000_1, 2.0, 20))) as fn() -> Histogram,
        );
        let rate_limited = Counter::default();
        let active_runs = Gauge::default();
        let (disk_free, disk_reserve) = (Gauge::default(), Gauge::default());
        registry.register("http_requests", "Requests answered", requests.clone());
        registry.register("runs", "Runs recorded", runs.clone());
        registry.register("step_seconds", "Time spent in each step of the path", steps.clone());
        registry.register("rate_limited", "Requests refused for their rate", rate_limited.clone());
        registry.register("active_runs", "Runs on their way", active_runs.clone());
        let free = "Free space on the disk of the ledger's file, -1 where it is not known";
        registry.register("ledger_disk_free_bytes", free, disk_free.clone());
        let reserve = "Free space below which new work is refused; warn at four times as much";
        registry.register("ledger_disk_reserve_bytes", reserve, disk_reserve.clone());
        let (scans, records, ops) = (ScanMetrics::default(), RecordsMetrics::default(), OpsMetrics::default());
        Self {
            registry,
            requests,
            runs,
            steps,
            rate_limited,
            active_runs,
            disk_free,
            disk_reserve,
            scans,
            records,
            ops,
        }
    }
}

impl Metrics {
    pub fn disk(&self, space: Option<Space>) {
        let bytes = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX);
        self.disk_free.set(space.map_or(-1, |space| bytes(space.free)));
        self.disk_reserve.set(space.map_or(0, |space| bytes(space.reserve)));
    }

    pub fn answered(&self, labels: RequestLabels) {
        self.requests.get_or_create(&labels).inc();
    }

    pub fn ran(&self, run: &Run) {
        let labels = RunLabels { door: run.door.as_str(), purpose: run.purpose.as_str(), status: run.status.as_str() };
        self.runs.get_or_create(&labels).inc();
        let steps = [("plan", run.timings.plan_ms), ("check", run.timings.check_ms), ("run", run.timings.run_ms)];
        for (step, milliseconds) in steps {
            if milliseconds > 0.0 {
                self.steps.get_or_create(&StepLabels { step }).observe(milliseconds / 1e3);
            }
        }
    }

    pub fn render(&self) -> String {
        let mut text = self.scans.render() + &self.records.render() + &self.ops.render();
        // Writing to a string cannot fail.
        let _ = text::encode(&mut text, &self.registry);
        text
    }
}
