//! How much one approved statement may use.

use serde::{Deserialize, Serialize};

/// Caps on the result and the time of one statement. Memory, processes and CPU are the sandbox's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Rows given to the caller; one more is fetched to know whether there were more.
    pub rows: u64,
    /// Bytes of Arrow that may leave the engine.
    pub bytes: u64,
    /// Wall clock, after which the worker is killed.
    pub seconds: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { rows: 1_000, bytes: 16 * 1024 * 1024, seconds: 30 }
    }
}
