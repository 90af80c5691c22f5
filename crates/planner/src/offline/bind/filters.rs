//! Conditions: what each compares, and with what.

use super::Binder;
use crate::offline::catalog::{Catalog, ColumnId, ColumnKind, TableId};
use crate::offline::draft::{Bound, Filter, Left, Noun, Thing};
use crate::offline::query::{BoundBy, BoundFilter, Pick, Query, RelatedRows, Side, Test, Trouble};
use crate::offline::time::When;
use crate::offline::values::Owned;
use domain::plan::{AggregateFn, Operator};
use std::borrow::Cow;

impl Binder<'_> {
    pub(super) fn filter(&mut self, filter: &Filter, query: &Query) -> Result<BoundFilter, Trouble> {
        match filter {
            Filter::Compare { left, op, bound, text } => self.compare(left, *op, bound, text, query),
            Filter::Values { options, column, negated, text, near, all } => {
                let mut filter = self.values(options, column.as_ref(), *negated, text, *near)?;
                if let Test::In { all: every, negated: false, .. } = &mut filter.test {
                    *every = *all;
                }
                Ok(filter)
            }
            Filter::Text { column, pattern, like, negated } => {
                let test = Test::Text { pattern: pattern.clone(), like: *like, negated: *negated };
                self.of_column(column, test)
            }
            Filter::Time { when, column, near } => self.period(when, column.as_ref(), *near, query),
            Filter::Weekday { days, column, near } => {
                let column = self.moment(column.as_ref(), *near, query, false)?;
                Ok(BoundFilter::of(self.catalog(), column, Test::Weekday(days.clone())))
            }
            Filter::Flag { column, value } => self.flag(column, *value),
            Filter::Missing { column, present } => self.missing(column, *present),
            Filter::Either(alternatives) => self.either(alternatives, query),
            Filter::Rows { table, op, n } => {
                let table = match table {
                    Some(table) => *table,
                    None => self.counted_rows(query)?,
                };
                Ok(of_table(table, Test::HavingRows(*op, *n)))
            }
            Filter::Related { table, negated, count, inner } => {
                let inner = inner.iter().map(|f| self.filter(f, query)).collect::<Result<Vec<_>, _>>()?;
                let related = RelatedRows { table: *table, negated: *negated, count: *count, inner };
                Ok(of_table(*table, Test::Related(related)))
            }
        }
    }

    fn of_column(&self, noun: &Noun, test: Test) -> Result<BoundFilter, Trouble> {
        let thing = self.thing(noun, |_, _| true)?;
        let column = thing.column().ok_or_else(|| Trouble::Unbound(noun.text.clone()))?;
        Ok(BoundFilter::of(self.catalog(), column, test))
    }

    fn period(
        &mut self,
        when: &When,
        column: Option<&Noun>,
        near: Option<TableId>,
        query: &Query,
    ) -> Result<BoundFilter, Trouble> {
        let column = self.moment(column, near, query, when.is_years())?;
        let range = self.range(when, column)?;
        Ok(BoundFilter::of(self.catalog(), column, Test::Time(range)))
    }

    /// A sum happens when what is summed up does; rows that are counted may be told by others.
    fn moment(
        &mut self,
        column: Option<&Noun>,
        near: Option<TableId>,
        query: &Query,
        years: bool,
    ) -> Result<ColumnId, Trouble> {
        let catalog = self.catalog();
        let column = match column {
            Some(noun) => self.thing(noun, |_, _| true)?.column(),
            None => None,
        };
        let timed = near.filter(|t| !catalog.time_columns(*t).is_empty());
        let near = query.summed(catalog).or(timed).or(query.measured(catalog)).or(self.draft.subject);
        self.time_column(near, column, "date", years)
    }

    fn flag(&self, noun: &Noun, value: bool) -> Result<BoundFilter, Trouble> {
        let is_flag =
            |catalog: &Catalog, t: Thing| t.column().is_some_and(|c| catalog.column(c).kind == ColumnKind::Flag);
        let column = self.thing(noun, is_flag)?.column().ok_or_else(|| Trouble::Unbound(noun.text.clone()))?;
        Ok(BoundFilter::of(self.catalog(), column, Test::Flag(value)))
    }

    /// Nothing there: no value, or the value that says so.
    fn missing(&self, noun: &Noun, present: bool) -> Result<BoundFilter, Trouble> {
        let column = self.thing(noun, |_, _| true)?.column().ok_or_else(|| Trouble::Unbound(noun.text.clone()))?;
        let no = ["no", "none", "n"].iter().flat_map(|no| self.index.values.exact(no)).find(|o| o.column == column);
        let test = match no {
            Some(no) => Test::In { values: vec![no.value.clone()], negated: present, all: false },
            None => Test::Missing { present },
        };
        let filter = BoundFilter::of(self.catalog(), column, test);
        if present || self.draft.subject.is_none_or(|subject| subject == filter.table) {
            return Ok(filter);
        }
        // "parties without delegates": none of their rows has one, not: one of them has none.
        let table = filter.table;
        let inner = vec![BoundFilter { test: Test::Missing { present: true }, ..filter }];
        Ok(of_table(table, Test::Related(RelatedRows { table, negated: true, count: None, inner })))
    }

    fn either(&mut self, alternatives: &[Filter], query: &Query) -> Result<BoundFilter, Trouble> {
        let bound = alternatives.iter().map(|f| self.filter(f, query)).collect::<Result<Vec<_>, _>>()?;
        let table = bound.first().map(|f| f.table).ok_or_else(|| Trouble::Unbound("or".to_owned()))?;
        let nested = |f: &BoundFilter| matches!(f.test, Test::Related(_)) || f.test.is_of_groups() || f.table != table;
        if bound.iter().any(nested) {
            return Err(Trouble::Unsupported("an alternative between conditions of different tables"));
        }
        Ok(of_table(table, Test::Either(bound)))
    }

    fn compare(
        &mut self,
        left: &Left,
        op: Operator,
        bound: &Bound,
        said: &str,
        query: &Query,
    ) -> Result<BoundFilter, Trouble> {
        let (function, thing) = match left {
            Left::Column(noun) => (None, self.thing(noun, |_, _| true)?),
            Left::Aggregate(function, noun) => (Some(*function), self.thing(noun, |_, _| true)?),
            Left::Measured(measures) => match self.measured(measures, query)? {
                BoundBy::Thing(thing) => (None, thing),
                _ => return Err(Trouble::Unbound(said.to_owned())),
            },
            Left::Money => {
                let near = self.draft.subject.or_else(|| query.measured(self.catalog()));
                let Some(table) = near else { return Err(Trouble::Unbound(said.to_owned())) };
                let whole = self.measure_column(table, &["amount", "total", "revenue", "value"]);
                let column = whole.or_else(|| self.measure_column(table, &["price", "cost", "fee", "salary"]));
                (None, Thing::Column(column.ok_or_else(|| Trouble::Unbound(said.to_owned()))?))
            }
        };
        let table = thing.table(self.catalog());
        // Numbers that are kept as text can be equal, not more or less.
        let text = thing.column().is_some_and(|c| self.catalog().column(c).kind == ColumnKind::Text);
        if text {
            return match (function, bound, op, thing.column()) {
                (None, Bound::Number(n), Operator::Equal, Some(column)) => {
                    let values = vec![n.value.to_string()];
                    Ok(BoundFilter::of(self.catalog(), column, Test::In { values, negated: false, all: false }))
                }
                _ => Err(Trouble::Unbound(said.to_owned())),
            };
        }
        let moment = thing.column().is_some_and(|c| self.catalog().column(c).kind == ColumnKind::Time);
        if moment && matches!(bound, Bound::Number(_) | Bound::Range(..)) {
            return Err(Trouble::Unbound(said.to_owned()));
        }
        let test = match (function, bound) {
            (None, Bound::Number(number)) => Test::Compare(thing, op, vec![number.to_value()]),
            (None, Bound::Range(low, high)) => Test::Compare(thing, op, vec![low.to_value(), high.to_value()]),
            (None, Bound::Aggregate(function)) => Test::Against(thing, op, *function),
            (None, Bound::OwnGroup(function, noun)) => {
                let own = |catalog: &Catalog, t: Thing| t.table(catalog) == table;
                let column = self.thing(noun, own)?.column().ok_or_else(|| Trouble::Unbound(noun.text.clone()))?;
                Test::AgainstOwn(thing, op, *function, column)
            }
            (Some(function), Bound::Number(number)) => Test::Having(function, thing, op, number.to_value()),
            (Some(AggregateFn::Avg), Bound::Aggregate(AggregateFn::Avg)) => Test::HavingAgainst(thing, op),
            (Some(_), _) => return Err(Trouble::Unbound(said.to_owned())),
        };
        Ok(BoundFilter { table, test, column: thing.column(), side: Side::Common })
    }

    /// "employees whose manager is Ann Miller": the name is the manager's, though every employee has one.
    fn in_role<'o>(&self, options: &'o [Vec<Owned>], near: Option<TableId>) -> Cow<'o, [Vec<Owned>]> {
        let catalog = self.catalog();
        let role = near.and_then(|role| Some((role, catalog.table(role).role_of?)));
        let Some((role, of)) = role.filter(|(_, of)| self.draft.subject == Some(*of)) else {
            return Cow::Borrowed(options);
        };
        let moved = |owned: &Owned| {
            let at = catalog.table(of).columns.iter().position(|c| *c == owned.column);
            let column = at.and_then(|at| catalog.table(role).columns.get(at)).copied();
            Owned { column: column.unwrap_or(owned.column), ..owned.clone() }
        };
        Cow::Owned(options.iter().map(|any| any.iter().map(moved).collect()).collect())
    }

    /// Where only part of a name was said, one value must be meant.
    fn whole_value(&self, values: Vec<String>, options: &[Vec<Owned>], text: &str) -> Result<Vec<String>, Trouble> {
        let [only] = options else { return Ok(values) };
        if values.len() < 2 || !only.iter().any(|o| o.part) {
            return Ok(values);
        }
        let settled = |p: &Pick| if let Pick::Value(t, value) = p { (t == text).then(|| value.clone()) } else { None };
        match self.choices.iter().find_map(settled) {
            Some(value) => Ok(vec![value]),
            None => Err(Trouble::WhichValue(text.to_owned(), values)),
        }
    }

    /// All options must be values of one column: the one named, else the one nearest to the subject.
    fn values(
        &mut self,
        options: &[Vec<Owned>],
        column: Option<&Noun>,
        negated: bool,
        text: &str,
        near: Option<TableId>,
    ) -> Result<BoundFilter, Trouble> {
        let catalog = self.catalog();
        let options = &*self.in_role(options, near);
        let owners = options.iter().flatten().map(|o| o.column);
        let common = |c: &ColumnId| options.iter().all(|any| any.iter().any(|o| o.column == *c));
        let mut candidates: Vec<(Thing, f32)> = Vec::new();
        for owner in owners.filter(common) {
            let thing = Thing::Column(owner);
            let named = column.and_then(|n| n.things.iter().find(|(t, _)| *t == thing)).map(|(_, w)| *w);
            if candidates.iter().any(|(t, _)| *t == thing) || (column.is_some() && named.is_none()) {
                continue;
            }
            let beside = if near == Some(catalog.column(owner).table) { 0.2 } else { 0.0 };
            candidates.push((thing, named.unwrap_or(1.0) + beside));
        }
        let noun =
            Noun { text: text.to_owned(), tables: Vec::new(), things: candidates, owner: column.and_then(|n| n.owner) };
        let thing = self.thing(&noun, |_, _| true)?;
        let column = thing.column().ok_or_else(|| Trouble::Unbound(text.to_owned()))?;
        let pick =
            |any: &Vec<Owned>| any.iter().filter(|o| o.column == column).map(|o| o.value.clone()).collect::<Vec<_>>();
        let values: Vec<String> = options.iter().flat_map(pick).collect();
        // What is written exactly so is meant, not what merely reads like it.
        let exact = |v: &&String| v.to_lowercase() == text.to_lowercase();
        let written: Vec<String> = values.iter().filter(exact).cloned().collect();
        let values = if written.is_empty() { values } else { written };
        let values = self.whole_value(values, options, text)?;
        Ok(BoundFilter::of(self.catalog(), column, Test::In { values, negated, all: false }))
    }
}

/// A condition that is of a table rather than of one of its columns.
fn of_table(table: TableId, test: Test) -> BoundFilter {
    BoundFilter { table, test, column: None, side: Side::Common }
}
