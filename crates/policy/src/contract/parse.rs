//! YAML text to [`Contract`], within a budget.

use super::Contract;
use super::error::ContractError;
use serde::Deserialize;
use serde_saphyr::{DuplicateKeyPolicy, MergeKeyPolicy};

/// A contract is a page of text: whatever is larger is a mistake or an attack.
const MAX_BYTES: usize = 128 * 1024;

/// Reads one file. The first problem of its form is reported; problems across keys come later.
pub fn parse(file: &str, yaml: &str) -> Result<Contract, ContractError> {
    if yaml.len() > MAX_BYTES {
        let message = format!("the file has {} bytes, more than {MAX_BYTES}", yaml.len());
        return Err(ContractError::new(file, "file", message, "write one contract per file"));
    }
    let mut key = String::from("file");
    serde_saphyr::with_deserializer_from_str_with_options(yaml, options(), |de| {
        let mut track = serde_path_to_error::Track::new();
        let result = Contract::deserialize(serde_path_to_error::Deserializer::new(de, &mut track));
        if result.is_err() {
            key = track.path().to_string();
        }
        result
    })
    .map_err(|error| {
        // Where the path ends in the middle of a key, the message says which.
        let text = error.without_snippet().to_string();
        ContractError::new(file, key, text.lines().next().unwrap_or_default(), "see docs/CONTRACTS.md for the keys")
    })
}

/// No aliases, merges or duplicate keys: a contract must read the same to a person and to us.
fn options() -> serde_saphyr::Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_aliases: 0, max_anchors: 0, max_depth: 16, max_documents: 1, max_nodes: 50_000, max_merge_keys: 0,
        },
        duplicate_keys: DuplicateKeyPolicy::Error,
        merge_keys: MergeKeyPolicy::Error,
        strict_booleans: true,
        with_snippet: false,
    }
}
