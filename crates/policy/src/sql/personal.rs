//! Whether a statement may read personal fields: said rather once too often than once too rarely.
//!
//! What a field is called where it is read shows it, however it is renamed later. Where columns are read without being
//! named (`*`, a whole row, new names by position), every field of the tables counts.

use super::scope::{Column, Field};
use crate::access::{Readable, ReadableField};
use sqlparser::ast::Ident;
use std::collections::BTreeSet;
use std::rc::Rc;

/// The author of a statement.
#[derive(Debug, Clone, Copy, Default)]
pub enum Author<'a> {
    #[default]
    Caller,
    /// A model, which is told placeholders for what it reads of personal fields. `words` are those of its user; none
    /// where nothing could put values in the place of placeholders again: then it reads no personal fields at all.
    Model { words: Option<&'a str> },
}

#[derive(Debug, Default)]
pub struct Personal<'a> {
    pub(super) author: Author<'a>,
    /// The personal fields of the tables that are read, and what those tables are called there: the name of a table alone
    /// means its row. In lower case.
    fields: BTreeSet<String>,
    named: BTreeSet<String>,
    unnamed: bool,
}

impl<'a> Personal<'a> {
    pub fn new(author: Author<'a>) -> Self {
        Self { author, ..Self::default() }
    }

    pub fn is_models(&self) -> bool {
        matches!(self.author, Author::Model { .. })
    }

    /// A table is read under this name.
    pub fn table(&mut self, readable: &Readable<'_>, called: &str) {
        let personal = readable.fields.iter().filter(|field| is_personal(field));
        let mut names: Vec<String> = personal.map(|f| f.name.to_ascii_lowercase()).collect();
        if !names.is_empty() {
            names.push(called.to_ascii_lowercase());
        }
        self.fields.extend(names);
    }

    /// A field as a column of its table. Only the rules for models need to know more than its name.
    pub fn column(&self, field: &ReadableField<'_>) -> Column {
        let known = self.is_models().then(|| {
            Rc::new(Field { name: field.name.to_owned(), kind: field.column.kind, personal: is_personal(field) })
        });
        Column::new(field.name, known)
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

fn is_personal(field: &ReadableField<'_>) -> bool {
    field.field.map_or(field.column.pii, |field| field.pii)
}
