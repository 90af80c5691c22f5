//! The sidecar of a copy: the source of truth for a refresh (spec 004 §4.2).

use crate::client::ScanRequest;
use crate::problem::{Problem, Result};
use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::path::Path;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Meta {
    pub name: String,
    pub table_id: String,
    pub select: Option<Vec<String>>,
    #[serde(rename = "where")]
    pub filter: Option<String>,
    pub limit: Option<u64>,
    pub order_by: Option<Vec<String>>,
    pub fetched_at: Timestamp,
    /// When the server evaluated `CURRENT_DATE` and the like.
    pub effective_as_of: Timestamp,
    pub rows: u64,
    pub bytes_local: u64,
    pub estimated_scan_bytes_at_fetch: Option<u64>,
    /// Of the content, whatever pieces it came in.
    pub result_hash_md5: String,
    // What follows is ours.
    pub server: String,
    /// Columns with the types of their source, to tell when these change.
    pub columns: Vec<ColumnMeta>,
    /// The server cut the result at a limit of its own.
    pub truncated: bool,
    /// Resources of which policy showed only some rows.
    pub filtered_by: Vec<String>,
    pub run_id: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColumnMeta {
    pub name: String,
    #[serde(rename = "type")]
    pub kind: String,
}

impl Meta {
    /// The fetch that made it. Columns that came to the table since are left out.
    pub fn request(&self) -> ScanRequest {
        let all = || self.columns.iter().map(|column| column.name.clone()).collect();
        ScanRequest {
            table_id: self.table_id.clone(),
            select: Some(self.select.clone().unwrap_or_else(all)),
            filter: self.filter.clone(),
            order_by: self.order_by.clone(),
            limit: self.limit,
        }
    }
}

/// The sidecar of a table that `da sync` keeps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TableMeta {
    pub table_id: String,
    /// As the manifest named it: another one means other data, or another view of it.
    pub version: String,
    pub synced_at: Timestamp,
    pub rows: u64,
    pub bytes_local: u64,
    /// Of the file, as the server sent it.
    pub sha256: String,
    pub server: String,
    /// Whose view of the table this is.
    pub identity: String,
}

pub fn parse<T: DeserializeOwned>(path: &Path, text: &[u8]) -> Result<T> {
    serde_json::from_slice(text).map_err(|error| {
        let message = format!("`{}` is no sidecar: {error}", path.display());
        Problem::invalid("bad_sidecar", message, "remove it with its .parquet file, and fetch again")
    })
}
