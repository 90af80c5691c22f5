//! A box like DuckDB's: names, types, the first and the last rows, and how many there are.

use super::Look;
use super::cells::{Cells, tame};
use super::types::{duckdb_name, is_number};
use crate::print;
use crate::problem::{Problem, Result};
use crate::units::plural;
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use std::collections::VecDeque;
use std::io::{IsTerminal, Write};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// No column of a terminal is made narrower than this.
const NARROWEST: usize = 8;

type Row = Vec<Option<String>>;

pub fn write(
    out: &mut impl Write,
    schema: &SchemaRef,
    batches: impl Iterator<Item = Result<RecordBatch>>,
    look: Look,
) -> Result<u64> {
    let mut kept = Kept::new(look.most_rows);
    for batch in batches {
        let batch = batch?;
        let cells = Cells::of(&batch).map_err(|error| Problem::unexpected("a value cannot be shown", error))?;
        for row in 0..batch.num_rows() {
            kept.push(|| cells.row(row).map(|cell| cell.map(|text| tame(&text))).collect());
        }
    }
    let drawing = Drawing::new(schema, &kept, look);
    print::written(drawing.write(out, &kept))?;
    Ok(kept.total)
}

/// The first rows and the last ones.
struct Kept {
    half: usize,
    first: Vec<Row>,
    last: VecDeque<Row>,
    total: u64,
}

impl Kept {
    fn new(most: usize) -> Self {
        let half = if most == 0 { usize::MAX } else { most.div_ceil(2) };
        Self { half, first: Vec::new(), last: VecDeque::new(), total: 0 }
    }

    fn push(&mut self, row: impl FnOnce() -> Row) {
        self.total += 1;
        if self.first.len() < self.half {
            self.first.push(row());
            return;
        }
        if self.last.len() == self.half {
            self.last.pop_front();
        }
        self.last.push_back(row());
    }

    fn shown(&self) -> u64 {
        (self.first.len() + self.last.len()) as u64
    }
}

struct Drawing {
    names: Vec<String>,
    types: Option<Vec<String>>,
    right: Vec<bool>,
    widths: Vec<usize>,
}

impl Drawing {
    fn new(schema: &SchemaRef, kept: &Kept, look: Look) -> Self {
        let names: Vec<String> = schema.fields().iter().map(|field| tame(field.name())).collect();
        let types = schema.fields().iter().map(|field| duckdb_name(field.data_type()));
        let types = look.types.then(|| types.collect::<Vec<_>>());
        let right = schema.fields().iter().map(|field| look.types && is_number(field.data_type())).collect();
        let rows = || kept.first.iter().chain(&kept.last);
        let widths = (0..names.len()).map(|i| {
            let heads =
                names.get(i).into_iter().chain(types.as_ref().and_then(|types| types.get(i))).map(|t| t.width());
            heads.chain(rows().map(|row| text(row, i).width())).max().unwrap_or(0)
        });
        let mut widths: Vec<usize> = widths.collect();
        if let Some(room) = room() {
            narrow(&mut widths, room);
        }
        Self { names, types, right, widths }
    }

    fn write(&self, out: &mut impl Write, kept: &Kept) -> std::io::Result<()> {
        self.rule(out, ["┌", "┬", "┐"])?;
        self.heads(out, &self.names)?;
        if let Some(types) = &self.types {
            self.heads(out, types)?;
        }
        self.rule(out, ["├", "┼", "┤"])?;
        self.rows(out, kept.first.iter())?;
        if kept.total > kept.shown() {
            let dots: Row = self.widths.iter().map(|_| Some("·".to_owned())).collect();
            self.rows(out, [&dots, &dots, &dots].into_iter())?;
        }
        self.rows(out, kept.last.iter())?;
        self.rule(out, ["└", "┴", "┘"])?;
        let shown = if kept.total > kept.shown() { format!(" ({} shown)", kept.shown()) } else { String::new() };
        writeln!(out, "{}{shown}", plural(kept.total, "row"))
    }

    fn rule(&self, out: &mut impl Write, [left, cross, right]: [&str; 3]) -> std::io::Result<()> {
        let lines: Vec<String> = self.widths.iter().map(|width| "─".repeat(width + 2)).collect();
        writeln!(out, "{left}{}{right}", lines.join(cross))
    }

    /// Centred, as DuckDB has it.
    fn heads(&self, out: &mut impl Write, heads: &[String]) -> std::io::Result<()> {
        for (head, width) in heads.iter().zip(&self.widths) {
            let head = cut(head, *width);
            let space = width - head.width();
            let left = space / 2;
            write!(out, "│ {}{head}{} ", " ".repeat(left), " ".repeat(space - left))?;
        }
        writeln!(out, "│")
    }

    fn rows<'a>(&self, out: &mut impl Write, rows: impl Iterator<Item = &'a Row>) -> std::io::Result<()> {
        for row in rows {
            for (i, width) in self.widths.iter().enumerate() {
                let cell = cut(text(row, i), *width);
                let space = " ".repeat(width - cell.width());
                match self.right.get(i) {
                    Some(true) => write!(out, "│ {space}{cell} ")?,
                    _ => write!(out, "│ {cell}{space} ")?,
                }
            }
            writeln!(out, "│")?;
        }
        Ok(())
    }
}

fn text(row: &Row, column: usize) -> &str {
    row.get(column).and_then(Option::as_deref).unwrap_or("NULL")
}

/// Columns of the terminal; nothing where the reader is none.
fn room() -> Option<usize> {
    let stdout = std::io::stdout();
    let size = stdout.is_terminal().then(|| rustix::termios::tcgetwinsize(stdout).ok()).flatten()?;
    (size.ws_col > 0).then_some(usize::from(size.ws_col))
}

/// Takes from the widest until it fits.
fn narrow(widths: &mut [usize], room: usize) {
    let needed = |widths: &[usize]| widths.iter().map(|width| width + 3).sum::<usize>() + 1;
    while needed(widths) > room {
        match widths.iter_mut().filter(|width| **width > NARROWEST).max() {
            Some(widest) => *widest -= 1,
            None => return,
        }
    }
}

fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let (mut cut, mut used) = (String::new(), 1);
    for c in text.chars() {
        used += c.width().unwrap_or(0);
        if used > width {
            break;
        }
        cut.push(c);
    }
    cut.push('…');
    cut
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{ArrayRef, Int64Array, StringArray};
    use std::sync::Arc;

    fn drawn(rows: i64, most_rows: usize) -> String {
        let names: StringArray = (0..rows).map(|n| (n % 3 > 0).then(|| format!("no {n}\u{1b}[31m"))).collect();
        let batch = RecordBatch::try_from_iter([
            ("n", Arc::new(Int64Array::from_iter_values(0..rows)) as ArrayRef),
            ("名前", Arc::new(names)),
        ])
        .unwrap();
        let mut out = Vec::new();
        let schema = batch.schema();
        write(&mut out, &schema, std::iter::once(Ok(batch)), Look { most_rows, types: true }).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_long_result_shows_its_ends() {
        insta::assert_snapshot!(drawn(9, 4), @r"
        ┌───────┬──────────────┐
        │   n   │     名前     │
        │ int64 │   varchar    │
        ├───────┼──────────────┤
        │     0 │ NULL         │
        │     1 │ no 1\x1b[31m │
        │     · │ ·            │
        │     · │ ·            │
        │     · │ ·            │
        │     7 │ no 7\x1b[31m │
        │     8 │ no 8\x1b[31m │
        └───────┴──────────────┘
        9 rows (4 shown)
        ");
    }

    #[test]
    fn a_narrow_terminal_takes_from_the_widest() {
        let mut widths = [30, 10, 4];
        narrow(&mut widths, 40);
        assert_eq!(widths, [16, 10, 4]);
        assert_eq!(cut("abcdefgh", 5), "abcd…");
    }
}
