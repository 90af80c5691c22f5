//! From SQLite's dynamic values to Arrow's typed columns.
//!
//! A column gets the type that all its values share; where they differ (SQLite allows it), text.
//! An empty or all-NULL column takes the type that its declaration says.

use super::field_type;
use arrow_array::builder::{BinaryBuilder, BooleanBuilder, Float64Builder, Int64Builder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use domain::FieldType;
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Row, Statement};
use std::sync::Arc;

pub struct Columns {
    columns: Vec<Cells>,
    rows: u64,
    bytes: u64,
}

struct Cells {
    name: String,
    declared: FieldType,
    values: Vec<Value>,
}

impl Columns {
    pub fn of(statement: &Statement<'_>) -> Self {
        let columns = statement
            .columns()
            .map(|c| Cells {
                name: c.name().to_owned(),
                declared: c.decl_type().map_or(FieldType::Other, field_type),
                values: Vec::new(),
            })
            .collect();
        Self { columns, rows: 0, bytes: 0 }
    }

    pub fn rows(&self) -> u64 {
        self.rows
    }

    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    pub fn push(&mut self, row: &Row<'_>) -> rusqlite::Result<()> {
        for (i, cells) in self.columns.iter_mut().enumerate() {
            let value = row.get_ref(i)?;
            self.bytes += match value {
                ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.len() as u64 + 8,
                _ => 8,
            };
            cells.values.push(match value {
                // Text that is not UTF-8 is shown with replacement marks rather than lost.
                ValueRef::Text(bytes) => Value::Text(String::from_utf8_lossy(bytes).into_owned()),
                ValueRef::Null => Value::Null,
                ValueRef::Integer(i) => Value::Integer(i),
                ValueRef::Real(r) => Value::Real(r),
                ValueRef::Blob(bytes) => Value::Blob(bytes.to_vec()),
            });
        }
        self.rows += 1;
        Ok(())
    }

    pub fn kinds(&self) -> impl Iterator<Item = FieldType> {
        self.columns.iter().map(|cells| match (cells.arrow_type(), cells.declared) {
            (DataType::Int64, _) => FieldType::Integer,
            (DataType::Float64, _) => FieldType::Number,
            (DataType::Boolean, _) => FieldType::Boolean,
            (DataType::Binary, _) => FieldType::Bytes,
            (_, temporal @ (FieldType::Date | FieldType::Timestamp | FieldType::Json)) => temporal,
            _ => FieldType::String,
        })
    }

    pub fn into_batch(self) -> Result<RecordBatch, ArrowError> {
        let fields: Vec<Field> = self.columns.iter().map(|c| Field::new(&c.name, c.arrow_type(), true)).collect();
        let arrays = self.columns.iter().map(Cells::array).collect();
        let options = RecordBatchOptions::new().with_row_count(usize::try_from(self.rows).ok());
        RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options)
    }
}

impl Cells {
    fn arrow_type(&self) -> DataType {
        let mut seen = None;
        for value in &self.values {
            let this = match value {
                Value::Null => continue,
                Value::Integer(i) if self.declared == FieldType::Boolean && (0..=1).contains(i) => DataType::Boolean,
                Value::Integer(_) => DataType::Int64,
                Value::Real(_) => DataType::Float64,
                Value::Text(_) => DataType::Utf8,
                Value::Blob(_) => DataType::Binary,
            };
            seen = match seen {
                None => Some(this),
                Some(before) if before == this => Some(this),
                Some(DataType::Int64 | DataType::Float64) if matches!(this, DataType::Int64 | DataType::Float64) => {
                    Some(DataType::Float64)
                }
                _ => return DataType::Utf8,
            };
        }
        seen.unwrap_or(match self.declared {
            FieldType::Integer => DataType::Int64,
            FieldType::Number => DataType::Float64,
            FieldType::Boolean => DataType::Boolean,
            FieldType::Bytes => DataType::Binary,
            _ => DataType::Utf8,
        })
    }

    fn array(&self) -> ArrayRef {
        macro_rules! build {
            ($builder:expr, $value:ident => $cell:expr) => {{
                let mut builder = $builder;
                for $value in &self.values {
                    builder.append_option($cell);
                }
                Arc::new(builder.finish())
            }};
        }
        match self.arrow_type() {
            DataType::Int64 => build!(Int64Builder::new(), v => integer(v)),
            DataType::Float64 => build!(Float64Builder::new(), v => real(v)),
            DataType::Boolean => build!(BooleanBuilder::new(), v => integer(v).map(|i| i != 0)),
            DataType::Binary => build!(BinaryBuilder::new(), v => blob(v)),
            _ => build!(StringBuilder::new(), v => text(v)),
        }
    }
}

fn integer(value: &Value) -> Option<i64> {
    match value {
        Value::Integer(i) => Some(*i),
        _ => None,
    }
}

#[allow(clippy::cast_precision_loss, reason = "a column that mixes integers and reals is real")]
fn real(value: &Value) -> Option<f64> {
    match value {
        Value::Integer(i) => Some(*i as f64),
        Value::Real(r) => Some(*r),
        _ => None,
    }
}

fn blob(value: &Value) -> Option<&[u8]> {
    match value {
        Value::Blob(bytes) => Some(bytes),
        _ => None,
    }
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::Integer(i) => Some(i.to_string()),
        Value::Real(r) => Some(r.to_string()),
        Value::Text(t) => Some(t.clone()),
        Value::Blob(bytes) => Some(format!("<{} bytes>", bytes.len())),
    }
}
