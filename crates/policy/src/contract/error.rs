//! What is wrong with a contract file.

use std::fmt;

/// One problem of one file. Loading reports all of them at once.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub struct ContractError {
    pub file: String,
    /// The key it is about: `roles.analyst.hide`.
    pub key: String,
    /// Lowercase, the offending input in backticks.
    pub message: String,
    pub hint: String,
}

impl fmt::Display for ContractError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, key, message, hint } = self;
        write!(f, "{file}: `{key}`: {message} (hint: {hint})")
    }
}

impl std::error::Error for ContractError {}

/// More would help nobody, and each costs a search for what was meant.
const MAX_PROBLEMS: usize = 20;

/// Collects the problems of one file.
pub struct Problems<'a> {
    file: &'a str,
    found: Vec<ContractError>,
}

impl<'a> Problems<'a> {
    pub fn of(file: &'a str) -> Self {
        Self { file, found: Vec::new() }
    }

    /// Whether no more are collected.
    pub fn is_full(&self) -> bool {
        self.found.len() >= MAX_PROBLEMS
    }

    pub fn add(&mut self, key: impl Into<String>, message: impl Into<String>, hint: impl Into<String>) {
        if self.is_full() {
            return;
        }
        let (key, message, hint) = (key.into(), message.into(), hint.into());
        self.found.push(ContractError { file: self.file.to_owned(), key, message, hint });
    }

    pub fn into_errors(self) -> Vec<ContractError> {
        self.found
    }
}
