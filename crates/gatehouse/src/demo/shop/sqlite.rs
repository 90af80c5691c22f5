//! `shop` as one SQLite file, never to be written again.

use super::super::files::{READ_ONLY, place};
use super::{DateTime, Shop};
use rusqlite::{Connection, Transaction, params};
use std::io;
use std::path::Path;

const TABLES: &str = include_str!("../../../../../demo/shop.sql");

pub fn write(shop: &Shop, path: &Path) -> io::Result<()> {
    place(path, READ_ONLY, |draft| fill(shop, draft).map_err(io::Error::other))
}

fn fill(shop: &Shop, draft: &Path) -> rusqlite::Result<()> {
    let mut connection = Connection::open(draft)?;
    // The file is a draft until it is renamed: a journal could only outlive it. The mode is not kept
    // in the file (only WAL is): readers find DELETE.
    connection.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA foreign_keys = ON;")?;
    let transaction = connection.transaction()?;
    transaction.execute_batch(TABLES)?;
    insert(shop, &transaction)?;
    transaction.commit()?;
    connection.close().map_err(|(_, error)| error)
}

fn insert(shop: &Shop, transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    let mut insert = transaction.prepare("INSERT INTO customers VALUES (?, ?, ?, ?, ?)")?;
    for c in &shop.customers {
        insert.execute(params![c.id, c.name, c.email, c.tier, iso(c.created_at)])?;
    }
    let mut insert = transaction.prepare("INSERT INTO products VALUES (?, ?, ?, ?)")?;
    for p in &shop.products {
        insert.execute(params![p.id, p.name, p.category, euros(p.price)])?;
    }
    let mut insert = transaction.prepare("INSERT INTO orders VALUES (?, ?, ?, ?)")?;
    for o in &shop.orders {
        insert.execute(params![o.id, o.customer_id, o.status, iso(o.created_at)])?;
    }
    let mut insert = transaction.prepare("INSERT INTO order_items VALUES (?, ?, ?, ?, ?)")?;
    for i in &shop.items {
        insert.execute(params![i.id, i.order_id, i.product_id, i.quantity, euros(i.unit_price)])?;
    }
    Ok(())
}

fn iso(at: DateTime) -> String {
    format!("{at}Z")
}

fn euros(cents: i64) -> f64 {
    cents as f64 / 100.0
}
