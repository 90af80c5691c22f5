//! A bound question to a plan: which rows, joined how, grouped by what.

use super::best;
use super::catalog::{Catalog, ColumnId, ColumnKind, TableId};
use super::first;
use super::joins::{self, JoinTrouble, Step};
use super::nest::{self, Semi};
use super::output::{Names, Output, bucket, expr};
use super::query::{BoundBy, BoundFilter, BoundKey, BoundOrder, BoundRelation, Item, Query, Side, Test, Trouble};
use super::relation;
use super::roles;
use super::sets;
use super::shape::{Shape, settle, shape};
use super::steps;
use domain::plan::{AggregateFn, Condition, Direction, Expr, Join, JoinKind, JoinOn, OrderItem, SelectItem};
use domain::{QueryPlan, Value};

pub(crate) struct Compiler<'a> {
    pub catalog: &'a Catalog,
    /// Stems of the question, to choose between keys.
    pub hints: &'a [String],
}

impl From<JoinTrouble> for Trouble {
    fn from(trouble: JoinTrouble) -> Self {
        match trouble {
            JoinTrouble::Apart(a, b) => Self::Apart(a, b),
            JoinTrouble::Ways(ways) => Self::Ways(ways),
        }
    }
}

/// The tables of one plan and the joins between them.
#[derive(Debug)]
pub(crate) struct Joined {
    pub root: TableId,
    pub steps: Vec<Step>,
}

impl Joined {
    pub fn tables(&self) -> impl Iterator<Item = TableId> {
        std::iter::once(self.root).chain(self.steps.iter().map(|s| s.to))
    }
    pub fn contains(&self, table: TableId) -> bool {
        self.tables().any(|t| t == table)
    }
    /// Whether two tables are joined only because both point at a third that nobody named: students
    /// and courses of the same department.
    fn meets_by_chance(&self, named: &[TableId]) -> bool {
        let pointed_at = |t: TableId| self.steps.iter().any(|s| s.to == t && !s.fans_out());
        self.steps.iter().any(|s| s.fans_out() && pointed_at(s.from) && !named.contains(&s.from))
    }

    /// The first table at which rows of the root may be met more than once.
    pub fn fan_out(&self) -> Option<TableId> {
        self.steps.iter().find(|s| s.fans_out()).map(|s| s.to)
    }
}

/// How a note on a join begins.
pub(crate) const TIED: &str = "tied by";

impl Compiler<'_> {
    /// One plan, or several combined where no single row can meet all conditions.
    pub fn plan(&self, query: &mut Query) -> Result<QueryPlan, Trouble> {
        if first::is_asked(self.catalog, query) {
            return first::plan(self, query);
        }
        if best::is_asked(self.catalog, query) {
            return best::plan(self, query);
        }
        let shape = shape(self.catalog, query)?;
        let root = self.root(query, &shape).ok_or(Trouble::NothingAsked)?;
        match sets::split(self, query, &shape, root)? {
            Some(parts) => sets::combine(self, parts),
            None => self.single(query),
        }
    }

    fn root(&self, query: &Query, shape: &Shape) -> Option<TableId> {
        let tables = self.core_tables(query, shape);
        let subject = query.subject.filter(|t| tables.contains(t) || self.reaches(*t, &tables));
        shape.measured.or(subject).or(tables.first().copied())
    }

    /// Whether each row of a table has one row of each of the others: "hometowns of gymnasts".
    fn reaches(&self, table: TableId, others: &[TableId]) -> bool {
        let steps = joins::tree(self.catalog, table, others, self.hints);
        !others.is_empty() && steps.is_ok_and(|steps| !steps.iter().any(Step::fans_out))
    }

    pub fn single(&self, query: &mut Query) -> Result<QueryPlan, Trouble> {
        let shape = shape(self.catalog, query)?;
        settle(self.catalog, query, &shape);
        let tables = self.core_tables(query, &shape);
        roles::hold(self.catalog, query, &tables);
        let root = self.root(query, &shape).ok_or(Trouble::NothingAsked)?;
        let mut joined = Joined { root, steps: joins::tree(self.catalog, root, &tables, self.hints)? };
        if joined.meets_by_chance(&tables) {
            return Err(Trouble::Unsupported("tying things together by what they merely share"));
        }
        let semis = nest::place(self, query, &mut joined)?;
        let plan = self.write(query, &shape, &joined, &semis)?;
        let steps: Vec<Step> = joined.steps.iter().chain(semis.iter().map(Semi::step)).cloned().collect();
        query.notes.extend(steps.iter().filter_map(|step| self.tied(step)));
        query.notes.dedup();
        Ok(plan)
    }

    /// What ties two tables together where nobody declared it.
    fn tied(&self, step: &Step) -> Option<String> {
        let on: Vec<&str> = step.edge.on.iter().map(|(many, _)| many.as_str()).collect();
        let (many, one) = (&self.catalog.table(step.edge.many).name, &self.catalog.table(step.edge.one).name);
        (!step.edge.declared).then(|| format!("{TIED} `{}`: `{many}` to `{one}`, which nobody declared", on.join(", ")))
    }

    fn core_tables(&self, query: &Query, shape: &Shape) -> Vec<TableId> {
        let table_of = |c: &ColumnId| self.catalog.column(*c).table;
        let mut tables: Vec<TableId> = Vec::new();
        for item in &shape.items {
            tables.push(match item {
                Item::Column(c) | Item::CountDistinct(c) => table_of(c),
                Item::Entity(t, _) | Item::Whole(t) | Item::Count(t) => *t,
                Item::Aggregate(_, thing) => thing.table(self.catalog),
            });
        }
        for key in &shape.keys {
            match key {
                BoundKey::Column(c) | BoundKey::Bucket(_, Some(c)) => tables.push(table_of(c)),
                BoundKey::Entity(t) => tables.push(*t),
                BoundKey::Bucket(_, None) => {}
            }
        }
        for order in &query.orders {
            match &order.by {
                BoundBy::Thing(thing) | BoundBy::Aggregate(_, thing) => tables.push(thing.table(self.catalog)),
                BoundBy::Rows(t) => tables.push(*t),
                BoundBy::Occurrences | BoundBy::Shown | BoundBy::Figure | BoundBy::Change(_) => {}
            }
        }
        for filter in &query.filters {
            match &filter.test {
                Test::Having(_, thing, ..) | Test::HavingAgainst(thing, _) => tables.push(thing.table(self.catalog)),
                Test::HavingRows(..) => tables.push(filter.table),
                _ => {}
            }
        }
        tables
    }

    fn write(&self, query: &Query, shape: &Shape, joined: &Joined, semis: &[Semi]) -> Result<QueryPlan, Trouble> {
        let names = Names::new(self.catalog, joined);
        let mut plan = self.from(joined);
        let mut output = Output::new(&names, joined);
        let keys = output.keys(shape)?;
        for item in &shape.items {
            output.item(item, shape)?;
        }
        plan.filter = self.conditions(query, &names, joined, semis)?;
        if let Some(relation) = &query.relation {
            relation::apply(self, query, relation, &plan, &mut output)?;
        }
        plan.order_by = self.orders(query, shape, &mut output)?;
        plan.having = self.having(query, &output)?;
        if shape.grouped {
            plan.group_by = keys;
            plan.group_by.extend(output.take_extra_keys());
        }
        plan.distinct = (query.distinct || self.is_range(query, shape))
            && !shape.grouped
            && !shape.items.iter().any(Item::is_aggregate);
        // Rows that are told apart by their key are different anyway.
        let keyed = |i: &Item| matches!(i, Item::Column(c) if self.catalog.table(joined.root).key == Some(*c));
        plan.distinct &= !(shape.items.iter().any(keyed) && joined.fan_out().is_none());
        plan.limit = query.limit;
        plan.offset = query.offset;
        plan.select = output.select;
        self.break_ties(query, joined, &names, &mut plan);
        if let Some(BoundRelation::Steps(shown)) = query.relation {
            steps::apply(self.catalog, query, shown, &mut plan)?;
        }
        // Which of the rows that became one would the order go by?
        let shown = |o: &OrderItem| {
            plan.select.iter().any(|s| s.alias.as_deref().is_some_and(|a| o.expr == Expr::field(a)) || s.expr == o.expr)
        };
        if plan.distinct && !plan.order_by.iter().all(shown) {
            return Err(Trouble::Unsupported("ordering different values by something that is not shown"));
        }
        if plan.select.is_empty() {
            return Err(Trouble::NothingAsked);
        }
        Ok(plan)
    }

    /// Of equals, a run that is repeated must pick the same: the key decides.
    fn break_ties(&self, query: &Query, joined: &Joined, names: &Names<'_>, plan: &mut QueryPlan) {
        let Some(dir) = plan.order_by.first().map(|o| o.dir).filter(|_| query.limit.is_some()) else { return };
        let keys: Vec<Expr> =
            joined.tables().filter_map(|t| self.catalog.table(t).key).map(|key| names.field(key)).collect();
        let tie = match plan.group_by.iter().find(|group| keys.contains(group)).or(plan.group_by.first()) {
            Some(key) => Some(OrderItem { expr: key.clone(), dir }),
            None if plan.distinct => None,
            None => {
                let key = self.catalog.table(joined.root).key;
                key.map(|key| OrderItem { expr: names.field(key), dir: Direction::Asc })
            }
        };
        let ordered = |tie: &OrderItem| plan.order_by.iter().any(|o| o.expr == tie.expr);
        if let Some(tie) = tie.filter(|tie| !ordered(tie)) {
            plan.order_by.push(tie);
        }
    }

    /// "show all majors": which there are, of whatever rows.
    fn is_range(&self, query: &Query, shape: &Shape) -> bool {
        let [Item::Column(column)] = shape.items.as_slice() else { return false };
        let info = self.catalog.column(*column);
        let table = self.catalog.table(info.table);
        let names = table.key == Some(*column) || table.display.contains(column);
        let range = query.subject.is_none() || query.range;
        range && query.orders.is_empty() && !names && !info.is_measure()
    }

    /// `from` and `joins`.
    pub fn from(&self, joined: &Joined) -> QueryPlan {
        let name = |t: TableId| self.catalog.table(t).name.as_str();
        let alias = |t: TableId| self.catalog.table(t).role_of.map(|_| name(t).to_owned());
        let mut plan = QueryPlan::over(self.catalog.resource(joined.root));
        plan.from.alias = alias(joined.root);
        for step in &joined.steps {
            let on = step.edge.on.iter().map(|(many, one)| {
                let (left, right) = if step.edge.many == step.to { (one, many) } else { (many, one) };
                JoinOn { left: format!("{}.{left}", name(step.from)), right: format!("{}.{right}", name(step.to)) }
            });
            plan.joins.push(Join {
                resource: self.catalog.resource(step.to).to_owned(),
                alias: alias(step.to),
                kind: JoinKind::Inner,
                on: on.collect(),
            });
        }
        plan
    }

    fn conditions(
        &self,
        query: &Query,
        names: &Names<'_>,
        joined: &Joined,
        semis: &[Semi],
    ) -> Result<Option<Condition>, Trouble> {
        let mut all = Vec::new();
        for filter in query.filters.iter().filter(|f| joined.contains(f.table) && f.side != Side::Share) {
            if !filter.test.is_of_groups() && !matches!(filter.test, Test::Related(_)) {
                all.push(self.condition(filter, names)?);
            }
        }
        for semi in semis {
            all.push(nest::condition(self, semi, names)?);
        }
        Ok(and(all))
    }

    pub fn condition(&self, filter: &BoundFilter, names: &Names<'_>) -> Result<Condition, Trouble> {
        super::conditions::condition(self, filter, names)
    }

    fn having(&self, query: &Query, output: &Output<'_>) -> Result<Option<Condition>, Trouble> {
        let mut all = Vec::new();
        for filter in &query.filters {
            match &filter.test {
                Test::Having(function, thing, op, value) => {
                    let left = output.aggregate(*function, *thing)?;
                    all.push(super::conditions::test(left, *op, value.clone()));
                }
                Test::HavingAgainst(thing, op) => {
                    let left = output.aggregate(AggregateFn::Avg, *thing)?;
                    all.push(super::conditions::against(self, left, *thing, *op, AggregateFn::Avg));
                }
                Test::HavingRows(op, n) => {
                    let n = Value::Int(i64::try_from(*n).unwrap_or(i64::MAX));
                    all.push(super::conditions::test(output.count(filter.table)?, *op, n));
                }
                _ => {}
            }
        }
        Ok(and(all))
    }

    fn orders(&self, query: &Query, shape: &Shape, output: &mut Output<'_>) -> Result<Vec<OrderItem>, Trouble> {
        let mut orders = Vec::new();
        // One figure has no order, and rows can't be picked for it after it is summed up.
        if !shape.grouped && shape.items.iter().any(Item::is_aggregate) {
            let of_answer = |o: &BoundOrder| matches!(o.by, BoundBy::Shown | BoundBy::Figure);
            let picked = !query.orders.iter().all(of_answer);
            return if picked { Err(Trouble::Unsupported("picking rows before summing them up")) } else { Ok(orders) };
        }
        for order in &query.orders {
            let expr = self.order_expr(order, shape, output)?;
            orders.push(OrderItem { expr, dir: order.direction });
        }
        if orders.is_empty() && shape.grouped {
            orders = default_orders(shape, output);
        }
        Ok(orders)
    }

    fn order_expr(&self, order: &BoundOrder, shape: &Shape, output: &mut Output<'_>) -> Result<Expr, Trouble> {
        let expression = match &order.by {
            BoundBy::Shown => return output.first_shown().ok_or(Trouble::NothingAsked),
            BoundBy::Figure => return output.first_figure().ok_or(Trouble::NothingAsked),
            // From row to row, changes are written when the rows are.
            BoundBy::Change(percent) => {
                let changed = || output.first_figure().and_then(|figure| steps::column(&figure, *percent));
                return output.related().or_else(changed).ok_or(Trouble::NothingAsked);
            }
            BoundBy::Rows(table) => output.count(*table)?,
            BoundBy::Occurrences => Expr::Aggregate(domain::plan::Aggregate { function: AggregateFn::Count, of: None }),
            BoundBy::Aggregate(function, thing) => output.aggregate(*function, *thing)?,
            BoundBy::Thing(thing) if !shape.grouped => return Ok(expr(output.names, *thing)),
            BoundBy::Thing(thing) => {
                if let Some(known) = output.selected(*thing) {
                    return Ok(known);
                }
                if !thing.is_additive(self.catalog) {
                    return Err(Trouble::Unsupported("ordering groups by a column that is not summed up"));
                }
                output.aggregate(AggregateFn::Sum, *thing)?
            }
        };
        Ok(if order.shown {
            output.show(expression, &order.by)
        } else {
            output.alias_of(&expression).unwrap_or(expression)
        })
    }
}

/// Buckets in the order of time; other groups by their first figure, largest first.
fn default_orders(shape: &Shape, output: &Output<'_>) -> Vec<OrderItem> {
    let catalog = output.names.catalog;
    let moment = shape.keys.iter().find_map(|key| match key {
        BoundKey::Bucket(unit, Some(column)) => Some(bucket(*unit, output.names, *column)),
        BoundKey::Column(c) if catalog.column(*c).kind == ColumnKind::Time => Some(output.names.field(*c)),
        _ => None,
    });
    let by = match moment {
        Some(moment) => output.select.iter().find(|i| i.expr == moment).map(|item| (item, Direction::Asc)),
        None => output
            .select
            .iter()
            .find(|i| matches!(i.expr, Expr::Aggregate(_) | Expr::Arithmetic(_)))
            .map(|i| (i, Direction::Desc)),
    };
    let named = |(item, dir): (&SelectItem, Direction)| Some(OrderItem { expr: Expr::field(item.alias.clone()?), dir });
    by.and_then(named).into_iter().collect()
}

pub(crate) fn and(mut conditions: Vec<Condition>) -> Option<Condition> {
    match conditions.len() {
        0 => None,
        1 => conditions.pop(),
        _ => Some(Condition::And(conditions)),
    }
}

/// An aggregate over a measure.
pub(crate) fn aggregate(function: AggregateFn, of: Option<Expr>) -> Expr {
    Expr::Aggregate(domain::plan::Aggregate { function, of: of.map(Box::new) })
}
