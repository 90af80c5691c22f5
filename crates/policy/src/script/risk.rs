//! How risky a script is, and why.

use domain::Risk;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One thing that makes a script more than a look.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reason {
    pub risk: Risk,
    pub code: String,
    /// In words, for the approver.
    pub message: String,
    /// Of the script; 0 where it is about the manifest.
    pub line: usize,
}

#[derive(Debug, Default)]
pub struct Reasons(pub Vec<Reason>);

impl Reasons {
    pub fn add(&mut self, risk: Risk, code: &str, line: usize, message: String) {
        let reason = Reason { risk, code: code.to_owned(), message, line };
        if !self.0.contains(&reason) {
            self.0.push(reason);
        }
    }

    /// The worst of them; a look if there is none.
    pub fn risk(&self) -> Risk {
        self.0.iter().map(|reason| reason.risk).max().unwrap_or_default()
    }
}
