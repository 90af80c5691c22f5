//! A value as text, as DuckDB writes it.

use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use std::io;

const OPTIONS: FormatOptions<'static> = FormatOptions::new()
    .with_display_error(true)
    .with_null("NULL")
    .with_timestamp_format(Some("%Y-%m-%d %H:%M:%S%.f"))
    .with_timestamp_tz_format(Some("%Y-%m-%d %H:%M:%S%.f+00"))
    .with_time_format(Some("%H:%M:%S%.f"));

/// The columns of a batch, ready to be read row by row.
pub struct Cells<'a> {
    columns: Vec<(&'a ArrayRef, ArrayFormatter<'a>)>,
}

impl<'a> Cells<'a> {
    pub fn of(batch: &'a RecordBatch) -> io::Result<Self> {
        let columns = batch.columns().iter().map(|array| {
            let formatter = ArrayFormatter::try_new(array.as_ref(), &OPTIONS).map_err(io::Error::other)?;
            Ok((array, formatter))
        });
        Ok(Self { columns: columns.collect::<io::Result<_>>()? })
    }

    /// Nothing for NULL.
    pub fn row(&self, row: usize) -> impl Iterator<Item = Option<String>> {
        self.columns
            .iter()
            .map(move |(array, formatter)| (!array.is_null(row)).then(|| formatter.value(row).to_string()))
    }
}

/// On one line, and with nothing in it that a terminal would obey.
pub fn tame(text: &str) -> String {
    if !text.chars().any(char::is_control) {
        return text.to_owned();
    }
    let mut tamed = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => tamed.push_str("\\n"),
            '\r' => tamed.push_str("\\r"),
            '\t' => tamed.push_str("\\t"),
            c if c.is_control() => tamed.push_str(&format!("\\x{:02x}", u32::from(c))),
            c => tamed.push(c),
        }
    }
    tamed
}
