//! Names as they were given, for an engine to which `Id` and `id` are two.
//!
//! To DuckDB, in whose SQL statements are written, they are one. So each name is spelled as the table or the statement
//! itself spells it.

use super::super::no_translation;
use crate::sql::refuse::Walk;
use domain::SourceSchema;
use sqlparser::ast::{Expr, Ident, Query, Select, SelectItem, TableAlias, TableFactor, Visit, Visitor};
use std::collections::{BTreeSet, HashMap};
use std::convert::Infallible;
use std::ops::ControlFlow;

/// The spellings of each name, by its lowercase letters: of tables and columns first, then those of the statement.
pub struct Spelling {
    known: HashMap<String, Vec<String>>,
    /// Of columns alone, the same.
    columns: HashMap<String, BTreeSet<String>>,
    /// Names that the statement gives to something else than a column that goes by that name already.
    given: BTreeSet<String>,
}

impl Spelling {
    pub fn of(query: &Query, source: &SourceSchema, tables: &BTreeSet<String>) -> Walk<Self> {
        let mut spelling = Self { known: HashMap::new(), columns: HashMap::new(), given: BTreeSet::new() };
        for table in tables.iter().filter_map(|table| source.table(table)) {
            spelling.add(&table.name);
            table.columns.iter().for_each(|column| spelling.column(&column.name));
        }
        let ControlFlow::Continue(()) = query.visit(&mut spelling);
        let twice = spelling.given.iter().find(|name| spelling.columns.get(*name).is_some_and(|all| all.len() > 1));
        match twice {
            Some(name) => Err(no_translation(&format!("{name}, in several spellings"))),
            None => Ok(spelling),
        }
    }

    /// What is spelled as nothing is: as what it means, which is the statement's own name for it, if it has one.
    pub fn put_right(&self, ident: &mut Ident) {
        let Some(known) = self.known.get(&ident.value.to_lowercase()) else { return };
        if let Some(last) = known.last().filter(|_| !known.contains(&ident.value)) {
            ident.value.clone_from(last);
        }
    }

    fn add(&mut self, name: &str) {
        let known = self.known.entry(name.to_lowercase()).or_default();
        if !known.iter().any(|spelled| spelled == name) {
            known.push(name.to_owned());
        }
    }

    fn column(&mut self, name: &str) {
        self.add(name);
        self.columns.entry(name.to_lowercase()).or_default().insert(name.to_owned());
    }

    fn give(&mut self, name: &Ident) {
        self.column(&name.value);
        self.given.insert(name.value.to_lowercase());
    }

    fn alias(&mut self, alias: &TableAlias) {
        self.add(&alias.name.value);
        alias.columns.iter().for_each(|column| self.give(&column.name));
    }
}

impl Visitor for Spelling {
    type Break = Infallible;

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<Infallible> {
        for item in &select.projection {
            let SelectItem::ExprWithAlias { expr, alias } = item else { continue };
            match expr {
                // Only written in another way.
                Expr::Identifier(same) if same.value.eq_ignore_ascii_case(&alias.value) => self.column(&alias.value),
                _ => self.give(alias),
            }
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<Infallible> {
        query.with.iter().flat_map(|with| &with.cte_tables).for_each(|cte| self.alias(&cte.alias));
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<Infallible> {
        if let TableFactor::Table { alias: Some(alias), .. } | TableFactor::Derived { alias: Some(alias), .. } = factor
        {
            self.alias(alias);
        }
        ControlFlow::Continue(())
    }
}
