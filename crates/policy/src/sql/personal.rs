//! Whether a statement may read personal fields: said rather once too often than once too rarely.
//!
//! What a field is called where it is read shows it, however it is renamed later. Where columns are read without being
//! named (`*`, a whole row, new names by position), every field of the tables counts.

use crate::access::Readable;
use sqlparser::ast::Ident;
use std::collections::BTreeSet;

#[derive(Debug, Default)]
pub struct Personal {
    /// The personal fields of the tables that are read, and what those tables are called there: the name of a table alone
    /// means its row. In lower case.
    fields: BTreeSet<String>,
    named: BTreeSet<String>,
    unnamed: bool,
}

impl Personal {
    /// A table is read under this name.
    pub fn table(&mut self, readable: &Readable<'_>, called: &str) {
        let personal = readable.fields.iter().filter(|f| f.field.map_or(f.column.pii, |field| field.pii));
        let mut names: Vec<String> = personal.map(|f| f.name.to_ascii_lowercase()).collect();
        if !names.is_empty() {
            names.push(called.to_ascii_lowercase());
        }
        self.fields.extend(names);
    }

    pub fn named(&mut self, ident: &Ident) {
        self.named.insert(ident.value.to_ascii_lowercase());
    }

    /// Columns are read that have no names here.
    pub fn unnamed(&mut self) {
        self.unnamed = true;
    }

    pub fn is_read(&self) -> bool {
        !self.fields.is_empty() && (self.unnamed || !self.fields.is_disjoint(&self.named))
    }
}
