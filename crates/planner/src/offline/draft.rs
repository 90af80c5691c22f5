//! What a question asks, before its nouns are tied to one column each.

use super::catalog::{Catalog, ColumnId, TableId};
use super::numbers::Number;
use super::time::{Period, When};
use super::values::Owned;
use domain::plan::{AggregateFn, DateUnit, Direction, Operator};

/// Something with a value in each row: a column, or quantity × price where no column holds revenue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Thing {
    Column(ColumnId),
    Product(ColumnId, ColumnId),
}

impl Thing {
    pub fn table(self, catalog: &Catalog) -> TableId {
        match self {
            Self::Column(column) | Self::Product(column, _) => catalog.column(column).table,
        }
    }
    pub fn column(self) -> Option<ColumnId> {
        match self {
            Self::Column(column) => Some(column),
            Self::Product(..) => None,
        }
    }
    pub fn is_measure(self, catalog: &Catalog) -> bool {
        self.column().is_none_or(|c| catalog.column(c).is_measure())
    }
    pub fn is_additive(self, catalog: &Catalog) -> bool {
        self.column().is_none_or(|c| catalog.column(c).is_additive())
    }
}

/// A phrase of the question that names a table or a column, with everything that it may name.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Noun {
    pub text: String,
    pub tables: Vec<(TableId, f32)>,
    pub things: Vec<(Thing, f32)>,
    /// The table that the question says it belongs to: "name of the customer".
    pub owner: Option<TableId>,
}

impl Noun {
    /// The table that this most likely names, unless it more likely names a column.
    pub fn table(&self) -> Option<TableId> {
        let best = |weights: &mut dyn Iterator<Item = f32>| weights.fold(0.0_f32, f32::max);
        let table = best(&mut self.tables.iter().map(|(_, w)| *w));
        let thing = best(&mut self.things.iter().map(|(_, w)| *w));
        let first = self.tables.iter().find(|(_, w)| *w == table)?;
        (table >= thing).then_some(first.0)
    }
    pub fn is_column(&self) -> bool {
        !self.things.is_empty() && self.table().is_none()
    }
    pub fn belongs_to(&self, table: TableId, catalog: &Catalog) -> bool {
        self.things.iter().any(|(t, _)| t.table(catalog) == table)
    }
    pub fn any(&self, test: impl Fn(Thing) -> bool) -> bool {
        self.things.iter().any(|(t, w)| *w > 0.6 && test(*t))
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Asked {
    Column(Noun),
    /// Rows of a table, by what they are called. `brief` shows nothing else of them.
    Entity {
        table: TableId,
        brief: bool,
    },
    /// Rows of a table with all their columns.
    Whole(TableId),
    /// "which month": the period that the rows fall into.
    Period(DateUnit),
    CountRows(TableId),
    /// "and how many there are": of the rows that are asked for.
    CountThem,
    CountDistinct(Noun),
    Aggregate(AggregateFn, Noun),
}

impl Asked {
    pub fn is_aggregate(&self) -> bool {
        matches!(self, Self::CountRows(_) | Self::CountThem | Self::CountDistinct(_) | Self::Aggregate(..))
    }
}

/// One answer row for each …
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Key {
    Column(Noun),
    Entity(TableId),
    Bucket(DateUnit),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum By {
    Column(Noun),
    Aggregate(AggregateFn, Noun),
    Rows(TableId),
    /// By how much the figure changed: in percent or not, where the question says.
    Change(Option<bool>),
    /// How often each answer row occurs: "most common".
    Occurrences,
    /// The first of these measures that the subject has: "cheapest".
    Measured(&'static [&'static str]),
    Time,
    /// What is shown first.
    Shown,
    /// The first figure that is shown, or else what is shown first.
    Figure,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Order {
    pub by: By,
    pub direction: Direction,
    /// "top 5 by revenue" also shows the revenue; "the cheapest" shows no price.
    pub shown: bool,
}

/// What a comparison compares with.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Bound {
    Number(Number),
    Range(Number, Number),
    /// The average (or another aggregate) over all rows.
    Aggregate(AggregateFn),
    /// The same over the rows that share this column's value.
    OwnGroup(AggregateFn, Noun),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Left {
    Column(Noun),
    Aggregate(AggregateFn, Noun),
    Measured(&'static [&'static str]),
    /// An amount of money of the subject: "orders over $1,000".
    Money,
}

/// How a change from period to period is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Steps {
    Difference,
    Percent,
    /// The question does not say which.
    Both,
}

/// A figure that says how two figures relate.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Relation {
    /// In percent of the whole: what the conditions of the part leave of it, or each group.
    Share,
    /// From one period to another.
    Change { from: Period, to: Period, percent: bool },
    /// From each period to the next.
    Steps(Steps),
    /// So much for each unit of another measure: "kWh per square metre".
    Per(Noun),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Filter {
    Compare {
        left: Left,
        op: Operator,
        bound: Bound,
        text: String,
    },
    /// Any of these values, each with the columns that own it.
    /// `all` where they are joined by "and", which no single row can satisfy.
    Values {
        options: Vec<Vec<Owned>>,
        column: Option<Noun>,
        negated: bool,
        all: bool,
        text: String,
        near: Option<TableId>,
    },
    /// Text that no column is known to hold, of a column that the question names.
    Text {
        column: Noun,
        pattern: String,
        like: bool,
        negated: bool,
    },
    Time {
        when: When,
        column: Option<Noun>,
        near: Option<TableId>,
    },
    /// Days of the week, 1 (Monday) to 7.
    Weekday {
        days: Vec<i64>,
        column: Option<Noun>,
        near: Option<TableId>,
    },
    Flag {
        column: Noun,
        value: bool,
    },
    /// Any of these holds.
    Either(Vec<Filter>),
    Missing {
        column: Noun,
        present: bool,
    },
    /// Groups of so many rows: "majors with more than 3 students".
    Rows {
        table: Option<TableId>,
        op: Operator,
        n: u64,
    },
    Related {
        table: TableId,
        negated: bool,
        count: Option<(Operator, u64)>,
        inner: Vec<Filter>,
    },
}

#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Draft {
    pub asked: Vec<Asked>,
    /// What the rows are about.
    pub subject: Option<TableId>,
    pub keys: Vec<Key>,
    /// "in each region", said so: what is asked for is asked of each.
    pub each: bool,
    pub filters: Vec<Filter>,
    /// "both": conditions that no single row meets must follow.
    pub both: bool,
    /// From this one on, the conditions are of rows that there must not be: "but not in 2010".
    pub except: Option<usize>,
    /// What is asked for is set in relation to something.
    pub relation: Option<Relation>,
    /// From this one on, the conditions (other than periods) are of the part whose share is asked for.
    pub part: Option<usize>,
    pub orders: Vec<Order>,
    pub limit: Option<u64>,
    /// How many of a ranking come before: one for "the second highest".
    pub offset: Option<u64>,
    /// The moment that periods and buckets are about, where the question names it.
    pub moment: Option<Noun>,
    /// "top 5", "best": ranked, and the question does not say by what.
    pub ranked: Option<Direction>,
    pub distinct: bool,
    /// What is asked for are the values that there are, of whatever rows.
    pub range: bool,
    /// "how long do they take": some figure of what is asked for, not a list.
    pub figure: bool,
    /// Words that no rule could use.
    pub unexplained: Vec<String>,
    /// Words for what no plan of ours can express.
    pub beyond: Vec<String>,
    /// Begins like a remark on the answer before.
    pub continues: bool,
    /// Adds to what was asked before rather than replacing it.
    pub adds: bool,
    /// A phrase that may name any of these tables, where nothing else tells which.
    pub which_table: Option<(String, Vec<TableId>)>,
    /// Values that were named for a column that does not hold them.
    pub absent: Vec<(String, String)>,
}

impl Draft {
    pub fn has_aggregate(&self) -> bool {
        self.asked.iter().any(Asked::is_aggregate)
    }
}
