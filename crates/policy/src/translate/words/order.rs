//! Orders by an aggregate that is not selected: Sail cannot plan them.
//!
//! `SELECT x AS a … GROUP BY x ORDER BY count(*)` becomes `SELECT a FROM (SELECT x AS a, count(*) AS o …) ORDER BY o`.

use sqlparser::ast::{
    Expr, Function, GroupByExpr, Ident, OrderByKind, Query, Select, SelectItem, SetExpr, TableAlias, TableFactor,
    TableWithJoins, Value, ValueWithSpan, Visit, Visitor,
};
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// The name of what is ordered, and of what it is ordered by. No name of a table or column holds a colon.
const ORDERED: &str = "order:";

/// Those that people order by.
const AGGREGATES: [&str; 10] =
    ["any_value", "avg", "count", "count_if", "max", "mean", "median", "min", "stddev", "sum"];

/// Moves what is ordered into a query within, where its order needs that. What has columns without names is left as it is.
pub fn within(query: &mut Query) {
    let Some(OrderByKind::Expressions(order)) = query.order_by.as_mut().map(|order| &mut order.kind) else { return };
    let SetExpr::Select(select) = query.body.as_mut() else { return };
    let Some(names) = names(select) else { return };
    if !order.iter().any(|by| has_aggregate(&by.expr)) || select.distinct.is_some() {
        return;
    }
    for (number, by) in order.iter_mut().enumerate() {
        let stays = match &by.expr {
            Expr::Identifier(name) => names.iter().any(|known| known.value.eq_ignore_ascii_case(&name.value)),
            Expr::Value(ValueWithSpan { value: Value::Number(..), .. }) => true,
            _ => false,
        };
        if !stays {
            let alias = Ident::with_quote('"', format!("{ORDERED}{number}"));
            let expr = std::mem::replace(&mut by.expr, Expr::Identifier(alias.clone()));
            select.projection.push(SelectItem::ExprWithAlias { expr, alias });
        }
    }
    let inner = select.as_ref().clone();
    select.projection = names.into_iter().map(|name| SelectItem::UnnamedExpr(Expr::Identifier(name))).collect();
    (select.selection, select.having) = (None, None);
    select.group_by = GroupByExpr::Expressions(Vec::new(), Vec::new());
    let subquery = Query {
        with: None,
        body: Box::new(SetExpr::Select(Box::new(inner))),
        order_by: None,
        limit_clause: None,
        ..query.clone()
    };
    if let SetExpr::Select(select) = query.body.as_mut() {
        select.from = vec![derived(subquery)];
    }
}

fn derived(subquery: Query) -> TableWithJoins {
    let alias = TableAlias { explicit: true, name: Ident::with_quote('"', ORDERED), columns: Vec::new(), at: None };
    let relation =
        TableFactor::Derived { lateral: false, subquery: Box::new(subquery), alias: Some(alias), sample: None };
    TableWithJoins { relation, joins: Vec::new() }
}

/// What the columns are called, where each has a name.
fn names(select: &Select) -> Option<Vec<Ident>> {
    let name = |item: &SelectItem| match item {
        SelectItem::ExprWithAlias { alias, .. } => Some(alias.clone()),
        SelectItem::UnnamedExpr(Expr::Identifier(name)) => Some(name.clone()),
        SelectItem::UnnamedExpr(Expr::CompoundIdentifier(path)) => path.last().cloned(),
        _ => None,
    };
    let names: Vec<Ident> = select.projection.iter().map(name).collect::<Option<_>>()?;
    let lower: BTreeSet<String> = names.iter().map(|name| name.value.to_lowercase()).collect();
    (lower.len() == names.len()).then_some(names)
}

/// Whether it reckons over the rows of a group.
fn has_aggregate(expr: &Expr) -> bool {
    struct Aggregates;
    impl Visitor for Aggregates {
        type Break = ();
        fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
            match expr {
                Expr::Function(Function { over: None, name, .. })
                    if AGGREGATES.contains(&name.to_string().to_ascii_lowercase().as_str()) =>
                {
                    ControlFlow::Break(())
                }
                _ => ControlFlow::Continue(()),
            }
        }
    }
    expr.visit(&mut Aggregates).is_break()
}
