//! Types of Arrow by the names that DuckDB's own box shows.

use arrow_schema::{DataType, TimeUnit};

pub fn duckdb_name(kind: &DataType) -> String {
    use DataType::*;
    match kind {
        Boolean => "boolean".into(),
        Int8 => "int8".into(),
        Int16 => "int16".into(),
        Int32 => "int32".into(),
        Int64 => "int64".into(),
        UInt8 => "uint8".into(),
        UInt16 => "uint16".into(),
        UInt32 => "uint32".into(),
        UInt64 => "uint64".into(),
        Float16 | Float32 => "float".into(),
        Float64 => "double".into(),
        // DuckDB hands out its HUGEINT as this.
        Decimal128(38, 0) => "int128".into(),
        Decimal32(width, scale) | Decimal64(width, scale) | Decimal128(width, scale) | Decimal256(width, scale) => {
            format!("decimal({width},{scale})")
        }
        Utf8 | LargeUtf8 | Utf8View => "varchar".into(),
        Binary | LargeBinary | BinaryView | FixedSizeBinary(_) => "blob".into(),
        Date32 | Date64 => "date".into(),
        Time32(_) | Time64(_) => "time".into(),
        Timestamp(_, Some(_)) => "timestamp with time zone".into(),
        Timestamp(TimeUnit::Second, None) => "timestamp_s".into(),
        Timestamp(TimeUnit::Millisecond, None) => "timestamp_ms".into(),
        Timestamp(TimeUnit::Nanosecond, None) => "timestamp_ns".into(),
        Timestamp(TimeUnit::Microsecond, None) => "timestamp".into(),
        Duration(_) | Interval(_) => "interval".into(),
        List(item) | LargeList(item) | ListView(item) | LargeListView(item) => {
            format!("{}[]", duckdb_name(item.data_type()))
        }
        FixedSizeList(item, length) => format!("{}[{length}]", duckdb_name(item.data_type())),
        Struct(fields) => {
            let members: Vec<String> =
                fields.iter().map(|field| format!("{} {}", field.name(), duckdb_name(field.data_type()))).collect();
            format!("struct({})", members.join(", "))
        }
        Map(..) => "map".into(),
        Dictionary(_, values) => duckdb_name(values),
        Null => "null".into(),
        other => other.to_string().to_lowercase(),
    }
}

pub fn is_number(kind: &DataType) -> bool {
    kind.is_numeric()
}
