//! What holds the scripts of a device, as the device says when it enrols.

use crate::Risk;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// For each class of risk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Holders {
    pub low: Holder,
    pub medium: Holder,
    pub high: Holder,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Holder {
    /// `bubblewrap`, `podman` or `systemd`.
    pub cell: String,
    /// What it can let a script have, as Linux names them, without `CAP_`.
    pub capabilities: Vec<String>,
}

impl Holders {
    pub fn of(&self, risk: Risk) -> &Holder {
        match risk {
            Risk::Low => &self.low,
            Risk::Medium => &self.medium,
            Risk::High => &self.high,
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = &Holder> {
        [&self.low, &self.medium, &self.high].into_iter()
    }
}
