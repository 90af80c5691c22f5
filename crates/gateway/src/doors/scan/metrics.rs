//! What is counted of scans, by the names of §10.7.

use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use std::collections::VecDeque;
use std::fmt::Write;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Requests {
    status: &'static str,
    user: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct User {
    user: String,
}

/// Latencies that quantiles are taken over: the last ones.
const RECENT: usize = 1_024;

#[derive(Default)]
struct Latencies {
    recent: VecDeque<f64>,
    sum: f64,
    count: u64,
}

pub struct ScanMetrics {
    registry: Registry,
    requests: Family<Requests, Counter>,
    bytes: Family<User, Counter>,
    concurrent: Family<User, Gauge>,
    latencies: Mutex<Latencies>,
}

impl Default for ScanMetrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("agnes_v2_scan");
        let (requests, bytes, concurrent) = (Family::default(), Family::default(), Family::default());
        registry.register("request", "Scans and estimates by what came of them", requests.clone());
        registry.register("bytes", "Bytes returned", bytes.clone());
        registry.register("concurrent_gauge", "Scans under way", concurrent.clone());
        Self { registry, requests, bytes, concurrent, latencies: Mutex::default() }
    }
}

impl ScanMetrics {
    pub fn began(&self, actor: &str) {
        self.concurrent.get_or_create(&User { user: actor.to_owned() }).inc();
    }

    pub fn ended(&self, actor: &str) {
        self.concurrent.get_or_create(&User { user: actor.to_owned() }).dec();
    }

    pub fn done(&self, actor: &str, status: &'static str, bytes: u64, latency: Duration) {
        let user = actor.to_owned();
        self.requests.get_or_create(&Requests { status, user: user.clone() }).inc();
        self.bytes.get_or_create(&User { user }).inc_by(bytes);
        let mut latencies = self.latencies.lock().unwrap_or_else(PoisonError::into_inner);
        if latencies.recent.len() == RECENT {
            latencies.recent.pop_front();
        }
        latencies.recent.push_back(latency.as_secs_f64());
        latencies.sum += latency.as_secs_f64();
        latencies.count += 1;
    }

    /// Without the line that ends a page of metrics.
    pub fn render(&self) -> String {
        let mut page = String::new();
        // Writing to a string cannot fail.
        let _ = text::encode(&mut page, &self.registry);
        let mut page = page.trim_end().trim_end_matches("# EOF").to_owned();
        let latencies = self.latencies.lock().unwrap_or_else(PoisonError::into_inner);
        let mut recent: Vec<f64> = latencies.recent.iter().copied().collect();
        recent.sort_by(f64::total_cmp);
        let name = "agnes_v2_scan_latency_seconds";
        let _ = writeln!(page, "# HELP {name} Time from request to the last byte, of the last {RECENT}.");
        let _ = writeln!(page, "# TYPE {name} summary");
        for (quantile, percent) in [("0.5", 50), ("0.9", 90), ("0.99", 99)] {
            let at = recent.len().saturating_sub(1) * percent / 100;
            let value = recent.get(at).copied().unwrap_or(f64::NAN);
            let _ = writeln!(page, "{name}{{quantile=\"{quantile}\"}} {value}");
        }
        let _ = writeln!(page, "{name}_sum {}\n{name}_count {}", latencies.sum, latencies.count);
        page
    }
}
