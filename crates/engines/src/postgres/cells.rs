//! Values in Postgres's binary form, gathered column by column into Arrow.

use super::columns::{Cell, Column};
use super::numeric::{self, Misfit};
use crate::json::text;
use crate::protocol::{Cause, Failed};
use arrow_array::builder::{
    BinaryBuilder, BooleanBuilder, Date32Builder, Decimal128Builder, Float32Builder, Float64Builder, Int16Builder,
    Int32Builder, Int64Builder, IntervalMonthDayNanoBuilder, StringBuilder, Time64MicrosecondBuilder,
    TimestampMicrosecondBuilder,
};
use arrow_array::{ArrayRef, ListArray};
use arrow_buffer::{IntervalMonthDayNano, NullBufferBuilder, OffsetBuffer};
use arrow_schema::Field;
use std::sync::Arc;

/// From 1970, where Arrow begins, to 2000, where Postgres does.
const DAYS: i32 = 10_957;
const MICROSECONDS: i64 = DAYS as i64 * 86_400_000_000;

/// A column being gathered.
pub struct Gathered {
    name: String,
    cells: Cells,
}

impl Gathered {
    pub fn new(column: &Column) -> Self {
        Self { name: column.name.clone(), cells: Cells::new(&column.cell) }
    }

    pub fn push(&mut self, raw: Option<&[u8]>) -> Result<(), Failed> {
        self.cells.push(raw).map_err(|why| {
            let message = format!("column `{}` holds {}", self.name, why.words());
            Failed::new(Cause::Data, message)
        })
    }

    pub fn finish(&mut self) -> Result<ArrayRef, Failed> {
        self.cells.finish()
    }
}

/// Why a value cannot be told.
enum Unfit {
    Number(Misfit),
    Infinite,
    Nested,
    Broken,
}

impl Unfit {
    fn words(&self) -> &'static str {
        match self {
            Self::Number(Misfit::NoNumber) => {
                "`NaN` or an infinite number where exact numbers are sent: cast it to double precision"
            }
            Self::Number(Misfit::Scale) => {
                "numbers with more digits behind the point than its first rows: cast it, as in `CAST(x AS numeric(38, 10))`"
            }
            Self::Number(Misfit::Size) => "a number of more than 38 digits: cast it to double precision or text",
            Self::Infinite => "a date or time without an end: filter it out, or cast it to text",
            Self::Nested => "lists of lists: cast it to text",
            Self::Number(Misfit::Broken) | Self::Broken => "a value that cannot be read",
        }
    }
}

enum Cells {
    Bool(BooleanBuilder),
    Int2(Int16Builder),
    Int4(Int32Builder),
    Int8(Int64Builder),
    Oid(Int64Builder),
    Float4(Float32Builder),
    Float8(Float64Builder),
    Numeric(Decimal128Builder, i8),
    Text(StringBuilder),
    Jsonb(StringBuilder),
    Uuid(StringBuilder),
    Date(Date32Builder),
    Time(Time64MicrosecondBuilder),
    Timestamp(TimestampMicrosecondBuilder),
    Interval(IntervalMonthDayNanoBuilder),
    Bytes(BinaryBuilder),
    List(Box<List>),
}

struct List {
    of: Cells,
    field: Arc<Field>,
    ends: Vec<i32>,
    count: i32,
    nulls: NullBufferBuilder,
}

impl Cells {
    fn new(cell: &Cell) -> Self {
        let data_type = cell.data_type();
        match cell {
            Cell::Bool => Self::Bool(BooleanBuilder::new()),
            Cell::Int2 => Self::Int2(Int16Builder::new()),
            Cell::Int4 => Self::Int4(Int32Builder::new()),
            Cell::Int8 => Self::Int8(Int64Builder::new()),
            Cell::Oid => Self::Oid(Int64Builder::new()),
            Cell::Float4 => Self::Float4(Float32Builder::new()),
            Cell::Float8 => Self::Float8(Float64Builder::new()),
            Cell::Numeric { scale, .. } => {
                Self::Numeric(Decimal128Builder::new().with_data_type(data_type), scale.unwrap_or_default())
            }
            Cell::Text | Cell::Json => Self::Text(StringBuilder::new()),
            Cell::Jsonb => Self::Jsonb(StringBuilder::new()),
            Cell::Uuid => Self::Uuid(StringBuilder::new()),
            Cell::Date => Self::Date(Date32Builder::new()),
            Cell::Time => Self::Time(Time64MicrosecondBuilder::new()),
            Cell::Timestamp | Cell::TimestampTz => {
                Self::Timestamp(TimestampMicrosecondBuilder::new().with_data_type(data_type))
            }
            Cell::Interval => Self::Interval(IntervalMonthDayNanoBuilder::new()),
            Cell::Bytes => Self::Bytes(BinaryBuilder::new()),
            Cell::List(of) => Self::List(Box::new(List {
                field: Arc::new(Field::new("item", of.data_type(), true)),
                of: Self::new(of),
                ends: vec![0],
                count: 0,
                nulls: NullBufferBuilder::new(0),
            })),
        }
    }

    fn push(&mut self, raw: Option<&[u8]>) -> Result<(), Unfit> {
        let Some(raw) = raw else {
            self.push_null();
            return Ok(());
        };
        match self {
            Self::Bool(cells) => cells.append_value(fixed::<1>(raw)? != [0]),
            Self::Int2(cells) => cells.append_value(i16::from_be_bytes(fixed(raw)?)),
            Self::Int4(cells) => cells.append_value(i32::from_be_bytes(fixed(raw)?)),
            Self::Int8(cells) => cells.append_value(i64::from_be_bytes(fixed(raw)?)),
            Self::Oid(cells) => cells.append_value(u32::from_be_bytes(fixed(raw)?).into()),
            Self::Float4(cells) => cells.append_value(f32::from_be_bytes(fixed(raw)?)),
            Self::Float8(cells) => cells.append_value(f64::from_be_bytes(fixed(raw)?)),
            Self::Numeric(cells, scale) => cells.append_value(numeric::read(raw, *scale).map_err(Unfit::Number)?),
            Self::Text(cells) => cells.append_value(utf8(raw)?),
            // After the number of its version.
            Self::Jsonb(cells) => cells.append_value(utf8(raw.get(1..).ok_or(Unfit::Broken)?)?),
            Self::Uuid(cells) => cells.append_value(text::uuid(fixed(raw)?)),
            Self::Date(cells) => cells.append_value(date(i32::from_be_bytes(fixed(raw)?))?),
            Self::Time(cells) => cells.append_value(i64::from_be_bytes(fixed(raw)?)),
            Self::Timestamp(cells) => cells.append_value(moment(i64::from_be_bytes(fixed(raw)?))?),
            Self::Interval(cells) => cells.append_value(interval(raw)?),
            Self::Bytes(cells) => cells.append_value(raw),
            Self::List(list) => list.push(raw)?,
        }
        Ok(())
    }

    fn push_null(&mut self) {
        match self {
            Self::Bool(cells) => cells.append_null(),
            Self::Int2(cells) => cells.append_null(),
            Self::Int4(cells) => cells.append_null(),
            Self::Int8(cells) | Self::Oid(cells) => cells.append_null(),
            Self::Float4(cells) => cells.append_null(),
            Self::Float8(cells) => cells.append_null(),
            Self::Numeric(cells, _) => cells.append_null(),
            Self::Text(cells) | Self::Jsonb(cells) | Self::Uuid(cells) => cells.append_null(),
            Self::Date(cells) => cells.append_null(),
            Self::Time(cells) => cells.append_null(),
            Self::Timestamp(cells) => cells.append_null(),
            Self::Interval(cells) => cells.append_null(),
            Self::Bytes(cells) => cells.append_null(),
            Self::List(list) => list.end(false),
        }
    }

    fn finish(&mut self) -> Result<ArrayRef, Failed> {
        Ok(match self {
            Self::Bool(cells) => Arc::new(cells.finish()),
            Self::Int2(cells) => Arc::new(cells.finish()),
            Self::Int4(cells) => Arc::new(cells.finish()),
            Self::Int8(cells) | Self::Oid(cells) => Arc::new(cells.finish()),
            Self::Float4(cells) => Arc::new(cells.finish()),
            Self::Float8(cells) => Arc::new(cells.finish()),
            Self::Numeric(cells, _) => Arc::new(cells.finish()),
            Self::Text(cells) | Self::Jsonb(cells) | Self::Uuid(cells) => Arc::new(cells.finish()),
            Self::Date(cells) => Arc::new(cells.finish()),
            Self::Time(cells) => Arc::new(cells.finish()),
            Self::Timestamp(cells) => Arc::new(cells.finish()),
            Self::Interval(cells) => Arc::new(cells.finish()),
            Self::Bytes(cells) => Arc::new(cells.finish()),
            Self::List(list) => list.finish()?,
        })
    }
}

impl List {
    fn push(&mut self, raw: &[u8]) -> Result<(), Unfit> {
        for element in elements(raw)? {
            self.of.push(element?)?;
            self.count = self.count.checked_add(1).ok_or(Unfit::Broken)?;
        }
        self.end(true);
        Ok(())
    }

    fn end(&mut self, valid: bool) {
        self.ends.push(self.count);
        self.nulls.append(valid);
    }

    fn finish(&mut self) -> Result<ArrayRef, Failed> {
        let ends = std::mem::replace(&mut self.ends, vec![0]);
        self.count = 0;
        let (values, nulls) = (self.of.finish()?, self.nulls.finish());
        let list = ListArray::try_new(self.field.clone(), OffsetBuffer::new(ends.into()), values, nulls);
        Ok(Arc::new(list.map_err(|e| Failed::new(Cause::Protocol, e.to_string()))?))
    }
}

/// How many digits the numbers in a value show behind the point.
pub fn digits(cell: &Cell, raw: &[u8]) -> Option<i8> {
    match cell {
        Cell::List(of) => elements(raw).ok()?.filter_map(|element| digits(of, element.ok().flatten()?)).max(),
        _ => numeric::digits(raw),
    }
}

type Element<'a> = Result<Option<&'a [u8]>, Unfit>;

/// The elements of a list of one dimension.
fn elements(raw: &[u8]) -> Result<impl Iterator<Item = Element<'_>>, Unfit> {
    let mut rest = raw;
    let dimensions = int(&mut rest)?;
    let (_, _) = (int(&mut rest)?, int(&mut rest)?);
    let count = match dimensions {
        0 => 0,
        1 => {
            let count = int(&mut rest)?;
            int(&mut rest)?;
            count
        }
        _ => return Err(Unfit::Nested),
    };
    Ok((0..count).map(move |_| {
        let length = int(&mut rest)?;
        let Ok(length) = usize::try_from(length) else { return Ok(None) };
        let (element, after) = rest.split_at_checked(length).ok_or(Unfit::Broken)?;
        rest = after;
        Ok(Some(element))
    }))
}

fn int(rest: &mut &[u8]) -> Result<i32, Unfit> {
    let (bytes, after) = rest.split_at_checked(4).ok_or(Unfit::Broken)?;
    *rest = after;
    Ok(i32::from_be_bytes(fixed(bytes)?))
}

fn fixed<const N: usize>(raw: &[u8]) -> Result<[u8; N], Unfit> {
    raw.try_into().map_err(|_| Unfit::Broken)
}

fn utf8(raw: &[u8]) -> Result<&str, Unfit> {
    std::str::from_utf8(raw).map_err(|_| Unfit::Broken)
}

fn date(days: i32) -> Result<i32, Unfit> {
    if matches!(days, i32::MAX | i32::MIN) {
        Err(Unfit::Infinite)
    } else {
        days.checked_add(DAYS).ok_or(Unfit::Infinite)
    }
}

fn moment(microseconds: i64) -> Result<i64, Unfit> {
    let infinite = matches!(microseconds, i64::MAX | i64::MIN);
    if infinite { Err(Unfit::Infinite) } else { microseconds.checked_add(MICROSECONDS).ok_or(Unfit::Infinite) }
}

fn interval(raw: &[u8]) -> Result<IntervalMonthDayNano, Unfit> {
    let (time, rest) = raw.split_at_checked(8).ok_or(Unfit::Broken)?;
    let mut rest = rest;
    let (days, months) = (int(&mut rest)?, int(&mut rest)?);
    let nanoseconds = i64::from_be_bytes(fixed(time)?).checked_mul(1_000).ok_or(Unfit::Infinite)?;
    Ok(IntervalMonthDayNano::new(months, days, nanoseconds))
}
