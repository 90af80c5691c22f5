//! Which names mean what at a place in a statement.
//!
//! CTE names must be known exactly, since they decide what is a table. Columns are a service: a
//! name that certainly means nothing is refused early with suggestions; wherever that is not
//! certain the engine decides, and the engine only ever sees readable columns.

use super::refuse::{Walk, at_ident, clip, invalid, refuse};
use crate::suggest::did_you_mean;
use sqlparser::ast::Ident;
use std::collections::HashSet;

/// The columns of a relation, if they are known.
pub type Columns = Option<Vec<String>>;

/// Columns that a statement may bring into reach, those of all its tables, CTEs and lists together. `SELECT *, *` of a
/// CTE that is itself like that doubles them with every step.
const MAX_COLUMNS: usize = 30_000;

#[derive(Default)]
pub struct Scopes {
    levels: Vec<Level>,
    ctes: Vec<Cte>,
    /// Columns brought into reach so far.
    reached: usize,
}

#[derive(Default)]
struct Level {
    relations: Vec<(String, Columns)>,
    /// Names that the level itself gives: select aliases, lambda parameters.
    names: Vec<String>,
    /// All names of columns, in lowercase: there may be thousands, each looked up thousands of times.
    columns: HashSet<String>,
    /// Some names of this level are unknown to us.
    open: bool,
}

struct Cte {
    name: String,
    columns: Columns,
}

impl Scopes {
    pub fn enter(&mut self) {
        self.levels.push(Level::default());
    }

    pub fn leave(&mut self) {
        self.levels.pop();
    }

    pub fn add_relation(&mut self, name: &str, columns: Columns) -> Walk {
        self.reach(&columns)?;
        if let Some(level) = self.levels.last_mut() {
            level.columns.extend(columns.iter().flatten().map(|c| c.to_ascii_lowercase()));
            level.relations.push((name.to_owned(), columns));
        }
        Ok(())
    }

    /// Counts columns that come into reach.
    pub fn reach(&mut self, columns: &Columns) -> Walk {
        self.reached += columns.as_ref().map_or(0, Vec::len);
        if self.reached <= MAX_COLUMNS {
            return Ok(());
        }
        let message = format!("the tables and queries named here have more than {MAX_COLUMNS} columns in all");
        Err(refuse("sql.too_many_columns", message, "name the columns that you need instead of `*`"))
    }

    pub fn add_name(&mut self, name: &str) {
        if let Some(level) = self.levels.last_mut() {
            level.columns.insert(name.to_ascii_lowercase());
            level.names.push(name.to_owned());
        }
    }

    /// From here on, this level may hold names that we do not know.
    pub fn open(&mut self) {
        if let Some(level) = self.levels.last_mut() {
            level.open = true;
        }
    }

    /// All columns of the current level's relations, for `SELECT *`.
    pub fn all_columns(&self) -> Columns {
        let level = self.levels.last()?;
        let mut all = Vec::new();
        for (_, columns) in &level.relations {
            all.extend(columns.as_ref()?.iter().cloned());
        }
        Some(all)
    }

    /// The columns of one relation in reach, for `SELECT t.*`.
    pub fn columns_of(&self, relation: &str) -> Columns {
        let mut reach = self.levels.iter().rev().flat_map(|level| &level.relations);
        reach.find(|(name, _)| name.eq_ignore_ascii_case(relation)).and_then(|(_, columns)| columns.clone())
    }

    pub fn cte_mark(&self) -> usize {
        self.ctes.len()
    }

    pub fn add_cte(&mut self, name: &str, columns: Columns) {
        self.ctes.push(Cte { name: name.to_owned(), columns });
    }

    pub fn forget_ctes(&mut self, mark: usize) {
        self.ctes.truncate(mark);
    }

    /// The columns of the innermost CTE of that name, if there is one.
    pub fn cte(&self, name: &str) -> Option<&Columns> {
        self.ctes.iter().rev().find(|cte| cte.name.eq_ignore_ascii_case(name)).map(|cte| &cte.columns)
    }

    /// A column by its bare name.
    pub fn column(&self, ident: &Ident) -> Walk {
        let name = ident.value.as_str();
        if self.levels.is_empty() || self.levels.iter().any(Level::is_unclear) || self.means(name) {
            return Ok(());
        }
        Err(self.unknown(ident, name))
    }

    /// `a.b`, `a.b.c` …: refused only when `a` is a relation of known columns without `b`, or nothing at all.
    pub fn compound(&self, parts: &[Ident]) -> Walk {
        let [first, second, ..] = parts else { return Ok(()) };
        if self.levels.iter().any(Level::is_unclear) || self.is_column(&first.value) {
            return Ok(());
        }
        let mut relations = self.levels.iter().rev().flat_map(|level| &level.relations);
        match relations.find(|(name, _)| name.eq_ignore_ascii_case(&first.value)) {
            Some((_, Some(columns))) if columns.iter().any(|c| c.eq_ignore_ascii_case(&second.value)) => Ok(()),
            Some((_, None)) => Ok(()),
            Some((_, Some(_))) => Err(self.unknown(second, &format!("{}.{}", first.value, second.value))),
            None => Err(self.unknown(first, &format!("{}.{}", first.value, second.value))),
        }
    }

    fn means(&self, name: &str) -> bool {
        let relation = |level: &Level| level.relations.iter().any(|(n, _)| n.eq_ignore_ascii_case(name));
        self.is_column(name) || self.levels.iter().any(relation)
    }

    pub fn is_column(&self, name: &str) -> bool {
        let lower = name.to_ascii_lowercase();
        self.levels.iter().any(|level| level.columns.contains(&lower))
    }

    fn unknown(&self, ident: &Ident, written: &str) -> domain::Fault {
        let known = self.levels.iter().rev().flat_map(Level::known);
        let mut hint = did_you_mean(&ident.value, known, "columns");
        if ident.quote_style.is_some() {
            hint.push_str("; text is written in 'single quotes'");
        }
        at_ident(invalid("sql.unknown_column", format!("unknown column `{}`", clip(written)), hint), ident)
    }
}

impl Level {
    fn is_unclear(&self) -> bool {
        self.open || self.relations.iter().any(|(_, columns)| columns.is_none())
    }

    fn known(&self) -> impl Iterator<Item = &str> {
        let columns = self.relations.iter().filter_map(|(_, columns)| columns.as_ref()).flatten();
        columns.chain(&self.names).map(String::as_str)
    }
}
