//! What engines say differently.

use super::functions::Functions;
use crate::sql::refuse::Walk;
use sqlparser::ast::DataType;

/// The SQL of one engine, as far as it is not that of all.
pub trait Speech: Sync {
    /// The database of tables whose names say none.
    fn usual(&self) -> &'static str;
    /// A name in its quotes.
    fn name(&self, name: &str) -> String;
    /// Text in its quotes.
    fn text(&self, text: &str) -> String;
    /// What may be called there, and how; and how operators, fields of moments and the like are said.
    fn functions(&self) -> &'static Functions;
    /// A type of DuckDB's by its name there.
    fn data_type(&self, from: &DataType) -> Walk<DataType>;
    /// What formats a moment, and a format of strftime as that wants it; none where it holds what cannot be said.
    fn format(&self, format: &str) -> Option<(&'static str, String)>;
    /// A number with a fraction, where it would not be taken for an exact one.
    fn fraction(&self, digits: &str) -> Option<String>;
    /// A field of a struct.
    fn field(&self, of: &str, name: &str) -> String;
    /// Whether names that differ only by case are one name, as they are in DuckDB.
    fn folds_case(&self) -> bool;
    /// Whether it orders by aggregates that are not selected.
    fn orders_by_aggregates(&self) -> bool;
    /// Whether patterns may name a character that escapes.
    fn has_escapes(&self) -> bool;
}
