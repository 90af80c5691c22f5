//! Rows that another row of their table is above: "who reports to Ann Miller", "employees managed by Ann Miller", "whom does
//! Dora Lind report to".

use super::{Parser, Zone};
use crate::offline::catalog::{Edge, TableId};
use crate::offline::cues::Cue;
use crate::offline::draft::Filter;
use crate::offline::roles::is_deed;

impl Parser<'_> {
    /// The deed that ties rows to the one above them, before its name or at the end of a question for it.
    pub(super) fn superior(&mut self) -> bool {
        let Some((role, of, next)) = self.deed_at(self.at) else { return false };
        let catalog = self.catalog();
        let named = self.span(self.skip(next, &[])).is_some_and(|s| {
            let mut owners = s.values().map(|(owned, _)| catalog.column(owned.column).table);
            owners.any(|table| table == of)
        });
        if named {
            if self.draft.asked.is_empty() && self.is_who() {
                self.ask_for(of);
            }
            if self.draft.subject != Some(of) {
                return false;
            }
            self.near = Some(role);
            self.enter(Zone::Body);
        } else {
            let of_one = self.draft.filters.iter().any(|f| matches!(f, Filter::Values { .. }));
            let whom = self.span(0).is_some_and(|s| ["who", "whom"].contains(&s.text.to_lowercase().as_str()));
            if !(whom && of_one && self.draft.asked.is_empty() && next >= self.spans.len()) {
                return false;
            }
            self.ask_for(role);
        }
        self.at = next;
        true
    }

    /// "reports to" of a key `reports_to`, "managed by" of one that points at a manager: the role, whose it is, and the
    /// place behind the deed.
    pub(super) fn deed_at(&self, at: usize) -> Option<(TableId, TableId, usize)> {
        let catalog = self.catalog();
        let span = self.span(at)?;
        let points = |e: &&Edge| {
            let column = e.on.first().and_then(|(name, _)| catalog.column_named(e.many, name));
            is_deed(catalog, e.one) && column.is_some_and(|c| span.columns().any(|(named, _)| named == c))
        };
        if let Some(edge) = catalog.edges.iter().find(points) {
            return Some((edge.one, edge.many, at + 1));
        }
        let done = span.text.ends_with("ed") && self.cue(at + 1) == Some(Cue::By);
        let role = span.tables().map(|(table, _)| table).find(|t| done && catalog.table(*t).role_of.is_some())?;
        Some((role, catalog.table(role).role_of?, at + 2))
    }
}
