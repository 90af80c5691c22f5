//! From SQLite's dynamic values to Arrow's typed columns.
//!
//! A column gets the type that all its values share; where they differ (SQLite allows it), text.
//! An empty or all-NULL column takes the type that its declaration says. Of a result that is read in
//! several blocks, [`Columns::look_at_all`] finds the types first.

use super::field_type;
use arrow_array::builder::{BinaryBuilder, BooleanBuilder, Float64Builder, Int64Builder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use domain::FieldType;
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, Params, Row, Statement};
use std::sync::Arc;

pub struct Columns {
    columns: Vec<Cells>,
    rows: u64,
    bytes: u64,
}

struct Cells {
    name: String,
    declared: FieldType,
    /// What it was found to be, over all blocks.
    settled: Option<DataType>,
    values: Vec<Value>,
}

impl Columns {
    pub fn of(statement: &Statement<'_>) -> Self {
        let columns = statement
            .columns()
            .map(|c| Cells {
                name: c.name().to_owned(),
                declared: c.decl_type().map_or(FieldType::Other, field_type),
                settled: None,
                values: Vec::new(),
            })
            .collect();
        Self { columns, rows: 0, bytes: 0 }
    }

    /// Reads the whole result once for nothing but the storage classes in it.
    pub fn look_at_all(&mut self, connection: &Connection, sql: &str, params: impl Params) -> rusqlite::Result<()> {
        let names: Vec<String> = (0..self.columns.len()).map(|i| format!("c{i}")).collect();
        let looks: Vec<String> = names.iter().map(|c| looks(c)).collect();
        let sql = format!("WITH r ({}) AS ({sql}) SELECT {} FROM r", names.join(", "), looks.join(", "));
        let mut statement = connection.prepare(&sql)?;
        let mut rows = statement.query(params)?;
        let Some(row) = rows.next()? else { return Ok(()) };
        for (i, cells) in self.columns.iter_mut().enumerate() {
            let mut seen = Vec::new();
            for (j, class) in CLASSES.iter().enumerate() {
                if row.get::<_, Option<bool>>(i * CLASSES.len() + j)?.unwrap_or_default() {
                    seen.push(class_type(class, cells.declared));
                }
            }
            cells.settled = Some(shared(cells.declared, seen.into_iter()));
        }
        Ok(())
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

    /// The rows so far, which are then forgotten.
    pub fn take_batch(&mut self) -> Result<RecordBatch, ArrowError> {
        let fields: Vec<Field> = self.columns.iter().map(|c| Field::new(&c.name, c.arrow_type(), true)).collect();
        let arrays = self.columns.iter().map(Cells::array).collect();
        let options = RecordBatchOptions::new().with_row_count(usize::try_from(self.rows).ok());
        let batch = RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options);
        self.columns.iter_mut().for_each(|cells| cells.values.clear());
        (self.rows, self.bytes) = (0, 0);
        batch
    }
}

impl Cells {
    fn arrow_type(&self) -> DataType {
        let seen = self.values.iter().filter_map(|value| {
            Some(match value {
                Value::Null => return None,
                Value::Integer(0..=1) => class_type("bit", self.declared),
                Value::Integer(_) => class_type("integer", self.declared),
                Value::Real(_) => DataType::Float64,
                Value::Text(_) => DataType::Utf8,
                Value::Blob(_) => DataType::Binary,
            })
        });
        self.settled.clone().unwrap_or_else(|| shared(self.declared, seen))
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

/// SQLite's storage classes; integers that may stand for booleans apart.
const CLASSES: [&str; 5] = ["bit", "integer", "real", "text", "blob"];

/// For each class, whether the column has a value of it.
fn looks(column: &str) -> String {
    let look = |class: &&str| match *class {
        "bit" => format!("max(typeof({column}) = 'integer' AND {column} IN (0, 1))"),
        "integer" => format!("max(typeof({column}) = 'integer' AND {column} NOT IN (0, 1))"),
        class => format!("max(typeof({column}) = '{class}')"),
    };
    CLASSES.iter().map(look).collect::<Vec<_>>().join(", ")
}

fn class_type(class: &str, declared: FieldType) -> DataType {
    match class {
        "bit" if declared == FieldType::Boolean => DataType::Boolean,
        "bit" | "integer" => DataType::Int64,
        "real" => DataType::Float64,
        "blob" => DataType::Binary,
        _ => DataType::Utf8,
    }
}

/// The type that can hold all of these.
fn shared(declared: FieldType, types: impl Iterator<Item = DataType>) -> DataType {
    let mut seen = None;
    for this in types {
        seen = match seen {
            None => Some(this),
            Some(before) if before == this => Some(this),
            Some(DataType::Int64 | DataType::Float64) if matches!(this, DataType::Int64 | DataType::Float64) => {
                Some(DataType::Float64)
            }
            _ => return DataType::Utf8,
        };
    }
    seen.unwrap_or(match declared {
        FieldType::Integer => DataType::Int64,
        FieldType::Number => DataType::Float64,
        FieldType::Boolean => DataType::Boolean,
        FieldType::Bytes => DataType::Binary,
        _ => DataType::Utf8,
    })
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
