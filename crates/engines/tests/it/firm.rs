//! The law firm of policy's contracts, with real data in it.
//!
//! Each table can be had as DuckDB's own table, as a Parquet file or in a SQLite database. What a role may not see can be
//! put in another way ([`Firm::otherwise_for`]): no answer to that role may differ then.

use domain::{Caller, Dialect};
use engines::{FileTable, Source, SourceKind};
use std::path::Path;

/// A table: its columns with their types in DuckDB and SQLite, and rows of SQL literals.
#[derive(Clone)]
pub struct Table {
    pub name: &'static str,
    columns: &'static [(&'static str, &'static str, &'static str)],
    pub rows: Vec<Vec<String>>,
}

#[derive(Clone)]
pub struct Firm {
    pub tables: Vec<Table>,
}

const CLIENTS: &[(&str, &str, &str)] = &[
    ("id", "INTEGER", "INTEGER"),
    ("name", "VARCHAR", "TEXT"),
    ("email", "VARCHAR", "TEXT"),
    ("region", "VARCHAR", "TEXT"),
    ("since", "DATE", "DATE"),
];
const CASES: &[(&str, &str, &str)] = &[
    ("id", "UUID", "TEXT"),
    ("case_no", "VARCHAR", "TEXT"),
    ("client_id", "INTEGER", "INTEGER"),
    ("owner", "VARCHAR", "TEXT"),
    ("status", "VARCHAR", "TEXT"),
    ("priority", "INTEGER", "INTEGER"),
    ("amount", "DECIMAL(12,2)", "DECIMAL"),
    ("is_urgent", "BOOLEAN", "BOOLEAN"),
    ("opened_on", "DATE", "DATE"),
    ("created_at", "TIMESTAMP", "TIMESTAMP"),
    ("payload", "VARCHAR", "JSON"),
    ("secret_note", "VARCHAR", "TEXT"),
    ("not_in_contract", "VARCHAR", "TEXT"),
];
const PAYMENTS: &[(&str, &str, &str)] =
    &[("id", "INTEGER", "INTEGER"), ("case_id", "UUID", "TEXT"), ("paid", "DECIMAL(12,2)", "DECIMAL")];
const OFFICES: &[(&str, &str, &str)] =
    &[("id", "INTEGER", "INTEGER"), ("city", "VARCHAR", "TEXT"), ("head", "VARCHAR", "TEXT")];
const AUDIT_LOG: &[(&str, &str, &str)] = &[("id", "INTEGER", "INTEGER"), ("entry", "VARCHAR", "TEXT")];

/// The people who own cases; the agent of the tests among them.
const OWNERS: [&str; 4] = ["ann@example.com", "bob@example.com", "eve@example.com", "O'Hara"];
const STATES: [&str; 3] = ["ACTIVE", "IN_REVIEW", "CLOSED"];
const NAMES: [&str; 6] = ["Acme Inc", "Baxter", "Carol & Co", "Ada's", "Žluťoučký", "acme inc"];

fn text(value: &str) -> String {
    format!("'{}'", value.replace('\'', "''"))
}

/// A row of `cases`. Numbers vary with `i`; `bait` is what a hidden row looks like: every value that could fail.
fn case(i: usize, owner: &str, bait: bool) -> Vec<String> {
    let number = |n: usize| n.to_string();
    let or_null = |null: bool, value: String| if null { "NULL".to_owned() } else { value };
    vec![
        text(&format!("0192f0c1-2345-7abc-8def-{:012x}", if bait { i + 1_000_000 } else { i })),
        text(&if bait { format!("not a number {i}") } else { number(1000 + i) }),
        number(1 + i % 12),
        text(owner),
        text(STATES[i % STATES.len()]),
        if bait { number(2_147_483_647 - i % 2) } else { or_null(i % 7 == 3, number(1 + i % 5)) },
        if bait {
            format!("-{}", 9_999_999_999 - i)
        } else {
            or_null(i % 11 == 5, format!("{}.25", 10 + (i * 37) % 5000))
        },
        if i.is_multiple_of(3) { "TRUE".to_owned() } else { "FALSE".to_owned() },
        text(&format!("2024-{:02}-{:02}", 1 + i % 12, 1 + i % 28)),
        text(&format!("2024-{:02}-{:02} {:02}:30:00", 1 + i % 12, 1 + i % 28, i % 24)),
        if bait {
            text("{broken")
        } else {
            or_null(i % 5 == 4, text(&format!("{{\"kind\": \"k{}\", \"a\": {{\"b\": {i}}}}}", i % 3)))
        },
        text(&format!("note {i}")),
        text(&format!("internal {i}")),
    ]
}

impl Firm {
    pub fn new() -> Self {
        let clients = (1..=12).map(|i| {
            let name = format!("{} {}", NAMES[i % NAMES.len()], i / NAMES.len());
            let email = text(&format!("client{i}@example.com"));
            let region = text(if i % 3 == 0 { "SOUTH" } else { "NORTH" });
            vec![i.to_string(), text(&name), email, region, text(&format!("20{:02}-05-{:02}", 10 + i, i))]
        });
        let cases = (0..60).map(|i| case(i, OWNERS[i % OWNERS.len()], false));
        let payments = (0..20)
            .map(|i| vec![i.to_string(), text(&format!("0192f0c1-2345-7abc-8def-{i:012x}")), format!("{}.5", i * 10)]);
        let offices = (1..=5).map(|i| {
            vec![i.to_string(), text(["Oslo", "NORTH", "Rome", "Lima", "Bonn"][i - 1]), text(&format!("head {i}"))]
        });
        let audit_log = (0..5).map(|i| vec![i.to_string(), text(&format!("entry {i}"))]);
        let table = |name, columns, rows: Vec<_>| Table { name, columns, rows };
        Self {
            tables: vec![
                table("clients", CLIENTS, clients.collect()),
                table("cases", CASES, cases.collect()),
                table("tbl_payments", PAYMENTS, payments.collect()),
                table("offices", OFFICES, offices.collect()),
                table("audit_log", AUDIT_LOG, audit_log.collect()),
            ],
        }
    }

    fn table(&mut self, name: &str) -> &mut Table {
        self.tables.iter_mut().find(|t| t.name == name).unwrap()
    }

    /// The same firm to this role, with everything changed that the contracts hide from it.
    pub fn otherwise_for(&self, role: &str) -> Self {
        let mut other = self.clone();
        other.table("tbl_payments").rows.truncate(7);
        other.table("audit_log").rows.clear();
        other.table("offices").rewrite("head", |i| format!("'{}'", "x".repeat(i * 9)));
        other
            .table("cases")
            .rewrite("not_in_contract", |i| if i % 2 == 0 { "NULL".to_owned() } else { "'7'".to_owned() });
        match role {
            "analyst" => {
                other
                    .table("cases")
                    .rewrite("secret_note", |i| if i % 3 == 0 { "NULL".to_owned() } else { text("{broken") });
                other.table("clients").rewrite("email", |i| format!("'{}'", 100 - i));
            }
            "agent" => other.table("cases").rehide(|row| row[3] == text("bob@example.com")),
            "lead" => other
                .table("cases")
                .rehide(|row| row[3] == text("eve@example.com") && ["1", "2"].contains(&row[2].as_str())),
            other => panic!("what does `{other}` not see?"),
        }
        other
    }

    /// SQL that makes the tables with their rows.
    pub fn create(&self, dialect: Dialect) -> String {
        let mut sql = String::new();
        for table in &self.tables {
            let columns: Vec<String> = table
                .columns
                .iter()
                .map(|(name, duck, sqlite)| {
                    format!("{name} {}", if dialect == Dialect::Sqlite { sqlite } else { duck })
                })
                .collect();
            sql.push_str(&format!("CREATE TABLE {} ({});\n", table.name, columns.join(", ")));
            if !table.rows.is_empty() {
                let rows: Vec<String> = table.rows.iter().map(|row| format!("({})", row.join(", "))).collect();
                sql.push_str(&format!("INSERT INTO {} VALUES {};\n", table.name, rows.join(",\n")));
            }
        }
        sql
    }

    /// With tables of DuckDB's own, so that its plans name them.
    pub fn duckdb(&self) -> duckdb::Connection {
        let connection = duckdb::Connection::open_in_memory().unwrap();
        connection.execute_batch(&self.create(Dialect::DuckDb)).unwrap();
        connection
    }

    pub fn sqlite(&self) -> rusqlite::Connection {
        let connection = rusqlite::Connection::open_in_memory().unwrap();
        connection.execute_batch(&self.create(Dialect::Sqlite)).unwrap();
        connection
    }

    /// As a source of the house: one Parquet file for each table, or one SQLite database.
    pub fn source(&self, dialect: Dialect, dir: &Path) -> Source {
        let kind = match dialect {
            Dialect::DuckDb => {
                let connection = self.duckdb();
                let file = |table: &Table| {
                    let path = dir.join(format!("{}.parquet", table.name));
                    connection.execute_batch(&format!("COPY {} TO '{}'", table.name, path.display())).unwrap();
                    FileTable::new(table.name, path)
                };
                SourceKind::Files(self.tables.iter().map(file).collect())
            }
            Dialect::Sqlite => {
                let path = dir.join("crm.sqlite");
                rusqlite::Connection::open(&path).unwrap().execute_batch(&self.create(Dialect::Sqlite)).unwrap();
                SourceKind::Sqlite(path)
            }
            other => panic!("no worker reads {other:?}"),
        };
        Source { name: "crm".to_owned(), kind }
    }
}

impl Table {
    fn rewrite(&mut self, column: &str, value: impl Fn(usize) -> String) {
        let at = self.columns.iter().position(|(name, ..)| *name == column).unwrap();
        for (i, row) in self.rows.iter_mut().enumerate() {
            row[at] = value(i);
        }
    }

    /// Keeps the rows that are seen, in their order, and puts others around them: many, and all of them bait.
    fn rehide(&mut self, seen: impl Fn(&[String]) -> bool) {
        let hidden = |n: usize| (0..n).map(move |i| case(n * 7 + i, ["eve", "ann@example.com", "zoe"][i % 3], true));
        let visible = std::mem::take(&mut self.rows).into_iter().filter(|row| seen(row));
        self.rows.extend(hidden(3000));
        for (i, row) in visible.enumerate() {
            self.rows.push(row);
            self.rows.extend(hidden(i % 4));
        }
    }
}

/// Whom the contracts treat differently.
pub fn callers() -> [Caller; 3] {
    let mut lead = Caller::new("dan@example.com", "lead");
    lead.claims.insert("team".to_owned(), "eve@example.com".to_owned());
    [Caller::new("ann@example.com", "analyst"), Caller::new("bob@example.com", "agent"), lead]
}
