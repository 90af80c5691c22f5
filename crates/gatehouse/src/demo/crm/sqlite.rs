//! `crm` as one SQLite file, to be written by Records.

use super::super::files::{READABLE, place};
use super::{Crm, DateTime};
use rusqlite::{Connection, Transaction, params};
use std::io;
use std::path::Path;

const TABLES: &str = include_str!("../../../../../demo/crm.sql");

pub fn write(crm: &Crm, path: &Path) -> io::Result<()> {
    place(path, READABLE, |draft| fill(crm, draft).map_err(io::Error::other))
}

fn fill(crm: &Crm, draft: &Path) -> rusqlite::Result<()> {
    let mut connection = Connection::open(draft)?;
    // The file is a draft until it is renamed: a journal could only outlive it.
    connection.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA foreign_keys = ON;")?;
    let transaction = connection.transaction()?;
    transaction.execute_batch(TABLES)?;
    insert(crm, &transaction)?;
    transaction.commit()?;
    connection.close().map_err(|(_, error)| error)
}

fn insert(crm: &Crm, transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    let mut insert = transaction.prepare("INSERT INTO cases VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")?;
    for c in &crm.cases {
        let (created, closed, deleted) = (iso(c.created_at), c.closed_at.map(iso), c.deleted_at.map(iso));
        let updated = closed.clone().or(deleted.clone()).unwrap_or_else(|| created.clone());
        let due = c.due_date.map(|d| d.to_string());
        insert.execute(params![
            c.id,
            c.case_no,
            c.client_id,
            c.title,
            c.status,
            c.priority,
            c.assigned_to,
            c.claim_amount,
            due,
            c.client_email,
            created,
            closed,
            updated,
            deleted
        ])?;
    }
    let mut insert = transaction.prepare(
        "INSERT INTO client_communications (id, case_id, direction, channel, subject, sent_by, recipient_email, sent_at) \
         VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    )?;
    for c in &crm.communications {
        insert.execute(params![
            c.id,
            c.case_id,
            c.direction,
            c.channel,
            c.subject,
            c.sent_by,
            c.recipient_email,
            iso(c.sent_at)
        ])?;
    }
    let mut insert = transaction.prepare("INSERT INTO document_analysis VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")?;
    for d in &crm.documents {
        insert.execute(params![
            d.id,
            d.case_id,
            d.document_name,
            d.document_type,
            d.status,
            d.risk_level,
            d.confidence,
            d.page_count,
            d.reviewed,
            d.summary,
            d.analysed_at.map(iso)
        ])?;
    }
    Ok(())
}

fn iso(at: DateTime) -> String {
    format!("{at}.000Z")
}
