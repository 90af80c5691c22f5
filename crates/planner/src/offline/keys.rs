//! Which tables belong together: declared foreign keys, and the ones that names give away.

mod values;

use super::ColumnValues;
use super::catalog::{Catalog, ColumnId, Edge, TableId, singular};
use domain::{ForeignKey, SourceSchema, Table};

/// Keys that a source does not declare and that its names give away, each with its table.
///
/// Plans may join along them; policy lets them only where its schema has them too, so whoever
/// describes the source adds them there.
pub fn inferred_keys(schema: &SourceSchema) -> Vec<(String, ForeignKey)> {
    let catalog = Catalog::new(schema, &[]);
    let key = |edge: &Edge| {
        let (columns, target_columns) = edge.on.iter().cloned().unzip();
        let target = catalog.table(edge.one).name.clone();
        (catalog.table(edge.many).name.clone(), ForeignKey { columns, target, target_columns })
    };
    let new = |e: &&Edge| !e.declared && catalog.table(e.many).role_of.is_none();
    let by_values = values::candidates(&catalog);
    let by_values = by_values.iter().filter(|e| !catalog.edges.iter().any(|known| covers(known, e)));
    catalog.edges.iter().filter(new).chain(by_values).map(key).collect()
}

/// All edges between tables: declared ones first, then inferred ones between columns that no
/// declared one already covers.
pub(crate) fn edges(schema: &SourceSchema, catalog: &Catalog, known: &[ColumnValues]) -> Vec<Edge> {
    let mut edges: Vec<Edge> = Vec::new();
    for (id, table) in catalog.tables().zip(&schema.tables) {
        let holds =
            |e: &Edge| e.declared || !values::is_candidate(catalog, e) || values::holds(schema, catalog, known, e);
        edges.extend(declared(id, table, catalog).into_iter().filter(holds));
    }
    for many in catalog.tables() {
        for &column in &catalog.table(many).columns {
            if let Some(edge) = inferred(many, column, catalog)
                && !edges.iter().any(|e| covers(e, &edge))
            {
                edges.push(edge);
            }
        }
    }
    edges
}

fn declared(many: TableId, table: &Table, catalog: &Catalog) -> Vec<Edge> {
    let edge = |key: &ForeignKey| {
        let one = catalog.table_named(&key.target)?;
        let name = |t: TableId, c: &String| catalog.column_named(t, c).map(|c| catalog.column(c).name.clone());
        let pairs = key.columns.iter().zip(&key.target_columns);
        let on = pairs.map(|(m, o)| Some((name(many, m)?, name(one, o)?))).collect::<Option<Vec<_>>>()?;
        let declared = !key.columns.iter().any(|c| table.inferred.contains(c));
        (many != one && !on.is_empty()).then_some(Edge { many, one, on, declared })
    };
    table.foreign_keys.iter().filter_map(edge).collect()
}

fn covers(known: &Edge, new: &Edge) -> bool {
    let same = (known.many, known.one) == (new.many, new.one) || (known.one, known.many) == (new.many, new.one);
    same || (known.many == new.many && known.on.iter().any(|(m, _)| new.on.iter().any(|(n, _)| m == n)))
}

/// `x_id` points at the key of the table `x`; a column named like another table's key points there.
fn inferred(many: TableId, column: ColumnId, catalog: &Catalog) -> Option<Edge> {
    let info = catalog.column(column);
    let name = info.name.to_lowercase();
    if catalog.table(many).key == Some(column) || name == "id" || !info.is_key {
        return None;
    }
    let stem = name.strip_suffix("_id").or_else(|| name.strip_suffix("id")).map(|s| s.trim_end_matches('_'));
    let points_at = |one: TableId| {
        let table = catalog.table(one);
        let key = catalog.column(table.key?);
        let is_named = stem.is_some_and(|s| singular(&table.name.to_lowercase()) == singular(s));
        let same_name = key.name.to_lowercase() == name;
        ((is_named || same_name) && key.kind == info.kind).then(|| Edge {
            many,
            one,
            on: vec![(info.name.clone(), key.name.clone())],
            declared: false,
        })
    };
    catalog.tables().filter(|t| *t != many).find_map(points_at)
}
