//! What kind of number an expression is, as far as that can be told.
//!
//! A cast to a whole number rounds in DuckDB and cuts off in the others: the translation has to round first, floating point to
//! the even neighbour, decimals away from zero. It does so where it knows which of them it has, and refuses where not.

use crate::sql::fence;
use domain::{FieldType, SourceSchema, Value as Bound};
use sqlparser::ast::{
    BinaryOperator, DataType, Expr, Function, FunctionArguments, ObjectNamePart, Query, Select, SelectItem, SetExpr,
    TableFactor, UnaryOperator, Value, ValueWithSpan, Visit, Visitor,
};
use std::collections::{BTreeSet, HashMap};
use std::convert::Infallible;
use std::ops::ControlFlow;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Number {
    /// Without a fraction already, or true or false.
    Whole,
    Decimal,
    Float,
    /// Text, which a cast reads.
    Text,
}

use Number::{Decimal, Float, Text, Whole};

/// Expressions that a name may stand for deeper than this are not followed.
const DEEPEST: usize = 16;

/// Everything that a name may mean in one statement.
pub struct Names {
    /// Of columns, by lowercase name: none where tables do not agree.
    columns: HashMap<String, Option<Number>>,
    /// What was given a name in the statement itself.
    given: HashMap<String, Vec<Expr>>,
    /// Whether a name may stand for what neither of them says.
    unclear: bool,
}

impl Names {
    pub fn of(query: &Query, source: &SourceSchema, tables: &BTreeSet<String>) -> Self {
        let mut names = Self { columns: HashMap::new(), given: HashMap::new(), unclear: false };
        for column in tables.iter().filter_map(|table| source.table(table)).flat_map(|table| &table.columns) {
            let native = by_name(&column.native).or_else(|| by_kind(column.kind).filter(|_| column.native.is_empty()));
            // A field of it may go by the name of a column.
            names.unclear |= column.native.contains("STRUCT");
            let known = names.columns.entry(column.name.to_lowercase()).or_insert(native);
            *known = known.zip(native).and_then(|(a, b)| either(a, b));
        }
        let ControlFlow::Continue(()) = query.visit(&mut names);
        names
    }

    /// None where it cannot be told.
    pub fn number(&self, expr: &Expr, params: &[Bound]) -> Option<Number> {
        self.look(expr, params, 0)
    }

    fn look(&self, expr: &Expr, params: &[Bound], depth: usize) -> Option<Number> {
        let inside = |expr: &Expr| self.look(expr, params, depth + 1);
        match expr {
            _ if depth > DEEPEST => None,
            Expr::Nested(inner) | Expr::UnaryOp { op: UnaryOperator::Minus | UnaryOperator::Plus, expr: inner } => {
                inside(inner)
            }
            Expr::Value(ValueWithSpan { value, .. }) => of_value(value, params),
            Expr::Cast { data_type, .. } => by_name(&data_type.to_string()),
            Expr::Extract { .. } | Expr::Ceil { .. } | Expr::Floor { .. } | Expr::Position { .. } => Some(Whole),
            Expr::Identifier(name) => self.named(&name.value, params, depth),
            Expr::CompoundIdentifier(path) => self.named(&path.last()?.value, params, depth),
            Expr::BinaryOp { left, op, right } => match op {
                BinaryOperator::Plus | BinaryOperator::Minus | BinaryOperator::Multiply | BinaryOperator::Modulo => {
                    together(inside(left)?, inside(right)?)
                }
                BinaryOperator::Divide => Some(Float),
                BinaryOperator::DuckIntegerDivide => Some(Whole),
                BinaryOperator::StringConcat => Some(Text),
                _ => None,
            },
            Expr::Case { conditions, else_result, .. } => {
                let results = conditions.iter().map(|when| &when.result).chain(else_result.as_deref());
                all(results.filter(|result| !is_null(result)).map(inside))
            }
            Expr::Function(function) => self.call(function, params, depth),
            _ => None,
        }
    }

    fn named(&self, name: &str, params: &[Bound], depth: usize) -> Option<Number> {
        let name = name.to_lowercase();
        if self.unclear {
            return None;
        }
        let column = self.columns.get(&name).copied();
        let given = self.given.get(&name).into_iter().flatten().map(|expr| match fence::known_column(expr) {
            // A column that is handed on under its own name is still that column.
            Expr::Identifier(same) if same.value.to_lowercase() == name => column.flatten(),
            expr => self.look(expr, params, depth + 1),
        });
        all(column.into_iter().chain(given))
    }

    fn call(&self, function: &Function, params: &[Bound], depth: usize) -> Option<Number> {
        let [ObjectNamePart::Identifier(name)] = function.name.0.as_slice() else { return None };
        let FunctionArguments::List(list) = &function.args else { return None };
        let args: Vec<&Expr> = list.args.iter().filter_map(crate::sql::argument).collect();
        match (name.value.to_ascii_lowercase().as_str(), args.as_slice()) {
            ("count" | "length" | "len" | "char_length" | "strlen" | "instr" | "strpos" | "ascii" | "sign", _) => {
                Some(Whole)
            }
            ("year" | "quarter" | "month" | "week" | "day" | "hour" | "minute" | "second" | "dayofweek", _) => {
                Some(Whole)
            }
            ("date_diff" | "datediff" | "date_part" | "datepart" | "row_number" | "rank" | "dense_rank", _) => {
                Some(Whole)
            }
            ("round" | "ceil" | "ceiling" | "floor" | "trunc", [_]) => Some(Whole),
            ("avg" | "mean" | "median" | "sqrt" | "ln" | "log" | "exp" | "power" | "pow", _) => Some(Float),
            ("sum" | "min" | "max" | "abs" | "any_value" | "first" | "last" | "first_value" | "last_value", [of]) => {
                self.look(of, params, depth + 1)
            }
            ("nullif", [of, _]) => self.look(of, params, depth + 1),
            ("coalesce" | "ifnull" | "greatest" | "least", args) => {
                all(args.iter().map(|arg| self.look(arg, params, depth + 1)))
            }
            _ => None,
        }
    }

    fn give(&mut self, name: &str, expr: &Expr) {
        self.given.entry(name.to_lowercase()).or_default().push(expr.clone());
    }
}

impl Visitor for Names {
    type Break = Infallible;

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<Infallible> {
        for item in &select.projection {
            if let SelectItem::ExprWithAlias { expr, alias } = item {
                self.give(&alias.value, expr);
            }
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<Infallible> {
        // The names come from the first of several queries, the rows from all.
        self.unclear |= !matches!(*query.body, SetExpr::Select(_) | SetExpr::Query(_));
        let expressions = query.with.iter().flat_map(|with| &with.cte_tables);
        self.unclear |= expressions.into_iter().any(|cte| !cte.alias.columns.is_empty());
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<Infallible> {
        if let TableFactor::Table { alias: Some(alias), .. } | TableFactor::Derived { alias: Some(alias), .. } = factor
        {
            self.unclear |= !alias.columns.is_empty();
        }
        ControlFlow::Continue(())
    }
}

/// The same name, or the same result, for both: rounding one must do no harm to the other.
fn either(a: Number, b: Number) -> Option<Number> {
    match (a, b) {
        _ if a == b => Some(a),
        (Whole, Decimal) | (Decimal, Whole) => Some(Decimal),
        _ => None,
    }
}

fn all(numbers: impl Iterator<Item = Option<Number>>) -> Option<Number> {
    numbers.reduce(|a, b| a.zip(b).and_then(|(a, b)| either(a, b))).flatten()
}

/// What comes of reckoning with both.
fn together(a: Number, b: Number) -> Option<Number> {
    match (a, b) {
        (Text, _) | (_, Text) => None,
        (Float, _) | (_, Float) => Some(Float),
        (Decimal, _) | (_, Decimal) => Some(Decimal),
        (Whole, Whole) => Some(Whole),
    }
}

fn is_null(expr: &Expr) -> bool {
    matches!(expr, Expr::Value(ValueWithSpan { value: Value::Null, .. }))
}

fn of_value(value: &Value, params: &[Bound]) -> Option<Number> {
    Some(match value {
        Value::Number(digits, _) if digits.contains(['e', 'E']) => Float,
        Value::Number(digits, _) if digits.contains('.') => Decimal,
        Value::Number(..) | Value::Boolean(_) | Value::Null => Whole,
        Value::SingleQuotedString(_) => Text,
        Value::Placeholder(name) => {
            let place = name.trim_start_matches('$').parse::<usize>().ok()?.checked_sub(1)?;
            match params.get(place)? {
                Bound::Float(_) => Float,
                Bound::Text(_) => Text,
                Bound::Int(_) | Bound::Bool(_) | Bound::Null => Whole,
            }
        }
        _ => return None,
    })
}

/// By the name of a type in DuckDB's SQL.
fn by_name(native: &str) -> Option<Number> {
    let word = native.split('(').next().unwrap_or_default().trim().to_ascii_uppercase();
    Some(match word.as_str() {
        "TINYINT" | "SMALLINT" | "INTEGER" | "INT" | "BIGINT" | "HUGEINT" | "BOOLEAN" | "BOOL" => Whole,
        "INT2" | "INT4" | "INT8" | "INT16" | "INT32" | "INT64" => Whole,
        "DECIMAL" | "NUMERIC" => Decimal,
        "DOUBLE" | "DOUBLE PRECISION" | "FLOAT" | "FLOAT4" | "FLOAT8" | "REAL" => Float,
        "VARCHAR" | "TEXT" | "STRING" | "CHAR" => Text,
        _ => return None,
    })
}

/// Where an engine does not say what its own type is.
fn by_kind(kind: FieldType) -> Option<Number> {
    match kind {
        FieldType::Integer | FieldType::Boolean => Some(Whole),
        FieldType::Decimal => Some(Decimal),
        FieldType::Number => Some(Float),
        FieldType::String | FieldType::Text => Some(Text),
        _ => None,
    }
}

pub fn is_whole(data_type: &DataType) -> bool {
    by_name(&data_type.to_string()) == Some(Whole) && !matches!(data_type, DataType::Bool | DataType::Boolean)
}
