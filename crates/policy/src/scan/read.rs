//! The texts of a scan, each read and written anew.

use crate::access::Readable;
use crate::predicate::{Lowering, Path, Step, Tokens, Writer, invalid, nothing_after, refuse};
use crate::sql::refuse::{at, clip};
use crate::sql::with_stack;
use domain::{Fault, Flavour, Scan};
use sqlparser::ast::Expr;
use sqlparser::keywords::Keyword;
use sqlparser::parser::Parser;
use std::collections::BTreeSet;

const MAX_SELECT: usize = 4_096;
const MAX_ORDER_BY: usize = 64;
/// A level of a tree takes more of the stack here than in a walk that changes it in place.
const FRAMES: usize = 4;

/// A scan's texts as a writer writes them.
pub struct Read {
    /// Paths, each with the name of its column in the result.
    pub select: Vec<(String, String)>,
    pub filter: Option<String>,
    pub order_by: Vec<String>,
}

/// Reads the texts of one scan.
pub struct Reading<'a> {
    pub writer: Writer,
    pub readable: &'a Readable<'a>,
}

impl Reading<'_> {
    pub fn scan(&self, scan: &Scan) -> Result<Read, Fault> {
        self.few(scan.select.len(), MAX_SELECT, "select")?;
        self.few(scan.order_by.len(), MAX_ORDER_BY, "order_by")?;
        let select = scan.select.iter().map(|entry| self.selected(entry));
        let select: Vec<_> = select.collect::<Result<_, _>>().map_err(|fault| fault.detail("in", "select"))?;
        no_duplicates(&select)?;
        let filter = scan.filter.as_deref().map(|text| self.predicate(text)).transpose();
        let order_by = scan.order_by.iter().map(|entry| self.ordered(entry)).collect::<Result<_, _>>();
        Ok(Read {
            select,
            filter: filter.map_err(|fault| fault.detail("in", "where"))?,
            order_by: order_by.map_err(|fault: Fault| fault.detail("in", "order_by"))?,
        })
    }

    fn few(&self, count: usize, most: usize, what: &str) -> Result<(), Fault> {
        if count <= most {
            return Ok(());
        }
        let message = format!("`{what}` has {count} entries, more than {most}");
        Err(invalid("too_many_entries", message, "leave some out").detail("in", what))
    }

    fn lowering(&self) -> Lowering<'_> {
        Lowering { flavour: self.writer.flavour, readable: self.readable }
    }

    fn predicate(&self, text: &str) -> Result<String, Fault> {
        let tokens = Tokens::of(self.writer.flavour, text)?;
        let start = tokens.start();
        with_stack(tokens.depth * FRAMES, || {
            let node = self.lowering().predicate(&tokens.expression()?).map_err(|fault| at(fault, start))?;
            self.writer.write(&node)
        })
    }

    /// A column or a path, and the name that it has in the result: its last.
    fn selected(&self, entry: &str) -> Result<(String, String), Fault> {
        let tokens = Tokens::of(self.writer.flavour, entry)?;
        with_stack(tokens.depth * FRAMES, || {
            let path = self.lowering().path(&tokens.expression()?)?;
            let name = path.steps.iter().rev().find_map(|step| match step {
                Step::Field(name) => Some(name.clone()),
                Step::Element { .. } => None,
            });
            Ok((self.writer.stored(&path)?, name.unwrap_or(path.column)))
        })
    }

    /// A column or a path, a direction, and where NULLs go.
    fn ordered(&self, entry: &str) -> Result<String, Fault> {
        let tokens = Tokens::of(self.writer.flavour, entry)?;
        with_stack(tokens.depth * FRAMES, || {
            let (expr, mut parser) = tokens.expression_and_rest()?;
            let Direction { descending, nulls_first } = direction(&mut parser);
            nothing_after(&parser, "the entry", "write a column, ASC or DESC, and NULLS FIRST or NULLS LAST")?;
            let path = self.orderable(&expr)?;
            // Where the flavour puts NULLs of its own accord, whatever the engine would do.
            let nulls_first = nulls_first.unwrap_or(self.writer.flavour == Flavour::BigQuery && !descending);
            let (direction, nulls) =
                (if descending { "DESC" } else { "ASC" }, if nulls_first { "FIRST" } else { "LAST" });
            Ok(format!("{} {direction} NULLS {nulls}", self.writer.path(&path)?))
        })
    }

    fn orderable(&self, expr: &Expr) -> Result<Path, Fault> {
        let path = self.lowering().path(expr)?;
        match path.is_nested() {
            true => {
                let message = format!("`{}` is a list or a struct and has no order", clip(&expr.to_string()));
                Err(refuse("not_orderable", message, "order by a plain column or field"))
            }
            false => Ok(path),
        }
    }
}

struct Direction {
    descending: bool,
    nulls_first: Option<bool>,
}

/// `[ASC | DESC] [NULLS FIRST | NULLS LAST]`.
fn direction(parser: &mut Parser<'_>) -> Direction {
    let descending = !parser.parse_keyword(Keyword::ASC) && parser.parse_keyword(Keyword::DESC);
    let nulls_first = if parser.parse_keywords(&[Keyword::NULLS, Keyword::FIRST]) {
        Some(true)
    } else {
        parser.parse_keywords(&[Keyword::NULLS, Keyword::LAST]).then_some(false)
    };
    Direction { descending, nulls_first }
}

/// Files and views of the result could not keep two columns of one name.
fn no_duplicates(select: &[(String, String)]) -> Result<(), Fault> {
    let mut names = BTreeSet::new();
    match select.iter().find(|(_, name)| !names.insert(name.to_ascii_lowercase())) {
        None => Ok(()),
        Some((_, name)) => {
            let message = format!("two entries of `select` are called `{}`", clip(name));
            Err(invalid("duplicate_column", message, "leave one of them out").detail("column", clip(name)))
        }
    }
}
