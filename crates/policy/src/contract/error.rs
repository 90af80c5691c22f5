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

/// The longest part of an error: a contract's own text may be long.
const MAX_CHARS: usize = 400;

impl ContractError {
    /// An error in the file's form or meaning. What does not belong to any key is about the file.
    pub fn new(file: &str, key: impl Into<String>, message: impl Into<String>, hint: impl Into<String>) -> Self {
        let key = short(key.into());
        let key = if matches!(key.as_str(), "" | "." | "?") { "file".to_owned() } else { key };
        Self { file: file.to_owned(), key, message: short(message.into()), hint: short(hint.into()) }
    }
}

fn short(text: String) -> String {
    match text.char_indices().nth(MAX_CHARS) {
        None => text,
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
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
        self.found.push(ContractError::new(self.file, key, message, hint));
    }

    pub fn into_errors(self) -> Vec<ContractError> {
        self.found
    }
}
