//! An array of objects. Numbers keep every digit; what JSON has no literal for is text.

use super::Form;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, StructArray};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::DataType;
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use std::io::{self, Write};

#[derive(Default)]
pub struct Rows {
    begun: bool,
}

impl<W: Write> Form<W> for Rows {
    fn begin(&mut self, out: &mut W) -> io::Result<()> {
        out.write_all(b"[")
    }

    fn rows(&mut self, out: &mut W, batch: &RecordBatch) -> io::Result<()> {
        for row in 0..batch.num_rows() {
            out.write_all(if self.begun { b",\n" } else { b"\n" })?;
            self.begun = true;
            let names = batch.schema_ref().fields().iter().map(|field| field.name().as_str());
            object(out, names.zip(batch.columns()), row)?;
        }
        Ok(())
    }

    fn end(&mut self, out: &mut W) -> io::Result<()> {
        out.write_all(if self.begun { b"\n]\n" } else { b"]\n" })
    }
}

fn object<'a>(
    out: &mut impl Write,
    members: impl Iterator<Item = (&'a str, &'a ArrayRef)>,
    row: usize,
) -> io::Result<()> {
    out.write_all(b"{")?;
    for (i, (name, array)) in members.enumerate() {
        if i > 0 {
            out.write_all(b",")?;
        }
        serde_json::to_writer(&mut *out, name)?;
        out.write_all(b":")?;
        value(out, array, row)?;
    }
    out.write_all(b"}")
}

fn value(out: &mut dyn Write, array: &ArrayRef, row: usize) -> io::Result<()> {
    use DataType::*;
    if array.is_null(row) {
        return out.write_all(b"null");
    }
    match array.data_type() {
        Null => out.write_all(b"null"),
        Utf8 => Ok(serde_json::to_writer(out, array.as_string::<i32>().value(row))?),
        Binary => Ok(serde_json::to_writer(out, &BASE64.encode(array.as_binary::<i32>().value(row)))?),
        List(_) => items(out, &array.as_list::<i32>().value(row)),
        LargeList(_) => items(out, &array.as_list::<i64>().value(row)),
        FixedSizeList(..) => items(out, &array.as_fixed_size_list().value(row)),
        Struct(_) => members(out, array.as_struct(), row),
        Map(..) => {
            let entries = array.as_map().value(row);
            map(out, &entries)
        }
        kind => {
            let text = display(array, row)?;
            let literal = *kind == Boolean || (kind.is_numeric() && text.bytes().any(|b| b.is_ascii_digit()));
            if literal { out.write_all(text.as_bytes()) } else { Ok(serde_json::to_writer(out, &text)?) }
        }
    }
}

fn members(mut out: &mut dyn Write, array: &StructArray, row: usize) -> io::Result<()> {
    let names = array.fields().iter().map(|field| field.name().as_str());
    object(&mut out, names.zip(array.columns()), row)
}

fn items(out: &mut dyn Write, items: &ArrayRef) -> io::Result<()> {
    out.write_all(b"[")?;
    for i in 0..items.len() {
        if i > 0 {
            out.write_all(b",")?;
        }
        value(out, items, i)?;
    }
    out.write_all(b"]")
}

/// JSON's keys are text: any other key becomes its text.
fn map(out: &mut dyn Write, entries: &StructArray) -> io::Result<()> {
    let [keys, values] = entries.columns() else { return out.write_all(b"null") };
    out.write_all(b"{")?;
    for i in 0..entries.len() {
        if i > 0 {
            out.write_all(b",")?;
        }
        serde_json::to_writer(&mut *out, &display(keys, i)?)?;
        out.write_all(b":")?;
        value(out, values, i)?;
    }
    out.write_all(b"}")
}

/// Arrow's own words: shortest digits for floats, ISO 8601 for dates and times.
fn display(array: &ArrayRef, row: usize) -> io::Result<String> {
    let options = FormatOptions::default();
    let formatter = ArrayFormatter::try_new(array.as_ref(), &options).map_err(io::Error::other)?;
    formatter.value(row).try_to_string().map_err(io::Error::other)
}
