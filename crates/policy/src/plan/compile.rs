//! One plan to one SELECT, or to several combined.

use super::expr::{self, Typed};
use super::invalid;
use super::params::Params;
use super::path::Step;
use super::scope::{self, Frame, output_name, quote};
use super::window;
use crate::access::Reader;
use crate::sql::refuse::clip;
use domain::plan::{Condition, Direction, Expr, OrderItem, SelectItem, SetOp, SetOperation};
use domain::{Dialect, Fault, FieldType, QueryPlan};

/// Plans within plans.
const MAX_PLANS: usize = 8;
/// Expressions and conditions within each other.
const MAX_NESTING: usize = 24;
const MAX_ITEMS: usize = 1_000;

pub struct Compiler<'a> {
    pub(super) reader: Reader<'a>,
    pub params: Params,
    /// The tables of the plans that we are in, outermost first.
    pub(super) frames: Vec<Frame<'a>>,
    plans: usize,
    nesting: usize,
    /// The part of the plan that is being worked on.
    pub(super) path: Vec<Step>,
}

/// A plan written out.
pub struct Written {
    pub sql: String,
    pub columns: Vec<OutputColumn>,
    /// By its form it gives one row: aggregates without groups.
    pub single_row: bool,
}

pub struct OutputColumn {
    pub name: String,
    pub kind: FieldType,
    pub(super) zoned: bool,
    pub(super) sql: String,
}

impl<'a> Compiler<'a> {
    pub fn new(reader: Reader<'a>) -> Self {
        Self { reader, params: Params::default(), frames: Vec::new(), plans: 0, nesting: 0, path: Vec::new() }
    }

    pub(super) fn dialect(&self) -> Dialect {
        self.reader.source.dialect.written()
    }

    /// One level deeper into expressions.
    pub(super) fn nested<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, Fault>) -> Result<T, Fault> {
        if self.nesting >= MAX_NESTING {
            return Err(invalid(
                "plan.too_deep",
                format!("more than {MAX_NESTING} expressions within each other"),
                "nest less",
            ));
        }
        self.nesting += 1;
        let result = work(self);
        self.nesting -= 1;
        result
    }

    pub fn plan(&mut self, plan: &QueryPlan) -> Result<Written, Fault> {
        if self.plans >= MAX_PLANS {
            return Err(invalid(
                "plan.too_deep",
                format!("more than {MAX_PLANS} plans within each other"),
                "nest less",
            ));
        }
        let mut frame = Frame { tables: Vec::new() };
        let mut tables = self.key("from", |compiler| {
            let from = scope::resource(&compiler.reader, &plan.from.resource)?;
            let written = format!("{} AS {}", quote(from.name), quote(plan.from.name()));
            frame.add(plan.from.name(), from)?;
            Ok(written)
        })?;
        let joins = self.each("joins", &plan.joins, |compiler, join| compiler.join(&mut frame, join))?;
        tables.extend(joins);
        self.frames.push(frame);
        self.plans += 1;
        let result = self.select(plan, &tables);
        self.plans -= 1;
        self.frames.pop();
        result
    }

    fn select(&mut self, plan: &QueryPlan, tables: &str) -> Result<Written, Fault> {
        sizes(plan)?;
        let groups = self.each("group_by", &plan.group_by, Self::group)?;
        let group_sql: Vec<String> = groups.into_iter().map(|g| g.sql).collect();
        let mut aggregated = !plan.group_by.is_empty();
        let mut columns: Vec<OutputColumn> = Vec::new();
        self.each("select", &plan.select, |compiler, item| {
            let typed = compiler.key("expr", |compiler| compiler.expr(&item.expr))?;
            aggregated |= typed.aggregate;
            columns.push(column(item, typed, &columns)?);
            Ok(())
        })?;
        let mut sql = format!("SELECT {}", if plan.distinct { "DISTINCT " } else { "" });
        sql.push_str(
            &columns.iter().map(|c| format!("{} AS {}", c.sql, quote(&c.name))).collect::<Vec<_>>().join(", "),
        );
        sql.push_str(&format!(" FROM {tables}"));
        if let Some(filter) = &plan.filter {
            sql.push_str(&self.key("where", |compiler| compiler.filter(filter))?);
        }
        sql.push_str(&self.group_clause(plan, &group_sql, &columns, &mut aggregated)?);
        if let Some(set) = &plan.set {
            sql.push_str(&self.key("set", |compiler| compiler.set_operation(set, columns.len()))?);
        }
        if !plan.changes.is_empty() {
            sql = self.changes(&plan.changes, &sql, &mut columns)?;
        }
        let order = self.order_by(plan, &columns, &group_sql, aggregated)?;
        match &plan.limit_per {
            Some(limit) => sql = self.key("limit_per", |_| window::limited(limit, &sql, &columns, &order))?,
            None => sql.push_str(&order),
        }
        sql.push_str(&paging(plan, self.dialect()));
        let single_row = aggregated && plan.group_by.is_empty() && plan.set.is_none();
        Ok(Written { sql, columns, single_row })
    }

    fn filter(&mut self, filter: &Condition) -> Result<String, Fault> {
        let filter = self.condition(filter)?;
        if filter.aggregate {
            return Err(invalid("plan.aggregate_in_where", "an aggregate in `where`", "put it into `having`"));
        }
        Ok(format!(" WHERE {}", filter.sql))
    }

    fn group(&mut self, expr: &Expr) -> Result<Typed, Fault> {
        let typed = self.expr(expr)?;
        if typed.aggregate || matches!(expr, Expr::Value(_)) {
            return Err(invalid(
                "plan.group_by",
                "`group_by` takes fields and what is calculated of them",
                "leave it out",
            ));
        }
        Ok(typed)
    }

    fn group_clause(
        &mut self,
        plan: &QueryPlan,
        groups: &[String],
        columns: &[OutputColumn],
        aggregated: &mut bool,
    ) -> Result<String, Fault> {
        let having = plan.having.as_ref().map(|h| self.key("having", |c| c.condition(h))).transpose()?;
        *aggregated |= having.is_some();
        if *aggregated {
            self.each("select", &plan.select, |compiler, item| compiler.grouped(&item.expr, groups))?;
            if let Some(having) = &plan.having {
                self.key("having", |compiler| compiler.grouped_condition(having, groups))?;
            }
        }
        let mut sql = String::new();
        if !groups.is_empty() {
            // What is calculated is named by its place, so that engines need not see that two are equal.
            let place = |group: &String| match columns.iter().position(|c| c.sql == *group) {
                Some(i) if group.contains('(') => (i + 1).to_string(),
                _ => group.clone(),
            };
            sql.push_str(&format!(" GROUP BY {}", groups.iter().map(place).collect::<Vec<_>>().join(", ")));
        }
        if let Some(having) = having {
            sql.push_str(&format!(" HAVING {}", having.sql));
        }
        Ok(sql)
    }

    fn set_operation(&mut self, set: &SetOperation, width: usize) -> Result<String, Fault> {
        let SetOperation { op, all, plan } = set;
        // An arm does not see the tables of the plan beside it.
        let beside = self.frames.pop();
        let arm = self.key("plan", |compiler| compiler.plan(plan));
        self.frames.extend(beside);
        let arm = arm?;
        if arm.columns.len() != width {
            let message = format!("the plans of a set select {width} and {} columns", arm.columns.len());
            return Err(invalid("plan.set", message, "select as many columns in both"));
        }
        let word = match op {
            SetOp::Union => "UNION",
            SetOp::Intersect => "INTERSECT",
            SetOp::Except => "EXCEPT",
        };
        let rare = matches!(self.dialect(), Dialect::Sqlite | Dialect::BigQuery);
        if *all && rare && *op != SetOp::Union {
            let message = format!("this engine has no `{word} ALL`");
            return Err(invalid("plan.set", message, "leave `all` out"));
        }
        let all = if *all { " ALL" } else { "" };
        let simple = plan.set.is_none() && plan.order_by.is_empty() && plan.limit.is_none() && plan.offset.is_none();
        let arm = if simple { arm.sql } else { format!("SELECT * FROM ({}) AS \"arm\"", arm.sql) };
        Ok(format!(" {word}{all} {arm}"))
    }

    fn order_by(
        &mut self,
        plan: &QueryPlan,
        columns: &[OutputColumn],
        groups: &[String],
        aggregated: bool,
    ) -> Result<String, Fault> {
        let items = self.each("order_by", &plan.order_by, |compiler, OrderItem { expr, dir }| {
            let key = compiler.key("expr", |c| c.order_key(plan, expr, columns, groups, aggregated))?;
            let direction = if *dir == Direction::Desc { "DESC" } else { "ASC" };
            Ok(format!("{key} {direction} NULLS LAST"))
        })?;
        Ok(if items.is_empty() { String::new() } else { format!(" ORDER BY {}", items.join(", ")) })
    }

    /// A selected column by its name, or where the engine can still see them, any expression.
    fn order_key(
        &mut self,
        plan: &QueryPlan,
        expr: &Expr,
        columns: &[OutputColumn],
        groups: &[String],
        aggregated: bool,
    ) -> Result<String, Fault> {
        if let Expr::Field(name) = expr
            && let Some(column) = columns.iter().find(|c| c.name.eq_ignore_ascii_case(name))
        {
            return Ok(quote(&column.name));
        }
        let typed = self.expr(expr)?;
        if let Some(column) = columns.iter().find(|c| c.sql == typed.sql) {
            return Ok(quote(&column.name));
        }
        let finished = plan.set.is_some() || plan.distinct || !plan.changes.is_empty() || plan.limit_per.is_some();
        if finished {
            let message = "`order_by` of distinct, combined, compared or limited rows must name a selected column";
            return Err(invalid("plan.order_by", message, "select it, and order by its name"));
        }
        if typed.aggregate && !aggregated {
            return Err(invalid(
                "plan.order_by",
                "an aggregate in `order_by` of a plan without aggregates",
                "select it or group",
            ));
        }
        if aggregated {
            self.grouped(expr, groups)?;
        }
        Ok(typed.sql)
    }
}

fn sizes(plan: &QueryPlan) -> Result<(), Fault> {
    if plan.select.is_empty() {
        return Err(invalid("plan.select", "`select` is empty", "select at least one column"));
    }
    let counts = [plan.select.len(), plan.joins.len(), plan.group_by.len(), plan.order_by.len(), plan.changes.len()];
    if counts.iter().any(|n| *n > MAX_ITEMS) {
        return Err(invalid("plan.too_long", format!("a list of more than {MAX_ITEMS} items"), "send a smaller plan"));
    }
    Ok(())
}

fn column(item: &SelectItem, typed: Typed, before: &[OutputColumn]) -> Result<OutputColumn, Fault> {
    let name = item.alias.clone().unwrap_or_else(|| own_name(&item.expr));
    own(&name, before)?;
    Ok(OutputColumn { name, kind: typed.kind, zoned: typed.zoned, sql: typed.sql })
}

/// Refuses a name that cannot be one, or that another column has.
pub(super) fn own(name: &str, before: &[OutputColumn]) -> Result<(), Fault> {
    output_name(name)?;
    if before.iter().any(|c| c.name.eq_ignore_ascii_case(name)) {
        let message = format!("two columns are called `{}`", clip(name));
        return Err(invalid("plan.duplicate_name", message, "give one of them another name with `as`"));
    }
    Ok(())
}

/// The name of a column that was given none.
fn own_name(expr: &Expr) -> String {
    match expr {
        Expr::Field(name) => name.rsplit('.').next().unwrap_or(name).to_owned(),
        Expr::Value(_) => "value".to_owned(),
        Expr::Aggregate(aggregate) => match &aggregate.of {
            None => expr::word(aggregate.function).to_owned(),
            Some(of) => format!("{}_{}", expr::word(aggregate.function), own_name(of)),
        },
        Expr::Arithmetic(_) => "result".to_owned(),
        Expr::DateTrunc(trunc) => own_name(&trunc.of),
        Expr::Number(of) | Expr::Moment(of) => own_name(of),
        Expr::Extract(extract) => super::dates::part_word(extract.part).to_owned(),
        Expr::Case(_) => "case".to_owned(),
        Expr::Plan(_) => "plan".to_owned(),
    }
}

fn paging(plan: &QueryPlan, dialect: Dialect) -> String {
    match (plan.limit, plan.offset) {
        (Some(limit), Some(offset)) => format!(" LIMIT {limit} OFFSET {offset}"),
        (Some(limit), None) => format!(" LIMIT {limit}"),
        // SQLite knows OFFSET only after LIMIT.
        (None, Some(offset)) if dialect == Dialect::Sqlite => format!(" LIMIT -1 OFFSET {offset}"),
        // And so does BigQuery.
        (None, Some(offset)) if dialect == Dialect::BigQuery => format!(" LIMIT {} OFFSET {offset}", i64::MAX),
        (None, Some(offset)) => format!(" OFFSET {offset}"),
        (None, None) => String::new(),
    }
}
