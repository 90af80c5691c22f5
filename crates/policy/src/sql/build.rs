//! Trees that we make ourselves.

use super::refuse::Walk;
use super::{fence, postgres};
use crate::access::Readable;
use domain::{Dialect, Fault, Kind};
use sqlparser::ast::helpers::attached_token::AttachedToken;
use sqlparser::ast::{
    Expr, GroupByExpr, Ident, LimitClause, ObjectName, ObjectNamePart, Query, Select, SelectFlavor, SelectItem,
    SetExpr, TableAlias, TableFactor, TableWithJoins, Value, Values, WildcardAdditionalOptions,
};

/// The schema that engines keep a source's tables in. With it in front, no CTE can stand in for a table.
const SCHEMA: &str = "main";

pub fn quoted(name: &str) -> Ident {
    Ident::with_quote('"', name)
}

pub fn alias(name: Ident) -> TableAlias {
    TableAlias { explicit: true, name, columns: Vec::new(), at: None }
}

pub fn number(n: u64) -> Expr {
    Expr::Value(Value::Number(n.to_string(), false).into())
}

pub fn limit(n: u64) -> LimitClause {
    LimitClause::LimitOffset { limit: Some(number(n)), offset: None, limit_by: Vec::new() }
}

/// `SELECT "a" AS "a", … FROM "main"."table" WHERE (rows) AND …`: all that a caller can reach of it.
///
/// Where rows are left out, the engine named by `fenced` is kept from looking behind it.
pub fn readable_rows(
    dialect: Dialect,
    readable: &Readable<'_>,
    rows: Vec<Expr>,
    fenced: Option<Dialect>,
) -> Walk<Query> {
    if readable.fields.is_empty() {
        let message = format!("`{}` has no columns that you may read", readable.name);
        return Err(Fault::new(Kind::Forbidden, "policy.no_columns", message));
    }
    let selection = rows.into_iter().map(|e| Expr::Nested(Box::new(e))).reduce(|left, right| Expr::BinaryOp {
        left: Box::new(left),
        op: sqlparser::ast::BinaryOperator::And,
        right: Box::new(right),
    });
    let fenced = fenced.filter(|_| selection.is_some());
    let projection = readable
        .fields
        .iter()
        .map(|f| {
            let expr = postgres::column(dialect, f.column);
            let expr = match fenced {
                Some(Dialect::DuckDb) => fence::column(expr),
                Some(Dialect::Postgres) => fence::unknown_to_planner(expr, f.column.kind),
                Some(Dialect::Spark | Dialect::DataFusion) => fence::unknown_to_estimates(expr, f.column.kind),
                _ => expr,
            };
            if f.name == f.column.name && matches!(expr, Expr::Identifier(_)) {
                SelectItem::UnnamedExpr(expr)
            } else {
                SelectItem::ExprWithAlias { expr, alias: quoted(f.name) }
            }
        })
        .collect();
    let mut shown =
        query(SetExpr::Select(Box::new(select(projection, physical(dialect, &readable.table.name), selection))));
    shown.limit_clause = fenced.and_then(fence::rows);
    Ok(shown)
}

fn physical(dialect: Dialect, table: &str) -> TableFactor {
    let (schema, table) = match dialect {
        Dialect::DuckDb | Dialect::Spark | Dialect::DataFusion | Dialect::Sqlite => (SCHEMA, table),
        Dialect::Postgres => postgres::place(table),
        // `table`, in the dataset that its job names, or `dataset.table`. No CTE goes by such a name.
        Dialect::BigQuery => {
            let parts = table.split('.').map(|part| ObjectNamePart::Identifier(quoted(part)));
            return table_factor(ObjectName(parts.collect()), None);
        }
    };
    let parts = [schema, table].map(|part| ObjectNamePart::Identifier(quoted(part)));
    table_factor(ObjectName(parts.into()), None)
}

pub fn table_factor(name: ObjectName, alias: Option<TableAlias>) -> TableFactor {
    TableFactor::Table {
        name,
        alias,
        args: None,
        with_hints: Vec::new(),
        version: None,
        with_ordinality: false,
        partitions: Vec::new(),
        json_path: None,
        sample: None,
        index_hints: Vec::new(),
    }
}

/// `SELECT * FROM (query) AS "rows"`.
pub fn wrapped(inner: Query) -> Query {
    let relation = TableFactor::Derived {
        lateral: false,
        subquery: Box::new(inner),
        alias: Some(alias(quoted("rows"))),
        sample: None,
    };
    query(SetExpr::Select(Box::new(select(
        vec![SelectItem::Wildcard(WildcardAdditionalOptions::default())],
        relation,
        None,
    ))))
}

/// A query to put in the place of one that is being moved.
pub fn nothing() -> Query {
    query(SetExpr::Values(Values { explicit_row: false, value_keyword: false, rows: Vec::new() }))
}

fn query(body: SetExpr) -> Query {
    Query {
        with: None,
        body: Box::new(body),
        order_by: None,
        limit_clause: None,
        fetch: None,
        locks: Vec::new(),
        for_clause: None,
        settings: None,
        format_clause: None,
        pipe_operators: Vec::new(),
    }
}

fn select(projection: Vec<SelectItem>, relation: TableFactor, selection: Option<Expr>) -> Select {
    Select {
        select_token: AttachedToken::empty(),
        optimizer_hints: Vec::new(),
        distinct: None,
        select_modifiers: None,
        top: None,
        top_before_distinct: false,
        projection,
        exclude: None,
        into: None,
        from: vec![TableWithJoins { relation, joins: Vec::new() }],
        lateral_views: Vec::new(),
        prewhere: None,
        selection,
        connect_by: Vec::new(),
        group_by: GroupByExpr::Expressions(Vec::new(), Vec::new()),
        cluster_by: Vec::new(),
        distribute_by: Vec::new(),
        sort_by: Vec::new(),
        having: None,
        named_window: Vec::new(),
        qualify: None,
        window_before_qualify: false,
        value_table_mode: None,
        flavor: SelectFlavor::Standard,
    }
}
