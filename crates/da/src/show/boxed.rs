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
/// Stands for columns that find no room.
const LEFT_OUT: &str = "…";

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
    let drawing = Drawing::new(schema, &kept, look, room());
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
    columns: Vec<Column>,
    /// With those that found no room.
    total: usize,
    types: bool,
}

struct Column {
    /// Its place in the result; nothing stands for columns that are left out.
    at: Option<usize>,
    name: String,
    kind: String,
    right: bool,
    width: usize,
}

impl Drawing {
    fn new(schema: &SchemaRef, kept: &Kept, look: Look, room: Option<usize>) -> Self {
        let rows = || kept.first.iter().chain(&kept.last);
        let column = |(at, field): (usize, &arrow_schema::FieldRef)| {
            let (name, kind) = (tame(field.name()), duckdb_name(field.data_type()));
            let head = name.width().max(if look.types { kind.width() } else { 0 });
            let width = rows().map(|row| text(row, at).width()).max().unwrap_or(0).max(head);
            Column { at: Some(at), name, kind, right: look.types && is_number(field.data_type()), width }
        };
        let mut columns: Vec<Column> = schema.fields().iter().enumerate().map(column).collect();
        if let Some(room) = room {
            fit(&mut columns, room);
        }
        Self { columns, total: schema.fields().len(), types: look.types }
    }

    fn write(&self, out: &mut impl Write, kept: &Kept) -> std::io::Result<()> {
        self.rule(out, ["┌", "┬", "┐"])?;
        self.heads(out, |column| &column.name)?;
        if self.types {
            self.heads(out, |column| &column.kind)?;
        }
        self.rule(out, ["├", "┼", "┤"])?;
        kept.first.iter().try_for_each(|row| self.row(out, |at| text(row, at)))?;
        if kept.total > kept.shown() {
            (0..3).try_for_each(|_| self.row(out, |_| "·"))?;
        }
        kept.last.iter().try_for_each(|row| self.row(out, |at| text(row, at)))?;
        self.rule(out, ["└", "┴", "┘"])?;
        writeln!(out, "{}", self.foot(kept))
    }

    fn foot(&self, kept: &Kept) -> String {
        let mut foot = plural(kept.total, "row");
        if kept.total > kept.shown() {
            foot.push_str(&format!(" ({} shown)", kept.shown()));
        }
        let shown = self.columns.iter().filter(|column| column.at.is_some()).count();
        if self.total > shown {
            foot.push_str(&format!(", {} columns ({shown} shown)", self.total));
        }
        foot
    }

    fn rule(&self, out: &mut impl Write, [left, cross, right]: [&str; 3]) -> std::io::Result<()> {
        let lines: Vec<String> = self.columns.iter().map(|column| "─".repeat(column.width + 2)).collect();
        writeln!(out, "{left}{}{right}", lines.join(cross))
    }

    /// Centred, as DuckDB has it.
    fn heads(&self, out: &mut impl Write, head: impl Fn(&Column) -> &str) -> std::io::Result<()> {
        for column in &self.columns {
            let head = cut(head(column), column.width);
            let space = column.width - head.width();
            let left = space / 2;
            write!(out, "│ {}{head}{} ", " ".repeat(left), " ".repeat(space - left))?;
        }
        writeln!(out, "│")
    }

    fn row<'a>(&self, out: &mut impl Write, cell: impl Fn(usize) -> &'a str) -> std::io::Result<()> {
        for column in &self.columns {
            let cell = cut(column.at.map_or(LEFT_OUT, &cell), column.width);
            let space = " ".repeat(column.width - cell.width());
            match column.right {
                true => write!(out, "│ {space}{cell} ")?,
                false => write!(out, "│ {cell}{space} ")?,
            }
        }
        writeln!(out, "│")
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

/// Takes from the widest until all fit; where that does not help, leaves out those in the middle.
fn fit(columns: &mut Vec<Column>, room: usize) {
    let needed = |columns: &[Column]| columns.iter().map(|column| column.width + 3).sum::<usize>() + 1;
    while needed(columns) > room {
        match columns.iter_mut().filter(|column| column.width > NARROWEST).max_by_key(|column| column.width) {
            Some(widest) => widest.width -= 1,
            None => break,
        }
    }
    if needed(columns) <= room || columns.len() < 3 {
        return;
    }
    let dots = || LEFT_OUT.to_owned();
    let middle = Column { at: None, name: dots(), kind: dots(), right: false, width: 1 };
    while needed(columns) + middle.width + 3 > room && columns.len() > 2 {
        columns.remove(columns.len() / 2);
    }
    columns.insert(columns.len().div_ceil(2), middle);
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
    fn a_narrow_terminal_takes_from_the_widest_then_from_the_middle() {
        let batch =
            RecordBatch::try_from_iter(["first", "second", "third", "fourth"].map(|name| {
                (name, Arc::new(StringArray::from(vec![format!("{name} value, which is long")])) as ArrayRef)
            }))
            .unwrap();
        let drawn = |room: usize| {
            let mut kept = Kept::new(0);
            let cells = Cells::of(&batch).unwrap();
            kept.push(|| cells.row(0).collect());
            let look = Look { most_rows: 0, types: false };
            let mut out = Vec::new();
            Drawing::new(&batch.schema(), &kept, look, Some(room)).write(&mut out, &kept).unwrap();
            String::from_utf8(out).unwrap()
        };
        insta::assert_snapshot!(drawn(60) + &drawn(40), @r"
        ┌──────────────┬──────────────┬──────────────┬─────────────┐
        │    first     │    second    │    third     │   fourth    │
        ├──────────────┼──────────────┼──────────────┼─────────────┤
        │ first value… │ second valu… │ third value… │ fourth val… │
        └──────────────┴──────────────┴──────────────┴─────────────┘
        1 row
        ┌──────────┬──────────┬───┬──────────┐
        │  first   │  second  │ … │  fourth  │
        ├──────────┼──────────┼───┼──────────┤
        │ first v… │ second … │ … │ fourth … │
        └──────────┴──────────┴───┴──────────┘
        1 row, 4 columns (3 shown)
        ");
    }
}
