//! What a plan reads of a Parquet file, asked of its footer.

use super::{literal, quoted};
use domain::Column;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

/// Columns that are read, and conditions that row groups can be passed over by.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Reads {
    columns: BTreeSet<String>,
    conditions: Vec<Condition>,
}

/// `column operator constant`, the constant as DuckDB writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Condition {
    column: String,
    operator: &'static str,
    constant: String,
}

impl Reads {
    /// From DuckDB's own plan. None if it reads no Parquet file.
    pub fn of_plan(json: &str) -> Option<Self> {
        let plan: Value = serde_json::from_str(json).ok()?;
        let scan = scan_of(&plan)?;
        let mut reads = Self { columns: texts(scan, "Projections").into_iter().collect(), conditions: Vec::new() };
        for filter in texts(scan, "Filters") {
            let filter = filter.trim_start_matches("optional: ");
            for part in filter.split(" AND ") {
                if let Some(condition) = condition(part) {
                    reads.conditions.push(condition);
                } else if let Some(column) = leading_name(part) {
                    reads.columns.insert(column);
                }
            }
        }
        reads.columns.extend(reads.conditions.iter().map(|c| top(&c.column)).collect::<Vec<_>>());
        Some(reads)
    }

    pub fn without_conditions(self) -> Self {
        Self { conditions: Vec::new(), ..self }
    }
}

/// The node that reads the file.
fn scan_of(node: &Value) -> Option<&Value> {
    match node {
        Value::Array(nodes) => nodes.iter().find_map(scan_of),
        Value::Object(fields) => {
            let name = fields.get("name").and_then(Value::as_str).unwrap_or_default().trim();
            match name {
                "READ_PARQUET" | "PARQUET_SCAN" => fields.get("extra_info"),
                _ => fields.get("children").and_then(scan_of),
            }
        }
        _ => None,
    }
}

/// DuckDB writes a list of one as the one.
fn texts(info: &Value, key: &str) -> Vec<String> {
    match info.get(key) {
        Some(Value::Array(items)) => items.iter().filter_map(|i| i.as_str().map(str::to_owned)).collect(),
        Some(Value::String(text)) => text.lines().map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

/// Reads `d>='2020-06-01'::DATE` as well as `(d >= '2020-06-01'::DATE)`.
fn condition(text: &str) -> Option<Condition> {
    let text = text.trim().trim_start_matches('(');
    let at = text.find(['<', '>', '='])?;
    let (column, rest) = text.split_at(at);
    let (operator, length) = match rest.as_bytes() {
        [b'>', b'=', ..] => (">=", 2),
        [b'<', b'=', ..] => ("<=", 2),
        [b'<', b'>', ..] => return None,
        [b'>', ..] => (">", 1),
        [b'<', ..] => ("<", 1),
        [b'=', ..] => ("=", 1),
        _ => return None,
    };
    let column = column.trim();
    if column.ends_with('!') || column.is_empty() {
        return None;
    }
    let constant = rest.get(length..)?.trim();
    // The parentheses around it, not one of its own.
    let open = constant.matches('(').count();
    let spare = constant.matches(')').count().saturating_sub(open);
    let constant = constant.get(..constant.len().checked_sub(spare)?)?.trim().to_owned();
    Some(Condition { column: column.trim_matches('"').to_owned(), operator, constant })
}

/// `region IN ('r1', 'r2')` reads `region`.
fn leading_name(text: &str) -> Option<String> {
    let text = text.trim().trim_start_matches('(');
    let end = text.find([' ', '(', ')']).unwrap_or(text.len());
    text.get(..end).filter(|name| !name.is_empty()).map(top)
}

/// The column that a path goes into.
fn top(path: &str) -> String {
    path.split('.').next().unwrap_or(path).to_owned()
}

/// Compressed bytes of the columns, over the row groups whose smallest and largest values leave room for a match.
pub fn bytes_query(path: &Path, reads: &Reads, kinds: &[Column]) -> String {
    let file = literal(&path.to_string_lossy());
    let columns: Vec<String> = reads.columns.iter().map(|name| literal(name)).collect();
    // A count alone reads no column.
    let columns = if columns.is_empty() { "NULL".to_owned() } else { columns.join(", ") };
    let passed_over: Vec<String> = reads.conditions.iter().filter_map(|c| passed_over(c, kinds)).collect();
    let groups = match passed_over.is_empty() {
        true => String::new(),
        false => format!(
            " AND row_group_id NOT IN (SELECT row_group_id FROM parquet_metadata({file}) WHERE {})",
            passed_over.join(" OR ")
        ),
    };
    format!(
        "SELECT CAST(coalesce(sum(total_compressed_size), 0) AS BIGINT) FROM parquet_metadata({file}) \
         WHERE split_part(path_in_schema, ', ', 1) IN ({columns}){groups}"
    )
}

/// When a row group holds nothing for a condition. What has no statistics is never passed over.
fn passed_over(condition: &Condition, kinds: &[Column]) -> Option<String> {
    let Condition { column, operator, constant } = condition;
    let kind = &kinds.iter().find(|known| known.name == *column)?.native;
    let bound = |which: &str| format!("TRY_CAST({} AS {kind})", quoted(&format!("stats_{which}_value")));
    let nothing = match *operator {
        ">=" => format!("{} < {constant}", bound("max")),
        ">" => format!("{} <= {constant}", bound("max")),
        "<=" => format!("{} > {constant}", bound("min")),
        "<" => format!("{} >= {constant}", bound("min")),
        _ => format!("{} < {constant} OR {} > {constant}", bound("max"), bound("min")),
    };
    Some(format!("(path_in_schema = {} AND ({nothing}))", literal(column)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_of_both_versions_are_read() {
        for filters in [
            r#"["d>='2020-06-01'::DATE AND d<'2020-08-01'::DATE", "optional: region IN ('a', 'b')", "s.a>3"]"#,
            r#"["((d >= '2020-06-01'::DATE) AND (d < '2020-08-01'::DATE))", "optional: (region IN ('a', 'b'))", "(s.a > 3)"]"#,
        ] {
            let plan = format!(
                r#"[{{"name": "FILTER", "children": [{{"name": "READ_PARQUET", "children": [],
                    "extra_info": {{"Projections": "id", "Filters": {filters}}}}}]}}]"#
            );
            let reads = Reads::of_plan(&plan).unwrap();
            assert_eq!(reads.columns.iter().map(String::as_str).collect::<Vec<_>>(), ["d", "id", "region", "s"]);
            let shown: Vec<String> =
                reads.conditions.iter().map(|c| format!("{} {} {}", c.column, c.operator, c.constant)).collect();
            assert_eq!(shown, ["d >= '2020-06-01'::DATE", "d < '2020-08-01'::DATE", "s.a > 3"]);
        }
        assert_eq!(Reads::of_plan(r#"[{"name": "READ_CSV", "children": []}]"#), None);
    }
}
