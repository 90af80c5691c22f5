//! A bound question: every part of it is a column, a table or a value of the schema.

use super::catalog::{Catalog, ColumnId, TableId};
pub(crate) use super::draft::Steps;
use super::draft::Thing;
use super::time::Range;
use domain::Value;
use domain::plan::{AggregateFn, DateUnit, Direction, Operator};

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Item {
    Column(ColumnId),
    /// Rows by what they are called; only that, if brief.
    Entity(TableId, bool),
    Whole(TableId),
    Count(TableId),
    CountDistinct(ColumnId),
    Aggregate(AggregateFn, Thing),
}

impl Item {
    pub fn is_aggregate(&self) -> bool {
        matches!(self, Self::Count(_) | Self::CountDistinct(_) | Self::Aggregate(..))
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum BoundKey {
    Column(ColumnId),
    Entity(TableId),
    Bucket(DateUnit, Option<ColumnId>),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum BoundBy {
    Thing(Thing),
    Aggregate(AggregateFn, Thing),
    Rows(TableId),
    /// By how much the figure changed, in percent or not.
    Change(bool),
    Occurrences,
    Shown,
    /// The first figure that is shown, or else what is shown first.
    Figure,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct BoundOrder {
    pub by: BoundBy,
    pub direction: Direction,
    pub shown: bool,
}

/// How the figure that is asked for relates to another.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum BoundRelation {
    Share,
    Change { column: ColumnId, from: Range, to: Range, percent: bool },
    Per(Thing),
    Steps(Steps),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Test {
    /// With one value, or two for `Between`.
    Compare(Thing, Operator, Vec<Value>),
    /// With an aggregate over all rows.
    Against(Thing, Operator, AggregateFn),
    /// With an aggregate over the rows that share a column's value.
    AgainstOwn(Thing, Operator, AggregateFn, ColumnId),
    Having(AggregateFn, Thing, Operator, Value),
    /// Groups whose average lies so to the average over all rows.
    HavingAgainst(Thing, Operator),
    /// Groups by how many rows of the table they have.
    HavingRows(Operator, u64),
    In {
        values: Vec<String>,
        negated: bool,
        /// Each of them, in as many rows: "who bought both a lamp and a rug".
        all: bool,
    },
    Text {
        pattern: String,
        like: bool,
        negated: bool,
    },
    Time(Range),
    /// Days of the week, 1 (Monday) to 7.
    Weekday(Vec<i64>),
    Flag(bool),
    /// Any of these, all about one table.
    Either(Vec<BoundFilter>),
    Missing {
        present: bool,
    },
    Related(RelatedRows),
}

impl Test {
    /// Whether it is true or false of groups rather than of rows.
    pub fn is_of_groups(&self) -> bool {
        matches!(self, Self::Having(..) | Self::HavingAgainst(..) | Self::HavingRows(..))
    }
}

/// Rows of another table that belong to the subject: some, none, or so many.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RelatedRows {
    pub table: TableId,
    pub negated: bool,
    pub count: Option<(Operator, u64)>,
    pub inner: Vec<BoundFilter>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct BoundFilter {
    pub table: TableId,
    pub test: Test,
    /// What a test of one column tests.
    pub column: Option<ColumnId>,
    pub side: Side,
}

/// Which rows a condition speaks of, where no single row can meet all conditions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Side {
    /// Of all.
    #[default]
    Common,
    /// Of some rows; conditions of another number are about other rows.
    Part(usize),
    /// Of rows that there must not be: "but not in 2010".
    Except,
    /// Of the part whose share is asked for.
    Share,
}

impl BoundFilter {
    pub fn of(catalog: &Catalog, column: ColumnId, test: Test) -> Self {
        Self { table: catalog.column(column).table, test, column: Some(column), side: Side::Common }
    }
}

#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Query {
    pub subject: Option<TableId>,
    pub items: Vec<Item>,
    pub keys: Vec<BoundKey>,
    /// What is asked for is asked of each group by itself.
    pub each: bool,
    /// Rows are listed beside the keys of their groups.
    pub listed: bool,
    pub filters: Vec<BoundFilter>,
    /// The question says "both": there must be conditions of different rows.
    pub both: bool,
    pub relation: Option<BoundRelation>,
    pub orders: Vec<BoundOrder>,
    pub limit: Option<u64>,
    pub offset: Option<u64>,
    pub distinct: bool,
    /// What is asked for are the values that there are, of whatever rows.
    pub range: bool,
    /// The choice that was closest: a phrase, what it might have meant as well, and by how much less.
    pub rival: Option<(String, Thing, f32)>,
    /// What the reader must know about how it was read.
    pub notes: Vec<String>,
}

impl Query {
    /// The table of the first measure that is summed up or ranked by.
    pub fn summed(&self, catalog: &Catalog) -> Option<TableId> {
        let item = self.items.iter().find_map(|item| match item {
            Item::Aggregate(_, thing) => Some(thing.table(catalog)),
            _ => None,
        });
        item.or_else(|| {
            self.orders.iter().find_map(|o| match &o.by {
                BoundBy::Aggregate(_, thing) => Some(thing.table(catalog)),
                BoundBy::Thing(thing) if thing.is_additive(catalog) => Some(thing.table(catalog)),
                _ => None,
            })
        })
    }

    /// The table whose rows are counted or measured.
    pub fn measured(&self, catalog: &Catalog) -> Option<TableId> {
        let item = self.items.iter().find_map(|item| match item {
            Item::Count(table) => Some(*table),
            Item::Aggregate(_, thing) => Some(thing.table(catalog)),
            Item::CountDistinct(column) => Some(catalog.column(*column).table),
            _ => None,
        });
        let item = item.or_else(|| {
            self.orders.iter().find_map(|o| match &o.by {
                BoundBy::Aggregate(_, thing) => Some(thing.table(catalog)),
                BoundBy::Rows(table) => Some(*table),
                _ => None,
            })
        });
        item.or_else(|| self.filters.iter().find(|f| matches!(f.test, Test::HavingRows(..))).map(|f| f.table))
    }
}

/// Why a draft can't become a query, or a query a plan.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Trouble {
    /// A phrase that may name any of these tables.
    WhichTable(String, Vec<TableId>),
    /// A phrase that may mean any of these.
    Ambiguous(String, Vec<Thing>),
    /// A name that several values of a column have among their words.
    WhichValue(String, Vec<String>),
    /// "price by category": the average, the total?
    WhichAggregate(String, Thing),
    /// Nothing in the schema fits the phrase.
    Unbound(String),
    /// Two tables that no key ties together.
    Apart(TableId, TableId),
    /// Two tables that several keys tie together.
    Ways(Vec<super::catalog::Edge>),
    /// Adding up over this join would count rows more than once.
    CountedTwice(TableId, TableId),
    /// "best customers": by which measure?
    RankedByWhat(Option<TableId>),
    /// "most popular products": by what they have to do with?
    PopularByWhat(TableId),
    /// "the worst area": by which figure of the rows of an area?
    GroupsByWhat(TableId),
    /// "grew most": in percent, or by which amount?
    ChangeInWhat,
    NothingAsked,
    /// What plans of ours don't say yet.
    Unsupported(&'static str),
}

/// What a clarification has settled.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Pick {
    /// This phrase means this.
    Thing(String, Thing),
    /// This phrase names this table.
    Table(String, TableId),
    /// This phrase is this value.
    Value(String, String),
    /// This phrase is summed up so.
    Function(String, AggregateFn),
    /// Tables are tied by the key with these words in its name.
    Key(Vec<String>),
    /// The ranking goes by this.
    Ranking(BoundBy),
    /// Changes are meant in percent, or not.
    InPercent(bool),
}
