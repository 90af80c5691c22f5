//! The types of a result: Postgres's, Arrow's, and the house's words for them.

use super::numeric;
use crate::protocol::{Cause, Failed, column};
use arrow_schema::{DataType, Field, IntervalUnit, Schema, SchemaRef, TimeUnit};
use domain::{FieldType, ResultColumn};
use std::sync::Arc;
use tokio_postgres::types::{Kind, Type};

/// A column of a result.
#[derive(Debug, Clone)]
pub struct Column {
    pub name: String,
    pub cell: Cell,
}

/// How the values of a column come, and what becomes of them.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    Bool,
    Int2,
    Int4,
    Int8,
    Oid,
    Float4,
    Float8,
    /// Exact numbers. Where the type does not say how many digits stand behind the point, the first rows do.
    Numeric {
        precision: u8,
        scale: Option<i8>,
    },
    Text,
    Json,
    Jsonb,
    Uuid,
    Date,
    Time,
    Timestamp,
    TimestampTz,
    Interval,
    Bytes,
    List(Box<Cell>),
}

pub fn of(columns: &[tokio_postgres::Column]) -> Result<Vec<Column>, Failed> {
    columns
        .iter()
        .map(|column| {
            let cell = cell(column.type_(), column.type_modifier()).ok_or_else(|| {
                let (name, kind) = (column.name(), column.type_().name());
                let message = format!("column `{name}` is of type `{kind}`, which has no form here: cast it to text");
                Failed::new(Cause::Statement, message)
            })?;
            Ok(Column { name: column.name().to_owned(), cell })
        })
        .collect()
}

fn cell(kind: &Type, modifier: i32) -> Option<Cell> {
    Some(match *kind {
        Type::BOOL => Cell::Bool,
        Type::INT2 => Cell::Int2,
        Type::INT4 => Cell::Int4,
        Type::INT8 => Cell::Int8,
        Type::OID => Cell::Oid,
        Type::FLOAT4 => Cell::Float4,
        Type::FLOAT8 => Cell::Float8,
        Type::NUMERIC => numeric::cell(modifier),
        Type::TEXT | Type::VARCHAR | Type::BPCHAR | Type::NAME | Type::UNKNOWN => Cell::Text,
        Type::JSON => Cell::Json,
        Type::JSONB => Cell::Jsonb,
        Type::UUID => Cell::Uuid,
        Type::DATE => Cell::Date,
        Type::TIME => Cell::Time,
        Type::TIMESTAMP => Cell::Timestamp,
        Type::TIMESTAMPTZ => Cell::TimestampTz,
        Type::INTERVAL => Cell::Interval,
        Type::BYTEA => Cell::Bytes,
        _ => match kind.kind() {
            Kind::Enum(_) => Cell::Text,
            Kind::Domain(inner) => return cell(inner, modifier),
            Kind::Array(inner) => Cell::List(Box::new(cell(inner, modifier)?)),
            _ => return None,
        },
    })
}

impl Cell {
    pub fn data_type(&self) -> DataType {
        match self {
            Self::Bool => DataType::Boolean,
            Self::Int2 => DataType::Int16,
            Self::Int4 => DataType::Int32,
            Self::Int8 | Self::Oid => DataType::Int64,
            Self::Float4 => DataType::Float32,
            Self::Float8 => DataType::Float64,
            Self::Numeric { precision, scale } => DataType::Decimal128(*precision, scale.unwrap_or_default()),
            Self::Text | Self::Json | Self::Jsonb | Self::Uuid => DataType::Utf8,
            Self::Date => DataType::Date32,
            Self::Time => DataType::Time64(TimeUnit::Microsecond),
            Self::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, None),
            Self::TimestampTz => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
            Self::Interval => DataType::Interval(IntervalUnit::MonthDayNano),
            Self::Bytes => DataType::Binary,
            Self::List(of) => DataType::List(Arc::new(Field::new("item", of.data_type(), true))),
        }
    }

    fn kind(&self) -> FieldType {
        match self {
            Self::Json | Self::Jsonb => FieldType::Json,
            Self::Uuid => FieldType::Uuid,
            other => crate::worker::encode::field_type(&other.data_type()),
        }
    }

    /// Whether the first rows must say how many digits there are.
    pub fn is_unsettled(&self) -> bool {
        match self {
            Self::Numeric { scale, .. } => scale.is_none(),
            Self::List(of) => of.is_unsettled(),
            _ => false,
        }
    }

    /// Says so, where nothing else does.
    pub fn settle(&mut self, digits: i8) {
        match self {
            Self::Numeric { scale, .. } => *scale = Some(scale.unwrap_or(digits)),
            Self::List(of) => of.settle(digits),
            _ => {}
        }
    }
}

pub fn schema(columns: &[Column]) -> SchemaRef {
    let fields: Vec<Field> = columns.iter().map(|c| Field::new(&c.name, c.cell.data_type(), true)).collect();
    Arc::new(Schema::new(fields))
}

pub fn words(columns: &[Column]) -> Vec<ResultColumn> {
    columns.iter().map(|c| column(&c.name, c.cell.kind())).collect()
}
