//! Which names mean what at a place in a statement.
//!
//! CTE names must be known exactly, since they decide what is a table. Columns are a service: a
//! name that certainly means nothing is refused early with suggestions; wherever that is not
//! certain the engine decides, and the engine only ever sees readable columns.

use super::refuse::{Walk, at_ident, clip, invalid, refuse};
use crate::suggest::did_you_mean;
use domain::FieldType;
use sqlparser::ast::{Expr, Ident};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// The columns of a relation, if they are known.
pub type Columns = Option<Vec<Column>>;

/// One column of a relation.
#[derive(Debug, Clone)]
pub struct Column {
    /// Empty where only the engine knows it.
    pub name: String,
    /// The field that it is, under whatever name; none of an expression. Only told of statements that a model wrote.
    pub field: Option<Rc<Field>>,
}

/// A field of a resource.
#[derive(Debug)]
pub struct Field {
    pub name: String,
    pub kind: FieldType,
    pub personal: bool,
}

impl Column {
    pub fn new(name: impl Into<String>, field: Option<Rc<Field>>) -> Self {
        Self { name: name.into(), field }
    }

    pub fn personal(&self) -> Option<&Rc<Field>> {
        self.field.as_ref().filter(|field| field.personal)
    }
}

/// The meaning of a name, as far as personal fields go.
pub enum Personal {
    No,
    Field(Rc<Field>),
    /// A whole row that holds some.
    Row,
}

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
    /// Those of them that are personal fields, and the relations that have any.
    personal: HashMap<String, Rc<Field>>,
    personal_rows: HashSet<String>,
    /// Tables are joined by USING: a `*` has fewer columns than they have, at other places.
    using: bool,
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
            level.columns.extend(columns.iter().flatten().map(|c| c.name.to_ascii_lowercase()));
            for column in columns.iter().flatten() {
                level.open |= column.name.is_empty();
                if let Some(field) = column.personal() {
                    level.personal.insert(column.name.to_ascii_lowercase(), field.clone());
                    level.personal_rows.insert(name.to_ascii_lowercase());
                }
            }
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

    /// An alias of this level that stands for a personal field.
    pub fn add_personal_name(&mut self, name: &str, field: &Rc<Field>) {
        if let Some(level) = self.levels.last_mut() {
            level.personal.insert(name.to_ascii_lowercase(), field.clone());
        }
    }

    /// The personal field that a column may be. Any of that name in reach counts, since engines differ in which of them
    /// they mean.
    pub fn personal(&self, expr: &Expr) -> Personal {
        match expr {
            Expr::Identifier(ident) => self.personal_name(&ident.value),
            Expr::CompoundIdentifier(parts) => {
                let [first, second, ..] = parts.as_slice() else { return Personal::No };
                let mut relations = self.relations().filter(|(name, _)| name.eq_ignore_ascii_case(&first.value));
                let named = |column: &&Column| column.name.eq_ignore_ascii_case(&second.value);
                let mut is_relation = false;
                let found = relations.find_map(|(_, columns)| {
                    is_relation = true;
                    columns.iter().flatten().filter(named).find_map(Column::personal)
                });
                match (found, is_relation) {
                    (Some(field), _) => Personal::Field(field.clone()),
                    // A member of a column, or a name that the engine may read in some other way.
                    (None, is_relation) => match self.personal_name(&first.value) {
                        Personal::Field(field) => Personal::Field(field),
                        _ if is_relation => Personal::No,
                        _ => parts
                            .iter()
                            .skip(1)
                            .map(|part| self.personal_name(&part.value))
                            .find(Personal::is_any)
                            .unwrap_or(Personal::No),
                    },
                }
            }
            _ => Personal::No,
        }
    }

    fn personal_name(&self, name: &str) -> Personal {
        let lower = name.to_ascii_lowercase();
        if let Some(field) = self.levels.iter().rev().find_map(|level| level.personal.get(&lower)) {
            return Personal::Field(field.clone());
        }
        if self.levels.iter().any(|level| level.personal_rows.contains(&lower)) { Personal::Row } else { Personal::No }
    }

    /// The field that a bare column is, personal or not.
    pub fn field(&self, expr: &Expr) -> Option<Rc<Field>> {
        let of = |relation: Option<&str>, name: &str| {
            let columns = self.relations().filter(|(known, _)| relation.is_none_or(|r| known.eq_ignore_ascii_case(r)));
            let mut columns = columns.flat_map(|(_, columns)| columns.iter().flatten());
            columns.find(|column| column.name.eq_ignore_ascii_case(name)).and_then(|column| column.field.clone())
        };
        match expr {
            Expr::Identifier(ident) => of(None, &ident.value),
            Expr::CompoundIdentifier(parts) => match parts.as_slice() {
                [relation, name] => of(Some(&relation.value), &name.value),
                _ => None,
            },
            _ => None,
        }
    }

    pub fn add_using(&mut self) {
        if let Some(level) = self.levels.last_mut() {
            level.using = true;
        }
    }

    pub fn has_using(&self) -> bool {
        self.levels.last().is_some_and(|level| level.using)
    }

    /// Whether this level's relations have personal fields, or fields that a column of this name would be joined by.
    pub fn has_personal(&self, name: Option<&str>) -> bool {
        self.levels.last().is_some_and(|level| match name {
            Some(name) => level.personal.contains_key(&name.to_ascii_lowercase()),
            None => !level.personal_rows.is_empty(),
        })
    }

    /// The same of all levels, for stars that may reach further.
    pub fn reaches_personal(&self) -> bool {
        self.levels.iter().any(|level| !level.personal_rows.is_empty())
    }

    fn relations(&self) -> impl Iterator<Item = &(String, Columns)> {
        self.levels.iter().rev().flat_map(|level| &level.relations)
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
            Some((_, Some(columns))) if columns.iter().any(|c| c.name.eq_ignore_ascii_case(&second.value)) => Ok(()),
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
        columns
            .map(|column| column.name.as_str())
            .filter(|name| !name.is_empty())
            .chain(self.names.iter().map(String::as_str))
    }
}

impl Personal {
    pub fn is_any(&self) -> bool {
        !matches!(self, Self::No)
    }
}
