//! What a device says about itself, in one shape whatever tool said it.

use crate::read;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// As it comes in: output of the usual tools, or diagnostics that are in shape already, or both.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Submission {
    pub device_id: String,
    pub outputs: Vec<Output>,
    pub diagnostics: Diagnostics,
}

/// What one command printed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Output {
    /// As it was called: `df -h`.
    pub command: String,
    pub text: String,
}

impl Submission {
    /// Everything in one shape. Output that no reader knows is kept as lines of a log.
    pub fn normalise(&self) -> Diagnostics {
        let mut diagnostics = self.diagnostics.clone();
        self.outputs.iter().for_each(|output| read::output(output, &mut diagnostics));
        diagnostics
    }
}

/// Every `line` is what was read, for evidence; empty where it came in shape.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Diagnostics {
    pub interfaces: Vec<Interface>,
    pub dns: Option<Dns>,
    /// None where nobody looked; empty where there are none.
    pub routes: Option<Vec<Route>>,
    pub disks: Vec<Disk>,
    pub memory: Option<Memory>,
    pub services: Vec<Service>,
    pub sockets: Vec<Socket>,
    pub logs: Vec<LogLine>,
    pub pings: Vec<Ping>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Interface {
    pub name: String,
    /// `UP`, `DOWN`, `UNKNOWN`.
    pub state: String,
    /// Whether a cable or a station is there.
    pub carrier: bool,
    pub mtu: u64,
    pub addresses: Vec<String>,
    pub line: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Dns {
    pub servers: Vec<String>,
    pub search: Vec<String>,
    pub line: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Route {
    /// `default` or a network.
    pub to: String,
    pub via: String,
    pub interface: String,
    pub metric: u64,
    pub line: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Disk {
    pub device: String,
    pub mount: String,
    pub used_percent: u64,
    /// Whether `used_percent` is of files and not of bytes.
    pub inodes: bool,
    pub line: String,
}

/// In megabytes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Memory {
    pub total_mb: u64,
    pub available_mb: u64,
    pub swap_total_mb: u64,
    pub swap_used_mb: u64,
    pub line: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Service {
    pub name: String,
    /// `active`, `failed`, `inactive`, `activating`.
    pub active: String,
    pub sub: String,
    pub line: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Socket {
    pub state: String,
    pub port: u64,
    pub local: String,
    pub process: String,
    pub line: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LogLine {
    pub unit: String,
    pub line: String,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Ping {
    pub target: String,
    pub sent: u64,
    pub received: u64,
    pub loss_percent: u64,
    pub average_ms: f64,
    /// The name could not be resolved.
    pub unresolved: bool,
    pub line: String,
}
