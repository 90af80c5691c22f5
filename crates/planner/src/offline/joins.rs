//! The tree of joins that ties the tables of a question together.

use super::catalog::{Catalog, Edge, TableId};
use std::collections::VecDeque;

/// Why tables can't be tied together.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum JoinTrouble {
    Apart(TableId, TableId),
    /// Several ways of the same length, each given by its edges.
    Ways(Vec<Edge>),
}

/// One join: from a table that is already in the tree to a new one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Step {
    pub from: TableId,
    pub to: TableId,
    pub edge: Edge,
}

impl Step {
    /// Whether a row of `from` may meet several rows of `to`.
    pub fn fans_out(&self) -> bool {
        self.edge.many == self.to
    }
}

/// Joins that reach all of `targets` from `root`, each by the shortest way from what is there.
/// `hints` are stems of the question: they choose between keys that point at the same table.
pub(crate) fn tree(
    catalog: &Catalog,
    root: TableId,
    targets: &[TableId],
    hints: &[String],
) -> Result<Vec<Step>, JoinTrouble> {
    let mut reached = vec![root];
    let mut steps: Vec<Step> = Vec::new();
    let mut left: Vec<TableId> = targets.iter().copied().filter(|t| *t != root).collect();
    left.sort();
    left.dedup();
    while !left.is_empty() {
        let ways = left.iter().filter_map(|t| path(catalog, &reached, *t, hints).transpose());
        let ways: Vec<Vec<Step>> = ways.collect::<Result<_, _>>()?;
        // Nearest first: what is near may bring the far ones closer.
        let Some(way) = ways.into_iter().min_by_key(Vec::len) else {
            return Err(JoinTrouble::Apart(root, left.first().copied().unwrap_or(root)));
        };
        reached.extend(way.iter().map(|s| s.to));
        left.retain(|t| !reached.contains(t));
        steps.extend(way);
    }
    Ok(steps)
}

/// How many joins lie between two tables.
pub(crate) fn distance(catalog: &Catalog, from: TableId, to: TableId) -> Option<usize> {
    levels(catalog, &[from]).into_iter().find(|(t, _)| *t == to).map(|(_, d)| d)
}

/// All tables that can be reached, with their distance, nearest first.
fn levels(catalog: &Catalog, from: &[TableId]) -> Vec<(TableId, usize)> {
    let mut found: Vec<(TableId, usize)> = from.iter().map(|t| (*t, 0)).collect();
    let mut queue: VecDeque<(TableId, usize)> = found.iter().copied().collect();
    while let Some((table, depth)) = queue.pop_front() {
        for edge in catalog.edges.iter().filter(|e| e.many == table || e.one == table) {
            let next = edge.other(table);
            if !found.iter().any(|(t, _)| *t == next) {
                found.push((next, depth + 1));
                queue.push_back((next, depth + 1));
            }
        }
    }
    found
}

/// The shortest way to `target`, walked back from it level by level.
fn path(
    catalog: &Catalog,
    from: &[TableId],
    target: TableId,
    hints: &[String],
) -> Result<Option<Vec<Step>>, JoinTrouble> {
    let levels = levels(catalog, from);
    let depth = |table: TableId| levels.iter().find(|(t, _)| *t == table).map(|(_, d)| *d);
    let Some(mut at) = depth(target) else { return Ok(None) };
    let mut table = target;
    let mut way = Vec::new();
    while at > 0 {
        let closer = |e: &&Edge| (e.many == table || e.one == table) && depth(e.other(table)) == Some(at - 1);
        let ways: Vec<&Edge> = catalog.edges.iter().filter(closer).collect();
        let edge = choose(catalog, &ways, hints)?;
        let previous = edge.other(table);
        way.push(Step { from: previous, to: table, edge: edge.clone() });
        table = previous;
        at -= 1;
    }
    way.reverse();
    Ok(Some(way))
}

fn choose<'e>(catalog: &Catalog, ways: &[&'e Edge], hints: &[String]) -> Result<&'e Edge, JoinTrouble> {
    let score = |edge: &Edge| {
        let words = edge.on.iter().flat_map(|(column, _)| super::text::split_name(column));
        let own = &catalog.table(edge.one).words;
        let said =
            words.filter(|w| w != "id" && !own.contains(w)).filter(|w| hints.contains(&super::text::stem(w))).count();
        // What is said of a row is said of itself rather than of its manager.
        let role = catalog.table(edge.many).role_of.is_some();
        said * 4 + usize::from(edge.declared) * 2 + usize::from(!role)
    };
    let best = ways.iter().map(|e| score(e)).max().unwrap_or_default();
    let mut best_ways = ways.iter().copied().filter(|e| score(e) == best);
    match (best_ways.next(), best_ways.next()) {
        (Some(only), None) => Ok(only),
        _ => Err(JoinTrouble::Ways(ways.iter().copied().filter(|e| score(e) == best).cloned().collect())),
    }
}
