//! The schema as the planner thinks of it: what each table is keyed and called by, what each column
//! can be asked for.

use super::english::{expand, is_additive};
use super::text::{one_person, split_name};
use super::{ColumnValues, keys, roles};
use domain::{Column, FieldType, SourceSchema, Table};
use jiff::civil::Date;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct TableId(usize);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ColumnId(usize);

#[derive(Debug)]
pub(crate) struct TableInfo {
    /// What it goes by in plans.
    pub name: String,
    /// The table whose rows have this role; a role has their columns.
    pub role_of: Option<TableId>,
    /// Its words, abbreviations written out, without prefixes that say only that it is a table.
    pub words: Vec<String>,
    pub columns: Vec<ColumnId>,
    /// The column that tells rows apart, where one column does.
    pub key: Option<ColumnId>,
    /// What a row is called by: a name, a title; the key where there is none.
    pub display: Vec<ColumnId>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ColumnKind {
    Number,
    Time,
    Text,
    Flag,
    Other,
}

#[derive(Debug, Clone)]
pub(crate) struct ColumnInfo {
    pub table: TableId,
    pub name: String,
    pub words: Vec<String>,
    pub kind: ColumnKind,
    /// Tells rows apart or points at another table: never a measure.
    pub is_key: bool,
    /// Holds numbers or moments and is kept as text.
    pub is_text: bool,
    /// Holds years as numbers (or text of four digits).
    pub is_year: bool,
    pub nullable: bool,
    /// A moment without a time of day.
    pub is_day: bool,
    /// The last day in the data, where it is known.
    pub latest: Option<Date>,
    pub pii: bool,
}

impl ColumnInfo {
    pub fn is_measure(&self) -> bool {
        self.kind == ColumnKind::Number && !self.is_key && !self.is_year
    }
    /// Whether its numbers may be added up without being told to.
    pub fn is_additive(&self) -> bool {
        let rate = ["unit", "average", "rate", "percent", "per", "price", "ratio", "score", "rating"];
        self.is_measure()
            && self.words.iter().any(|w| is_additive(w))
            && !self.words.iter().any(|w| rate.contains(&w.as_str()))
    }
}

/// `many`'s columns point at `one`'s.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Edge {
    pub many: TableId,
    pub one: TableId,
    /// Pairs of (column of `many`, column of `one`).
    pub on: Vec<(String, String)>,
    /// False when it was inferred from names.
    pub declared: bool,
}

impl Edge {
    pub fn other(&self, table: TableId) -> TableId {
        if self.many == table { self.one } else { self.many }
    }
}

#[derive(Debug)]
pub(crate) struct Catalog {
    tables: Vec<TableInfo>,
    columns: Vec<ColumnInfo>,
    pub edges: Vec<Edge>,
}

impl Catalog {
    pub fn new(schema: &SourceSchema, values: &[ColumnValues]) -> Self {
        let mut catalog = Self { tables: Vec::new(), columns: Vec::new(), edges: Vec::new() };
        for table in &schema.tables {
            catalog.add(table, values);
        }
        catalog.edges = keys::edges(schema, &catalog, values);
        roles::add(&mut catalog, schema);
        catalog
    }

    fn add(&mut self, table: &Table, values: &[ColumnValues]) {
        let id = TableId(self.tables.len());
        let first = self.columns.len();
        for column in &table.columns {
            let known = values.iter().find(|v| v.table == table.name && v.column == column.name);
            self.columns.push(column_info(id, table, column, known));
        }
        let columns: Vec<ColumnId> = (first..self.columns.len()).map(ColumnId).collect();
        let key = key_column(table).and_then(|at| columns.get(at).copied());
        let words = table_words(&table.name);
        let display = self.display(&columns, &words, key);
        self.tables.push(TableInfo { name: table.name.clone(), role_of: None, words, columns, key, display });
    }

    /// A table with the columns of another, under a name of its own.
    pub fn add_copy(&mut self, of: TableId, name: String, words: Vec<String>) -> TableId {
        let id = TableId(self.tables.len());
        let first = self.columns.len();
        let original = self.table(of);
        let moved = |c: &ColumnId| original.columns.iter().position(|o| o == c).map(|at| ColumnId(first + at));
        let (key, display) =
            (original.key.as_ref().and_then(moved), original.display.iter().filter_map(moved).collect());
        let columns: Vec<ColumnInfo> =
            original.columns.iter().map(|c| ColumnInfo { table: id, ..self.column(*c).clone() }).collect();
        self.columns.extend(columns);
        let columns = (first..self.columns.len()).map(ColumnId).collect();
        self.tables.push(TableInfo { name, role_of: Some(of), words, columns, key, display });
        id
    }

    /// What plans call the rows of a table: the table itself, or the one whose rows have a role.
    pub fn resource(&self, table: TableId) -> &str {
        &self.table(self.table(table).role_of.unwrap_or(table)).name
    }

    /// Name-like columns: `name`, `title`, the table's own `…_name`, or first and last name.
    fn display(&self, columns: &[ColumnId], table_words: &[String], key: Option<ColumnId>) -> Vec<ColumnId> {
        let named = |wanted: &[&str]| {
            columns.iter().copied().find(|c| {
                let column = self.column(*c);
                column.kind == ColumnKind::Text && column.words.iter().map(String::as_str).eq(wanted.iter().copied())
            })
        };
        let own: Vec<&str> = table_words.iter().map(String::as_str).chain(["name"]).collect();
        let singular: Vec<String> = own.iter().map(|w| singular(w)).collect();
        let singular: Vec<&str> = singular.iter().map(String::as_str).collect();
        let same = singular.get(..singular.len().saturating_sub(1)).unwrap_or_default();
        for wanted in [&["name"][..], &own, &singular, &["full", "name"], &["title"], same, &["label"], &["subject"]] {
            if let Some(column) = named(wanted) {
                return vec![column];
            }
        }
        if let (Some(first), Some(last)) = (named(&["first", "name"]), named(&["last", "name"])) {
            return vec![first, last];
        }
        let suffix = |c: &&ColumnId| self.column(**c).words.last().is_some_and(|w| w == "name" || w == "title");
        let text = |c: &&ColumnId| self.column(**c).kind == ColumnKind::Text;
        let mut named = columns.iter().filter(text).filter(suffix);
        match (named.next(), named.next()) {
            (Some(only), None) => vec![*only],
            _ => key.or_else(|| columns.first().copied()).into_iter().collect(),
        }
    }

    pub fn tables(&self) -> impl Iterator<Item = TableId> + use<> {
        (0..self.tables.len()).map(TableId)
    }

    pub fn columns(&self) -> impl Iterator<Item = ColumnId> + use<> {
        (0..self.columns.len()).map(ColumnId)
    }

    #[allow(clippy::indexing_slicing, reason = "ids are made only here, for this catalogue")]
    pub fn table(&self, id: TableId) -> &TableInfo {
        &self.tables[id.0]
    }

    #[allow(clippy::indexing_slicing, reason = "ids are made only here, for this catalogue")]
    pub fn column(&self, id: ColumnId) -> &ColumnInfo {
        &self.columns[id.0]
    }

    pub fn table_named(&self, name: &str) -> Option<TableId> {
        self.tables().find(|t| self.table(*t).name.eq_ignore_ascii_case(name))
    }

    pub fn column_named(&self, table: TableId, name: &str) -> Option<ColumnId> {
        self.table(table).columns.iter().copied().find(|c| self.column(*c).name.eq_ignore_ascii_case(name))
    }

    /// The columns of a table that hold moments, best first: the one that its rows happened at.
    pub fn time_columns(&self, table: TableId) -> Vec<ColumnId> {
        let is_time = |c: &ColumnId| self.column(*c).kind == ColumnKind::Time || self.column(*c).is_year;
        self.table(table).columns.iter().copied().filter(is_time).collect()
    }
}

/// Words of a table's name that say only what sort of table it is.
const TABLE_NOISE: &[&str] = &["tbl", "table", "ref", "dim", "fact", "vw", "view"];

fn table_words(name: &str) -> Vec<String> {
    let words = written_out(name);
    let kept: Vec<String> = words.iter().filter(|w| !TABLE_NOISE.contains(&w.as_str())).cloned().collect();
    if kept.is_empty() { words } else { kept }
}

fn written_out(name: &str) -> Vec<String> {
    split_name(name).iter().flat_map(|word| expand(word)).map(str::to_owned).collect()
}

pub(crate) fn singular(word: &str) -> String {
    if let Some(one) = one_person(word) {
        return one;
    }
    if let Some(stem) = word.strip_suffix("ies") {
        return format!("{stem}y");
    }
    for ending in ["sses", "shes", "ches", "xes"] {
        if word.ends_with(ending) {
            return word.trim_end_matches("es").to_owned();
        }
    }
    match word.strip_suffix('s') {
        Some(stem) if !stem.ends_with(['s', 'u', 'i']) && stem.len() > 2 => stem.to_owned(),
        _ => word.to_owned(),
    }
}

/// The position of the one column that tells the rows of a table apart.
fn key_column(table: &Table) -> Option<usize> {
    let position = |name: &str| table.columns.iter().position(|c| c.name.eq_ignore_ascii_case(name));
    match table.primary_key.as_slice() {
        [only] => position(only),
        [] => {
            let own = singular(&table.name.to_lowercase());
            position("id").or_else(|| position(&format!("{own}_id"))).or_else(|| position(&format!("{own}id")))
        }
        _ => None,
    }
}

fn column_info(id: TableId, table: &Table, column: &Column, known: Option<&ColumnValues>) -> ColumnInfo {
    let words = written_out(&column.name);
    let latest = known.and_then(latest_day);
    let kind = kind(column, known);
    let is_text = matches!(kind, ColumnKind::Number | ColumnKind::Time) && column.kind.is_text();
    let declared = !table.inferred.contains(&column.name);
    let pointed = declared && table.foreign_keys.iter().any(|k| k.columns.contains(&column.name));
    let is_key = table.primary_key.as_slice() == [column.name.as_str()]
        || pointed
        || words.last().is_some_and(|w| w == "id" || w == "code" || w == "uuid")
        || column.kind == FieldType::Uuid;
    let is_year =
        kind != ColumnKind::Time && words.iter().any(|w| w == "year" || w == "founded") && years(known, column);
    ColumnInfo {
        table: id,
        name: column.name.clone(),
        words,
        kind,
        is_key,
        is_text,
        is_year,
        nullable: column.nullable,
        is_day: column.kind == FieldType::Date,
        latest,
        pii: column.pii,
    }
}

fn kind(column: &Column, known: Option<&ColumnValues>) -> ColumnKind {
    match column.kind {
        kind if kind.is_numeric() => ColumnKind::Number,
        kind if kind.is_temporal() => ColumnKind::Time,
        FieldType::Boolean => ColumnKind::Flag,
        kind if kind.is_text() && known.is_some_and(holds_days) => ColumnKind::Time,
        kind if kind.is_text() && known.is_some_and(|k| holds_numbers(column, k)) => ColumnKind::Number,
        kind if kind.is_text() => ColumnKind::Text,
        FieldType::Uuid | FieldType::Time => ColumnKind::Text,
        _ => ColumnKind::Other,
    }
}

/// Engines without a date type keep ISO dates as text; the values give them away.
fn holds_days(known: &ColumnValues) -> bool {
    if let (Some(min), Some(max)) = (&known.min, &known.max) {
        return iso_day(min).is_some() && iso_day(max).is_some();
    }
    !known.values.is_empty() && known.values.iter().all(|v| iso_day(v).is_some())
}

/// Amounts that somebody keeps as text. Codes are made of digits too; years are recognised as such.
fn holds_numbers(column: &Column, known: &ColumnValues) -> bool {
    const NAMES: &[&str] =
        &["id", "code", "number", "zip", "phone", "fax", "postal", "postcode", "year", "date", "isbn", "name", "key"];
    let named = written_out(&column.name).iter().any(|w| NAMES.contains(&w.as_str()));
    let number = |v: &String| v.parse::<f64>().is_ok_and(f64::is_finite);
    !named && known.complete && !known.values.is_empty() && known.values.iter().all(number)
}

fn latest_day(known: &ColumnValues) -> Option<Date> {
    known.max.as_deref().and_then(iso_day).or_else(|| known.values.iter().filter_map(|v| iso_day(v)).max())
}

/// The day at the start of an ISO date or timestamp.
pub(crate) fn iso_day(text: &str) -> Option<Date> {
    text.get(..10)?.parse().ok()
}

fn years(known: Option<&ColumnValues>, column: &Column) -> bool {
    let plausible = |text: &str| text.parse::<f64>().is_ok_and(|y| (1000.0..=2200.0).contains(&y));
    match known {
        Some(ColumnValues { min: Some(min), max: Some(max), .. }) => plausible(min) && plausible(max),
        Some(known) if !known.values.is_empty() => known.values.iter().all(|v| plausible(v)),
        _ => column.kind.is_numeric(),
    }
}
