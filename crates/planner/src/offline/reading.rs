//! A bound question in words, so that whoever asked can see what was understood.

use super::catalog::{Catalog, ColumnId, TableId};
use super::draft::Thing;
use super::output::{function_word, unit_name};
use super::query::{BoundBy, BoundFilter, BoundKey, BoundOrder, BoundRelation, Item, Query, Side, Steps, Test};
use super::time;
use domain::Value;
use domain::plan::{AggregateFn, Direction, Operator};

/// "total amount per region in 2024, largest first".
pub(crate) fn in_words(catalog: &Catalog, query: &Query) -> String {
    let reader = Reader { catalog, about: query.measured(catalog).or(query.subject) };
    let mut text = list(&query.items.iter().map(|i| reader.item(i, query)).collect::<Vec<_>>());
    text = match &query.relation {
        None => text,
        Some(BoundRelation::Share) => format!("percentage of the {text}"),
        Some(BoundRelation::Change { from, to, percent, .. }) => {
            let unit = if *percent { " in percent" } else { "" };
            let (from, to) = (time::in_words(*from), time::in_words(*to));
            format!("change{unit} of the {text} {} to {}", from.replacen("in ", "from ", 1), to.replacen("in ", "", 1))
        }
        Some(BoundRelation::Steps(_)) => text,
        Some(BoundRelation::Per(thing)) => format!("{text} per unit of {}", reader.thing(*thing)),
    };
    if query.distinct {
        text = format!("different {text}");
    }
    if !query.keys.is_empty() {
        text += if query.items.is_empty() { "" } else { " per " };
        text += &list(&query.keys.iter().map(|k| reader.key(k)).collect::<Vec<_>>());
    }
    if let Some(BoundRelation::Steps(steps)) = query.relation {
        text += steps_in_words(steps);
    }
    let (mut with, mut side) = (false, Side::Common);
    // That a region which is asked for is one goes without saying; the periods of a change are said.
    let plain = |f: &&BoundFilter| {
        let asked = |c: ColumnId| query.items.contains(&Item::Column(c));
        let changed = matches!(query.relation, Some(BoundRelation::Change { .. })) && matches!(f.test, Test::Either(_));
        !(changed || f.test == Test::Missing { present: true } && f.column.is_some_and(asked))
    };
    for filter in query.filters.iter().filter(plain) {
        let words = reader.filter(filter);
        if filter.side != side {
            text += match filter.side {
                Side::Common | Side::Part(0) => "",
                Side::Part(_) => " and also",
                Side::Except => " but not",
                Side::Share => " that belongs to those",
            };
            (side, with) = (filter.side, false);
        }
        match words.strip_prefix("with ").filter(|_| with) {
            Some(rest) => text += &format!(" and {rest}"),
            None => text += &format!(" {words}"),
        }
        with |= words.starts_with("with ");
    }
    for order in &query.orders {
        text += &reader.order(order, query);
    }
    if let (Some(limit), true) = (query.limit, query.orders.is_empty()) {
        text += &format!(", the first {limit}");
    }
    for note in &query.notes {
        text += &format!(" ({note})");
    }
    text
}

struct Reader<'a> {
    catalog: &'a Catalog,
    /// The table that needs no naming.
    about: Option<TableId>,
}

impl Reader<'_> {
    fn table(&self, table: TableId) -> String {
        self.catalog.table(table).words.join(" ")
    }

    fn column(&self, column: ColumnId) -> String {
        let words = self.catalog.column(column).words.join(" ");
        words.strip_prefix("is ").map(str::to_owned).unwrap_or(words)
    }

    /// A column with its table, unless the question is about that table.
    fn qualified(&self, column: ColumnId) -> String {
        let table = self.catalog.column(column).table;
        let name = self.column(column);
        let owner = super::catalog::singular(&self.table(table));
        if self.about == Some(table) || name.starts_with(&owner) { name } else { format!("{owner} {name}") }
    }

    fn thing(&self, thing: Thing) -> String {
        match thing {
            Thing::Column(column) => self.column(column),
            Thing::Product(q, p) => format!("revenue ({} × {})", self.column(q), self.column(p)),
        }
    }

    fn item(&self, item: &Item, query: &Query) -> String {
        match item {
            Item::Column(column) => {
                let table = self.catalog.column(*column).table;
                let own =
                    query.items.iter().all(|i| matches!(i, Item::Column(c) if self.catalog.column(*c).table == table));
                let last = query.items.last() == Some(item);
                if own && !last {
                    self.column(*column)
                } else {
                    format!("{} of {}", self.column(*column), self.table(table))
                }
            }
            Item::Entity(table, _) => self.table(*table),
            Item::Whole(table) => format!("all columns of {}", self.table(*table)),
            Item::Count(table) => format!("number of {}", self.table(*table)),
            Item::CountDistinct(column) => format!("number of different {}", self.column(*column)),
            Item::Aggregate(function, thing) => self.aggregate(*function, *thing),
        }
    }

    fn aggregate(&self, function: AggregateFn, thing: Thing) -> String {
        let (word, of) = (function_word(function), self.thing(thing));
        if of.starts_with(word) { of } else { format!("{word} {of}") }
    }

    fn key(&self, key: &BoundKey) -> String {
        match key {
            BoundKey::Column(column) => self.column(*column),
            BoundKey::Entity(table) => super::catalog::singular(&self.table(*table)),
            BoundKey::Bucket(unit, column) => {
                let of = column.map(|c| format!(" of {}", self.column(c))).unwrap_or_default();
                format!("{}{of}", unit_name(*unit))
            }
        }
    }

    fn filter(&self, filter: &BoundFilter) -> String {
        let column = filter.column.map(|c| self.qualified(c)).unwrap_or_default();
        match &filter.test {
            Test::Compare(thing, op, values) => {
                let values: Vec<String> = values.iter().map(value).collect();
                format!("with {} {} {}", self.thing(*thing), operator(*op), values.join(" and "))
            }
            Test::Against(thing, op, function) => {
                format!("with {} {} the {}", self.thing(*thing), operator(*op), function_word(*function))
            }
            Test::AgainstOwn(thing, op, function, column) => {
                let (word, own) = (function_word(*function), self.column(*column));
                format!("with {} {} the {word} of the same {own}", self.thing(*thing), operator(*op))
            }
            Test::Having(function, thing, op, number) => {
                format!("with {} {} {}", self.aggregate(*function, *thing), operator(*op), value(number))
            }
            Test::HavingAgainst(thing, op) => {
                format!("with {} {} that of all", self.aggregate(AggregateFn::Avg, *thing), operator(*op))
            }
            Test::HavingRows(op, n) => format!("with {} {n} {}", operator(*op), self.table(filter.table)),
            Test::In { values, negated, all } => {
                let values = if *all { list(values) } else { values.join(" or ") };
                format!("with {column} {}{values}", if *negated { "other than " } else { "" })
            }
            Test::Text { pattern, like, negated } => {
                let verb = if *like { "like" } else { "equal to" };
                format!("with {column} {}{verb} `{pattern}`", if *negated { "not " } else { "" })
            }
            Test::Time(range) => format!("with {column} {}", time::in_words(*range)),
            Test::Weekday(days) => {
                let names = ["Mondays", "Tuesdays", "Wednesdays", "Thursdays", "Fridays", "Saturdays", "Sundays"];
                let name = |d: &i64| usize::try_from(d - 1).ok().and_then(|at| names.get(at)).copied();
                format!("with {column} on {}", days.iter().filter_map(name).collect::<Vec<_>>().join(" or "))
            }
            Test::Flag(value) => format!("that are {}{column}", if *value { "" } else { "not " }),
            Test::Missing { present } => format!("{} {column}", if *present { "with a" } else { "without" }),
            Test::Either(any) => any.iter().map(|f| self.filter(f)).collect::<Vec<_>>().join(" or "),
            Test::Related(related) => {
                let inner: String = related.inner.iter().map(|f| format!(" {}", self.filter(f))).collect();
                let count = related.count.map(|(op, n)| format!("{} {n} ", operator(op))).unwrap_or_default();
                let verb = if related.negated { "without" } else { "with" };
                format!("{verb} {count}{}{inner}", self.table(related.table))
            }
        }
    }

    fn order(&self, order: &BoundOrder, query: &Query) -> String {
        let by = match &order.by {
            BoundBy::Thing(thing) => self.thing(*thing),
            BoundBy::Aggregate(function, thing) => self.aggregate(*function, *thing),
            BoundBy::Rows(table) => format!("number of {}", self.table(*table)),
            BoundBy::Occurrences => "how often they occur".to_owned(),
            BoundBy::Change(percent) => if *percent { "change in percent" } else { "change" }.to_owned(),
            BoundBy::Shown => "what is shown first".to_owned(),
            BoundBy::Figure => "the first figure".to_owned(),
        };
        let (end, first) = match order.direction {
            Direction::Desc => ("highest", "largest first"),
            Direction::Asc => ("lowest", "smallest first"),
        };
        match query.limit {
            Some(1) if query.listed => format!(", of each the one with the {end} {by}"),
            Some(1) => match query.offset {
                Some(before) => format!(", number {} of those with the {end} {by}", before + 1),
                None => format!(", the one with the {end} {by}"),
            },
            Some(n) if query.listed => format!(", of each the {n} with the {end} {by}"),
            Some(n) => format!(", the {n} with the {end} {by}"),
            None => format!(", sorted by {by}, {first}"),
        }
    }
}

/// Periods without rows are not made up, which whoever reads a change must know.
fn steps_in_words(steps: Steps) -> &'static str {
    match steps {
        Steps::Difference => ", with the change from the one before that has rows",
        Steps::Percent => ", with the change in percent from the one before that has rows",
        Steps::Both => ", with the change, also in percent, from the one before that has rows",
    }
}

fn operator(op: Operator) -> &'static str {
    match op {
        Operator::Greater => "over",
        Operator::GreaterOrEqual => "at least",
        Operator::Less => "under",
        Operator::LessOrEqual => "at most",
        Operator::Between => "between",
        Operator::NotEqual => "other than",
        _ => "exactly",
    }
}

fn value(value: &Value) -> String {
    match value {
        Value::Int(n) => n.to_string(),
        Value::Float(n) => n.to_string(),
        Value::Text(text) => text.clone(),
        Value::Bool(flag) => flag.to_string(),
        Value::Null => "nothing".to_owned(),
    }
}

fn list(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [only] => only.clone(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}
