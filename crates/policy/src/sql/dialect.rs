//! The dialects as the parser should read them: its own, with what it leaves out switched on.

use sqlparser::ast::Expr;
use sqlparser::dialect::{BigQueryDialect, Dialect, DuckDbDialect, PostgreSqlDialect, SQLiteDialect};
use sqlparser::parser::{Parser, ParserError};
use std::any::TypeId;

/// The parser's dialect for ours.
pub fn of(dialect: domain::Dialect) -> &'static dyn Dialect {
    match dialect {
        domain::Dialect::DuckDb | domain::Dialect::Spark | domain::Dialect::DataFusion => &DuckDb,
        domain::Dialect::Sqlite => &Sqlite,
        domain::Dialect::Postgres => &PostgreSqlDialect {},
        domain::Dialect::BigQuery => &BigQuery { compiled: false },
    }
}

/// Answers `true` for each named feature.
macro_rules! features {
    ($($feature:ident),* $(,)?) => { $(fn $feature(&self) -> bool { true })* };
}

#[derive(Debug)]
struct DuckDb;

impl Dialect for DuckDb {
    fn dialect(&self) -> TypeId {
        TypeId::of::<DuckDbDialect>()
    }
    fn is_identifier_start(&self, ch: char) -> bool {
        DuckDbDialect.is_identifier_start(ch)
    }
    fn is_identifier_part(&self, ch: char) -> bool {
        DuckDbDialect.is_identifier_part(ch)
    }
    features! {
        allow_extract_single_quotes,
        support_map_literal_syntax,
        supports_array_typedef_with_brackets,
        supports_bitwise_shift_operators,
        supports_comma_separated_trim,
        supports_dictionary_syntax,
        supports_filter_during_aggregation,
        supports_from_first_select,
        supports_group_by_expr,
        supports_lambda_functions,
        supports_named_fn_args_with_assignment_operator,
        supports_named_fn_args_with_eq_operator,
        supports_named_fn_args_with_rarrow_operator,
        supports_nested_comments,
        supports_notnull_operator,
        supports_numeric_literal_underscores,
        supports_order_by_all,
        supports_parens_around_table_factor,
        supports_select_wildcard_exclude,
        supports_select_wildcard_rename,
        supports_select_wildcard_replace,
        supports_string_escape_constant,
        supports_trailing_commas,
        supports_window_clause_named_window_reference,
        supports_window_function_null_treatment_arg,
        supports_within_after_array_aggregation,
    }
}

#[derive(Debug)]
struct Sqlite;

const SQLITE: SQLiteDialect = SQLiteDialect {};

impl Dialect for Sqlite {
    fn dialect(&self) -> TypeId {
        TypeId::of::<SQLiteDialect>()
    }
    fn is_delimited_identifier_start(&self, ch: char) -> bool {
        SQLITE.is_delimited_identifier_start(ch)
    }
    fn is_identifier_start(&self, ch: char) -> bool {
        SQLITE.is_identifier_start(ch)
    }
    fn is_identifier_part(&self, ch: char) -> bool {
        SQLITE.is_identifier_part(ch)
    }
    /// `GLOB`, `REGEXP` and `MATCH` are operators there.
    fn parse_infix(&self, parser: &mut Parser, expr: &Expr, precedence: u8) -> Option<Result<Expr, ParserError>> {
        SQLITE.parse_infix(parser, expr, precedence)
    }
    features! {
        supports_bitwise_shift_operators,
        supports_comma_separated_trim,
        supports_dollar_placeholder,
        supports_filter_during_aggregation,
        supports_in_empty_list,
        supports_limit_comma,
        supports_notnull_operator,
        supports_numeric_literal_underscores,
        supports_parens_around_table_factor,
        supports_window_clause_named_window_reference,
    }
}

/// Only what is read there: no scripts, no pipes, no variables.
#[derive(Debug)]
pub struct BigQuery {
    /// Whether we compiled the text: its names stand in double quotes then, which would be text otherwise.
    pub compiled: bool,
}

impl Dialect for BigQuery {
    fn dialect(&self) -> TypeId {
        TypeId::of::<BigQueryDialect>()
    }
    fn is_delimited_identifier_start(&self, ch: char) -> bool {
        ch == '`' || self.compiled && ch == '"'
    }
    /// Not `@`, as the parser's own says: parameters begin with it.
    fn is_identifier_start(&self, ch: char) -> bool {
        ch.is_ascii_alphabetic() || ch == '_'
    }
    fn is_identifier_part(&self, ch: char) -> bool {
        BigQueryDialect.is_identifier_part(ch)
    }
    features! {
        allow_extract_custom,
        require_interval_qualifier,
        supports_bitwise_shift_operators,
        supports_comma_separated_trim,
        supports_group_by_expr,
        supports_projection_trailing_commas,
        supports_select_wildcard_except,
        supports_select_wildcard_replace,
        supports_string_literal_backslash_escape,
        supports_triple_quoted_string,
        supports_window_clause_named_window_reference,
        supports_window_function_null_treatment_arg,
    }
}
