//! Values on their way to Postgres and back.

use crate::LedgerError;
use crate::store::Value;
use std::error::Error;
use tokio_postgres::Row;
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

impl ToSql for Value {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Integer(number) if *kind == Type::INT4 => i32::try_from(*number)?.to_sql(kind, out),
            Self::Integer(number) if *kind == Type::INT2 => i16::try_from(*number)?.to_sql(kind, out),
            Self::Integer(number) => number.to_sql(kind, out),
            Self::Real(number) => number.to_sql(kind, out),
            Self::Text(text) => text.to_sql(kind, out),
            Self::Blob(bytes) => bytes.to_sql(kind, out),
        }
    }

    /// What a statement wants is known when it is written; a test runs each of them.
    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// A column of a row.
pub(super) fn value(row: &Row, i: usize) -> Result<Value, LedgerError> {
    let kind = row.columns().get(i).map_or(&Type::UNKNOWN, |column| column.type_());
    let value = match *kind {
        Type::INT8 => read(row, i, Value::Integer),
        Type::INT4 => read(row, i, |number: i32| Value::Integer(number.into())),
        Type::INT2 => read(row, i, |number: i16| Value::Integer(number.into())),
        Type::BOOL => read(row, i, |is: bool| Value::Integer(is.into())),
        Type::FLOAT8 => read(row, i, Value::Real),
        Type::BYTEA => read(row, i, Value::Blob),
        _ => read(row, i, Value::Text),
    };
    Ok(value?)
}

fn read<'r, T: FromSql<'r>>(row: &'r Row, i: usize, made: impl Fn(T) -> Value) -> Result<Value, tokio_postgres::Error> {
    Ok(row.try_get::<_, Option<T>>(i)?.map_or(Value::Null, made))
}
