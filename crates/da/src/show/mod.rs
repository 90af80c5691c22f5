//! Results for people and programs: a box, JSON, CSV or Markdown. All but the box are written as rows arrive.

mod boxed;
mod cells;
mod json;
mod lines;
mod types;

pub use types::duckdb_name;

use crate::print;
use crate::problem::{Problem, Result};
use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_schema::{Field, Schema, SchemaRef};
use clap::ValueEnum;
use std::io::Write;
use std::sync::Arc;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A box with names and types, as DuckDB draws it
    Table,
    /// An array of objects, one a line
    Json,
    Csv,
    Markdown,
}

/// How much of a result is drawn.
#[derive(Debug, Clone, Copy)]
pub struct Look {
    /// Rows of a box; the first and the last of a longer result. 0 for all.
    pub most_rows: usize,
    /// A line of types under the names.
    pub types: bool,
}

/// Writes a result to stdout; the number of its rows.
pub fn show(
    schema: &SchemaRef,
    batches: impl Iterator<Item = Result<RecordBatch>>,
    format: Format,
    look: Look,
) -> Result<u64> {
    let mut out = print::out();
    let rows = write(&mut out, schema, batches, format, look)?;
    print::written(out.flush())?;
    Ok(rows)
}

/// The same, to anywhere.
pub fn write(
    out: &mut impl Write,
    schema: &SchemaRef,
    batches: impl Iterator<Item = Result<RecordBatch>>,
    format: Format,
    look: Look,
) -> Result<u64> {
    match format {
        Format::Table => boxed::write(out, schema, batches, look),
        Format::Json => each(out, batches, json::Rows::default()),
        Format::Csv => each(out, batches, lines::Csv::new(schema)),
        Format::Markdown => each(out, batches, lines::Markdown::new(schema)),
    }
}

/// A form that is written batch by batch.
trait Form<W: Write> {
    fn begin(&mut self, out: &mut W) -> std::io::Result<()>;
    fn rows(&mut self, out: &mut W, batch: &RecordBatch) -> std::io::Result<()>;
    fn end(&mut self, out: &mut W) -> std::io::Result<()>;
}

fn each<W: Write>(
    out: &mut W,
    batches: impl Iterator<Item = Result<RecordBatch>>,
    mut form: impl Form<W>,
) -> Result<u64> {
    let mut count = 0;
    print::written(form.begin(out))?;
    for batch in batches {
        let batch = batch?;
        count += batch.num_rows() as u64;
        print::written(form.rows(out, &batch))?;
    }
    print::written(form.end(out))?;
    Ok(count)
}

/// Lists of our own: text in every cell, nothing where there is none.
pub fn list(header: &[&str], rows: Vec<Vec<Option<String>>>, format: Format) -> Result<()> {
    let schema: SchemaRef = Arc::new(Schema::new(
        header.iter().map(|name| Field::new(*name, arrow_schema::DataType::Utf8, true)).collect::<Vec<_>>(),
    ));
    let columns: Vec<ArrayRef> = (0..header.len())
        .map(|i| Arc::new(rows.iter().map(|row| row.get(i).cloned().flatten()).collect::<StringArray>()) as ArrayRef)
        .collect();
    let batch = RecordBatch::try_new(schema.clone(), columns).map_err(|error| Problem::unexpected("a list", error))?;
    show(&schema, std::iter::once(Ok(batch)), format, Look { most_rows: 0, types: false }).map(drop)
}
