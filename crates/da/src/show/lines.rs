//! CSV and Markdown.

use super::Form;
use super::cells::{Cells, tame};
use super::types::is_number;
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use std::io::{self, Write};

/// NULL is empty, empty text is `""`.
pub struct Csv {
    schema: SchemaRef,
}

impl Csv {
    pub fn new(schema: &SchemaRef) -> Self {
        Self { schema: schema.clone() }
    }
}

impl<W: Write> Form<W> for Csv {
    fn begin(&mut self, out: &mut W) -> io::Result<()> {
        let names: Vec<String> = self.schema.fields().iter().map(|field| field_of(field.name())).collect();
        writeln!(out, "{}", names.join(","))
    }

    fn rows(&mut self, out: &mut W, batch: &RecordBatch) -> io::Result<()> {
        let cells = Cells::of(batch)?;
        for row in 0..batch.num_rows() {
            for (i, cell) in cells.row(row).enumerate() {
                let comma = if i > 0 { "," } else { "" };
                write!(out, "{comma}{}", cell.map(|text| field_of(&text)).unwrap_or_default())?;
            }
            out.write_all(b"\n")?;
        }
        Ok(())
    }

    fn end(&mut self, _: &mut W) -> io::Result<()> {
        Ok(())
    }
}

fn field_of(text: &str) -> String {
    let plain = !text.is_empty() && !text.contains([',', '"', '\n', '\r']);
    if plain { text.to_owned() } else { format!("\"{}\"", text.replace('"', "\"\"")) }
}

pub struct Markdown {
    schema: SchemaRef,
}

impl Markdown {
    pub fn new(schema: &SchemaRef) -> Self {
        Self { schema: schema.clone() }
    }
}

impl<W: Write> Form<W> for Markdown {
    fn begin(&mut self, out: &mut W) -> io::Result<()> {
        let fields = self.schema.fields();
        let names: Vec<String> = fields.iter().map(|field| escaped(field.name())).collect();
        let rules = fields.iter().map(|field| if is_number(field.data_type()) { "--:" } else { "---" });
        writeln!(out, "| {} |\n|{}|", names.join(" | "), rules.collect::<Vec<_>>().join("|"))
    }

    fn rows(&mut self, out: &mut W, batch: &RecordBatch) -> io::Result<()> {
        let cells = Cells::of(batch)?;
        for row in 0..batch.num_rows() {
            let texts: Vec<String> = cells.row(row).map(|cell| escaped(cell.as_deref().unwrap_or("NULL"))).collect();
            writeln!(out, "| {} |", texts.join(" | "))?;
        }
        Ok(())
    }

    fn end(&mut self, _: &mut W) -> io::Result<()> {
        Ok(())
    }
}

fn escaped(text: &str) -> String {
    tame(text).replace('|', "\\|")
}
