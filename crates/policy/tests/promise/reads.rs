//! What an approved statement reads, found by parsing it once more and by nothing else of policy's.

use super::house::{READERS, Reader};
use domain::{Caller, Dialect, Value};
use policy::Approved;
use sqlparser::ast::{Expr, ObjectName, Query, SetExpr, Statement, TableFactor, Visit, Visitor};
use sqlparser::parser::Parser;
use std::ops::ControlFlow;

#[path = "../../src/sql/dialect.rs"]
mod dialect;

/// A long statement may be as deep as policy lets it be, and whatever visits it recurses that deep.
fn with_stack(approved: &Approved, work: impl FnOnce()) {
    if approved.sql().len() < 1_000 { work() } else { stacker::grow(256 * 1024 * 1024, work) }
}

/// Each table is read in one place only, the subquery over its readable columns and rows; the same tree comes back.
pub fn only_what_is_granted(approved: &Approved, caller: &Caller) {
    let reader = READERS.iter().find(|reader| reader.role == caller.role).expect("a known role");
    with_stack(approved, || {
        let query = parsed(approved);
        let mut reads = Reads { approved, caller, reader, fenced: 0, named: 0 };
        let _: ControlFlow<()> = query.visit(&mut reads);
        assert_eq!(reads.fenced, reads.named, "a table is read outside of its subquery: {}", approved.sql());
        let tables = approved.tables();
        assert!(tables.iter().all(|t| reader.tables.iter().any(|(name, _)| name == t)), "{tables:?}");
    });
}

/// `SELECT count(*)` over one table with a row filter: whatever the filter says, it stays inside.
pub fn one_filtered_table(approved: &Approved) {
    with_stack(approved, || {
        let query = parsed(approved);
        assert!(approved.sql().ends_with(") AS cases LIMIT 1001"), "{}", approved.sql());
        let mut counts = Counts::default();
        let _: ControlFlow<()> = query.visit(&mut counts);
        assert_eq!((counts.queries, counts.relations), (2, 1), "{}", approved.sql());
        assert!(approved.sql().contains(r#" FROM "main"."cases" WHERE ("#), "{}", approved.sql());
        assert_eq!(approved.filtered_by(), ["cases"]);
    });
}

/// One query around the subquery over the readable part of `events`, and no other.
pub fn one_scan(approved: &Approved, caller: &Caller) {
    with_stack(approved, || {
        let query = parsed(approved);
        let mut counts = Counts::default();
        let _: ControlFlow<()> = query.visit(&mut counts);
        let sql = match (caller.role.as_str(), approved.dialect()) {
            ("agent", Dialect::DuckDb) => without_fence(approved.sql()),
            _ => approved.sql().to_owned(),
        };
        assert_eq!((counts.queries, counts.relations), (2, 1), "{sql}");
        let (_, fenced) = sql.split_once(r#" FROM (SELECT "id", "event_date", "#).expect("a subquery over the table");
        let (columns, after) = fenced.split_once(r#" FROM "main"."events""#).expect("the table");
        assert!(!columns.contains("secret") && !columns.contains("not_in_contract"), "{sql}");
        let rows = match (caller.role.as_str(), approved.dialect()) {
            ("agent", Dialect::DuckDb) => r#" WHERE (owner = $1)) AS "events""#,
            ("agent", Dialect::Sqlite) => r#" WHERE (owner = ?1) LIMIT -1) AS "events""#,
            _ => r#") AS "events""#,
        };
        assert!(after.starts_with(rows), "{sql}");
        assert_eq!(approved.filtered_by().len(), usize::from(caller.role == "agent"));
        assert_eq!(approved.tables(), ["events"]);
    });
}

/// The one query that the text is, the same again when it is written and read once more.
fn parsed(approved: &Approved) -> Query {
    let read = |text: &str| -> Query {
        let mut statements = Parser::new(dialect::of(approved.dialect()))
            .with_recursion_limit(10_000)
            .try_with_sql(text)
            .and_then(|mut parser| parser.parse_statements())
            .unwrap_or_else(|error| panic!("{error}: {text}"));
        match (statements.pop(), statements.is_empty()) {
            (Some(Statement::Query(query)), true) => *query,
            _ => panic!("not one query: {text}"),
        }
    };
    let query = read(approved.sql());
    assert_eq!(read(&query.to_string()), query, "{}", approved.sql());
    query
}

struct Reads<'a> {
    approved: &'a Approved,
    caller: &'a Caller,
    reader: &'a Reader,
    /// Subqueries over the readable part of a table.
    fenced: usize,
    /// Mentions of a table.
    named: usize,
}

impl Visitor for Reads<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        if let SetExpr::Select(select) = query.body.as_ref()
            && let [only] = select.from.as_slice()
            && let TableFactor::Table { name, .. } = &only.relation
            && let [_, table] = parts(name).as_slice()
        {
            self.fenced += 1;
            let read = match (self.reader.role, table.to_owned(), self.approved.dialect()) {
                ("agent", "cases", Dialect::DuckDb) => without_fence(&query.to_string()),
                _ => query.to_string(),
            };
            assert!(self.expected(table).contains(&read), "`{query}` in {}", self.approved.sql());
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_relation(&mut self, name: &ObjectName) -> ControlFlow<()> {
        let functions = ["generate_series", "range", "unnest", "json_each", "json_tree"];
        match parts(name).as_slice() {
            ["main", _] => self.named += 1,
            [one] if one.starts_with("cte:") || functions.contains(&one.to_lowercase().as_str()) => {}
            _ => panic!("`{name}` is read in {}", self.approved.sql()),
        }
        ControlFlow::Continue(())
    }
}

impl Reads<'_> {
    /// The ways in which this caller may read a table.
    fn expected(&self, table: &str) -> Vec<String> {
        let granted = self.reader.tables.iter().find(|(name, _)| *name == table);
        let (_, columns) = granted.unwrap_or_else(|| panic!("`{table}` is read in {}", self.approved.sql()));
        let all = format!("SELECT {columns} FROM \"main\".\"{table}\"");
        if (self.reader.role, table) != ("agent", "cases") {
            return vec![all];
        }
        let own = Value::Text(self.caller.actor.clone());
        let places = self.approved.params().iter().enumerate().filter(|(_, value)| **value == own);
        places
            .map(|(place, _)| match self.approved.dialect() {
                Dialect::DuckDb | Dialect::Spark | Dialect::DataFusion => {
                    format!("{all} WHERE (owner = ${})", place + 1)
                }
                Dialect::Sqlite => format!("{all} WHERE (owner = ?{}) LIMIT -1", place + 1),
                Dialect::Postgres => format!("{all} WHERE (owner = ${}) OFFSET 0", place + 1),
                Dialect::BigQuery => format!("{all} WHERE (owner = @p{}) LIMIT {}", place + 1, i64::MAX),
            })
            .collect()
    }
}

/// The ways in which a column is fenced, up to the column and after it.
const FENCES: [(&str, &str); 2] = [
    ("coalesce(CASE WHEN random() < 0 THEN error('') END, ", ") AS "),
    ("CASE WHEN now() IS NULL THEN NULL ELSE ", " END AS "),
];

/// A statement with each column that is fenced as the column alone.
fn without_fence(sql: &str) -> String {
    let mut shown = sql.to_owned();
    for (begin, end) in FENCES {
        let fenced = std::mem::take(&mut shown);
        let mut rest = fenced.as_str();
        while let Some((before, after)) = rest.split_once(begin) {
            let (column, after) = after.split_once(end).expect("the end of a fence");
            shown.extend([before, column]);
            rest = after.strip_prefix(column).unwrap_or_else(|| panic!("`{column}` under another name: {sql}"));
        }
        shown.push_str(rest);
    }
    shown
}

fn parts(name: &ObjectName) -> Vec<&str> {
    name.0.iter().map(|part| part.as_ident().expect("no function as a name").value.as_str()).collect()
}

#[derive(Default)]
struct Counts {
    queries: usize,
    relations: usize,
}

impl Visitor for Counts {
    type Break = ();

    fn pre_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.queries += 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_relation(&mut self, _: &ObjectName) -> ControlFlow<()> {
        self.relations += 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        assert!(!matches!(expr, Expr::Subquery(_) | Expr::Exists { .. } | Expr::InSubquery { .. }), "{expr}");
        ControlFlow::Continue(())
    }
}
