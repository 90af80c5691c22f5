//! What a source holds: as the engine describes it, and, after policy has looked at it, as one
//! caller may see it. Both have this one shape; policy only ever takes away or annotates.

use crate::Flavour;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The SQL that an engine speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Dialect {
    DuckDb,
    Sqlite,
    Postgres,
    /// Statements are written in DuckDB's SQL and translated.
    Spark,
    /// Likewise.
    DataFusion,
    /// GoogleSQL, as BigQuery has it.
    BigQuery,
}

impl Dialect {
    /// The SQL that statements for this engine are written in.
    pub fn written(self) -> Self {
        match self {
            Self::Spark | Self::DataFusion => Self::DuckDb,
            own => own,
        }
    }

    /// What predicates over it are written in. Those for engines of another dialect are translated.
    pub fn flavour(self) -> Flavour {
        match self {
            Self::BigQuery => Flavour::BigQuery,
            Self::DuckDb | Self::Sqlite | Self::Postgres | Self::Spark | Self::DataFusion => Flavour::DuckDb,
        }
    }

    /// Whether an engine has row-level security of its own: then two callers may get different rows for one statement,
    /// and nothing that was read for one is kept for another.
    pub fn varies_by_caller(self) -> bool {
        self == Self::Postgres
    }
}

/// The types that contracts and plans speak of. Engines map their own types to these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FieldType {
    Uuid,
    String,
    Text,
    Number,
    Decimal,
    Integer,
    Boolean,
    Date,
    Time,
    Timestamp,
    Json,
    Bytes,
    List,
    Struct,
    /// A type of the engine that has no word here. It can be selected, not compared.
    Other,
}

impl FieldType {
    pub fn is_numeric(self) -> bool {
        matches!(self, Self::Number | Self::Decimal | Self::Integer)
    }
    pub fn is_text(self) -> bool {
        matches!(self, Self::String | Self::Text)
    }
    pub fn is_temporal(self) -> bool {
        matches!(self, Self::Date | Self::Timestamp)
    }
}

/// One source with its tables.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SourceSchema {
    /// The source's name in the configuration; for Chat, the dataset's id.
    pub source: String,
    pub dialect: Dialect,
    pub tables: Vec<Table>,
    /// Changes whenever the data may have changed.
    pub data_version: String,
}

impl SourceSchema {
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|t| t.name.eq_ignore_ascii_case(name))
    }
}

/// A table as an engine has it, or a resource as a caller sees it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Table {
    pub name: String,
    pub description: String,
    pub columns: Vec<Column>,
    pub primary_key: Vec<String>,
    pub foreign_keys: Vec<ForeignKey>,
    /// Columns of those foreign keys that nobody declared: what they are called gives them away.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inferred: Vec<String>,
    /// Other words for the table, from its contract.
    pub synonyms: Vec<String>,
    /// Not known of views, nor where a row filter applies.
    pub row_count: Option<u64>,
    /// True when policy shows this caller only some of the rows.
    pub filtered: bool,
    /// Whether there may be rows that the reader may not see: filtered ones, or such as are marked as deleted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hides_rows: bool,
    /// The column that it is divided by, where its engine reads only the parts that a condition on it asks for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partition_by: Option<String>,
    /// The columns that rows with like values are kept together by, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub clustered_by: Vec<String>,
    /// A result that this very caller was given before, to be joined: no contract covers it, and they may read all of it.
    /// Only the house says so: no engine and nothing that is read from anywhere can.
    #[serde(skip)]
    pub given: bool,
}

impl Table {
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|c| c.name.eq_ignore_ascii_case(name))
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Column {
    pub name: String,
    #[serde(rename = "type")]
    pub kind: FieldType,
    /// The engine's own name of the type, as it was found.
    #[serde(default)]
    pub native: String,
    #[serde(default)]
    pub nullable: bool,
    #[serde(default)]
    pub description: String,
    /// Other words for it, from its contract.
    #[serde(default)]
    pub synonyms: Vec<String>,
    /// The only values it takes, where the contract lists them.
    #[serde(default)]
    pub values: Vec<String>,
    #[serde(default)]
    pub pii: bool,
}

impl Column {
    pub fn new(name: impl Into<String>, kind: FieldType) -> Self {
        Self {
            name: name.into(),
            kind,
            native: String::new(),
            nullable: true,
            description: String::new(),
            synonyms: Vec::new(),
            values: Vec::new(),
            pii: false,
        }
    }
}

/// `columns` of this table point at `target_columns` of `target`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForeignKey {
    pub columns: Vec<String>,
    pub target: String,
    pub target_columns: Vec<String>,
}
