//! A schema in few words: a line for a table, a line for a column.

use domain::{Column, Dialect, ForeignKey, SourceSchema, Table};
use std::fmt::Write;

pub(super) fn describe(view: &SourceSchema) -> String {
    let dialect = match view.dialect {
        Dialect::DuckDb | Dialect::Spark | Dialect::DataFusion => "DuckDB",
        Dialect::Sqlite => "SQLite",
        Dialect::Postgres => "PostgreSQL",
        Dialect::BigQuery => "BigQuery (GoogleSQL)",
    };
    let mut text = format!("Schema of `{}` (SQL of {dialect})\n", line(&view.source));
    for table in &view.tables {
        describe_table(&mut text, table, view);
    }
    text
}

fn describe_table(text: &mut String, table: &Table, view: &SourceSchema) {
    let mut notes = Vec::new();
    notes.extend(Some(line(&table.description)).filter(|described| !described.is_empty()));
    notes.extend(also(&table.synonyms));
    notes.extend(table.row_count.map(|rows| format!("{rows} rows")));
    notes.extend(table.filtered.then(|| "only the rows that this user may see".to_owned()));
    let notes = if notes.is_empty() { String::new() } else { format!(": {}", notes.join("; ")) };
    let _ = write!(text, "\n{}{notes}\n", line(&table.name));
    for column in table.columns.iter().filter(|column| !column.pii) {
        describe_column(text, table, column);
    }
    for ForeignKey { columns, target, target_columns } in &table.foreign_keys {
        let target_is_shown = view.table(target).is_some_and(|target| are_shown(target, target_columns));
        if are_shown(table, columns) && target_is_shown {
            let (from, to) = (line(&columns.join(", ")), line(&target_columns.join(", ")));
            let _ = writeln!(text, "- ({from}) references {} ({to})", line(target));
        }
    }
}

fn describe_column(text: &mut String, table: &Table, column: &Column) {
    let native = if column.native.is_empty() { format!("{:?}", column.kind) } else { column.native.clone() };
    let mut notes = vec![line(&native).to_lowercase()];
    notes.extend(table.primary_key.contains(&column.name).then(|| "primary key".to_owned()));
    notes.extend((!column.nullable).then(|| "not null".to_owned()));
    notes.extend(Some(line(&column.description)).filter(|described| !described.is_empty()));
    notes.extend((!column.values.is_empty()).then(|| format!("one of {}", quoted(&column.values))));
    notes.extend(also(&column.synonyms));
    let _ = writeln!(text, "- {}: {}", line(&column.name), notes.join("; "));
}

fn are_shown(table: &Table, names: &[String]) -> bool {
    names.iter().all(|name| table.column(name).is_some_and(|column| !column.pii))
}

fn also(synonyms: &[String]) -> Option<String> {
    (!synonyms.is_empty()).then(|| format!("also called {}", quoted(synonyms)))
}

fn quoted(words: &[String]) -> String {
    words.iter().map(|word| format!("`{}`", line(word))).collect::<Vec<_>>().join(", ")
}

/// Names and descriptions come from files and databases: none of them may begin a line of its own.
fn line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('`', "'")
}
