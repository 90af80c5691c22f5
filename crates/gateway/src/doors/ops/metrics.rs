//! What is counted of Ops: steps with their time and how they went, and what policy found wrong with scripts.

use domain::Fault;
use domain::package::{Ending, ScriptResult};
use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;
use serde_json::json;
use std::time::Duration;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Step {
    step: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Code {
    code: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct How {
    ending: String,
}

pub struct OpsMetrics {
    registry: Registry,
    seconds: Family<Step, Histogram>,
    violations: Family<Code, Counter>,
    refused: Family<Code, Counter>,
    ended: Family<How, Counter>,
}

impl Default for OpsMetrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("gatehouse_ops");
        let seconds =
            Family::new_with_constructor((|| Histogram::new(exponential_buckets(0.001, 2.0, 16))) as fn() -> Histogram);
        let (violations, refused, ended) = (Family::default(), Family::default(), Family::default());
        registry.register("seconds", "Time that our own share of a step took", seconds.clone());
        registry.register("violations", "What policy found wrong with scripts", violations.clone());
        registry.register("refused", "Requests that were turned away", refused.clone());
        registry.register("scripts_ended", "Scripts by how they ended on their devices", ended.clone());
        Self { registry, seconds, violations, refused, ended }
    }
}

impl OpsMetrics {
    pub fn took(&self, step: &'static str, time: Duration) {
        self.seconds.get_or_create(&Step { step }).observe(time.as_secs_f64());
    }

    /// Codes are those of the policy: nobody can invent one.
    pub fn violated<'a>(&self, faults: impl Iterator<Item = &'a Fault>) {
        for fault in faults {
            self.violations.get_or_create(&Code { code: fault.code.clone() }).inc();
        }
    }

    pub fn refused(&self, fault: &Fault) {
        self.refused.get_or_create(&Code { code: fault.code.clone() }).inc();
    }

    /// `succeeded` and `failed` tell those apart that ran to their end.
    pub fn ended(&self, result: &ScriptResult) {
        let ending = match (result.ending, result.exit_code) {
            (Ending::Exited, Some(0)) => "succeeded".to_owned(),
            (Ending::Exited, _) => "failed".to_owned(),
            (other, _) => json!(other).as_str().unwrap_or_default().to_owned(),
        };
        self.ended.get_or_create(&How { ending }).inc();
    }

    /// Without the line that ends a page of metrics.
    pub fn render(&self) -> String {
        let mut page = String::new();
        // Writing to a string cannot fail.
        let _ = text::encode(&mut page, &self.registry);
        page.trim_end().trim_end_matches("# EOF").to_owned()
    }
}
