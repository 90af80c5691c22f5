//! Figures that relate to others: what they are measured against.

use super::Binder;
use crate::offline::catalog::Catalog;
use crate::offline::draft::{Relation, Thing};
use crate::offline::first::told_apart;
use crate::offline::query::{BoundBy, BoundFilter, BoundRelation, Query, Side, Steps, Test, Trouble};
use crate::offline::time::When;

impl Binder<'_> {
    pub(super) fn relation(&mut self, query: &mut Query) -> Result<(), Trouble> {
        // A ranking by a change says how it is measured.
        let ranked = query.orders.iter().find_map(|o| if let BoundBy::Change(p) = o.by { Some(p) } else { None });
        query.relation = match &self.draft.relation {
            None => return Ok(()),
            Some(Relation::Steps(steps)) => {
                query.keys = told_apart(self.catalog(), &query.keys);
                let ranked = ranked.map(|percent| if percent { Steps::Percent } else { Steps::Difference });
                Some(BoundRelation::Steps(ranked.unwrap_or(*steps)))
            }
            Some(Relation::Share) => Some(BoundRelation::Share),
            Some(Relation::Per(noun)) => {
                let measure = |catalog: &Catalog, t: Thing| t.is_measure(catalog);
                Some(BoundRelation::Per(self.thing(noun, measure)?))
            }
            Some(Relation::Change { from, to, percent }) => {
                let near = query.measured(self.catalog()).or(self.draft.subject);
                let column = self.time_column(near, None, "date", false)?;
                let from = self.range(&When::In(from.clone()), column)?;
                let to = self.range(&When::In(to.clone()), column)?;
                let either = [from, to].map(|r| BoundFilter::of(self.catalog(), column, Test::Time(r))).to_vec();
                let table = self.catalog().column(column).table;
                let test = Test::Either(either);
                query.filters.push(BoundFilter { table, test, column: None, side: Side::Common });
                Some(BoundRelation::Change { column, from, to, percent: ranked.unwrap_or(*percent) })
            }
        };
        Ok(())
    }
}
