//! Keys that values give away: a column `country` whose every value is the name of a country.
//!
//! What a column is called makes it a candidate, before anything was read; its values decide.

use crate::offline::ColumnValues;
use crate::offline::catalog::{Catalog, ColumnId, ColumnKind, Edge, TableId, singular};
use domain::SourceSchema;

/// Text columns that are called like a table whose rows have one name.
pub(super) fn candidates(catalog: &Catalog) -> Vec<Edge> {
    let of = |many: TableId| {
        let columns = catalog.table(many).columns.iter();
        columns.filter_map(move |column| candidate(catalog, many, *column)).collect::<Vec<_>>()
    };
    catalog.tables().filter(|t| catalog.table(*t).role_of.is_none()).flat_map(of).collect()
}

fn candidate(catalog: &Catalog, many: TableId, column: ColumnId) -> Option<Edge> {
    let info = catalog.column(column);
    if info.kind != ColumnKind::Text || info.is_key || catalog.table(many).display.contains(&column) {
        return None;
    }
    let singular_of = |words: &[String]| words.iter().map(|w| singular(w)).collect::<Vec<_>>();
    let called = |one: &TableId| *one != many && singular_of(&catalog.table(*one).words) == singular_of(&info.words);
    let one = catalog.tables().find(called)?;
    let [display] = catalog.table(one).display.as_slice() else { return None };
    let name = catalog.column(*display);
    let on = vec![(info.name.clone(), name.name.clone())];
    (name.kind == ColumnKind::Text && !name.is_key).then_some(Edge { many, one, on, declared: false })
}

/// Whether a key is of the kind that only values can confirm.
pub(super) fn is_candidate(catalog: &Catalog, edge: &Edge) -> bool {
    let [(many, _)] = edge.on.as_slice() else { return false };
    catalog.column_named(edge.many, many).is_some_and(|c| !catalog.column(c).is_key)
}

/// Whether every value of the one side is a value of the other, which has no two rows of one name.
pub(super) fn holds(schema: &SourceSchema, catalog: &Catalog, known: &[ColumnValues], edge: &Edge) -> bool {
    let [(many, one)] = edge.on.as_slice() else { return false };
    let values = |table: TableId, column: &str| {
        let name = &catalog.table(table).name;
        known.iter().find(|v| v.table == *name && v.column == column && v.complete).map(|v| v.values.as_slice())
    };
    let (Some(from), Some(to)) = (values(edge.many, many), values(edge.one, one)) else { return false };
    let rows = schema.table(&catalog.table(edge.one).name).and_then(|t| t.row_count);
    let unique = rows.is_some_and(|rows| rows == to.len() as u64);
    unique && from.len() > 1 && from.iter().all(|value| to.contains(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::offline::keys::{edges, inferred_keys};
    use domain::{Column, Dialect, FieldType, Table};

    fn schema() -> SourceSchema {
        let table = |name: &str, columns: &[&str]| Table {
            name: name.to_owned(),
            columns: columns.iter().map(|c| Column::new(*c, FieldType::String)).collect(),
            row_count: Some(3),
            ..Table::default()
        };
        let tables = vec![table("countries", &["name", "continent"]), table("offices", &["city", "country"])];
        SourceSchema { source: "x".to_owned(), dialect: Dialect::DuckDb, tables, data_version: String::new() }
    }

    fn values(table: &str, column: &str, values: &[&str]) -> ColumnValues {
        let values = values.iter().map(|v| (*v).to_owned()).collect();
        ColumnValues { table: table.into(), column: column.into(), values, complete: true, ..ColumnValues::default() }
    }

    #[test]
    fn names_propose_and_values_decide() {
        let mut schema = schema();
        let keys = inferred_keys(&schema);
        assert_eq!(
            keys.iter().map(|(table, key)| (table.as_str(), key.target.as_str())).collect::<Vec<_>>(),
            [("offices", "countries")]
        );
        for (table, key) in keys {
            let table = schema.tables.iter_mut().find(|t| t.name == table).unwrap();
            table.inferred.extend(key.columns.iter().cloned());
            table.foreign_keys.push(key);
        }
        let names = values("countries", "name", &["Chile", "France", "Japan"]);
        for (of, expected) in [(&["Chile", "Japan"][..], 1), (&["Chile", "Atlantis"], 0), (&["Chile"], 0)] {
            let known = [names.clone(), values("offices", "country", of)];
            let catalog = Catalog::new(&schema, &known);
            assert_eq!(edges(&schema, &catalog, &known).len(), expected, "{of:?}");
        }
    }
}
