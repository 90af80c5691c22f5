//! Faults of a model's answer, in words for two readers.

use domain::logged::json_error;
use std::fmt;

/// A fault of an answer. Its `Display` is for the model that gave the answer, and quotes it.
#[derive(Debug)]
pub(super) struct Wrong {
    told: String,
    logged: String,
}

impl Wrong {
    /// A rule that was broken, in words that quote nothing.
    pub fn rule(rule: &str) -> Self {
        Self { told: rule.to_owned(), logged: rule.to_owned() }
    }

    /// A name that is none here: the model may have taken it from the instruction.
    pub fn unknown(name: &str) -> Self {
        Self {
            told: format!("`{name}` is not one of the resources"),
            logged: "a name is not one of the resources".to_owned(),
        }
    }

    /// For the log: values of a plan are those of its caller.
    pub fn without_values(&self) -> &str {
        &self.logged
    }
}

impl From<serde_json::Error> for Wrong {
    fn from(error: serde_json::Error) -> Self {
        Self {
            told: format!("not a valid answer: {error}"),
            logged: format!("not a valid answer: {}", json_error(&error)),
        }
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.told)
    }
}
