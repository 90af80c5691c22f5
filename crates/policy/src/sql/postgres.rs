//! What is different about tables, columns and words in Postgres.

use super::build::quoted;
use super::refuse::{Walk, at_ident, clip, refuse};
use domain::{Column, Dialect};
use sqlparser::ast::{CastKind, DataType, Expr, Ident};

/// The schema of tables whose names say none.
const USUAL: &str = "public";

/// Words that are calls there, without parentheses: they tell who is signed in to the database, and where.
const CALLS: [&str; 7] =
    ["current_catalog", "current_role", "current_schema", "current_user", "session_user", "system_user", "user"];

/// Types that come out as they are: everything else is read as its text.
const PLAIN: [&str; 20] = [
    "BIGINT",
    "BOOLEAN",
    "BYTEA",
    "CHARACTER",
    "CHARACTER VARYING",
    "DATE",
    "DOUBLE PRECISION",
    "INTEGER",
    "INTERVAL",
    "JSON",
    "JSONB",
    "NAME",
    "NUMERIC",
    "REAL",
    "SMALLINT",
    "TEXT",
    "TIME WITHOUT TIME ZONE",
    "TIMESTAMP WITHOUT TIME ZONE",
    "TIMESTAMP WITH TIME ZONE",
    "UUID",
];

/// A table's schema and its name there: `sales.orders`, or `orders` in the usual one.
pub fn place(table: &str) -> (&str, &str) {
    table.split_once('.').unwrap_or((USUAL, table))
}

/// A column as it is read. Types of extensions, enumerations and the rarer ones of Postgres itself (addresses, ranges,
/// money) are text here: they compare with text then, and come out as it.
pub fn column(dialect: Dialect, column: &Column) -> Expr {
    let name = Expr::Identifier(quoted(&column.name));
    if dialect != Dialect::Postgres || is_plain(&column.native) {
        return name;
    }
    Expr::Cast { kind: CastKind::Cast, expr: Box::new(name), data_type: DataType::Text, format: None }
}

/// Without its length or precision (`NUMERIC(10,2)`, `TIMESTAMP(3) WITH TIME ZONE`), and of a list its elements.
fn is_plain(native: &str) -> bool {
    let element = native.trim_end_matches("[]");
    let bare = match (element.find('('), element.find(')')) {
        (Some(open), Some(close)) if open < close => {
            let (before, after) = (element.get(..open), element.get(close + 1..));
            format!("{}{}", before.unwrap_or_default().trim_end(), after.unwrap_or_default())
        }
        _ => element.to_owned(),
    };
    native.is_empty() || PLAIN.contains(&bare.as_str())
}

pub fn no_keyword(dialect: Dialect, ident: &Ident) -> Walk {
    let bare = dialect == Dialect::Postgres && ident.quote_style.is_none();
    if !bare || !CALLS.iter().any(|word| ident.value.eq_ignore_ascii_case(word)) {
        return Ok(());
    }
    let message = format!("the function `{}` is not allowed", clip(&ident.value));
    Err(at_ident(
        refuse("sql.function_not_allowed", message, "name a column in double quotes if it has that name"),
        ident,
    ))
}
