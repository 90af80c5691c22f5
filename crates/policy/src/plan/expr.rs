//! Expressions of a plan, with their types.

use super::compile::Compiler;
use super::{bigquery, dates, invalid, postgres, scope};
use crate::sql::refuse::clip;
use domain::plan::{
    Aggregate, AggregateFn, Arithmetic, ArithmeticOp, Case, CaseWhen, DateTrunc, DateUnit, Expr, Extract,
};
use domain::{Dialect, Fault, FieldType, QueryPlan, Value};

/// An expression written out.
#[derive(Debug, Clone)]
pub struct Typed {
    pub sql: String,
    pub kind: FieldType,
    /// Whether there is an aggregate in it: then it cannot stand in `where` or `group_by`.
    pub aggregate: bool,
    /// Whether it is a moment with a time zone: BigQuery does not compare those with moments that have none.
    pub zoned: bool,
}

impl Compiler<'_> {
    pub(super) fn expr(&mut self, expr: &Expr) -> Result<Typed, Fault> {
        self.nested(|compiler| match expr {
            Expr::Field(name) => compiler.field(name),
            Expr::Value(value) => Ok(compiler.literal(value)),
            Expr::Aggregate(aggregate) => compiler.aggregate(aggregate),
            Expr::Arithmetic(arithmetic) => compiler.arithmetic(arithmetic),
            Expr::DateTrunc(DateTrunc { unit, of }) => {
                let kind = if *unit == DateUnit::Hour { FieldType::Timestamp } else { FieldType::Date };
                let of = compiler.inside("date_trunc", "of", |c| c.date(of))?;
                let sql = match compiler.dialect() {
                    Dialect::BigQuery => bigquery::truncated(*unit, &of),
                    dialect => dates::trunc(dialect, *unit, &of.sql),
                };
                Ok(Typed { sql, kind, ..of })
            }
            Expr::Extract(Extract { part, of }) => {
                let Typed { sql, aggregate, .. } = compiler.inside("extract", "of", |c| c.date(of))?;
                let sql = dates::extract(compiler.dialect(), *part, &sql);
                Ok(Typed { sql, kind: FieldType::Integer, aggregate, zoned: false })
            }
            Expr::Number(of) => compiler.number(of),
            Expr::Moment(of) => compiler.moment(of),
            Expr::Case(case) => compiler.case(case),
            Expr::Plan(plan) => compiler.key("plan", |c| c.scalar_plan(plan)),
        })
    }

    fn field(&mut self, name: &str) -> Result<Typed, Fault> {
        let found = scope::field(&self.frames, name)?;
        let zoned = found.native == bigquery::ZONED;
        Ok(Typed { sql: found.sql, kind: found.kind, aggregate: false, zoned })
    }

    fn literal(&mut self, value: &Value) -> Typed {
        let kind = match value {
            Value::Null => FieldType::Other,
            Value::Bool(_) => FieldType::Boolean,
            Value::Int(_) => FieldType::Integer,
            Value::Float(_) => FieldType::Number,
            Value::Text(_) => FieldType::String,
        };
        let sql = if *value == Value::Null { "NULL".to_owned() } else { self.bind(value.clone()) };
        Typed { sql, kind, aggregate: false, zoned: false }
    }

    fn aggregate(&mut self, aggregate: &Aggregate) -> Result<Typed, Fault> {
        let Aggregate { function, of } = aggregate;
        let word = word(*function);
        let typed = |sql, kind| Ok(Typed { sql, kind, aggregate: true, zoned: false });
        let Some(of) = of else {
            if *function != AggregateFn::Count {
                return Err(invalid(
                    "plan.aggregate",
                    format!("`{word}` needs `of`"),
                    "say which field it is taken of",
                ));
            }
            return typed("count(*)".to_owned(), FieldType::Integer);
        };
        let of = self.inside("aggregate", "of", |c| c.expr(of))?;
        if of.aggregate {
            return Err(invalid("plan.aggregate", format!("`{word}` of an aggregate"), "aggregate in a subplan first"));
        }
        let Typed { sql, kind, zoned, .. } = of;
        match function {
            AggregateFn::Count => typed(format!("count({sql})"), FieldType::Integer),
            AggregateFn::CountDistinct => typed(format!("count(DISTINCT {sql})"), FieldType::Integer),
            AggregateFn::Min | AggregateFn::Max if is_ordered(kind) => {
                Ok(Typed { sql: format!("{word}({sql})"), kind, aggregate: true, zoned })
            }
            AggregateFn::Sum if kind.is_numeric() => typed(format!("sum({sql})"), kind),
            AggregateFn::Avg | AggregateFn::Median if kind.is_numeric() => {
                let sql = match self.dialect() {
                    Dialect::Postgres => postgres::average(*function, &sql),
                    Dialect::BigQuery => bigquery::average(*function, &sql),
                    // Of decimals, DuckDB rounds the mean of the middle two to their scale.
                    Dialect::DuckDb if *function == AggregateFn::Median => format!("median(CAST({sql} AS DOUBLE))"),
                    Dialect::DuckDb | Dialect::Spark | Dialect::DataFusion | Dialect::Sqlite => {
                        format!("{word}({sql})")
                    }
                };
                typed(sql, FieldType::Number)
            }
            _ => {
                let message = format!("`{word}` of a field of type `{}`", kind_word(kind));
                Err(invalid(
                    "plan.aggregate",
                    message,
                    "sum, avg and median take numbers; min and max what has an order",
                ))
            }
        }
    }

    fn arithmetic(&mut self, arithmetic: &Arithmetic) -> Result<Typed, Fault> {
        let Arithmetic { op, left, right } = arithmetic;
        let left = self.inside("arithmetic", "left", |c| c.expr(left))?;
        let right = self.inside("arithmetic", "right", |c| c.expr(right))?;
        for side in [&left, &right] {
            if !side.kind.is_numeric() {
                let message = format!("arithmetic with a value of type `{}`", kind_word(side.kind));
                return Err(invalid("plan.arithmetic", message, "calculate with numbers"));
            }
        }
        let whole = left.kind == FieldType::Integer && right.kind == FieldType::Integer;
        let sql = match op {
            ArithmeticOp::Add => format!("({} + {})", left.sql, right.sql),
            ArithmeticOp::Subtract => format!("({} - {})", left.sql, right.sql),
            ArithmeticOp::Multiply => format!("({} * {})", left.sql, right.sql),
            ArithmeticOp::Divide => {
                let real = match self.dialect() {
                    Dialect::DuckDb | Dialect::Spark | Dialect::DataFusion => "DOUBLE",
                    Dialect::Sqlite => "REAL",
                    Dialect::Postgres => postgres::DOUBLE,
                    Dialect::BigQuery => bigquery::FLOAT,
                };
                format!("(CAST({} AS {real}) / NULLIF({}, 0))", left.sql, right.sql)
            }
        };
        let kind = if whole && *op != ArithmeticOp::Divide { FieldType::Integer } else { FieldType::Number };
        Ok(Typed { sql, kind, aggregate: left.aggregate || right.aggregate, zoned: false })
    }

    /// Text as a number. What is none is NULL in DuckDB, and what it starts with, or 0, in SQLite.
    fn number(&mut self, of: &Expr) -> Result<Typed, Fault> {
        let Typed { sql, kind, aggregate, .. } = self.expr(of)?;
        if !kind.is_text() && !kind.is_numeric() {
            let message = format!("a value of type `{}` as a number", kind_word(kind));
            return Err(invalid("plan.number", message, "only text and numbers are read as numbers"));
        }
        let sql = match self.dialect() {
            Dialect::DuckDb | Dialect::Spark | Dialect::DataFusion => format!("TRY_CAST({sql} AS DOUBLE)"),
            Dialect::Sqlite => format!("CAST({sql} AS NUMERIC)"),
            Dialect::Postgres => postgres::number(&sql, kind),
            Dialect::BigQuery => format!("SAFE_CAST({sql} AS {})", bigquery::FLOAT),
        };
        Ok(Typed { sql, kind: FieldType::Number, aggregate, zoned: false })
    }

    /// Text as a timestamp; NULL where it holds none.
    fn moment(&mut self, of: &Expr) -> Result<Typed, Fault> {
        let Typed { sql, kind, aggregate, .. } = self.expr(of)?;
        if !kind.is_text() && !kind.is_temporal() {
            let message = format!("a value of type `{}` as a moment", kind_word(kind));
            return Err(invalid("plan.moment", message, "only text and dates are read as moments"));
        }
        let sql = match self.dialect() {
            Dialect::DuckDb | Dialect::Spark | Dialect::DataFusion => format!("TRY_CAST({sql} AS TIMESTAMP)"),
            Dialect::Sqlite => dates::instant(&sql),
            Dialect::Postgres => postgres::moment(&sql, kind),
            Dialect::BigQuery => format!("SAFE_CAST({sql} AS DATETIME)"),
        };
        Ok(Typed { sql, kind: FieldType::Timestamp, aggregate, zoned: false })
    }

    /// Something that has a date in it.
    fn date(&mut self, of: &Expr) -> Result<Typed, Fault> {
        let typed = self.expr(of)?;
        if !typed.kind.is_temporal() {
            let message =
                format!("a date is needed, and `{}` is of type `{}`", clip(&typed.sql), kind_word(typed.kind));
            return Err(invalid("plan.not_a_date", message, "take a date or timestamp field"));
        }
        // A contract may call a column a date that the engine holds as text.
        let text_there = match of {
            Expr::Field(name) => {
                let native = scope::field(&self.frames, name)?.native;
                !native.is_empty() && !native.starts_with("DATE") && !native.starts_with("TIMESTAMP")
            }
            _ => false,
        };
        Ok(match self.dialect() {
            _ if !text_there => typed,
            Dialect::Sqlite => typed,
            Dialect::BigQuery => Typed { sql: format!("CAST({} AS DATETIME)", typed.sql), zoned: false, ..typed },
            _ => Typed { sql: format!("CAST({} AS TIMESTAMP)", typed.sql), ..typed },
        })
    }

    fn case(&mut self, case: &Case) -> Result<Typed, Fault> {
        let Case { when, otherwise } = case;
        if when.is_empty() {
            return Err(invalid("plan.case", "`case` without a `when`", "give at least one `when`"));
        }
        let mut sql = String::from("CASE");
        let mut result: Option<Typed> = None;
        let mut aggregate = false;
        self.key("case", |compiler| {
            compiler.each("when", when, |compiler, CaseWhen { condition, then }| {
                let condition = compiler.key("if", |c| c.condition(condition))?;
                let then = compiler.key("then", |c| c.expr(then))?;
                sql.push_str(&format!(" WHEN {} THEN {}", condition.sql, then.sql));
                aggregate |= condition.aggregate || then.aggregate;
                result = Some(common(result.take(), then)?);
                Ok(())
            })
        })?;
        if let Some(otherwise) = otherwise {
            let otherwise = self.inside("case", "else", |c| c.expr(otherwise))?;
            sql.push_str(&format!(" ELSE {}", otherwise.sql));
            aggregate |= otherwise.aggregate;
            result = Some(common(result, otherwise)?);
        }
        sql.push_str(" END");
        let (kind, zoned) = result.map_or((FieldType::Other, false), |r| (r.kind, r.zoned));
        Ok(Typed { sql, kind, aggregate, zoned })
    }

    /// A plan as one value: one column, and by its form at most one row.
    pub(super) fn scalar_plan(&mut self, plan: &QueryPlan) -> Result<Typed, Fault> {
        let sub = self.plan(plan)?;
        let [column] = sub.columns.as_slice() else {
            return Err(invalid("plan.scalar", "a plan as a value must select one column", "select exactly one"));
        };
        if !(sub.single_row || plan.limit == Some(1)) {
            return Err(invalid(
                "plan.scalar",
                "a plan as a value must give one row",
                "aggregate without `group_by`, or set `limit` to 1",
            ));
        }
        Ok(Typed { sql: format!("({})", sub.sql), kind: column.kind, aggregate: false, zoned: column.zoned })
    }
}

/// Branches of a CASE must be of one family.
fn common(so_far: Option<Typed>, next: Typed) -> Result<Typed, Fault> {
    match so_far {
        None => Ok(next),
        Some(known) if known.kind == FieldType::Other => Ok(next),
        Some(known) if next.kind == FieldType::Other || comparable(known.kind, next.kind) => Ok(known),
        Some(known) => {
            let message = format!(
                "the branches of `case` are of types `{}` and `{}`",
                kind_word(known.kind),
                kind_word(next.kind)
            );
            Err(invalid("plan.case", message, "let all branches give one type"))
        }
    }
}

/// Whether values of these types can be compared with each other.
pub fn comparable(a: FieldType, b: FieldType) -> bool {
    a == b || a.is_numeric() && b.is_numeric() || a.is_text() && b.is_text() || a.is_temporal() && b.is_temporal()
}

/// Types with an order: what min, max and `<` take.
pub fn is_ordered(kind: FieldType) -> bool {
    kind.is_numeric() || kind.is_text() || kind.is_temporal() || kind == FieldType::Time
}

pub fn kind_word(kind: FieldType) -> String {
    format!("{kind:?}").to_lowercase()
}

pub fn word(function: AggregateFn) -> &'static str {
    match function {
        AggregateFn::Count => "count",
        AggregateFn::CountDistinct => "count_distinct",
        AggregateFn::Sum => "sum",
        AggregateFn::Avg => "avg",
        AggregateFn::Min => "min",
        AggregateFn::Max => "max",
        AggregateFn::Median => "median",
    }
}
