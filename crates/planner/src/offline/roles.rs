//! Rows of a table that other rows of it point at: the manager of an employee, the parent of a folder.
//!
//! Such a role is a table of its own here, with the columns of the table whose rows have it. In plans
//! it goes by the role's name, so that the two never get mixed up.

use super::catalog::{Catalog, ColumnId, Edge, TableId};
use super::english::is_stop;
use super::query::{BoundFilter, Query, RelatedRows, Side, Test};
use super::text::stem;
use domain::{ForeignKey, SourceSchema};

/// Words of a key that say only that it is one.
const KEY_WORDS: &[&str] = &["id", "code", "number", "key", "ref"];

/// Adds a role for each column by which a table points at itself.
pub(crate) fn add(catalog: &mut Catalog, schema: &SourceSchema) {
    for table in &schema.tables {
        let Some(id) = catalog.table_named(&table.name) else { continue };
        let own = |key: &&ForeignKey| key.target.eq_ignore_ascii_case(&table.name);
        for key in table.foreign_keys.iter().filter(own) {
            if let ([column], [target]) = (key.columns.as_slice(), key.target_columns.as_slice()) {
                add_role(catalog, id, column, target);
            }
        }
    }
}

fn add_role(catalog: &mut Catalog, table: TableId, column: &str, target: &str) -> Option<()> {
    let column = catalog.column_named(table, column)?;
    let target = catalog.column_named(table, target).filter(|t| catalog.table(table).key == Some(*t))?;
    let words: Vec<String> =
        catalog.column(column).words.iter().filter(|w| !KEY_WORDS.contains(&w.as_str())).cloned().collect();
    let name = words.join("_");
    // A key that is named for the table itself gives its rows no other name.
    let own: Vec<String> = catalog.table(table).words.iter().map(|w| stem(w)).collect();
    if words.iter().all(|w| own.contains(&stem(w))) || catalog.table_named(&name).is_some() {
        return None;
    }
    let role = catalog.add_copy(table, name, words);
    let (many, one) = (catalog.column(column).name.clone(), catalog.column(target).name.clone());
    // What a row points at, it points at in its role, too.
    let onward: Vec<Edge> = catalog.edges.iter().filter(|e| e.many == table).cloned().collect();
    catalog.edges.extend(onward.into_iter().map(|edge| Edge { many: role, ..edge }));
    catalog.edges.push(Edge { many: table, one: role, on: vec![(many, one)], declared: true });
    Some(())
}

/// Only rows that have a role are asked for by its name: whoever manages nobody is no manager.
pub(crate) fn hold(catalog: &Catalog, query: &mut Query, tables: &[TableId]) {
    for role in tables {
        let Some(of) = catalog.table(*role).role_of.filter(|of| !tables.contains(of)) else { continue };
        let known = |f: &BoundFilter| f.table == of && matches!(f.test, Test::Related(_));
        if !query.filters.iter().any(known) {
            let related = RelatedRows { table: of, negated: false, count: None, inner: Vec::new() };
            let test = Test::Related(related);
            query.filters.push(BoundFilter { table: of, test, column: None, side: Side::Common });
        }
    }
}

/// `reports_to` says what a row does; it is no name for whom it points at.
pub(crate) fn is_deed(catalog: &Catalog, role: TableId) -> bool {
    catalog.table(role).role_of.is_some() && catalog.table(role).words.last().is_some_and(|w| is_stop(w))
}

/// The roles of a catalogue that have a name, each with its columns.
pub(crate) fn named(catalog: &Catalog) -> impl Iterator<Item = (TableId, &[ColumnId])> {
    let roles = catalog.tables().filter(|t| catalog.table(*t).role_of.is_some() && !is_deed(catalog, *t));
    roles.map(|t| (t, catalog.table(t).columns.as_slice()))
}
