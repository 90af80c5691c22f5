//! Whether two results say the same: the same rows as often, in any order of columns, and of rows too unless their order
//! was asked for.

use serde_json::Value;
use std::cmp::Ordering;

type Rows = Vec<Vec<Value>>;

pub fn same(known: &Rows, found: &Rows, ordered: bool) -> bool {
    let (Some(first), Some(other)) = (known.first(), found.first()) else { return known.len() == found.len() };
    if known.len() != found.len() || first.len() != other.len() {
        return false;
    }
    let known: Vec<Vec<Cell>> = known.iter().map(|row| row.iter().map(Cell::of).collect()).collect();
    let found: Vec<Vec<Cell>> = found.iter().map(|row| row.iter().map(Cell::of).collect()).collect();
    let mut columns = Vec::new();
    matches_with(&known, &found, ordered, &mut columns)
}

/// Chooses a column of `found` for each of `known`, and compares rows when all are chosen. A column can only stand for
/// one that has the same values, so that hardly anything is tried in vain.
fn matches_with(known: &[Vec<Cell>], found: &[Vec<Cell>], ordered: bool, chosen: &mut Vec<usize>) -> bool {
    let width = known.first().map_or(0, Vec::len);
    let next = chosen.len();
    if next == width {
        let known = known.iter().map(|row| row.iter().collect()).collect();
        let found = found.iter().map(|row| chosen.iter().filter_map(|i| row.get(*i)).collect()).collect();
        return rows_match(known, found, ordered);
    }
    let column = |rows: &'_ [Vec<Cell>], i: usize| -> Vec<Cell> {
        let mut cells: Vec<_> = rows.iter().filter_map(|row| row.get(i).cloned()).collect();
        cells.sort();
        cells
    };
    let wanted = column(known, next);
    for candidate in 0..width {
        if !chosen.contains(&candidate) && column(found, candidate) == wanted {
            chosen.push(candidate);
            if matches_with(known, found, ordered, chosen) {
                return true;
            }
            chosen.pop();
        }
    }
    false
}

fn rows_match(mut known: Vec<Vec<&Cell>>, mut found: Vec<Vec<&Cell>>, ordered: bool) -> bool {
    if !ordered {
        known.sort();
        found.sort();
    }
    known == found
}

/// A value as it is compared: numbers by what they are worth, whoever wrote them as text.
#[derive(Clone, Debug)]
enum Cell {
    Null,
    Number(f64),
    Text(String),
}

impl Cell {
    fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(is) => Self::Number(f64::from(u8::from(*is))),
            Value::Number(n) => Self::Number(rounded(n.as_f64().unwrap_or(f64::NAN))),
            Value::String(text) => {
                text.trim().parse().map_or_else(|_| Self::Text(text.clone()), |n| Self::Number(rounded(n)))
            }
            other => Self::Text(other.to_string()),
        }
    }
}

/// To nine digits: sums differ in the last ones by the order of their terms.
fn rounded(n: f64) -> f64 {
    format!("{n:.8e}").parse().unwrap_or(n)
}

impl Ord for Cell {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Null, Self::Null) => Ordering::Equal,
            (Self::Null, _) | (Self::Number(_), Self::Text(_)) => Ordering::Less,
            (_, Self::Null) | (Self::Text(_), Self::Number(_)) => Ordering::Greater,
            (Self::Number(a), Self::Number(b)) => a.total_cmp(&(b + 0.0)),
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
        }
    }
}

impl PartialOrd for Cell {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Cell {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Cell {}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{from_value, json};

    #[test]
    fn results_that_say_the_same() {
        for (known, found, ordered, same_expected) in [
            (json!([]), json!([]), false, true),
            (json!([]), json!([[1]]), false, false),
            (json!([[1, "a"], [2, "b"]]), json!([["b", 2], ["a", 1]]), false, true),
            (json!([[1, "a"], [2, "b"]]), json!([["b", 2], ["a", 1]]), true, false),
            (json!([[1, "a"], [2, "b"]]), json!([["a", 2], ["b", 1]]), false, false),
            (json!([[1], [1], [2]]), json!([[1], [2], [2]]), false, false),
            (json!([[1, 2]]), json!([[1]]), false, false),
            (json!([["12.50", true, null]]), json!([[12.5, 1, null]]), false, true),
            (json!([[0.1]]), json!([[0.1000000000001]]), false, true),
            (json!([[100001]]), json!([[100002]]), false, false),
            (json!([["x"]]), json!([["X"]]), false, false),
        ] {
            let rows = |v: &Value| from_value::<Rows>(v.clone()).unwrap();
            assert_eq!(same(&rows(&known), &rows(&found), ordered), same_expected, "{known} {found}");
        }
    }
}
