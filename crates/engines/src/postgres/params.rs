//! Values of a statement as Postgres takes them.

use bytes::{BufMut, BytesMut};
use domain::Value;
use std::error::Error;
use tokio_postgres::types::{Format, IsNull, ToSql, Type, to_sql_checked};

/// A value on its way.
pub type Param = Box<dyn ToSql + Sync + Send>;

/// The types are said, never guessed from where the values stand: one value may stand in two places.
pub fn of(values: &[Value]) -> (Vec<Type>, Vec<Param>) {
    values.iter().map(one).unzip()
}

/// Of a change, the first values take the type of the column that they stand beside; the others have their own.
pub fn open(values: &[Value], open: usize) -> (Vec<Type>, Vec<Param>) {
    let (first, rest) = values.split_at_checked(open).unwrap_or((values, &[]));
    let untyped = |value: &Value| -> (Type, Param) { (Type::UNKNOWN, Box::new(Text::of(value))) };
    first.iter().map(untyped).chain(rest.iter().map(one)).unzip()
}

fn one(value: &Value) -> (Type, Param) {
    match value {
        Value::Null => (Type::TEXT, Box::new(None::<String>)),
        Value::Bool(truth) => (Type::BOOL, Box::new(*truth)),
        Value::Int(number) => (Type::INT8, Box::new(*number)),
        Value::Float(number) => (Type::FLOAT8, Box::new(*number)),
        Value::Text(text) => (Type::TEXT, Box::new(text.clone())),
    }
}

/// A value as its text, which Postgres reads as whatever type it has there.
#[derive(Debug)]
struct Text(Option<String>);

impl Text {
    fn of(value: &Value) -> Self {
        Self(match value {
            Value::Null => None,
            Value::Bool(truth) => Some(truth.to_string()),
            Value::Int(number) => Some(number.to_string()),
            Value::Float(number) => Some(number.to_string()),
            Value::Text(text) => Some(text.clone()),
        })
    }
}

impl ToSql for Text {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        let Some(text) = &self.0 else { return Ok(IsNull::Yes) };
        out.put_slice(text.as_bytes());
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    fn encode_format(&self, _: &Type) -> Format {
        Format::Text
    }

    to_sql_checked!();
}
