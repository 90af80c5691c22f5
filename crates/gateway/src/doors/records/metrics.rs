//! What is counted of Records: errors by type, latency, rows written, conflicts.

use super::envelope::{Answer, error_type, status};
use crate::path::Reply;
use domain::Fault;
use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;
use std::time::Duration;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Requests {
    operation: &'static str,
    resource: String,
    status: u16,
    /// `none` where it went well.
    error: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Resource {
    operation: &'static str,
    resource: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Operation {
    operation: &'static str,
}

pub struct RecordsMetrics {
    registry: Registry,
    requests: Family<Requests, Counter>,
    seconds: Family<Operation, Histogram>,
    rows_affected: Family<Resource, Counter>,
    conflicts: Family<Resource, Counter>,
}

impl Default for RecordsMetrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("gatehouse_records");
        let requests = Family::default();
        let seconds =
            Family::new_with_constructor((|| Histogram::new(exponential_buckets(0.001, 2.0, 16))) as fn() -> Histogram);
        let (rows_affected, conflicts) = (Family::default(), Family::default());
        registry.register("requests", "Requests by what came of them", requests.clone());
        registry.register("seconds", "Time from request to reply", seconds.clone());
        registry.register("rows_affected", "Rows written", rows_affected.clone());
        registry.register("conflicts", "Writes that met another one", conflicts.clone());
        Self { registry, requests, seconds, rows_affected, conflicts }
    }
}

impl RecordsMetrics {
    pub fn answered(&self, reply: &Reply, answer: &Answer, took: Duration) {
        let operation = answer.body.operation.map_or("none", |op| op.as_str());
        // Only names of contracts become labels: anybody can invent a resource, and each label is kept for ever.
        let known = !reply.run.contracts.is_empty();
        let resource = answer.body.resource.clone().filter(|_| known).unwrap_or_else(|| "none".to_owned());
        let error = answer.body.error.as_ref().map_or("none", |error| error.kind);
        let about = Resource { operation, resource: resource.clone() };
        self.requests.get_or_create(&Requests { operation, resource, status: answer.status(), error }).inc();
        self.seconds.get_or_create(&Operation { operation }).observe(took.as_secs_f64());
        if let Some(affected) = reply.affected {
            self.rows_affected.get_or_create(&about).inc_by(affected);
        }
        if error == "CONFLICT" {
            self.conflicts.get_or_create(&about).inc();
        }
    }

    /// A request that did not come as far as a run.
    pub fn refused(&self, fault: &Fault) {
        let (operation, resource) = ("none", "none".to_owned());
        let labels = Requests { operation, resource, status: status(fault), error: error_type(fault) };
        self.requests.get_or_create(&labels).inc();
    }

    /// Without the line that ends a page of metrics.
    pub fn render(&self) -> String {
        let mut page = String::new();
        // Writing to a string cannot fail.
        let _ = text::encode(&mut page, &self.registry);
        page.trim_end().trim_end_matches("# EOF").to_owned()
    }
}
