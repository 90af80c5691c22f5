//! A file of settings: `key: value` lines, as YAML. Unknown keys are refused.

use crate::problem::{Problem, Result};
use serde::Deserialize;
use std::io::ErrorKind;
use std::path::Path;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    pub server: Option<String>,
    pub data_dir: Option<String>,
    pub snapshot_quota_gb: Option<u64>,
    pub snapshot_stale_warn_days: Option<u32>,
    pub fetch_default_estimate: Option<bool>,
}

impl File {
    /// No file says nothing.
    pub fn read(path: &Path) -> Result<Self> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                return Ok(Self::default());
            }
            Err(error) => return Err(Problem::file(&format!("`{}` cannot be read", path.display()), &error)),
        };
        if text.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#')) {
            return Ok(Self::default());
        }
        serde_saphyr::from_str(&text).map_err(|error| {
            let why = error.to_string();
            let message = format!("`{}`: {}", path.display(), why.lines().next().unwrap_or_default());
            Problem::invalid(
                "bad_config",
                message,
                "keys are server, data_dir, snapshot_quota_gb, snapshot_stale_warn_days and fetch_default_estimate",
            )
        })
    }
}
