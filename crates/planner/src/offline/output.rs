//! The columns of an answer: their expressions and their names.

use super::catalog::{Catalog, ColumnId, ColumnKind, Edge, TableId};
use super::compile::{Joined, aggregate};
use super::draft::Thing;
use super::query::{BoundBy, BoundKey, Item, Trouble};
use super::shape::Shape;
use super::text::split_name;
use domain::plan::{AggregateFn, Arithmetic, ArithmeticOp, DateTrunc, DateUnit, Expr, SelectItem};

/// How fields are written: qualified as soon as there is a join.
pub(crate) struct Names<'a> {
    pub catalog: &'a Catalog,
    qualified: bool,
}

impl<'a> Names<'a> {
    pub fn new(catalog: &'a Catalog, joined: &Joined) -> Self {
        Self { catalog, qualified: !joined.steps.is_empty() }
    }

    pub fn field(&self, column: ColumnId) -> Expr {
        let info = self.catalog.column(column);
        self.named(info.table, &info.name)
    }

    /// Whether a column of this kind is kept as text.
    fn is_text(&self, column: ColumnId, kind: ColumnKind) -> bool {
        let info = self.catalog.column(column);
        info.is_text && info.kind == kind
    }

    pub fn named(&self, table: TableId, column: &str) -> Expr {
        if self.qualified {
            Expr::Field(format!("{}.{column}", self.catalog.table(table).name))
        } else {
            Expr::field(column)
        }
    }
}

pub(crate) fn expr(names: &Names<'_>, thing: Thing) -> Expr {
    match thing {
        Thing::Column(column) if names.is_text(column, ColumnKind::Number) => {
            Expr::Number(Box::new(names.field(column)))
        }
        Thing::Column(column) => names.field(column),
        Thing::Product(quantity, price) => Expr::Arithmetic(Arithmetic {
            op: ArithmeticOp::Multiply,
            left: Box::new(names.field(quantity)),
            right: Box::new(names.field(price)),
        }),
    }
}

/// The start of the period that a moment is in.
pub(crate) fn bucket(unit: DateUnit, names: &Names<'_>, column: ColumnId) -> Expr {
    Expr::DateTrunc(DateTrunc { unit, of: Box::new(moment(names, column)) })
}

/// A column of moments, also where they are kept as text.
pub(crate) fn moment(names: &Names<'_>, column: ColumnId) -> Expr {
    let field = names.field(column);
    if names.is_text(column, ColumnKind::Time) { Expr::Moment(Box::new(field)) } else { field }
}

/// Collects what is selected, each under a name of its own.
pub(crate) struct Output<'a> {
    pub names: &'a Names<'a>,
    joined: &'a Joined,
    pub select: Vec<SelectItem>,
    /// Keys that keep groups apart without being shown.
    extra_keys: Vec<Expr>,
}

impl<'a> Output<'a> {
    pub fn new(names: &'a Names<'a>, joined: &'a Joined) -> Self {
        Self { names, joined, select: Vec::new(), extra_keys: Vec::new() }
    }

    /// Selects the keys of the groups and returns what to group by.
    pub fn keys(&mut self, shape: &Shape) -> Result<Vec<Expr>, Trouble> {
        let mut keys = Vec::new();
        for key in &shape.keys {
            match key {
                BoundKey::Column(column) => keys.push(self.column(*column)),
                BoundKey::Entity(table) => {
                    keys.extend(self.entity_key(*table));
                    // "the code of each role": what is asked for already says which role it is.
                    let named = |i: &Item| matches!(i, Item::Column(c) if self.tells(*c, *table));
                    if shape.items.iter().any(named) && !keys.is_empty() {
                        continue;
                    }
                    for column in self.names.catalog.table(*table).display.clone() {
                        let field = self.column(column);
                        if !keys.contains(&field) {
                            keys.push(field);
                        }
                    }
                }
                BoundKey::Bucket(unit, Some(column)) => {
                    let bucket = bucket(*unit, self.names, *column);
                    self.push(bucket.clone(), unit_name(*unit));
                    keys.push(bucket);
                }
                BoundKey::Bucket(_, None) => return Err(Trouble::Unbound("date".to_owned())),
            }
        }
        Ok(keys)
    }

    /// Whether a column is one of a table, or points at it.
    fn tells(&self, column: ColumnId, table: TableId) -> bool {
        let info = self.names.catalog.column(column);
        let points =
            |e: &Edge| e.many == info.table && e.one == table && e.on.iter().any(|(many, _)| *many == info.name);
        info.table == table || self.names.catalog.edges.iter().any(points)
    }

    pub fn is_root(&self, table: TableId) -> bool {
        table == self.joined.root
    }

    pub fn reads(&self, table: TableId) -> bool {
        self.joined.contains(table)
    }

    fn entity_key(&self, table: TableId) -> Option<Expr> {
        self.names.catalog.table(table).key.map(|key| self.names.field(key))
    }

    pub fn item(&mut self, item: &Item, shape: &Shape) -> Result<(), Trouble> {
        match item {
            Item::Column(column) => {
                let field = self.column(*column);
                self.group_plain(*column, field, shape);
            }
            Item::Entity(table, brief) => {
                for column in self.entity_columns(*table, *brief || shape.grouped) {
                    let field = self.column(column);
                    self.group_plain(column, field, shape);
                }
            }
            Item::Whole(table) => {
                for column in self.names.catalog.table(*table).columns.clone() {
                    let field = self.column(column);
                    self.group_plain(column, field, shape);
                }
            }
            Item::Count(table) => {
                let count = self.count(*table)?;
                self.push(count, format!("number_of_{}", snake(&self.names.catalog.table(*table).name)));
            }
            Item::CountDistinct(column) => {
                let of = self.names.field(*column);
                let name = snake(&self.names.catalog.column(*column).name);
                self.push(aggregate(AggregateFn::CountDistinct, Some(of)), format!("number_of_{name}"));
            }
            Item::Aggregate(function, thing) => {
                let expression = self.aggregate(*function, *thing)?;
                self.push(expression, aggregate_name(self.names.catalog, *function, *thing));
            }
        }
        Ok(())
    }

    /// A plain column beside an aggregate is a key; rows of another table than the measured one are
    /// kept apart by their own key, because two customers may share a name.
    fn group_plain(&mut self, column: ColumnId, field: Expr, shape: &Shape) {
        if !shape.grouped || shape.keys.contains(&BoundKey::Column(column)) {
            return;
        }
        let table = self.names.catalog.column(column).table;
        if shape.measured != Some(table)
            && let Some(key) = self.entity_key(table)
            && !self.extra_keys.contains(&key)
            && self.names.catalog.table(table).display.contains(&column)
        {
            self.extra_keys.push(key);
        }
        if !self.extra_keys.contains(&field) {
            self.extra_keys.push(field);
        }
    }

    pub fn take_extra_keys(&mut self) -> Vec<Expr> {
        std::mem::take(&mut self.extra_keys)
    }

    /// Name-like columns first, then what else says something about a row.
    fn entity_columns(&self, table: TableId, brief: bool) -> Vec<ColumnId> {
        let catalog = self.names.catalog;
        let info = catalog.table(table);
        let mut columns = info.display.clone();
        if !brief {
            let tells = |c: &&ColumnId| {
                let column = catalog.column(**c);
                !column.is_key && !column.pii && column.kind != ColumnKind::Other && !info.display.contains(c)
            };
            columns.extend(info.columns.iter().filter(tells).take(5));
        }
        columns
    }

    /// Rows of a table: each once, also where a join repeats them.
    pub fn count(&self, table: TableId) -> Result<Expr, Trouble> {
        if table == self.joined.root && self.joined.fan_out().is_none() {
            return Ok(aggregate(AggregateFn::Count, None));
        }
        match self.entity_key(table) {
            Some(key) => Ok(aggregate(AggregateFn::CountDistinct, Some(key))),
            None => match self.joined.fan_out() {
                Some(at) if at != table => Err(Trouble::CountedTwice(table, at)),
                _ => Ok(aggregate(AggregateFn::Count, None)),
            },
        }
    }

    /// An aggregate that no join makes count a row twice.
    pub fn aggregate(&self, function: AggregateFn, thing: Thing) -> Result<Expr, Trouble> {
        let table = thing.table(self.names.catalog);
        let repeats = matches!(function, AggregateFn::Sum | AggregateFn::Avg | AggregateFn::Median);
        let fan_out = if table == self.joined.root { self.joined.fan_out() } else { Some(self.joined.root) };
        if let Some(at) = fan_out.filter(|_| repeats) {
            return Err(Trouble::CountedTwice(table, at));
        }
        Ok(aggregate(function, Some(expr(self.names, thing))))
    }

    fn column(&mut self, column: ColumnId) -> Expr {
        let field = self.names.field(column);
        let info = self.names.catalog.column(column);
        let mut name = snake(&info.name);
        if self.is_taken(&name) {
            name = format!("{}_{name}", snake(&self.names.catalog.table(info.table).name));
        }
        if !self.select.iter().any(|s| s.expr == field) {
            self.push(field.clone(), name);
        }
        field
    }

    fn is_taken(&self, name: &str) -> bool {
        self.select.iter().any(|s| s.alias.as_deref() == Some(name))
    }

    fn push(&mut self, expr: Expr, name: String) {
        let mut unique = name.clone();
        let mut n = 2;
        while self.is_taken(&unique) {
            unique = format!("{name}_{n}");
            n += 1;
        }
        self.select.push(SelectItem { expr, alias: Some(unique) });
    }

    /// Shows what a ranking goes by, and gives the name to order by.
    pub fn show(&mut self, expression: Expr, by: &BoundBy) -> Expr {
        if self.alias_of(&expression).is_none() {
            let catalog = self.names.catalog;
            let name = match by {
                BoundBy::Aggregate(function, thing) => aggregate_name(catalog, *function, *thing),
                BoundBy::Thing(thing) => aggregate_name(catalog, AggregateFn::Sum, *thing),
                BoundBy::Rows(table) => format!("number_of_{}", snake(&catalog.table(*table).name)),
                BoundBy::Change(_) => "change".to_owned(),
                BoundBy::Occurrences | BoundBy::Shown | BoundBy::Figure => "count".to_owned(),
            };
            self.push(expression.clone(), name);
        }
        self.alias_of(&expression).unwrap_or(expression)
    }

    pub fn alias_of(&self, expression: &Expr) -> Option<Expr> {
        let item = self.select.iter().find(|s| s.expr == *expression)?;
        item.alias.clone().map(Expr::Field)
    }

    pub fn first_shown(&self) -> Option<Expr> {
        self.select.first().and_then(|s| s.alias.clone()).map(Expr::Field)
    }

    pub fn first_figure(&self) -> Option<Expr> {
        let figure = self.select.iter().find(|s| matches!(s.expr, Expr::Aggregate(_)));
        figure.and_then(|s| s.alias.clone()).map(Expr::Field).or_else(|| self.first_shown())
    }

    /// The figure that was set in relation to another.
    pub fn related(&self) -> Option<Expr> {
        let item = self.select.iter().find(|s| matches!(s.expr, Expr::Arithmetic(_)))?;
        item.alias.clone().map(Expr::Field)
    }

    /// A selected item that shows this thing, plain or summed up.
    pub fn selected(&self, thing: Thing) -> Option<Expr> {
        let wanted = expr(self.names, thing);
        let shows = |s: &&SelectItem| match &s.expr {
            Expr::Aggregate(a) => a.of.as_deref() == Some(&wanted),
            other => *other == wanted,
        };
        self.select.iter().find(shows).and_then(|s| s.alias.clone()).map(Expr::Field)
    }
}

fn aggregate_name(catalog: &Catalog, function: AggregateFn, thing: Thing) -> String {
    let of = match thing {
        Thing::Column(column) => snake(&catalog.column(column).name),
        Thing::Product(..) => "revenue".to_owned(),
    };
    let word = function_word(function);
    if of.starts_with(word) { of } else { format!("{word}_{of}") }
}

/// The everyday word for a function.
pub(crate) fn function_word(function: AggregateFn) -> &'static str {
    match function {
        AggregateFn::Count | AggregateFn::CountDistinct => "number",
        AggregateFn::Sum => "total",
        AggregateFn::Avg => "average",
        AggregateFn::Min => "minimum",
        AggregateFn::Max => "maximum",
        AggregateFn::Median => "median",
    }
}

pub(crate) fn unit_name(unit: DateUnit) -> String {
    format!("{unit:?}").to_lowercase()
}

fn snake(name: &str) -> String {
    let words = split_name(name).join("_");
    let ascii: String = words.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if ascii.chars().next().is_some_and(|c| c.is_ascii_alphabetic()) { ascii } else { format!("c_{ascii}") }
}
