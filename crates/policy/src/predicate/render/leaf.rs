//! Names, literals, casts and patterns.

use super::{Level, Target, Writer, Written};
use crate::plan::instant;
use crate::predicate::kind::Kind;
use crate::predicate::refuse::no_translation;
use crate::predicate::tree::{Node, Path, Step};
use crate::predicate::types::Type;
use domain::{Fault, Flavour};

impl Writer {
    /// A path as it is compared and ordered by.
    pub fn path(&self, path: &Path) -> Written {
        let text = self.stored(path)?;
        // Moments are kept there in many forms; these can be compared.
        Ok(if self.target == Target::Sqlite && path.kind == Kind::Moment { instant(&text) } else { text })
    }

    /// A path as it is kept.
    pub fn stored(&self, path: &Path) -> Written {
        let mut text = self.quoted(&path.column);
        for step in &path.steps {
            match (self.target, step) {
                (Target::BigQuery, Step::Field(name)) => text.push_str(&format!(".{}", self.quoted(name))),
                (Target::BigQuery, Step::Element { index, safe }) => {
                    let safe = if *safe { "SAFE_" } else { "" };
                    text.push_str(&format!("[{safe}OFFSET({index})]"));
                }
                // Not `.name`: that could be a table's column.
                (Target::DuckDb, Step::Field(name)) => text.push_str(&format!("['{name}']")),
                (Target::DuckDb, Step::Element { index, .. }) => {
                    let number = if *index < 0 { *index } else { index + 1 };
                    text.push_str(&format!("[{number}]"));
                }
                (Target::Postgres, Step::Element { index, .. }) if *index >= 0 => {
                    text.push_str(&format!("[{}]", index + 1));
                }
                (Target::Sqlite | Target::Postgres, _) => return Err(no_translation(&path.column, self.target.name())),
            }
        }
        Ok(text)
    }

    pub fn quoted(&self, name: &str) -> String {
        match self.target {
            Target::BigQuery => format!("`{name}`"),
            Target::DuckDb | Target::Sqlite | Target::Postgres => format!("\"{name}\""),
        }
    }

    pub(super) fn text(&self, text: &str) -> String {
        if self.target != Target::BigQuery {
            return format!("'{}'", text.replace('\'', "''"));
        }
        let mut escaped = String::with_capacity(text.len() + 2);
        for c in text.chars() {
            match c {
                '\\' | '\'' => escaped.extend(['\\', c]),
                '\n' => escaped.push_str("\\n"),
                '\r' => escaped.push_str("\\r"),
                '\t' => escaped.push_str("\\t"),
                c if c.is_ascii_control() => escaped.push_str(&format!("\\x{:02x}", u32::from(c))),
                c => escaped.push(c),
            }
        }
        format!("'{escaped}'")
    }

    pub(super) fn temporal(&self, to: Type, text: &str) -> Written {
        let word = match (self.target, to) {
            (Target::Sqlite, Type::Date | Type::Time) => return Ok(self.text(text)),
            (Target::Sqlite, _) => {
                // What is not written in UTC, SQLite would not read.
                let plain = text.trim_end_matches("UTC").trim_end_matches(['Z', 'z']).trim_end();
                let is_plain = plain.chars().skip(10).all(|c| c.is_ascii_digit() || matches!(c, ' ' | 'T' | ':' | '.'));
                return match is_plain {
                    true => Ok(instant(&self.text(plain))),
                    false => Err(no_translation(text, self.target.name())),
                };
            }
            (_, Type::Date) => "DATE",
            (_, Type::Time) => "TIME",
            (Target::BigQuery, Type::Datetime) => "DATETIME",
            (Target::DuckDb | Target::Postgres, Type::Timestamp) if self.flavour == Flavour::DuckDb => "TIMESTAMPTZ",
            (_, _) => "TIMESTAMP",
        };
        Ok(format!("{word} {}", self.text(text)))
    }

    pub(super) fn cast(&self, of: &Node, to: Type, safe: bool) -> Written {
        let text = self.write(of)?;
        if self.target == Target::Sqlite {
            return self.sqlite_cast((&text, of.kind()), to, safe);
        }
        if self.target == Target::Postgres {
            return self.postgres_cast(&text, to, safe);
        }
        let cast = match (safe, self.target) {
            (false, _) => "CAST",
            (true, Target::BigQuery) => "SAFE_CAST",
            (true, _) => "TRY_CAST",
        };
        Ok(format!("{cast}({text} AS {})", self.type_name(to)?))
    }

    /// SQLite makes of what it cannot cast a 0: nothing that could be safe.
    fn sqlite_cast(&self, (text, of): (&str, Option<Kind>), to: Type, safe: bool) -> Written {
        let name = match to {
            Type::Date => return Ok(format!("date({text})")),
            Type::Datetime | Type::Timestamp => return Ok(instant(text)),
            Type::Text => "TEXT",
            // It would cut off what the others round. Whole numbers are left alone: as a fraction a large one is another.
            Type::Int | Type::Int32 if !safe && of == Some(Kind::Integer) => "INTEGER",
            Type::Int | Type::Int32 if !safe => return Ok(format!("CAST(round({text}) AS INTEGER)")),
            Type::Float if !safe => "REAL",
            Type::Numeric(None) if !safe => "NUMERIC",
            _ => return Err(no_translation("CAST to this type", self.target.name())),
        };
        Ok(format!("CAST({text} AS {name})"))
    }

    fn type_name(&self, to: Type) -> Result<String, Fault> {
        let big = self.target == Target::BigQuery;
        let pick = |bigquery: &str, duckdb: &str| if big { bigquery } else { duckdb }.to_owned();
        Ok(match to {
            Type::Int => pick("INT64", "BIGINT"),
            Type::Int32 => "INTEGER".to_owned(),
            Type::Int16 => "SMALLINT".to_owned(),
            Type::Int8 => "TINYINT".to_owned(),
            Type::Float => pick("FLOAT64", "DOUBLE"),
            Type::Float32 => "REAL".to_owned(),
            Type::Numeric(Some((precision, scale))) => format!("{}({precision}, {scale})", pick("NUMERIC", "DECIMAL")),
            // BigQuery's has nine digits behind the point, DuckDB's own three.
            Type::Numeric(None) if self.flavour == Flavour::BigQuery => pick("NUMERIC", "DECIMAL(38, 9)"),
            Type::Numeric(None) => "DECIMAL".to_owned(),
            Type::BigNumeric if big => "BIGNUMERIC".to_owned(),
            Type::BigNumeric => return Err(no_translation("BIGNUMERIC", self.target.name())),
            Type::Text => pick("STRING", "VARCHAR"),
            Type::Bytes => pick("BYTES", "BLOB"),
            Type::Bool => pick("BOOL", "BOOLEAN"),
            Type::Date => "DATE".to_owned(),
            Type::Datetime => pick("DATETIME", "TIMESTAMP"),
            // Over a local table a moment of BigQuery's is one in UTC.
            Type::Timestamp if self.flavour == Flavour::DuckDb => "TIMESTAMPTZ".to_owned(),
            Type::Timestamp => "TIMESTAMP".to_owned(),
            Type::Time => "TIME".to_owned(),
        })
    }

    pub(super) fn like(
        &self,
        of: &Node,
        pattern: &Node,
        escape: Option<char>,
        any_case: bool,
        negated: bool,
    ) -> Result<(Level, String), Fault> {
        let text = self.at(Level::Operator, of)?;
        let not = if negated { " NOT" } else { "" };
        if let (Target::Sqlite, false) = (self.target, any_case) {
            // Its LIKE takes capitals for small letters; GLOB does not.
            let backslash = (self.flavour == Flavour::BigQuery).then_some('\\');
            let Node::Text(pattern) = pattern else { return Err(no_translation("LIKE", self.target.name())) };
            let glob = format!("{text} GLOB {}", self.text(&as_glob(pattern, escape.or(backslash))));
            return Ok(if negated { (Level::Not, format!("NOT ({glob})")) } else { (Level::Comparison, glob) });
        }
        let word = if any_case && matches!(self.target, Target::DuckDb | Target::Postgres) { "ILIKE" } else { "LIKE" };
        // A backslash escapes in BigQuery without being asked to.
        let plain = matches!(pattern, Node::Text(text) if !text.contains('\\'));
        let backslash = (self.flavour == Flavour::BigQuery && self.target == Target::DuckDb && !plain).then_some('\\');
        let escape = match escape.or(backslash) {
            Some(c) => format!(" ESCAPE '{c}'"),
            // A backslash escapes there without being asked to.
            None if self.target == Target::Postgres && !plain => " ESCAPE ''".to_owned(),
            None => String::new(),
        };
        let pattern = self.at(Level::Operator, pattern)?;
        Ok((Level::Comparison, format!("{text}{not} {word} {pattern}{escape}")))
    }
}

/// A pattern of LIKE as one of GLOB.
fn as_glob(pattern: &str, escape: Option<char>) -> String {
    let mut glob = String::with_capacity(pattern.len());
    let mut characters = pattern.chars();
    while let Some(c) = characters.next() {
        let (c, escaped) = match Some(c) == escape {
            true => (characters.next().unwrap_or(c), true),
            false => (c, false),
        };
        match c {
            '%' if !escaped => glob.push('*'),
            '_' if !escaped => glob.push('?'),
            '*' | '?' | '[' => glob.extend(['[', c, ']']),
            c => glob.push(c),
        }
    }
    glob
}
