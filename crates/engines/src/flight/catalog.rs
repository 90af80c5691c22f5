//! The tables of an engine, each with the columns that a statement over it would have.

use super::columns;
use super::connect::Connection;
use super::reframe::unreadable;
use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_flight::IpcMessage;
use arrow_schema::{DataType, Schema};
use domain::{Dialect, Fault, Table};
use std::collections::BTreeMap;

/// The tables of the databases that are shown.
pub async fn tables(connection: &Connection, dialect: Dialect, databases: &[String]) -> Result<Vec<Table>, Fault> {
    match dialect {
        Dialect::DataFusion => by_protocol(connection, databases).await,
        _ => by_statements(connection, databases).await,
    }
}

/// The database whose tables go by their plain names.
pub fn usual(dialect: Dialect) -> &'static str {
    if dialect == Dialect::DataFusion { "public" } else { "default" }
}

/// As Spark's SQL lists them: Sail does not answer the protocol's own question.
async fn by_statements(connection: &Connection, databases: &[String]) -> Result<Vec<Table>, Fault> {
    let mut tables = Vec::new();
    for database in databases {
        let info = connection.execute(&format!("SHOW TABLES IN `{database}`")).await?;
        let shown = connection.all(info).await?;
        for table in texts(&shown, "tableName")?.into_iter().filter(|table| can_be_said(table)) {
            let all = format!("SELECT * FROM `{database}`.`{table}` LIMIT 0");
            let schema = connection.execute(&all).await?.try_decode_schema().map_err(|_| unreadable())?;
            tables.push(one(Dialect::Spark, database, table, &schema));
        }
    }
    Ok(tables)
}

/// As the protocol has it.
async fn by_protocol(connection: &Connection, databases: &[String]) -> Result<Vec<Table>, Fault> {
    let batches = connection.all(connection.tables().await?).await?;
    let mut found: BTreeMap<(String, String), Option<Schema>> = BTreeMap::new();
    for batch in &batches {
        let (places, names) = (text(batch, "db_schema_name")?, text(batch, "table_name")?);
        let schemas = batch.column_by_name("table_schema").ok_or_else(unreadable)?;
        let schemas = arrow_cast::cast(schemas, &DataType::Binary).map_err(|_| unreadable())?;
        for ((place, name), bytes) in places.into_iter().zip(names).zip(schemas.as_binary::<i32>()) {
            let schema = Schema::try_from(IpcMessage(bytes.unwrap_or_default().to_vec().into()));
            let schema = schema.map_err(|_| unreadable())?;
            // In two catalogs: which of them a statement means could not be told.
            found.entry((place, name)).and_modify(|known| *known = None).or_insert(Some(schema));
        }
    }
    let shown = found.into_iter().filter(|((place, name), _)| databases.contains(place) && can_be_said(name));
    Ok(shown.filter_map(|((place, name), schema)| Some(one(Dialect::DataFusion, &place, name, &schema?))).collect())
}

fn one(dialect: Dialect, database: &str, table: String, schema: &Schema) -> Table {
    let name = if database == usual(dialect) { table } else { format!("{database}.{table}") };
    Table { name, columns: columns::of(schema), ..Table::default() }
}

/// A name that cannot be quoted, or would be taken for two, is not shown.
fn can_be_said(table: &str) -> bool {
    !table.contains(['`', '"', '\\', '.']) && !table.chars().any(char::is_control)
}

/// The texts of one column.
pub fn texts(batches: &[RecordBatch], column: &str) -> Result<Vec<String>, Fault> {
    let found: Result<Vec<Vec<String>>, Fault> = batches.iter().map(|batch| text(batch, column)).collect();
    found.map(|texts| texts.concat())
}

fn text(batch: &RecordBatch, column: &str) -> Result<Vec<String>, Fault> {
    let column = batch.column_by_name(column).ok_or_else(unreadable)?;
    let texts = arrow_cast::cast(column, &DataType::Utf8).map_err(|_| unreadable())?;
    Ok(texts.as_string::<i32>().iter().map(|text| text.unwrap_or_default().to_owned()).collect())
}
