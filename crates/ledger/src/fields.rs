//! Reading columns by name, each with an error that names the column.

use crate::LedgerError;
use rusqlite::Row;
use rusqlite::types::FromSql;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use std::fmt::Display;

pub(crate) struct Fields<'a>(pub &'a Row<'a>);

impl Fields<'_> {
    pub(crate) fn get<T: FromSql>(&self, column: &'static str) -> Result<T, LedgerError> {
        self.0.get(column).map_err(unreadable(column))
    }

    /// A word or an id that serde knows as a string.
    pub(crate) fn word<T: DeserializeOwned>(&self, column: &'static str) -> Result<T, LedgerError> {
        serde_json::from_value(self.get::<String>(column)?.into()).map_err(unreadable(column))
    }

    pub(crate) fn word_or_none<T: DeserializeOwned>(&self, column: &'static str) -> Result<Option<T>, LedgerError> {
        self.get::<Option<String>>(column)?.map(|_| self.word(column)).transpose()
    }

    pub(crate) fn json<T: DeserializeOwned>(&self, column: &'static str) -> Result<T, LedgerError> {
        serde_json::from_str(&self.get::<String>(column)?).map_err(unreadable(column))
    }

    pub(crate) fn json_or_none<T: DeserializeOwned>(&self, column: &'static str) -> Result<Option<T>, LedgerError> {
        self.get::<Option<String>>(column)?.map(|_| self.json(column)).transpose()
    }

    /// JSON that is passed on as the text that it is.
    pub(crate) fn raw(&self, column: &'static str) -> Result<Option<Box<RawValue>>, LedgerError> {
        let text = self.get::<Option<String>>(column)?;
        text.map(RawValue::from_string).transpose().map_err(unreadable(column))
    }
}

fn unreadable<E: Display>(column: &'static str) -> impl FnOnce(E) -> LedgerError {
    move |cause| LedgerError::Unreadable { column, cause: cause.to_string() }
}
