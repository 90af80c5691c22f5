//! One value of any Arrow type as JSON.

use super::capped::Capped;
use super::text;
use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, OffsetSizeTrait, downcast_dictionary_array};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{DataType, Field, FieldRef, IntervalUnit, TimeUnit};
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use std::fmt::Display;
use std::io::{self, Write};

/// Writes the value at `row`. `field` is where `array` comes from: its metadata may say more than
/// its type does.
pub fn write(out: &mut Capped, field: &Field, array: &dyn Array, row: usize) -> io::Result<()> {
    use DataType::*;
    if array.is_null(row) {
        return plain(out, "null");
    }
    match array.data_type() {
        Null => plain(out, "null"),
        Boolean => plain(out, array.as_boolean().value(row)),
        Int8 => plain(out, get::<Int8Type>(array, row)),
        Int16 => plain(out, get::<Int16Type>(array, row)),
        Int32 => plain(out, get::<Int32Type>(array, row)),
        Int64 => plain(out, get::<Int64Type>(array, row)),
        UInt8 => plain(out, get::<UInt8Type>(array, row)),
        UInt16 => plain(out, get::<UInt16Type>(array, row)),
        UInt32 => plain(out, get::<UInt32Type>(array, row)),
        UInt64 => plain(out, get::<UInt64Type>(array, row)),
        Float16 => float(out, get::<Float16Type>(array, row).to_f32()),
        Float32 => float(out, get::<Float32Type>(array, row)),
        Float64 => float(out, get::<Float64Type>(array, row)),
        Decimal32(_, scale) => decimal::<Decimal32Type>(out, array, row, *scale),
        Decimal64(_, scale) => decimal::<Decimal64Type>(out, array, row, *scale),
        Decimal128(_, scale) => decimal::<Decimal128Type>(out, array, row, *scale),
        Decimal256(_, scale) => decimal::<Decimal256Type>(out, array, row, *scale),
        Utf8 => string(out, array.as_string::<i32>().value(row)),
        LargeUtf8 => string(out, array.as_string::<i64>().value(row)),
        Utf8View => string(out, array.as_string_view().value(row)),
        Binary => quoted(out, BASE64.encode(array.as_binary::<i32>().value(row))),
        LargeBinary => quoted(out, BASE64.encode(array.as_binary::<i64>().value(row))),
        BinaryView => quoted(out, BASE64.encode(array.as_binary_view().value(row))),
        FixedSizeBinary(_) => fixed_bytes(out, field, array.as_fixed_size_binary().value(row)),
        Date32 | Date64 | Time32(_) | Time64(_) | Timestamp(..) | Duration(_) | Interval(_) => {
            quoted(out, temporal(array, row)?)
        }
        List(item) => list(out, item, &array.as_list::<i32>().value(row)),
        LargeList(item) => list(out, item, &array.as_list::<i64>().value(row)),
        ListView(item) => list_view::<i32>(out, item, array, row),
        LargeListView(item) => list_view::<i64>(out, item, array, row),
        FixedSizeList(item, _) => list(out, item, &array.as_fixed_size_list().value(row)),
        Struct(_) => object(out, array, row),
        Map(..) => map(out, array, row),
        Union(fields, _) => {
            let union = array.as_union();
            let id = union.type_id(row);
            let member = fields.iter().find(|(known, _)| *known == id).map_or(field, |(_, member)| member.as_ref());
            write(out, member, &union.value(row), 0)
        }
        Dictionary(..) => dictionary(out, field, array, row),
        _ => string(out, &display(array, row)?),
    }
}

fn get<T: ArrowPrimitiveType>(array: &dyn Array, row: usize) -> T::Native {
    array.as_primitive::<T>().value(row)
}

fn plain(out: &mut Capped, value: impl Display) -> io::Result<()> {
    write!(out, "{value}")
}

/// For text in which nothing needs an escape.
fn quoted(out: &mut Capped, value: impl Display) -> io::Result<()> {
    write!(out, "\"{value}\"")
}

fn string(out: &mut Capped, value: &str) -> io::Result<()> {
    Ok(serde_json::to_writer(out, value)?)
}

/// The shortest digits that read back as the same float.
fn float(out: &mut Capped, value: impl Into<f64> + serde::Serialize + Copy) -> io::Result<()> {
    let wide: f64 = value.into();
    if wide.is_nan() {
        quoted(out, "NaN")
    } else if wide.is_infinite() {
        quoted(out, if wide > 0.0 { "Infinity" } else { "-Infinity" })
    } else {
        Ok(serde_json::to_writer(out, &value)?)
    }
}

fn decimal<T: DecimalType>(out: &mut Capped, array: &dyn Array, row: usize, scale: i8) -> io::Result<()> {
    let value = get::<T>(array, row);
    if scale < 0 {
        return write!(out, "{}e{}", T::format_decimal(value, T::MAX_PRECISION, 0), -i16::from(scale));
    }
    plain(out, T::format_decimal(value, T::MAX_PRECISION, scale))
}

fn fixed_bytes(out: &mut Capped, field: &Field, bytes: &[u8]) -> io::Result<()> {
    match <[u8; 16]>::try_from(bytes) {
        Ok(uuid) if field.extension_type_name() == Some("arrow.uuid") => quoted(out, text::uuid(uuid)),
        _ => quoted(out, BASE64.encode(bytes)),
    }
}

fn list(out: &mut Capped, item: &FieldRef, values: &ArrayRef) -> io::Result<()> {
    out.write_all(b"[")?;
    for index in 0..values.len() {
        out.comma_after(index)?;
        write(out, item, values, index)?;
    }
    out.write_all(b"]")
}

fn list_view<O: OffsetSizeTrait>(out: &mut Capped, item: &FieldRef, array: &dyn Array, row: usize) -> io::Result<()> {
    list(out, item, &array.as_list_view::<O>().value(row))
}

fn object(out: &mut Capped, array: &dyn Array, row: usize) -> io::Result<()> {
    let members = array.as_struct();
    out.write_all(b"{")?;
    for (index, (field, column)) in members.fields().iter().zip(members.columns()).enumerate() {
        out.comma_after(index)?;
        string(out, field.name())?;
        out.write_all(b":")?;
        write(out, field, column, row)?;
    }
    out.write_all(b"}")
}

fn map(out: &mut Capped, array: &dyn Array, row: usize) -> io::Result<()> {
    let map = array.as_map();
    let (key_field, value_field) = map.entries_fields();
    let entries = map.value(row);
    let (keys, values) = (entries.column(0), entries.column(1));
    out.write_all(b"{")?;
    for index in 0..entries.len() {
        out.comma_after(index)?;
        map_key(out, key_field, keys, index)?;
        out.write_all(b":")?;
        write(out, value_field, values, index)?;
    }
    out.write_all(b"}")
}

/// JSON's keys are text: any other key becomes the text of its JSON.
fn map_key(out: &mut Capped, field: &Field, keys: &ArrayRef, index: usize) -> io::Result<()> {
    let mut key = out.inner();
    write(&mut key, field, keys, index)?;
    let key = key.into_text()?;
    if key.starts_with('"') { plain(out, key) } else { string(out, &key) }
}

fn dictionary(out: &mut Capped, field: &Field, array: &dyn Array, row: usize) -> io::Result<()> {
    downcast_dictionary_array!(
        array => match array.key(row) {
            Some(key) => write(out, field, array.values(), key),
            None => plain(out, "null"),
        },
        _ => string(out, &display(array, row)?)
    )
}

fn temporal(array: &dyn Array, row: usize) -> io::Result<String> {
    use TimeUnit::*;
    Ok(match array.data_type() {
        DataType::Date32 => text::date(i64::from(get::<Date32Type>(array, row))),
        DataType::Date64 => text::date(get::<Date64Type>(array, row).div_euclid(86_400_000)),
        DataType::Time32(Second) => text::time(i64::from(get::<Time32SecondType>(array, row)), Second),
        DataType::Time32(_) => text::time(i64::from(get::<Time32MillisecondType>(array, row)), Millisecond),
        DataType::Time64(Nanosecond) => text::time(get::<Time64NanosecondType>(array, row), Nanosecond),
        DataType::Time64(_) => text::time(get::<Time64MicrosecondType>(array, row), Microsecond),
        DataType::Timestamp(unit, zone) => {
            let ticks = match unit {
                Second => get::<TimestampSecondType>(array, row),
                Millisecond => get::<TimestampMillisecondType>(array, row),
                Microsecond => get::<TimestampMicrosecondType>(array, row),
                Nanosecond => get::<TimestampNanosecondType>(array, row),
            };
            text::timestamp(ticks, *unit, zone.is_some())
        }
        DataType::Duration(unit) => {
            let ticks = match unit {
                Second => get::<DurationSecondType>(array, row),
                Millisecond => get::<DurationMillisecondType>(array, row),
                Microsecond => get::<DurationMicrosecondType>(array, row),
                Nanosecond => get::<DurationNanosecondType>(array, row),
            };
            text::interval(0, 0, ticks, *unit)
        }
        DataType::Interval(IntervalUnit::YearMonth) => {
            text::interval(get::<IntervalYearMonthType>(array, row), 0, 0, Second)
        }
        DataType::Interval(IntervalUnit::DayTime) => {
            let interval = get::<IntervalDayTimeType>(array, row);
            text::interval(0, interval.days, i64::from(interval.milliseconds), Millisecond)
        }
        DataType::Interval(IntervalUnit::MonthDayNano) => {
            let interval = get::<IntervalMonthDayNanoType>(array, row);
            text::interval(interval.months, interval.days, interval.nanoseconds, Nanosecond)
        }
        _ => display(array, row)?,
    })
}

/// What Arrow itself shows, for the types that no engine here hands out.
fn display(array: &dyn Array, row: usize) -> io::Result<String> {
    let options = FormatOptions::default();
    let formatter = ArrayFormatter::try_new(array, &options).map_err(io::Error::other)?;
    formatter.value(row).try_to_string().map_err(io::Error::other)
}
