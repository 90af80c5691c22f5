//! Reading columns by name, each with an error that names the column.

use super::Value;
use crate::LedgerError;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use std::fmt::Display;
use std::sync::Arc;

/// One row of an answer, whichever store gave it.
pub(crate) struct Row {
    columns: Arc<[String]>,
    values: Vec<Value>,
}

/// What a column can be read as.
pub(crate) trait FromValue: Sized {
    fn from_value(value: &Value) -> Result<Self, &'static str>;
}

impl Row {
    pub(crate) fn new(columns: Arc<[String]>, values: Vec<Value>) -> Self {
        Self { columns, values }
    }

    /// Every column with its value, in the order of the answer.
    pub(crate) fn cells(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.columns.iter().map(String::as_str).zip(&self.values)
    }

    fn value(&self, column: &'static str) -> Result<&Value, LedgerError> {
        let found = self.cells().find(|(name, _)| *name == column);
        found.map(|(_, value)| value).ok_or_else(|| unreadable(column)("there is no such column"))
    }

    pub(crate) fn get<T: FromValue>(&self, column: &'static str) -> Result<T, LedgerError> {
        T::from_value(self.value(column)?).map_err(unreadable(column))
    }

    fn text(&self, column: &'static str) -> Result<&str, LedgerError> {
        text(self.value(column)?).map_err(unreadable(column))
    }

    /// None where the column is NULL.
    fn text_or_none(&self, column: &'static str) -> Result<Option<&str>, LedgerError> {
        if *self.value(column)? == Value::Null { Ok(None) } else { self.text(column).map(Some) }
    }

    /// A word or an id that serde knows as a string.
    pub(crate) fn word<T: DeserializeOwned>(&self, column: &'static str) -> Result<T, LedgerError> {
        serde_json::from_value(self.text(column)?.into()).map_err(unreadable(column))
    }

    pub(crate) fn word_or_none<T: DeserializeOwned>(&self, column: &'static str) -> Result<Option<T>, LedgerError> {
        self.text_or_none(column)?.map(|_| self.word(column)).transpose()
    }

    pub(crate) fn json<T: DeserializeOwned>(&self, column: &'static str) -> Result<T, LedgerError> {
        serde_json::from_str(self.text(column)?).map_err(unreadable(column))
    }

    pub(crate) fn json_or_none<T: DeserializeOwned>(&self, column: &'static str) -> Result<Option<T>, LedgerError> {
        self.text_or_none(column)?.map(|_| self.json(column)).transpose()
    }

    /// JSON that is passed on as the text that it is.
    pub(crate) fn raw(&self, column: &'static str) -> Result<Option<Box<RawValue>>, LedgerError> {
        let text = self.text_or_none(column)?.map(str::to_owned);
        text.map(RawValue::from_string).transpose().map_err(unreadable(column))
    }
}

fn unreadable<E: Display>(column: &'static str) -> impl FnOnce(E) -> LedgerError {
    move |cause| LedgerError::Unreadable { column, cause: cause.to_string() }
}

fn text(value: &Value) -> Result<&str, &'static str> {
    match value {
        Value::Text(text) => Ok(text),
        _ => Err("it is not text"),
    }
}

impl FromValue for String {
    fn from_value(value: &Value) -> Result<Self, &'static str> {
        text(value).map(str::to_owned)
    }
}

impl FromValue for i64 {
    fn from_value(value: &Value) -> Result<Self, &'static str> {
        match value {
            Value::Integer(number) => Ok(*number),
            _ => Err("it is not a whole number"),
        }
    }
}

impl FromValue for f64 {
    fn from_value(value: &Value) -> Result<Self, &'static str> {
        match value {
            Value::Real(number) => Ok(*number),
            _ => Err("it is not a number"),
        }
    }
}

impl FromValue for bool {
    fn from_value(value: &Value) -> Result<Self, &'static str> {
        i64::from_value(value).map(|number| number != 0)
    }
}

impl<T: FromValue> FromValue for Option<T> {
    fn from_value(value: &Value) -> Result<Self, &'static str> {
        if *value == Value::Null { Ok(None) } else { T::from_value(value).map(Some) }
    }
}
