//! Values as both stores keep them.

use std::borrow::Cow;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Null,
    Integer(i64),
    Real(f64),
    Text(String),
    Blob(Vec<u8>),
}

/// The arguments of a statement, `$1` first.
macro_rules! args {
    ($($value:expr),* $(,)?) => { &[$($crate::store::Value::from($value)),*] };
}
pub(crate) use args;

/// Postgres cannot keep the character NUL in a text. Its picture stands for it, in both stores.
fn keepable(text: Cow<'_, str>) -> String {
    if text.contains('\0') { text.replace('\0', "␀") } else { text.into_owned() }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(keepable(text.into()))
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(keepable(text.into()))
    }
}

impl From<&String> for Value {
    fn from(text: &String) -> Self {
        Self::from(text.as_str())
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Integer(number)
    }
}

/// Neither NaN nor the sign of zero is kept: SQLite cannot, and a digest must not see what the row will not hold.
impl From<f64> for Value {
    fn from(number: f64) -> Self {
        if number.is_finite() { Self::Real(number + 0.0) } else { Self::Null }
    }
}

impl From<Vec<u8>> for Value {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Blob(bytes)
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}
