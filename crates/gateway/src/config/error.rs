//! What is wrong with the configuration, gathered before anything is refused.

use serde::Serialize;
use std::fmt;

/// One thing to correct.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ConfigError {
    /// The file, variable or flag that it stands in.
    pub origin: String,
    /// The setting, or empty where the whole file is meant.
    pub key: String,
    /// What is wrong, and what would be right.
    pub message: String,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.key.as_str() {
            "" => write!(f, "{}: {}", self.origin, self.message),
            key => write!(f, "{}: `{key}`: {}", self.origin, self.message),
        }
    }
}

impl std::error::Error for ConfigError {}

#[derive(Default)]
pub struct Problems(Vec<ConfigError>);

impl Problems {
    pub fn add(&mut self, origin: impl fmt::Display, key: impl Into<String>, message: impl Into<String>) {
        self.0.push(ConfigError { origin: origin.to_string(), key: key.into(), message: message.into() });
    }

    /// Whether one of these settings could not be read, so that nothing more can be said of it.
    pub fn with_any(&self, keys: &[&str]) -> bool {
        self.0.iter().any(|problem| keys.contains(&problem.key.as_str()))
    }

    pub fn none_or<T>(self, value: T) -> Result<T, Vec<ConfigError>> {
        if self.0.is_empty() { Ok(value) } else { Err(self.0) }
    }
}
