//! DuckDB's shared libraries.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The directories that the loader found DuckDB's libraries in: a worker needs them too. None where DuckDB is part of this
/// program.
pub fn duckdb_libraries() -> Vec<PathBuf> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let files = maps.lines().filter_map(|line| line.split_whitespace().nth(5)).map(Path::new);
    let named = |file: &&Path| file.file_name().is_some_and(|name| name.to_string_lossy().starts_with("libduckdb"));
    let directories: BTreeSet<PathBuf> = files.filter(named).filter_map(Path::parent).map(PathBuf::from).collect();
    directories.into_iter().collect()
}
