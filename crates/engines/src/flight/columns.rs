//! The columns of a table, as the house and DuckDB's SQL call their types.

use crate::worker::encode::field_type;
use arrow_schema::{DataType, Field, Schema};
use domain::Column;

pub fn of(schema: &Schema) -> Vec<Column> {
    schema.fields().iter().map(|field| column(field)).collect()
}

fn column(field: &Field) -> Column {
    let native = native(field.data_type());
    Column { native, nullable: field.is_nullable(), ..Column::new(field.name(), field_type(field.data_type())) }
}

/// Statements for the engine are written in DuckDB's SQL, so its types go by DuckDB's names.
fn native(data_type: &DataType) -> String {
    match data_type {
        DataType::Boolean => "BOOLEAN".to_owned(),
        DataType::Int8 | DataType::UInt8 => "TINYINT".to_owned(),
        DataType::Int16 | DataType::UInt16 => "SMALLINT".to_owned(),
        DataType::Int32 | DataType::UInt32 => "INTEGER".to_owned(),
        DataType::Int64 | DataType::UInt64 => "BIGINT".to_owned(),
        DataType::Float16 | DataType::Float32 => "FLOAT".to_owned(),
        DataType::Float64 => "DOUBLE".to_owned(),
        DataType::Decimal128(precision, scale) | DataType::Decimal256(precision, scale) => {
            format!("DECIMAL({precision},{scale})")
        }
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => "VARCHAR".to_owned(),
        DataType::Dictionary(_, values) => native(values),
        DataType::Date32 | DataType::Date64 => "DATE".to_owned(),
        DataType::Time32(_) | DataType::Time64(_) => "TIME".to_owned(),
        DataType::Timestamp(_, None) => "TIMESTAMP".to_owned(),
        DataType::Timestamp(_, Some(_)) => "TIMESTAMP WITH TIME ZONE".to_owned(),
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => {
            "BLOB".to_owned()
        }
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            format!("{}[]", native(item.data_type()))
        }
        DataType::Struct(fields) => {
            let fields = fields.iter().map(|field| format!("\"{}\" {}", field.name(), native(field.data_type())));
            format!("STRUCT({})", fields.collect::<Vec<_>>().join(", "))
        }
        other => other.to_string().to_uppercase(),
    }
}
