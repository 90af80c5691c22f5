//! What somebody proposes to run on a device.

use crate::sha256_hex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A script with all that is needed to judge it (spec 003). Untrusted, whoever wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScriptProposal {
    pub script: String,
    pub manifest: Manifest,
    /// What undoes it, under the same manifest; runnable on its own.
    #[serde(default)]
    pub rollback: Option<String>,
    /// What it is for, in words for the approver. No part of what runs.
    pub intent: String,
}

impl ScriptProposal {
    /// What an approval is bound to: SHA-256 over script, manifest and rollback. Any edit of them gives another.
    pub fn digest(&self) -> String {
        /// Says what the bytes are, so that they are never taken for bytes of another kind.
        const KIND: &str = "gatehouse script v1\n";
        // Fields in the order of the types, maps sorted: equal proposals give equal bytes.
        let canonical = serde_json::to_string(&(&self.script, &self.manifest, &self.rollback)).unwrap_or_default();
        sha256_hex([KIND, &canonical].concat().as_bytes())
    }
}

/// What a script needs, and what it must not exceed (design §13). What is not asked for is not there.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Manifest {
    pub interpreter: Interpreter,
    /// All of its environment besides `PATH`, `TMPDIR` and the locale; none by default.
    pub env: BTreeMap<String, String>,
    pub timeout_seconds: Timeout,
    /// Below the job's own directory, which is wiped afterwards; empty for that directory itself.
    pub work_dir: String,
    pub network: Network,
    /// Absolute paths that it may change.
    pub writable_paths: Vec<String>,
    /// As Linux names them, without `CAP_`: `NET_RAW`.
    pub capabilities: Vec<String>,
    pub resources: Resources,
}

/// Seconds after which everything that the script has started is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Timeout(pub u64);

impl Default for Timeout {
    fn default() -> Self {
        Self(60)
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Interpreter {
    #[default]
    Bash,
    Sh,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Network {
    /// A network of its own with nothing in it.
    #[default]
    None,
    /// The device's.
    Host,
}

/// Caps on everything that the script starts, taken together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Resources {
    pub memory_mb: u64,
    /// Of one processor: 50 is half of one.
    pub cpu_percent: u64,
    pub processes: u64,
    /// Of what it writes to standard output and error.
    pub output_kb: u64,
    /// Of its work directory.
    pub disk_mb: u64,
}

impl Default for Resources {
    fn default() -> Self {
        Self { memory_mb: 256, cpu_percent: 50, processes: 64, output_kb: 256, disk_mb: 64 }
    }
}

/// How much can go wrong, and so what it takes to run it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Risk {
    /// Looks and changes nothing.
    #[default]
    Low,
    /// Changes what its manifest names.
    Medium,
    /// Needs a second approver and the stricter jail.
    High,
}

impl Risk {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }

    /// How many people other than the requester must say yes.
    pub fn approvers(self) -> usize {
        if self == Self::High { 2 } else { 1 }
    }
}
