//! Queries: WITH, set operations, ORDER BY, LIMIT.

use super::build;
use super::literal::identifier;
use super::parse::not_a_query;
use super::refuse::{Walk, at_node, ensure, syntax_not_allowed};
use super::scope::{Column, Columns};
use super::walk::Walker;
use domain::Dialect;
use sqlparser::ast::{
    Cte, Fetch, Ident, LimitClause, Offset, OrderBy, OrderByExpr, OrderByKind, OrderByOptions, OrderBySort, Query,
    SetExpr, SetOperator, SetQuantifier, TableAlias, TableAliasColumnDef, Values, With,
};

/// CTEs are renamed to names that no table has, so that a CTE never stands for a table or a table
/// for a CTE, whatever the engine's own rules of scope are.
pub const CTE_MARK: &str = "cte:";

/// A CTE that its own query may name, after the first arm of its UNION.
#[derive(Clone, Copy)]
pub struct Recursive<'c> {
    name: &'c str,
    columns: &'c [String],
}

impl Walker<'_> {
    /// Walks a query and gives the columns of its result, where they are known.
    pub fn query(&mut self, query: &mut Query, recursive: Option<Recursive<'_>>) -> Walk<Columns> {
        self.query_parts(query, recursive).map_err(|fault| at_node(fault, query))
    }

    fn query_parts(&mut self, query: &mut Query, recursive: Option<Recursive<'_>>) -> Walk<Columns> {
        let Query {
            with,
            body,
            order_by,
            limit_clause,
            fetch,
            locks,
            for_clause,
            settings,
            format_clause,
            pipe_operators,
        } = query;
        ensure(locks.is_empty(), "FOR UPDATE")?;
        ensure(for_clause.is_none(), "FOR")?;
        ensure(settings.is_none(), "SETTINGS")?;
        ensure(format_clause.is_none(), "FORMAT")?;
        ensure(pipe_operators.is_empty(), "|>")?;
        let mark = self.scopes.cte_mark();
        if let Some(with) = with {
            self.with(with)?;
        }
        self.scopes.enter();
        let columns = match body.as_mut() {
            SetExpr::Select(select) => self.select(select)?,
            other => {
                let columns = self.set_expr(other, recursive)?;
                // ORDER BY names result columns here, of which we may not know all.
                self.scopes.open();
                columns
            }
        };
        if let Some(order_by) = order_by {
            self.unordered(order_by, &columns)?;
            self.order_by_clause(order_by)?;
        }
        fetch_to_limit(limit_clause, fetch)?;
        if let Some(limit_clause) = limit_clause {
            self.limit_clause(limit_clause)?;
        }
        self.scopes.leave();
        self.scopes.forget_ctes(mark);
        Ok(columns)
    }

    fn with(&mut self, with: &mut With) -> Walk {
        let With { with_token: _, recursive, cte_tables } = with;
        // SQLite lets any CTE name itself, with or without the word.
        let recursive = *recursive || self.dialect == Dialect::Sqlite;
        for Cte { alias, query, from, materialized: _, closing_paren_token: _ } in cte_tables {
            ensure(from.is_none(), "WITH … FROM")?;
            let named = self.alias_columns(alias)?;
            let name = alias.name.value.clone();
            let own = recursive.then_some(Recursive { name: &name, columns: &named });
            let columns = self.query(query, own)?;
            let columns = self.renamed(columns, &named)?;
            self.scopes.add_cte(&name, columns);
            alias.name = cte_name(&name);
        }
        Ok(())
    }

    /// Checks an alias and gives the column names that it lists.
    pub(super) fn alias_columns(&self, alias: &TableAlias) -> Walk<Vec<String>> {
        let TableAlias { explicit: _, name, columns, at } = alias;
        ensure(at.is_none(), "AT")?;
        identifier(name)?;
        let mut names = Vec::with_capacity(columns.len());
        for TableAliasColumnDef { name, data_type } in columns {
            ensure(data_type.is_none(), "typed column alias")?;
            identifier(name)?;
            names.push(name.value.clone());
        }
        Ok(names)
    }

    fn set_expr(&mut self, set: &mut SetExpr, recursive: Option<Recursive<'_>>) -> Walk<Columns> {
        match set {
            SetExpr::Select(select) => {
                self.scopes.enter();
                let columns = self.select(select);
                self.scopes.leave();
                columns
            }
            SetExpr::Query(query) => self.query(query, None),
            SetExpr::SetOperation { left, op, set_quantifier, right } => {
                self.set_operator(*op, *set_quantifier)?;
                if self.dialect == Dialect::BigQuery && *set_quantifier == SetQuantifier::None {
                    // It has to be said there.
                    *set_quantifier = SetQuantifier::Distinct;
                }
                let columns = self.set_expr(left, recursive)?;
                self.uncombined(&columns)?;
                if let (Some(own), SetOperator::Union) = (recursive, &op) {
                    // Only from the second arm on is the name the CTE's; in the first it is a table's.
                    let columns = self.renamed(columns.clone(), own.columns)?;
                    self.scopes.add_cte(own.name, columns);
                }
                let right = self.set_expr(right, None)?;
                self.uncombined(&right)?;
                Ok(columns)
            }
            SetExpr::Values(values) => self.values(values),
            SetExpr::Insert(_) => Err(not_a_query("INSERT")),
            SetExpr::Update(_) => Err(not_a_query("UPDATE")),
            SetExpr::Delete(_) => Err(not_a_query("DELETE")),
            SetExpr::Merge(_) => Err(not_a_query("MERGE")),
            SetExpr::Table(_) => Err(syntax_not_allowed("TABLE")),
        }
    }

    fn set_operator(&self, op: SetOperator, quantifier: SetQuantifier) -> Walk {
        let by_name = match quantifier {
            SetQuantifier::All | SetQuantifier::Distinct | SetQuantifier::None => false,
            SetQuantifier::ByName | SetQuantifier::AllByName | SetQuantifier::DistinctByName => true,
        };
        ensure(!by_name || self.dialect == Dialect::DuckDb, "BY NAME")?;
        match op {
            SetOperator::Union | SetOperator::Except | SetOperator::Intersect => Ok(()),
            SetOperator::Minus => Err(syntax_not_allowed("MINUS")),
        }
    }

    fn values(&mut self, values: &mut Values) -> Walk<Columns> {
        let Values { explicit_row, value_keyword, rows } = values;
        ensure(!*explicit_row && self.dialect != Dialect::BigQuery, "VALUES")?;
        ensure(!*value_keyword, "VALUE")?;
        for row in rows {
            for expr in &mut row.content {
                self.expr(expr)?;
            }
        }
        Ok(None)
    }

    fn order_by_clause(&mut self, order_by: &mut OrderBy) -> Walk {
        let OrderBy { kind, interpolate } = order_by;
        ensure(interpolate.is_none(), "INTERPOLATE")?;
        match kind {
            OrderByKind::All(options) => order_options(options),
            OrderByKind::Expressions(exprs) => self.order_by(exprs),
        }
    }

    pub(super) fn order_by(&mut self, exprs: &mut [OrderByExpr]) -> Walk {
        for OrderByExpr { expr, options, with_fill } in exprs {
            ensure(with_fill.is_none(), "WITH FILL")?;
            order_options(options)?;
            self.expr(expr)?;
        }
        Ok(())
    }

    fn limit_clause(&mut self, clause: &mut LimitClause) -> Walk {
        match clause {
            LimitClause::LimitOffset { limit, offset, limit_by } => {
                ensure(limit_by.is_empty(), "LIMIT BY")?;
                let offset = offset.as_mut().map(|Offset { value, rows: _ }| value);
                limit.iter_mut().chain(offset).try_for_each(|expr| self.expr(expr))
            }
            LimitClause::OffsetCommaLimit { offset, limit } => {
                self.expr(offset)?;
                self.expr(limit)
            }
        }
    }
}

/// `FETCH FIRST n ROWS ONLY` is `LIMIT n`, which both engines know.
fn fetch_to_limit(clause: &mut Option<LimitClause>, fetch: &mut Option<Fetch>) -> Walk {
    let Some(Fetch { with_ties, percent, quantity }) = fetch.take() else { return Ok(()) };
    ensure(!with_ties && !percent, "FETCH WITH TIES or PERCENT")?;
    let quantity = quantity.unwrap_or_else(|| build::number(1));
    match clause {
        None => *clause = Some(LimitClause::LimitOffset { limit: Some(quantity), offset: None, limit_by: Vec::new() }),
        Some(LimitClause::LimitOffset { limit: limit @ None, .. }) => *limit = Some(quantity),
        Some(_) => return Err(syntax_not_allowed("LIMIT with FETCH")),
    }
    Ok(())
}

fn order_options(options: &OrderByOptions) -> Walk {
    let OrderByOptions { sort, nulls_first: _ } = options;
    match sort {
        None | Some(OrderBySort::Asc | OrderBySort::Desc) => Ok(()),
        Some(OrderBySort::Using(_)) => Err(syntax_not_allowed("ORDER BY … USING")),
    }
}

/// What a list of column aliases makes of the columns; a short list renames the first ones.
pub fn renamed(columns: Columns, names: &[String]) -> Columns {
    let mut columns = columns?.into_iter();
    let named = names.iter().map(|name| Column::new(name, columns.next().and_then(|column| column.field)));
    let mut named: Vec<Column> = named.collect();
    named.extend(columns);
    Some(named)
}

pub fn cte_name(name: &str) -> Ident {
    build::quoted(&format!("{CTE_MARK}{}", name.to_ascii_lowercase()))
}
