//! Scan → SQL text over one resource.
//!
//! As with plans, what comes out is checked like anybody's SQL: there the table becomes its readable columns and rows,
//! and the LIMIT is capped.

mod read;

use crate::access::{Readable, Reader};
use crate::predicate::{Target, Writer, invalid};
use crate::sql::refuse::clip;
use crate::suggest::did_you_mean;
use domain::{Fault, Flavour, Kind, Limits, Scan};
use read::{Read, Reading};

/// Validates a scan for this caller and writes it in the SQL of the source's engine.
pub fn compile(reader: Reader<'_>, scan: &Scan, limits: &Limits) -> Result<String, Fault> {
    let readable = resource(reader, scan)?;
    if let Some(limit) = scan.limit.filter(|limit| *limit > limits.rows) {
        let message = format!("a limit of {limit} rows is more than {}", limits.rows);
        return Err(
            invalid("limit_too_large", message, "ask for fewer rows").detail("max_limit", limits.rows.to_string())
        );
    }
    let target = Target::of(reader.source.dialect);
    if target == Target::BigQuery && scan.flavour != Flavour::BigQuery {
        return Err(invalid("flavour", "this table is asked in BigQuery's SQL", "see `sql_flavor` in the catalog"));
    }
    let writer = Writer { flavour: scan.flavour, target };
    let read = Reading { writer, readable: &readable }.scan(scan)?;
    Ok(statement(&read, readable.name, scan.limit))
}

/// The same scan in its own flavour, as it was understood.
pub fn canonical(reader: Reader<'_>, scan: &Scan) -> Result<Scan, Fault> {
    let readable = resource(reader, scan)?;
    let writer = Writer { flavour: scan.flavour, target: Target::own(scan.flavour) };
    let Read { select, filter, order_by } = Reading { writer, readable: &readable }.scan(scan)?;
    let select = select.into_iter().map(|(path, _)| path).collect();
    Ok(Scan { table: readable.name.to_owned(), select, filter, order_by, limit: scan.limit, flavour: scan.flavour })
}

fn resource<'a>(reader: Reader<'a>, scan: &Scan) -> Result<Readable<'a>, Fault> {
    reader.resource(&scan.table).ok_or_else(|| {
        let names = reader.resource_names();
        let hint = did_you_mean(&scan.table, names.iter().map(String::as_str), "tables");
        let table = clip(&scan.table);
        let message = format!("unknown table `{table}`");
        Fault::new(Kind::NotFound, "scan.unknown_table", message).hint(hint).detail("table", table)
    })
}

fn statement(read: &Read, table: &str, limit: Option<u64>) -> String {
    let columns: Vec<String> = read.select.iter().map(|(path, name)| format!("{path} AS \"{name}\"")).collect();
    let columns = if columns.is_empty() { "*".to_owned() } else { columns.join(", ") };
    let mut sql = format!("SELECT {columns} FROM \"{table}\"");
    if let Some(filter) = &read.filter {
        sql.push_str(&format!(" WHERE {filter}"));
    }
    if !read.order_by.is_empty() {
        sql.push_str(&format!(" ORDER BY {}", read.order_by.join(", ")));
    }
    if let Some(limit) = limit {
        sql.push_str(&format!(" LIMIT {limit}"));
    }
    sql
}
