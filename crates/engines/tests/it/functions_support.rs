//! Tests of functions over hidden rows, of SQLite, Postgres, Sail and DataFusion, share a table `probe` on two sides that
//! differ in nothing but hidden rows, the statements that an expression is made into, and the comparison of replies.

use crate::cases::{check, lines};
use domain::{Caller, Proposal, SourceSchema};
use engines::{Engines, Source};
use policy::{Approved, Policy};
use std::collections::BTreeSet;
use tokio::runtime::Runtime;

/// A column of `probe`: its name, its type, the value that visible rows have, and values that functions fail on. Values
/// are SQL.
pub struct Column(pub &'static str, pub &'static str, pub &'static str, pub &'static [&'static str]);

const VISIBLE_ROWS: usize = 200;
const HIDDEN_ROWS: usize = 60;

/// The filters that hide rows: one that an index answers, and one that has to be computed.
const FILTERS: [&str; 2] = ["region = 'E'", "lower(region) = 'e'"];

/// SQL that makes `probe`. Hidden rows stand between the visible ones; they are harmless unless they are to be `nasty`.
/// Statistics are gathered, as planners look at them, and callers' conditions have an index that they may be answered by.
pub fn probe(columns: &[Column], nasty: bool) -> String {
    let declared: Vec<String> = columns.iter().map(|Column(name, kind, ..)| format!("{name} {kind}")).collect();
    let visible: Vec<&str> = columns.iter().map(|column| column.2).collect();
    let mut rows: Vec<(usize, &str, Vec<&str>)> = (1..=VISIBLE_ROWS).map(|i| (2 * i, "E", visible.clone())).collect();
    rows.extend((0..HIDDEN_ROWS).map(|i| {
        let bad = columns.iter().map(|column| column.3[i % column.3.len()]);
        (2 * i + 1, "A", if nasty { bad.collect() } else { visible.clone() })
    }));
    rows.sort_by_key(|row| row.0);
    let rows: Vec<String> =
        rows.iter().map(|(id, region, values)| format!("({id}, '{region}', {})", values.join(", "))).collect();
    format!(
        "CREATE TABLE probe (id INTEGER PRIMARY KEY, region TEXT, {});\nCREATE INDEX probe_region ON probe (region);\n\
         CREATE INDEX probe_t ON probe (t, n);\nINSERT INTO probe VALUES\n{};\nANALYZE;",
        declared.join(", "),
        rows.join(",\n")
    )
}

pub fn contracts(columns: &[Column], rows: &str) -> Policy {
    let names = ["id", "region"].into_iter().chain(columns.iter().map(|column| column.0));
    let fields: String = names.map(|name| format!("  - {{name: {name}, type: other}}\n")).collect();
    let yaml = format!(
        "version: \"1\"\nresource: probe\nsource: crm\ntable: probe\nkey: [id]\nfields:\n{fields}roles:\n  agent: {{ops: [READ], rows: \"{rows}\"}}\n"
    );
    Policy::load([("probe.yaml".to_owned(), yaml)]).unwrap()
}

/// A side of the comparison: where `probe` is, and what answers statements over it.
pub trait Engine {
    async fn describe(&self) -> SourceSchema;

    /// A digest of the rows, or the error.
    async fn run(&self, approved: &Approved) -> Result<String, String>;
}

/// A database with `probe` in it, and engines of its own.
pub struct Side {
    pub engines: Engines,
    pub source: Source,
}

impl Engine for Side {
    async fn describe(&self) -> SourceSchema {
        self.engines.describe(&self.source).await.unwrap()
    }

    async fn run(&self, approved: &Approved) -> Result<String, String> {
        let executed = self.engines.run(&self.source, approved, ()).await.map_err(|f| format!("{f:?}"))?;
        Ok(domain::sha256_hex(&executed.0.rows.ipc))
    }
}

/// One engine, and what is tried on it.
pub struct Trial<'a> {
    /// Its name in the tally.
    pub engine: &'static str,
    pub columns: &'static [Column],
    /// The list of functions that policy allows.
    pub functions: &'a str,
    /// Expressions over `probe`, one a line.
    pub expressions: &'a str,
    /// Functions that need not succeed.
    pub excepted: &'static [&'static str],
}

impl Trial<'_> {
    /// Fails if a reply depends on what hidden rows hold.
    pub fn run(&self, runtime: &Runtime, sides: &[impl Engine; 2]) {
        let names = lines(self.functions).flat_map(str::split_whitespace);
        let allowed: BTreeSet<&str> = names.map(|word| word.split(':').next().unwrap()).collect();
        let schema = runtime.block_on(sides[0].describe());
        let (mut compared, mut with_rows) = (0, 0);
        let (mut leaks, mut failed, mut worked) = (Vec::new(), Vec::new(), BTreeSet::new());
        for filter in FILTERS {
            let policy = contracts(self.columns, filter);
            for expression in lines(self.expressions) {
                for text in statements(expression) {
                    let [left, right] = sides.each_ref().map(|side| told(side, &policy, &schema, &text));
                    let (one, other) = runtime.block_on(async { tokio::join!(left, right) });
                    compared += 1;
                    match &one {
                        Ok(_) => {
                            with_rows += 1;
                            worked.extend(called(expression, &allowed));
                        }
                        Err(fault) => failed.push(format!("{text}\n  {fault}")),
                    }
                    if one != other {
                        leaks.push(format!("{filter}: {text}\n  {one:?}\n  {other:?}"));
                    }
                }
            }
        }
        let what = format!("functions over rows that a filter hides: {}", self.engine);
        testkit::compared("engine", &what, compared, with_rows, leaks.len());
        let what = format!("functions that gave rows under a filter: {}", self.engine);
        testkit::figure("engine", &what, worked.len(), &format!("of {} that are allowed", allowed.len()));
        assert!(leaks.is_empty(), "{} of {compared} differ:\n{}", leaks.len(), leaks.join("\n"));
        let share = format!("only {with_rows} of {compared} gave rows");
        assert!(compared > 400 && with_rows * 10 >= compared * 8, "{share}:\n{}", failed.join("\n"));
        let never: Vec<_> = allowed.difference(&worked).filter(|name| !self.excepted.contains(name)).collect();
        assert!(never.is_empty(), "{} functions never gave rows: {never:?}\n{}", never.len(), failed.join("\n"));
    }
}

/// The reply to a statement: its rows as Arrow, or the error.
async fn told(side: &impl Engine, policy: &Policy, schema: &SourceSchema, text: &str) -> Result<String, String> {
    let proposal = Proposal::Sql { source: "crm".to_owned(), text: text.to_owned() };
    let approved = check(policy, &Caller::new("bob", "agent"), schema, &proposal).map_err(|f| format!("{f:?}"))?;
    side.run(&approved).await
}

/// The names that are called in an expression: before a parenthesis, or words that are calls without one.
fn called<'a>(expression: &str, allowed: &BTreeSet<&'a str>) -> Vec<&'a str> {
    let text = expression.to_lowercase();
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let last_word = |text: &str| -> String {
        let name = text.trim_end_matches('"');
        name.rsplit(|c: char| !is_word(c)).next().unwrap_or_default().to_owned()
    };
    let before_parentheses = text.match_indices('(').map(|(at, _)| last_word(text.get(..at).unwrap_or_default()));
    let alone = text.split(|c: char| !is_word(c)).filter(|w| w.starts_with("current_") || w.starts_with("localtime"));
    before_parentheses.chain(alone.map(str::to_owned)).filter_map(|name| allowed.get(name.as_str()).copied()).collect()
}

/// Whether an expression has another value each time.
fn is_unsteady(expression: &str) -> bool {
    let words = ["random", "now()", "'now'", "current_", "localtime", "timestamp()", "today()", "uuid()"];
    words.iter().any(|word| expression.to_lowercase().contains(word))
}

/// The statements that an expression is tried in: in a list, beside the column that the filter looks at (DataFusion may
/// compute such a list before it filters), in a condition, behind a condition that hidden rows meet, and in ORDER BY. What stands behind `all: ` is the rest of a SELECT as it is.
pub fn statements(expression: &str) -> Vec<String> {
    if let Some(all) = expression.strip_prefix("all: ") {
        return vec![match all.contains(" FROM probe") {
            true => format!("SELECT {all}"),
            false => format!("SELECT {all} FROM probe"),
        }];
    }
    let mut statements = vec![
        format!("SELECT count(*) FROM probe WHERE ({expression}) IS NULL"),
        format!(
            "SELECT count(*) FROM (SELECT region, {expression} AS x FROM probe) AS t WHERE region <> 'E' AND x IS NOT NULL"
        ),
    ];
    let rows = format!("SELECT {expression} AS x FROM probe");
    if is_unsteady(expression) {
        statements.push(format!("SELECT count(x) FROM ({rows}) AS t"));
    } else {
        statements.push(format!("SELECT count(x), min(CAST(x AS TEXT)), max(CAST(x AS TEXT)) FROM ({rows}) AS t"));
        statements.push(format!("SELECT region, {expression} AS x FROM probe ORDER BY id"));
        statements.push(format!("SELECT id FROM probe ORDER BY CAST(({expression}) AS TEXT), id LIMIT 3"));
    }
    statements
}
