//! Which picture suits a result, by its shape: columns, types, and whether values repeat.

use domain::FieldType;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::HashSet;

/// What to draw, with columns by their place in the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Chart {
    pub kind: ChartKind,
    /// Along the axis; of a number, what it belongs to.
    pub x: Option<usize>,
    pub y: usize,
    /// One line, or one part of each bar, for each of its values.
    pub series: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ChartKind {
    Line,
    Bar,
    Scatter,
    Number,
}

/// More than these cannot be told apart by eye.
const MOST_BARS: usize = 60;
const MOST_SERIES: usize = 10;
const MOST_POINTS: u64 = 5_000;
const MOST_COLUMNS: usize = 6;

/// Integers of such names say which one, not how many.
const NAMES: [&str; 14] =
    ["id", "key", "no", "number", "code", "zip", "year", "quarter", "month", "week", "weekday", "day", "hour", "rank"];

/// What a column can be in a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Measure,
    Time,
    Category,
}

/// None when no picture would say more than the table.
pub fn choose(columns: &[String], types: &[FieldType], rows: &RawValue, row_count: u64) -> Option<Chart> {
    if row_count == 0 || row_count > MOST_POINTS || columns.len() > MOST_COLUMNS {
        return None;
    }
    let parts: Vec<Part> = columns.iter().zip(types).map(|(name, kind)| part(name, *kind)).collect::<Option<_>>()?;
    let places = |wanted| parts.iter().enumerate().filter(move |(_, p)| **p == wanted).map(|(i, _)| i);
    let shape = Shape {
        measures: places(Part::Measure).collect(),
        times: places(Part::Time).collect(),
        categories: places(Part::Category).collect(),
        rows: serde_json::from_str(rows.get()).ok()?,
    };
    shape.chart()
}

fn part(name: &str, kind: FieldType) -> Option<Part> {
    let last = name.rsplit(['_', ' ']).next().unwrap_or(name).to_ascii_lowercase();
    match kind {
        FieldType::Integer if NAMES.contains(&last.as_str()) => Some(Part::Category),
        kind if kind.is_numeric() => Some(Part::Measure),
        kind if kind.is_temporal() => Some(Part::Time),
        FieldType::String | FieldType::Text | FieldType::Boolean | FieldType::Uuid => Some(Part::Category),
        _ => None,
    }
}

struct Shape {
    measures: Vec<usize>,
    times: Vec<usize>,
    categories: Vec<usize>,
    rows: Vec<Vec<Value>>,
}

impl Shape {
    fn chart(&self) -> Option<Chart> {
        let y = *self.measures.first()?;
        let chart = |kind, x, series| Some(Chart { kind, x, y, series });
        match (self.times.as_slice(), self.categories.as_slice()) {
            _ if self.rows.len() == 1 => self.number(y),
            ([time], []) if self.all_differ(&[*time]) => chart(ChartKind::Line, Some(*time), None),
            ([time], [series]) if self.all_differ(&[*time, *series]) && self.distinct(*series) <= MOST_SERIES => {
                chart(ChartKind::Line, Some(*time), Some(*series))
            }
            ([], [category]) if self.all_differ(&[*category]) => match self.rows.len() {
                ..=MOST_BARS => chart(ChartKind::Bar, Some(*category), None),
                _ => self.scatter(),
            },
            ([], [a, b]) if self.all_differ(&[*a, *b]) => {
                let (x, series) = if self.distinct(*a) >= self.distinct(*b) { (*a, *b) } else { (*b, *a) };
                let fits = self.distinct(x) <= MOST_BARS && self.distinct(series) <= MOST_SERIES;
                if fits { chart(ChartKind::Bar, Some(x), Some(series)) } else { None }
            }
            ([], []) => self.scatter(),
            _ => None,
        }
    }

    /// One figure, and at most one word for what it is the figure of.
    fn number(&self, y: usize) -> Option<Chart> {
        let labels: Vec<usize> = self.times.iter().chain(&self.categories).copied().collect();
        let plain = self.measures.len() == 1 && labels.len() <= 1;
        plain.then(|| Chart { kind: ChartKind::Number, x: labels.first().copied(), y, series: None })
    }

    fn scatter(&self) -> Option<Chart> {
        match self.measures.as_slice() {
            [x, y, ..] if self.rows.len() >= 3 => {
                Some(Chart { kind: ChartKind::Scatter, x: Some(*x), y: *y, series: None })
            }
            _ => None,
        }
    }

    fn all_differ(&self, places: &[usize]) -> bool {
        let mut seen = HashSet::new();
        self.rows.iter().all(|row| seen.insert(places.iter().map(|i| row.get(*i)).collect::<Vec<_>>()))
    }

    fn distinct(&self, place: usize) -> usize {
        self.rows.iter().map(|row| row.get(place)).collect::<HashSet<_>>().len()
    }
}

#[cfg(test)]
mod tests;
