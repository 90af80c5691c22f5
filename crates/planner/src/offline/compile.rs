//! A bound question to a plan: which rows, joined how, grouped by what.

use super::catalog::{Catalog, ColumnId, ColumnKind, TableId};
use super::joins::{self, JoinTrouble, Step};
use super::nest::{self, Semi};
use super::output::{Names, Output, expr};
use super::query::{BoundBy, BoundFilter, BoundKey, BoundOrder, Item, Query, Test, Trouble};
use domain::QueryPlan;
use domain::plan::{AggregateFn, Condition, Direction, Expr, Join, JoinKind, JoinOn, OrderItem, SelectItem};

/// Rows of a bare listing: nobody reads more of them in a chat.
const LISTED: u64 = 100;

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
    /// The first table at which rows of the root may be met more than once.
    pub fn fan_out(&self) -> Option<TableId> {
        self.steps.iter().find(|s| s.fans_out()).map(|s| s.to)
    }
}

impl Compiler<'_> {
    pub fn plan(&self, query: &Query) -> Result<QueryPlan, Trouble> {
        let shape = shape(self.catalog, query)?;
        let tables = self.core_tables(query, &shape);
        let root = shape.measured.or(query.subject.filter(|t| tables.contains(t))).or(tables.first().copied());
        let root = root.ok_or(Trouble::NothingAsked)?;
        let mut joined = Joined { root, steps: joins::tree(self.catalog, root, &tables, self.hints)? };
        let semis = nest::place(self, query, &mut joined)?;
        self.write(query, &shape, &joined, &semis)
    }

    fn core_tables(&self, query: &Query, shape: &Shape) -> Vec<TableId> {
        let table_of = |c: &ColumnId| self.catalog.column(*c).table;
        let mut tables: Vec<TableId> = Vec::new();
        for item in &shape.items {
            tables.push(match item {
                Item::Column(c) | Item::CountDistinct(c) => table_of(c),
                Item::Entity(t, _) | Item::Count(t) => *t,
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
                BoundBy::Occurrences | BoundBy::Shown => {}
            }
        }
        for filter in &query.filters {
            if let Test::Having(_, thing, ..) = &filter.test {
                tables.push(thing.table(self.catalog));
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
        plan.order_by = self.orders(query, shape, &mut output)?;
        plan.having = self.having(query, &output)?;
        if shape.grouped {
            plan.group_by = keys;
            plan.group_by.extend(output.take_extra_keys());
        }
        plan.distinct = query.distinct && !shape.grouped && !shape.items.iter().any(Item::is_aggregate);
        plan.filter = self.conditions(query, &names, joined, semis)?;
        let listing = matches!(shape.items.as_slice(), [Item::Entity(_, false)]);
        plan.limit = query.limit.or((listing && !shape.grouped).then_some(LISTED));
        plan.select = output.select;
        if plan.select.is_empty() {
            return Err(Trouble::NothingAsked);
        }
        Ok(plan)
    }

    /// `from` and `joins`.
    pub fn from(&self, joined: &Joined) -> QueryPlan {
        let name = |t: TableId| self.catalog.table(t).name.as_str();
        let mut plan = QueryPlan::over(name(joined.root));
        for step in &joined.steps {
            let on = step.edge.on.iter().map(|(many, one)| {
                let (left, right) = if step.edge.many == step.to { (one, many) } else { (many, one) };
                JoinOn { left: format!("{}.{left}", name(step.from)), right: format!("{}.{right}", name(step.to)) }
            });
            plan.joins.push(Join {
                resource: name(step.to).to_owned(),
                alias: None,
                kind: JoinKind::Inner,
                on: on.collect(),
            });
        }
        plan
    }

    fn conditions(&self, query: &Query, names: &Names<'_>, joined: &Joined, semis: &[Semi]) -> Result<Option<Condition>, Trouble> {
        let mut all = Vec::new();
        for filter in query.filters.iter().filter(|f| joined.contains(f.table)) {
            if !matches!(filter.test, Test::Having(..) | Test::Related(_)) {
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
            if let Test::Having(function, thing, op, value) = &filter.test {
                let left = output.aggregate(*function, *thing)?;
                all.push(super::conditions::test(left, *op, value.clone()));
            }
        }
        Ok(and(all))
    }

    fn orders(&self, query: &Query, shape: &Shape, output: &mut Output<'_>) -> Result<Vec<OrderItem>, Trouble> {
        let mut orders = Vec::new();
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
        Ok(if order.shown { output.show(expression, &order.by) } else { output.alias_of(&expression).unwrap_or(expression) })
    }
}

/// What is shown, and whether rows are summed up for it.
#[derive(Debug)]
pub(crate) struct Shape {
    pub items: Vec<Item>,
    pub keys: Vec<BoundKey>,
    pub grouped: bool,
    pub measured: Option<TableId>,
}

fn shape(catalog: &Catalog, query: &Query) -> Result<Shape, Trouble> {
    let mut items = query.items.clone();
    let mut keys = query.keys.clone();
    let measured = measured(catalog, query);
    if !items.iter().any(Item::is_aggregate) && !keys.is_empty() {
        listing_per_key(catalog, &mut items, &mut keys)?;
    }
    let having = query.filters.iter().any(|f| matches!(f.test, Test::Having(..)));
    let aggregates = items.iter().any(Item::is_aggregate);
    let plain = items.iter().any(|i| !i.is_aggregate());
    let ranked = query.orders.iter().any(|o| is_grouped_order(catalog, query, &o.by));
    if !ranked && !aggregates {
        ranks_what_is_asked(catalog, query)?;
    }
    let grouped = !keys.is_empty() && aggregates || (plain && (aggregates || ranked || having));
    let counted = items.iter().find_map(|i| if let Item::Count(t) = i { Some(*t) } else { None });
    let measured = measured.or(counted);
    Ok(Shape { items, keys, grouped, measured: measured.filter(|_| grouped || aggregates) })
}

/// "stores in the district with the most people": the district is ranked, not the stores.
fn ranks_what_is_asked(catalog: &Catalog, query: &Query) -> Result<(), Trouble> {
    let own = |table: TableId| {
        query.items.iter().any(|item| match item {
            Item::Column(c) => catalog.column(*c).table == table,
            Item::Entity(t, _) => *t == table,
            _ => true,
        })
    };
    let ranked = query.orders.iter().filter_map(|o| if let BoundBy::Thing(t) = &o.by { Some(t.table(catalog)) } else { None });
    match query.limit {
        Some(_) if ranked.into_iter().any(|table| !own(table) && query.subject != Some(table)) => {
            Err(Trouble::Unsupported("picking by a rank among something else"))
        }
        _ => Ok(()),
    }
}

/// "the name of each customer" lists; "orders by month" counts.
fn listing_per_key(catalog: &Catalog, items: &mut Vec<Item>, keys: &mut Vec<BoundKey>) -> Result<(), Trouble> {
    match (items.as_slice(), keys.as_slice()) {
        ([], _) => Err(Trouble::NothingAsked),
        ([Item::Entity(table, _)], _) => {
            *items = vec![Item::Count(*table)];
            Ok(())
        }
        (_, [BoundKey::Entity(table)]) => {
            let own = |i: &Item| matches!(i, Item::Column(c) if catalog.column(*c).table == *table);
            if !items.iter().any(own) {
                return Err(Trouble::Unsupported("listing the rows of each group"));
            }
            keys.clear();
            Ok(())
        }
        _ => Err(Trouble::Unsupported("listing the rows of each group")),
    }
}

fn measured(catalog: &Catalog, query: &Query) -> Option<TableId> {
    query.measured(catalog).or_else(|| {
        query.orders.iter().find_map(|o| match &o.by {
            BoundBy::Thing(thing) if is_grouped_order(catalog, query, &o.by) => Some(thing.table(catalog)),
            _ => None,
        })
    })
}

/// Whether an order needs groups: counts and aggregates do, and sums of what is asked for.
fn is_grouped_order(catalog: &Catalog, query: &Query, by: &BoundBy) -> bool {
    match by {
        BoundBy::Rows(_) | BoundBy::Aggregate(..) | BoundBy::Occurrences => true,
        BoundBy::Shown => false,
        BoundBy::Thing(thing) => {
            let table = thing.table(catalog);
            let per_row = |item: &Item| match item {
                Item::Entity(t, _) => *t == table,
                Item::Column(c) => catalog.column(*c).table == table && (query.subject == Some(table) || !is_category(catalog, *c)),
                _ => true,
            };
            query.limit.is_some() && thing.is_additive(catalog) && !query.items.iter().all(per_row)
        }
    }
}

/// A column whose values are shared by many rows.
fn is_category(catalog: &Catalog, column: ColumnId) -> bool {
    let info = catalog.column(column);
    info.kind == ColumnKind::Text && !info.is_key && !catalog.table(info.table).display.contains(&column)
}

/// Buckets in the order of time; other groups by their first figure, largest first.
fn default_orders(shape: &Shape, output: &Output<'_>) -> Vec<OrderItem> {
    let bucket = shape.keys.iter().position(|k| matches!(k, BoundKey::Bucket(..)));
    let by = match bucket {
        Some(at) => output.select.get(at).map(|item| (item, Direction::Asc)),
        None => output.select.iter().find(|i| matches!(i.expr, Expr::Aggregate(_))).map(|i| (i, Direction::Desc)),
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

