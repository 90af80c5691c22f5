//! Values of a statement as Postgres takes them.

use domain::Value;
use tokio_postgres::types::{ToSql, Type};

/// The types are said, never guessed from where the values stand: one value may stand in two places.
pub fn of(values: &[Value]) -> (Vec<Type>, Vec<Box<dyn ToSql + Sync + Send>>) {
    values.iter().map(one).unzip()
}

fn one(value: &Value) -> (Type, Box<dyn ToSql + Sync + Send>) {
    match value {
        Value::Null => (Type::TEXT, Box::new(None::<String>)),
        Value::Bool(truth) => (Type::BOOL, Box::new(*truth)),
        Value::Int(number) => (Type::INT8, Box::new(*number)),
        Value::Float(number) => (Type::FLOAT8, Box::new(*number)),
        Value::Text(text) => (Type::TEXT, Box::new(text.clone())),
    }
}
