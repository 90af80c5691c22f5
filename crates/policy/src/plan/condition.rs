//! Conditions of a plan.

use super::compile::Compiler;
use super::expr::{Typed, comparable, is_ordered, kind_word};
use super::scope::quote;
use super::{bigquery, dates, invalid};
use domain::plan::{Condition, Expr, Operand, Operator, Test};
use domain::{Dialect, Fault, FieldType, QueryPlan, Value};

/// The most values in an `IN`.
const MAX_LIST: usize = 1_000;

impl Compiler<'_> {
    pub(super) fn condition(&mut self, condition: &Condition) -> Result<Typed, Fault> {
        self.nested(|compiler| match condition {
            Condition::And(all) => compiler.combined("and", all, " AND "),
            Condition::Or(any) => compiler.combined("or", any, " OR "),
            Condition::Not(inner) => {
                let inner = compiler.key("not", |c| c.condition(inner))?;
                Ok(Typed { sql: format!("(NOT {})", inner.sql), ..inner })
            }
            Condition::Test(test) => compiler.key("test", |c| c.test(test)),
            Condition::IsNull(expr) => compiler.key("is_null", |c| c.null_test(expr, "IS NULL")),
            Condition::IsNotNull(expr) => compiler.key("is_not_null", |c| c.null_test(expr, "IS NOT NULL")),
            Condition::Exists(plan) => {
                let sub = compiler.key("exists", |c| c.plan(plan))?;
                Ok(truth(format!("EXISTS ({})", sub.sql), false))
            }
        })
    }

    fn combined(&mut self, key: &'static str, conditions: &[Condition], word: &str) -> Result<Typed, Fault> {
        if conditions.is_empty() || conditions.len() > MAX_LIST {
            let message = format!("`and` and `or` take 1 to {MAX_LIST} conditions");
            return Err(invalid("plan.condition", message, "leave an empty one out"));
        }
        let parts = self.each(key, conditions, Self::condition)?;
        let aggregate = parts.iter().any(|p| p.aggregate);
        let sql: Vec<String> = parts.into_iter().map(|p| p.sql).collect();
        Ok(truth(format!("({})", sql.join(word)), aggregate))
    }

    fn null_test(&mut self, expr: &Expr, test: &str) -> Result<Typed, Fault> {
        let expr = self.expr(expr)?;
        Ok(truth(format!("({} {test})", expr.sql), expr.aggregate))
    }

    fn test(&mut self, test: &Test) -> Result<Typed, Fault> {
        let Test { left, op, right } = test;
        let mut left = self.key("left", |c| c.expr(left))?;
        suits(*op, left.kind)?;
        left.sql = self.instant(&left);
        let (sql, aggregate) = self.key("right", |compiler| compiler.right_side(&left, *op, right))?;
        Ok(truth(sql, left.aggregate || aggregate))
    }

    /// The whole test, and whether the right side has an aggregate in it.
    fn right_side(&mut self, left: &Typed, op: Operator, right: &Operand) -> Result<(String, bool), Fault> {
        Ok(match (op, right) {
            (Operator::In | Operator::NotIn, Operand::List(values)) => (self.in_list(left, op, values)?, false),
            (Operator::In | Operator::NotIn, Operand::Plan(plan)) => (self.in_plan(left, op, plan)?, false),
            (Operator::Between, Operand::List(ends)) => (self.between(left, ends)?, false),
            (Operator::Like | Operator::ILike, Operand::Value(Value::Text(pattern))) => {
                (self.like(left, op, pattern), false)
            }
            (Operator::In | Operator::NotIn | Operator::Between | Operator::Like | Operator::ILike, _) => {
                let message = format!("`{}` does not go with that right side", word(op));
                return Err(invalid(
                    "plan.operand",
                    message,
                    "IN takes a list or a plan, BETWEEN a list of two, LIKE a text value",
                ));
            }
            (_, Operand::Value(value)) => {
                let right = self.value_for(value, left)?;
                (format!("({} {} {right})", left.sql, word(op)), false)
            }
            (_, other) => {
                let right = self.right(other)?;
                if !comparable(left.kind, right.kind) {
                    let message = format!("`{}` with `{}`", kind_word(left.kind), kind_word(right.kind));
                    return Err(invalid(
                        "plan.operand",
                        format!("a comparison of {message}"),
                        "compare values of one type",
                    ));
                }
                let (near, far) = self.alike(left, &right);
                (format!("({near} {} {far})", word(op)), right.aggregate)
            }
        })
    }

    /// SQLite keeps timestamps as text in several ISO forms (`T` or a space, with a zone or without):
    /// only in one form do they compare.
    fn instant(&self, side: &Typed) -> String {
        match (self.dialect(), side.kind) {
            (Dialect::Sqlite, FieldType::Timestamp) => dates::instant(&side.sql),
            _ => side.sql.clone(),
        }
    }

    /// Both sides of a comparison, as the engine compares them.
    fn alike(&self, left: &Typed, right: &Typed) -> (String, String) {
        match self.dialect() {
            Dialect::BigQuery => {
                let of = |side: &Typed, other: &Typed| bigquery::alike(other, (&side.sql, side.kind, side.zoned));
                // A date beside a moment becomes one; of two moments, the right one is as the left.
                let near = if left.kind == FieldType::Date { of(left, right) } else { left.sql.clone() };
                (near, of(right, left))
            }
            _ => (left.sql.clone(), self.instant(right)),
        }
    }

    fn right(&mut self, operand: &Operand) -> Result<Typed, Fault> {
        match operand {
            Operand::Field(name) => self.expr(&Expr::Field(name.clone())),
            Operand::Expr(expr) => self.expr(expr),
            Operand::Plan(plan) => self.scalar_plan(plan),
            Operand::Value(_) | Operand::List(_) => Err(invalid(
                "plan.operand",
                "a list does not go with that operator",
                "use IN, NOT IN or BETWEEN with a list",
            )),
        }
    }

    fn in_list(&mut self, left: &Typed, op: Operator, values: &[Value]) -> Result<String, Fault> {
        if values.is_empty() || values.len() > MAX_LIST {
            return Err(invalid(
                "plan.list",
                format!("`{}` takes 1 to {MAX_LIST} values", word(op)),
                "send a list within that size",
            ));
        }
        let values: Vec<String> = values.iter().map(|v| self.value_for(v, left)).collect::<Result<_, _>>()?;
        Ok(format!("({} {} ({}))", left.sql, word(op), values.join(", ")))
    }

    /// NULLs in the set are left out: `NOT IN` would otherwise be true of nothing.
    fn in_plan(&mut self, left: &Typed, op: Operator, plan: &QueryPlan) -> Result<String, Fault> {
        let sub = self.plan(plan)?;
        let [column] = sub.columns.as_slice() else {
            return Err(invalid(
                "plan.scalar",
                format!("a plan for `{}` must select one column", word(op)),
                "select exactly one",
            ));
        };
        if !comparable(left.kind, column.kind) {
            let message =
                format!("`{}` of a `{}` in a set of `{}`", word(op), kind_word(left.kind), kind_word(column.kind));
            return Err(invalid("plan.operand", message, "compare values of one type"));
        }
        let name = quote(&column.name);
        let member = match (self.dialect(), column.kind) {
            (Dialect::Sqlite, FieldType::Timestamp) => dates::instant(&name),
            (Dialect::BigQuery, _) => bigquery::alike(left, (&name, column.kind, column.zoned)),
            _ => name.clone(),
        };
        let set = format!("SELECT {member} FROM ({}) AS \"set\" WHERE {name} IS NOT NULL", sub.sql);
        Ok(format!("({} {} ({set}))", left.sql, word(op)))
    }

    fn between(&mut self, left: &Typed, ends: &[Value]) -> Result<String, Fault> {
        let [low, high] = ends else {
            return Err(invalid(
                "plan.list",
                "`BETWEEN` takes a list of two values",
                "send the lower and the upper end",
            ));
        };
        let (low, high) = (self.value_for(low, left)?, self.value_for(high, left)?);
        Ok(format!("({} BETWEEN {low} AND {high})", left.sql))
    }

    /// SQLite's LIKE ignores case, so that LIKE becomes GLOB there and ILIKE becomes LIKE.
    fn like(&mut self, left: &Typed, op: Operator, pattern: &str) -> String {
        let (word, pattern) = match (self.dialect(), op) {
            (Dialect::Sqlite, Operator::Like) => ("GLOB", glob(pattern)),
            (Dialect::Sqlite, _) => ("LIKE", pattern.to_owned()),
            (Dialect::BigQuery, op) => return self.bigquery_like(left, op, pattern),
            (Dialect::DuckDb | Dialect::Spark | Dialect::DataFusion | Dialect::Postgres, Operator::Like) => {
                ("LIKE", pattern.to_owned())
            }
            (Dialect::DuckDb | Dialect::Spark | Dialect::DataFusion | Dialect::Postgres, _) => {
                ("ILIKE", pattern.to_owned())
            }
        };
        let bound = self.bind(Value::Text(pattern));
        // A backslash escapes in Postgres without being asked to.
        let escape = if self.dialect() == Dialect::Postgres { " ESCAPE ''" } else { "" };
        format!("({} {word} {bound}{escape})", left.sql)
    }
}

fn truth(sql: String, aggregate: bool) -> Typed {
    Typed { sql, kind: FieldType::Boolean, aggregate, zoned: false }
}

/// The GLOB pattern that matches what the LIKE pattern matches.
fn glob(like: &str) -> String {
    let mut glob = String::new();
    for c in like.chars() {
        match c {
            '%' => glob.push('*'),
            '_' => glob.push('?'),
            '*' | '?' | '[' => glob.extend(['[', c, ']']),
            other => glob.push(other),
        }
    }
    glob
}

/// Operators by type.
fn suits(op: Operator, kind: FieldType) -> Result<(), Fault> {
    let equality = is_ordered(kind) || matches!(kind, FieldType::Boolean | FieldType::Uuid);
    let fine = match op {
        Operator::Equal | Operator::NotEqual | Operator::In | Operator::NotIn => equality,
        Operator::Like | Operator::ILike => kind.is_text(),
        _ => is_ordered(kind),
    };
    if fine {
        return Ok(());
    }
    let message = format!("`{}` does not go with a field of type `{}`", word(op), kind_word(kind));
    Err(invalid(
        "plan.operator",
        message,
        "LIKE takes text; <, > and BETWEEN what has an order; the rest only = and IN",
    ))
}

fn word(op: Operator) -> &'static str {
    match op {
        Operator::Equal => "=",
        Operator::NotEqual => "<>",
        Operator::Greater => ">",
        Operator::GreaterOrEqual => ">=",
        Operator::Less => "<",
        Operator::LessOrEqual => "<=",
        Operator::In => "IN",
        Operator::NotIn => "NOT IN",
        Operator::Between => "BETWEEN",
        Operator::Like => "LIKE",
        Operator::ILike => "ILIKE",
    }
}
