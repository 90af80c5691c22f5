//! A filtered fetch from one table.

use serde::{Deserialize, Serialize};

/// Some columns and rows of one table (spec 004 §3.4). All of it is text that somebody untrusted wrote.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scan {
    /// The resource by its canonical name.
    #[serde(rename = "table_id")]
    pub table: String,
    /// Columns, or paths into them; all readable columns where it is empty.
    #[serde(default)]
    pub select: Vec<String>,
    /// One boolean expression.
    #[serde(default, rename = "where")]
    pub filter: Option<String>,
    /// Columns or paths, each with `ASC` or `DESC` if need be.
    #[serde(default)]
    pub order_by: Vec<String>,
    #[serde(default)]
    pub limit: Option<u64>,
    /// What the texts above are written in: the table's `sql_flavor`, never the caller's choice.
    #[serde(default, rename = "sql_flavor")]
    pub flavour: Flavour,
}

/// The SQL that a predicate is written in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Flavour {
    BigQuery,
    #[default]
    DuckDb,
}

impl Flavour {
    pub const ALL: [Self; 2] = [Self::BigQuery, Self::DuckDb];

    /// As the wire and people call it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BigQuery => "bigquery",
            Self::DuckDb => "duckdb",
        }
    }
}
