//! Whether two results are the same answer.

use serde_json::Value;
use std::collections::HashMap;

/// Results with more columns than this are compared column by column, in their order.
const MOST_PERMUTED: usize = 6;

/// Rows as multisets, columns in any order; rows in order only if the right answer has one.
pub fn same_rows(left: &[Vec<Value>], right: &[Vec<Value>], ordered: bool) -> bool {
    let (left, right): (Vec<Vec<String>>, Vec<Vec<String>>) = (cells(left), cells(right));
    let (Some(first), Some(other)) = (left.first(), right.first()) else { return left.is_empty() && right.is_empty() };
    if left.len() != right.len() || first.len() != other.len() {
        return false;
    }
    let width = first.len();
    let mut orders = Vec::new();
    permutations(width, &mut Vec::new(), &mut orders);
    orders.iter().any(|order| {
        let turned: Vec<Vec<&str>> = right.iter().map(|row| turn(row, order)).collect();
        let plain: Vec<Vec<&str>> = left.iter().map(|row| row.iter().map(String::as_str).collect()).collect();
        if ordered { plain == turned } else { counted(&plain) == counted(&turned) }
    })
}

fn counted<'c>(rows: &'c [Vec<&'c str>]) -> HashMap<&'c Vec<&'c str>, usize> {
    let mut found = HashMap::new();
    rows.iter().for_each(|row| *found.entry(row).or_default() += 1);
    found
}

fn turn<'c>(row: &'c [String], order: &[usize]) -> Vec<&'c str> {
    order.iter().filter_map(|at| row.get(*at)).map(String::as_str).collect()
}

fn permutations(width: usize, taken: &mut Vec<usize>, found: &mut Vec<Vec<usize>>) {
    if width > MOST_PERMUTED {
        found.push((0..width).collect());
        return;
    }
    if taken.len() == width {
        found.push(taken.clone());
        return;
    }
    for next in 0..width {
        if !taken.contains(&next) {
            taken.push(next);
            permutations(width, taken, found);
            taken.pop();
        }
    }
}

fn cells(rows: &[Vec<Value>]) -> Vec<Vec<String>> {
    rows.iter().map(|row| row.iter().map(cell).collect()).collect()
}

/// Numbers that differ only in how they are written, or beyond the fourth decimal, are the same.
fn cell(value: &Value) -> String {
    match value {
        Value::Number(n) => n.as_f64().map_or_else(|| n.to_string(), |f| format!("{:.4}", f + 0.0)),
        Value::String(text) => format!("\"{text}"),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn same(left: Value, right: Value, ordered: bool) -> bool {
        let rows = |v: Value| serde_json::from_value::<Vec<Vec<Value>>>(v).unwrap();
        same_rows(&rows(left), &rows(right), ordered)
    }

    #[test]
    fn rows_are_multisets_and_columns_have_no_order() {
        assert!(same(json!([[1, "a"], [2, "b"]]), json!([["b", 2.0], ["a", 1]]), false));
        assert!(!same(json!([[1], [1]]), json!([[1]]), false));
        assert!(!same(json!([[1], [1], [2]]), json!([[1], [2], [2]]), false));
        assert!(!same(json!([[1, 2]]), json!([[1]]), false));
        assert!(!same(json!([["1"]]), json!([[1]]), false));
        assert!(same(json!([]), json!([]), true));
        assert!(same(json!([[0.333_333]]), json!([[0.333_334]]), false));
        assert!(same(json!([[null]]), json!([[null]]), false));
    }

    #[test]
    fn rows_have_an_order_where_the_right_answer_has_one() {
        assert!(same(json!([[2], [1]]), json!([[2], [1]]), true));
        assert!(!same(json!([[1], [2]]), json!([[2], [1]]), true));
        assert!(same(json!([[1], [2]]), json!([[2], [1]]), false));
    }
}
