//! Scan: what exists, what it costs, and exactly the slice that is needed, as Arrow. Spec 004 §3 and §10.
//!
//! The registry is the contracts: a table's id is its contract's `resource`. Every statement of this door walks the one
//! path ([`crate::streamed`]).

pub mod admin;
pub mod audit;
mod body;
pub mod cache;
pub mod catalog;
pub mod envelope;
pub mod estimate;
mod fetch;
pub mod hybrid;
pub mod metrics;
mod negotiate;
pub mod query;
mod registry;
pub mod results;
pub mod sample;
pub mod schema;
pub mod slice;
mod statistics;
pub mod sync;

use domain::{Flavour, Scan};
use serde::Deserialize;

/// The body of `/api/v2/scan` and `/api/v2/scan/estimate`, §3.4.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScanRequest {
    table_id: String,
    #[serde(default)]
    select: Option<Vec<String>>,
    #[serde(default, rename = "where")]
    filter: Option<String>,
    #[serde(default)]
    order_by: Option<Vec<String>>,
    #[serde(default)]
    limit: Option<u64>,
}

impl ScanRequest {
    /// All that the caller may see of a table.
    fn whole(table_id: String) -> Self {
        Self { table_id, select: None, filter: None, order_by: None, limit: None }
    }

    /// The texts are in the table's own flavour: it is not the caller's to choose.
    fn into_scan(self, flavour: Flavour) -> Scan {
        Scan {
            table: self.table_id,
            select: self.select.unwrap_or_default(),
            // An empty predicate is none.
            filter: self.filter.filter(|text| !text.trim().is_empty()),
            order_by: self.order_by.unwrap_or_default(),
            limit: self.limit,
            flavour,
        }
    }
}
