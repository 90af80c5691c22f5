//! Functions: by full name from an allow-list, with their arguments walked.

use super::bigquery;
use super::literal::identifier;
use super::refuse::{Walk, at_ident, clip, ensure, refuse, syntax_not_allowed};
use super::select::single;
use super::walk::{Origin, Walker};
use crate::suggest::did_you_mean_or;
use domain::{Dialect, Fault};
use sqlparser::ast::{
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgOperator, FunctionArgumentClause, FunctionArgumentList,
    FunctionArguments, Ident, ObjectName, ObjectNamePart, WindowFrame, WindowFrameBound, WindowSpec, WindowType,
};
use std::collections::HashMap;
use std::sync::OnceLock;

/// What else must hold for a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    Free,
    /// The argument at this place (from 0) is a small constant: it says how long the result is.
    Bound(usize),
    /// The argument at this place is a constant format with small widths.
    Template(usize),
    /// The length of the list must follow from constants.
    Series,
    /// It looks at values of rows that a filter has removed, whatever stands between: no table of the statement may hide rows.
    Whole,
}

type Allowed = HashMap<&'static str, Rule>;

fn allowed(dialect: Dialect) -> &'static Allowed {
    static DUCKDB: OnceLock<Allowed> = OnceLock::new();
    static SQLITE: OnceLock<Allowed> = OnceLock::new();
    static POSTGRES: OnceLock<Allowed> = OnceLock::new();
    static BIGQUERY: OnceLock<Allowed> = OnceLock::new();
    match dialect {
        Dialect::DuckDb | Dialect::Spark | Dialect::DataFusion => {
            DUCKDB.get_or_init(|| read(include_str!("functions/duckdb.txt")))
        }
        Dialect::Sqlite => SQLITE.get_or_init(|| read(include_str!("functions/sqlite.txt"))),
        Dialect::Postgres => POSTGRES.get_or_init(|| read(include_str!("functions/postgres.txt"))),
        Dialect::BigQuery => BIGQUERY.get_or_init(|| read(include_str!("functions/bigquery.txt"))),
    }
}

fn read(list: &'static str) -> Allowed {
    let words = list.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace);
    words
        .map(|word| match word.split_once(':') {
            None => (word, Rule::Free),
            Some((name, rule)) => (name, read_rule(rule)),
        })
        .collect()
}

fn read_rule(rule: &str) -> Rule {
    // Places are counted from 1 in the lists.
    let place = |n: &str| n.parse::<usize>().unwrap_or(1).saturating_sub(1);
    match rule.split_once('=') {
        Some(("bound", n)) => Rule::Bound(place(n)),
        Some(("template", n)) => Rule::Template(place(n)),
        None if rule == "whole" => Rule::Whole,
        _ => Rule::Series,
    }
}

/// The functions that may stand in FROM.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableFunction {
    Series,
    Unnest,
    JsonRows,
}

impl TableFunction {
    pub fn find(dialect: Dialect, name: &ObjectName) -> Walk<Self> {
        let ident = function_name(name)?;
        match (dialect, ident.value.to_lowercase().as_str()) {
            (Dialect::DuckDb, "generate_series" | "range") => Ok(Self::Series),
            (Dialect::DuckDb, "unnest") => Ok(Self::Unnest),
            (Dialect::Postgres, "generate_series") => Ok(Self::Series),
            (Dialect::Postgres, "unnest") => Ok(Self::Unnest),
            (
                Dialect::Postgres,
                "json_array_elements" | "json_array_elements_text" | "json_each" | "json_each_text",
            )
            | (Dialect::Postgres, "jsonb_array_elements" | "jsonb_array_elements_text")
            | (Dialect::Postgres, "jsonb_each" | "jsonb_each_text")
            | (Dialect::DuckDb | Dialect::Sqlite, "json_each" | "json_tree") => Ok(Self::JsonRows),
            (_, other) => {
                let allowed = match dialect {
                    Dialect::DuckDb | Dialect::Spark | Dialect::DataFusion => {
                        "generate_series, range, unnest, json_each and json_tree"
                    }
                    Dialect::Sqlite => "json_each and json_tree",
                    Dialect::Postgres => "generate_series, unnest, jsonb_array_elements and jsonb_each",
                    Dialect::BigQuery => "UNNEST",
                };
                let message = format!("the table function `{}` is not allowed", clip(other));
                let hint = format!("read tables of the schema; in FROM only {allowed} may be called");
                Err(at_ident(refuse("sql.table_function", message, hint), ident))
            }
        }
    }

    pub fn is_series(self) -> bool {
        self == Self::Series
    }
}

fn function_name(name: &ObjectName) -> Walk<&Ident> {
    match name.0.as_slice() {
        [ObjectNamePart::Identifier(ident)] => identifier(ident).map(|()| ident),
        _ => {
            let message = format!("the function `{}` is not allowed", clip(&name.to_string()));
            Err(refuse("sql.function_not_allowed", message, "call built-in functions by their plain name"))
        }
    }
}

const FUNCTIONS_HINT: &str = "call functions of aggregation, windows, dates, text, numbers, JSON and lists; none that reads files, settings or state";

impl Walker<'_> {
    pub(super) fn function(&mut self, function: &mut Function) -> Walk {
        let Function { name, uses_odbc_syntax, parameters, args, within_group, filter, null_treatment: _, over } =
            function;
        ensure(!*uses_odbc_syntax, "{fn …}")?;
        ensure(matches!(parameters, FunctionArguments::None), "function parameters")?;
        let rule = self.rule(name)?;
        let called = name.to_string();
        // `columns('e.*')` finds columns by a pattern of their names.
        if called.eq_ignore_ascii_case("columns") || !called.eq_ignore_ascii_case("count") && takes_star(args) {
            self.unnamed()?;
        }
        match args {
            FunctionArguments::None => {}
            FunctionArguments::Subquery(query) => self.subquery(query)?,
            FunctionArguments::List(FunctionArgumentList { duplicate_treatment: _, args, clauses }) => {
                let outer = self.expansion;
                self.expansion = self.expanded(rule, &name.to_string(), args)?;
                let walked = bigquery::walked(self.dialect, &name.to_string(), args);
                args.iter_mut().take(walked).try_for_each(|arg| self.function_arg(arg))?;
                self.expansion = outer;
                clauses.iter_mut().try_for_each(|clause| self.clause(clause))?;
            }
        }
        self.order_by(within_group)?;
        if let Some(filter) = filter {
            self.expr(filter)?;
        }
        match over {
            None => Ok(()),
            Some(WindowType::NamedWindow(name)) => identifier(name),
            Some(WindowType::WindowSpec(spec)) => self.window_spec(spec),
        }
    }

    fn rule(&self, name: &ObjectName) -> Walk<Rule> {
        let ident = function_name(name)?;
        let lower = ident.value.to_lowercase();
        let found = allowed(self.dialect).get(lower.as_str()).copied();
        // A contract's predicate goes with any engine, so only what all of them know may be called.
        let everywhere = self.origin != Origin::Rows
            || [Dialect::DuckDb, Dialect::Sqlite].iter().all(|d| allowed(*d).contains_key(lower.as_str()));
        found.filter(|_| everywhere).ok_or_else(|| {
            let hint = did_you_mean_or(&lower, allowed(self.dialect).keys().copied(), FUNCTIONS_HINT);
            let message = format!("the function `{}` is not allowed", clip(&ident.value));
            at_ident(refuse("sql.function_not_allowed", message, hint), ident)
        })
    }

    pub(super) fn function_arg(&mut self, arg: &mut FunctionArg) -> Walk {
        match arg {
            FunctionArg::Unnamed(arg) => self.arg_expr(arg),
            FunctionArg::Named { name, arg, operator } => {
                identifier(name)?;
                match operator {
                    FunctionArgOperator::Assignment | FunctionArgOperator::RightArrow | FunctionArgOperator::Equals => {
                    }
                    _ => return Err(syntax_not_allowed("this way to name an argument")),
                }
                self.arg_expr(arg)
            }
            FunctionArg::ExprNamed { .. } => Err(syntax_not_allowed("this way to name an argument")),
        }
    }

    fn arg_expr(&mut self, arg: &mut FunctionArgExpr) -> Walk {
        match arg {
            FunctionArgExpr::Expr(expr) => self.expr(expr),
            FunctionArgExpr::QualifiedWildcard(name) => {
                self.unnamed()?;
                single(name).map(drop)
            }
            // As in count(*). All others that take a star read what it stands for.
            FunctionArgExpr::Wildcard => Ok(()),
            FunctionArgExpr::WildcardWithOptions(options) => {
                self.unnamed()?;
                self.wildcard_options(options)
            }
        }
    }

    fn clause(&mut self, clause: &mut FunctionArgumentClause) -> Walk {
        match clause {
            FunctionArgumentClause::IgnoreOrRespectNulls(_) => Ok(()),
            FunctionArgumentClause::OrderBy(exprs) => self.order_by(exprs),
            FunctionArgumentClause::Limit(count) if self.dialect == Dialect::BigQuery => self.expr(count),
            _ => Err(syntax_not_allowed(&clause.to_string())),
        }
    }

    pub(super) fn window_spec(&mut self, spec: &mut WindowSpec) -> Walk {
        let WindowSpec { window_name, partition_by, order_by, window_frame } = spec;
        window_name.iter().try_for_each(identifier)?;
        self.exprs(partition_by)?;
        self.order_by(order_by)?;
        let Some(WindowFrame { units: _, start_bound, end_bound }) = window_frame else { return Ok(()) };
        std::iter::once(start_bound).chain(end_bound).try_for_each(|bound| match bound {
            WindowFrameBound::CurrentRow | WindowFrameBound::Preceding(None) | WindowFrameBound::Following(None) => {
                Ok(())
            }
            WindowFrameBound::Preceding(Some(expr)) | WindowFrameBound::Following(Some(expr)) => self.expr(expr),
        })
    }

    /// How often the arguments may be repeated in the result of this call, if that is bounded.
    fn expanded(&mut self, rule: Rule, name: &str, args: &[FunctionArg]) -> Walk<u64> {
        let factor = match rule {
            Rule::Free => 1,
            Rule::Whole => {
                self.whole.get_or_insert_with(|| name.to_lowercase());
                1
            }
            Rule::Bound(place) => match args.get(place) {
                None => 1,
                Some(arg) => super::series::constant(arg).ok_or_else(|| unbounded(name))?.unsigned_abs(),
            },
            Rule::Template(place) => args.get(place).and_then(super::series::widths).ok_or_else(|| unbounded(name))?,
            Rule::Series => self.series(name, args, false)?,
        };
        let total = self.expansion.saturating_mul(factor.max(1));
        if total > super::series::MAX { Err(unbounded(name)) } else { Ok(total) }
    }
}

pub fn over_hidden_rows(name: &str) -> Fault {
    let message =
        format!("the function `{}` cannot be called over tables whose rows are not all shown to you", clip(name));
    refuse("sql.function_over_hidden_rows", message, "compute the same with list_transform, list_zip and list_sum")
}

pub fn unbounded(name: &str) -> Fault {
    let message = format!("the size of the result of `{}` is not bounded by small constants", clip(name));
    refuse("sql.unbounded", message, format!("give its length as a number of at most {}", super::series::MAX))
}

/// A single expression as an argument.
pub fn argument(arg: &FunctionArg) -> Option<&Expr> {
    match arg {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr),
        _ => None,
    }
}
fn takes_star(args: &FunctionArguments) -> bool {
    let FunctionArguments::List(FunctionArgumentList { args, .. }) = args else { return false };
    args.iter().any(|arg| matches!(arg, FunctionArg::Unnamed(FunctionArgExpr::Wildcard)))
}
