//! What a plan reads of a Parquet file, asked of its footer.

use super::{literal, quoted};
use domain::Column;
use serde_json::Value;
use sqlparser::ast::{
    BinaryOperator, CastKind, Expr, UnaryOperator, Value as Literal, ValueWithSpan, visit_expressions,
};
use sqlparser::dialect::DuckDbDialect;
use sqlparser::parser::Parser;
use sqlparser::tokenizer::Token;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::Path;

/// Columns that are read, and conditions that row groups can be passed over by.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Reads {
    columns: BTreeSet<String>,
    conditions: Vec<Condition>,
}

/// `column operator constant`. The constant is somebody's words: it is bound, never written into a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Condition {
    column: String,
    operator: BinaryOperator,
    constant: String,
}

impl Reads {
    /// From DuckDB's own plan. None if it reads no Parquet file.
    pub fn of_plan(json: &str) -> Option<Self> {
        let plan: Value = serde_json::from_str(json).ok()?;
        let scan = scan_of(&plan)?;
        let mut reads = Self { columns: texts(scan, "Projections").into_iter().collect(), conditions: Vec::new() };
        for filter in texts(scan, "Filters") {
            match parsed(filter.trim_start_matches("optional: ")) {
                Some(filter) => reads.take(&filter),
                // What cannot be read excludes nothing; what it begins with is a column, or else no name that a file has.
                None => reads.columns.extend(leading_name(&filter)),
            }
        }
        reads.columns.extend(reads.conditions.iter().map(|c| top(&c.column)).collect::<Vec<_>>());
        Some(reads)
    }

    /// What all of these ask: each of them excludes row groups. Anything but a comparison only names its columns.
    fn take(&mut self, filter: &Expr) {
        match filter {
            Expr::Nested(inner) => self.take(inner),
            Expr::BinaryOp { left, op: BinaryOperator::And, right } => {
                self.take(left);
                self.take(right);
            }
            _ => match condition(filter) {
                Some(condition) => self.conditions.push(condition),
                None => self.columns.extend(names(filter)),
            },
        }
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

/// One whole expression, as DuckDB writes it. What a caller wrote into a literal stays in that literal.
fn parsed(text: &str) -> Option<Expr> {
    let mut parser = Parser::new(&DuckDbDialect {}).try_with_sql(text).ok()?;
    let expression = parser.parse_expr().ok()?;
    (parser.peek_token().token == Token::EOF).then_some(expression)
}

/// Reads `d>='2020-06-01'::DATE` as well as `(d >= '2020-06-01'::DATE)`.
fn condition(filter: &Expr) -> Option<Condition> {
    use BinaryOperator::{Eq, Gt, GtEq, Lt, LtEq};
    let Expr::BinaryOp { left, op: operator @ (Eq | Gt | GtEq | Lt | LtEq), right } = filter else { return None };
    Some(Condition { column: path(left)?, operator: operator.clone(), constant: constant(right)? })
}

/// `column`, or `column.field`.
fn path(expression: &Expr) -> Option<String> {
    match expression {
        Expr::Identifier(name) => Some(name.value.clone()),
        Expr::CompoundIdentifier(names) => Some(names.iter().map(|n| n.value.as_str()).collect::<Vec<_>>().join(".")),
        _ => None,
    }
}

/// The text of `3`, `-3`, `'a'` or `'2020-06-01'::DATE`; footers hold text as well.
fn constant(expression: &Expr) -> Option<String> {
    match expression {
        Expr::Cast { kind: CastKind::DoubleColon, expr, .. } => constant(expr),
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => match expr.as_ref() {
            Expr::Value(ValueWithSpan { value: Literal::Number(digits, _), .. }) => Some(format!("-{digits}")),
            _ => None,
        },
        Expr::Value(ValueWithSpan { value, .. }) => match value {
            Literal::Number(digits, _) => Some(digits.clone()),
            Literal::SingleQuotedString(text) => Some(text.clone()),
            Literal::Boolean(truth) => Some(truth.to_string()),
            _ => None,
        },
        _ => None,
    }
}

/// The columns that an expression names.
fn names(expression: &Expr) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let _ = visit_expressions(expression, |part| {
        found.extend(path(part).as_deref().map(top));
        ControlFlow::<()>::Continue(())
    });
    found
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

/// Compressed bytes of the columns, over the row groups whose smallest and largest values leave room for a match; and what is
/// to be bound.
pub fn bytes_query(path: &Path, reads: &Reads, kinds: &[Column]) -> (String, Vec<String>) {
    let file = literal(&path.to_string_lossy());
    let columns: Vec<String> = reads.columns.iter().map(|name| literal(name)).collect();
    // A count alone reads no column.
    let columns = if columns.is_empty() { "NULL".to_owned() } else { columns.join(", ") };
    let (mut passed, mut constants) = (Vec::new(), Vec::new());
    for condition in &reads.conditions {
        if let Some(kind) = kinds.iter().find(|known| known.name == condition.column) {
            constants.push(condition.constant.clone());
            passed.push(passed_over(condition, &kind.native, constants.len()));
        }
    }
    let groups = match passed.is_empty() {
        true => String::new(),
        false => format!(
            " AND row_group_id NOT IN (SELECT row_group_id FROM parquet_metadata({file}) WHERE {})",
            passed.join(" OR ")
        ),
    };
    let sql = format!(
        "SELECT CAST(coalesce(sum(total_compressed_size), 0) AS BIGINT) FROM parquet_metadata({file}) \
         WHERE split_part(path_in_schema, ', ', 1) IN ({columns}){groups}"
    );
    (sql, constants)
}

/// When a row group holds nothing for a condition. What has no statistics is never passed over.
fn passed_over(condition: &Condition, kind: &str, parameter: usize) -> String {
    let Condition { column, operator, .. } = condition;
    let bound = |which: &str| format!("TRY_CAST({} AS {kind})", quoted(&format!("stats_{which}_value")));
    let constant = format!("TRY_CAST(${parameter}::VARCHAR AS {kind})");
    let nothing = match operator {
        BinaryOperator::GtEq => format!("{} < {constant}", bound("max")),
        BinaryOperator::Gt => format!("{} <= {constant}", bound("max")),
        BinaryOperator::LtEq => format!("{} > {constant}", bound("min")),
        BinaryOperator::Lt => format!("{} >= {constant}", bound("min")),
        _ => format!("{} < {constant} OR {} > {constant}", bound("max"), bound("min")),
    };
    format!("(path_in_schema = {} AND ({nothing}))", literal(column))
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
            assert_eq!(shown, ["d >= 2020-06-01", "d < 2020-08-01", "s.a > 3"]);
        }
        assert_eq!(Reads::of_plan(r#"[{"name": "READ_CSV", "children": []}]"#), None);
    }

    /// What a caller writes into a literal is no part of a statement, whatever it looks like.
    #[test]
    fn a_literal_stays_a_literal() {
        let kinds = ["note", "id"].map(|name| {
            let mut column = Column::new(name, domain::FieldType::String);
            column.native = "VARCHAR".into();
            column
        });
        for literal in [
            "' OR (SELECT min(ascii(secret)) FROM events) > 104))) --xxx AND id>0'",
            "'x'' OR 1=1 AND id>''0'",
            "'a) AND (id > 3'",
        ] {
            let filters = serde_json::json!([format!("note={literal}")]);
            let plan = serde_json::json!([{ "name": "READ_PARQUET", "extra_info": { "Filters": filters } }]);
            let reads = Reads::of_plan(&plan.to_string()).unwrap();
            let (sql, constants) = bytes_query(Path::new("/data/f.parquet"), &reads, &kinds);
            let text = literal.trim_matches('\'').replace("''", "'");
            assert_eq!(constants, [text], "{sql}");
            assert!(!sql.contains("secret") && !sql.contains("1=1") && !sql.contains("'id'"), "{sql}");
        }
        // Half a literal is nothing.
        let plan = r#"[{"name": "READ_PARQUET", "extra_info": {"Filters": "note='a\n OR (SELECT 1)=1 AND id>0'"}}]"#;
        let reads = Reads::of_plan(plan).unwrap();
        assert!(reads.conditions.is_empty(), "{reads:?}");
    }
}
