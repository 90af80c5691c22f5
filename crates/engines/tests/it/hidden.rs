//! Non-interference: what a role may not see has no part in any answer to it.
//!
//! Two firms differ in nothing but hidden fields and filtered rows. Whatever policy lets a role run must give the same
//! in both: rows and their order, names, types, counts, truncation, errors, and the very bytes of the Arrow stream.

use crate::cases::{accepted, accepted_plans, check, contracts, contracts_with, lines, shown, sql};
use crate::firm::{Firm, callers};
use crate::jail::quick_engines;
use crate::queries;
use crate::rows::row_texts;
use domain::{Caller, Dialect, Proposal, SourceSchema};
use engines::{Engines, Executed, Source};
use policy::{Approved, Policy};
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use std::cell::Cell;
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// One role, and the same source for it twice.
struct Pair {
    caller: Caller,
    schema: SourceSchema,
    sides: [(Engines, Source); 2],
    _dirs: [TempDir; 2],
}

impl Pair {
    async fn new(caller: Caller, dialect: Dialect) -> Self {
        let dirs = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let firm = Firm::new();
        let sides = [
            (quick_engines(), firm.source(dialect, dirs[0].path())),
            (quick_engines(), firm.otherwise_for(&caller.role).source(dialect, dirs[1].path())),
        ];
        let schema = sides[0].0.describe(&sides[0].1).await.unwrap();
        Self { caller, schema, sides, _dirs: dirs }
    }

    /// Whether it ran, and whether it gave rows; `Err` says how the answers differ.
    async fn same(&self, policy: &Policy, proposal: &Proposal) -> Result<(bool, bool), String> {
        let Ok(approved) = check(policy, &self.caller, &self.schema, proposal) else { return Ok((false, false)) };
        let [(left, a), (right, b)] = &self.sides;
        let (one, other) = tokio::join!(told(left, a, &approved), told(right, b, &approved));
        if one.same(&other) {
            return Ok((true, !one.rows.is_empty()));
        }
        let role = &self.caller.role;
        Err(format!("{role}, {:?}: {}\n  {one:.600?}\n  {other:.600?}", self.schema.dialect, shown(proposal)))
    }
}

/// Everything that an answer tells.
#[derive(Debug, PartialEq)]
struct Told {
    /// Columns, types, counts; or the error.
    what: String,
    rows: Vec<String>,
    ipc: String,
}

impl Told {
    fn same(&self, other: &Self) -> bool {
        let sorted = |told: &Self| {
            let mut rows = told.rows.clone();
            rows.sort();
            rows
        };
        // An engine orders joins by its estimates, and so rows that nobody asked to order: they are the same rows.
        self == other || self.what == other.what && self.rows != other.rows && sorted(self) == sorted(other)
    }
}

async fn told(engines: &Engines, source: &Source, approved: &Approved) -> Told {
    match engines.run(source, approved, ()).await {
        Ok((Executed { rows, .. }, ())) => {
            let what = format!("{:?} {} {}", rows.columns, rows.row_count, rows.truncated);
            Told { what, rows: row_texts(&rows.ipc), ipc: domain::sha256_hex(&rows.ipc) }
        }
        Err(fault) => Told { what: format!("{fault:?}"), rows: Vec::new(), ipc: String::new() },
    }
}

/// Answers that differ from one moment to the next say nothing.
fn is_steady(proposal: &Proposal) -> bool {
    let text = shown(proposal).to_lowercase();
    let moody = ["random", "uuid", "now", "current_", "today", "tablesample", "age(", "time_bucket"];
    !moody.iter().any(|word| text.contains(word))
}

/// Ways to say which cases are the agent's. The first an engine checks while it reads, the others in an order of its own
/// among the conditions of the query around them.
const FILTERS: [&str; 4] = [
    "owner = $actor",
    "lower(owner) = $actor",
    "owner = 'nobody' OR substr(owner, 1, 3) = 'bob'",
    "length(replace(replace(upper(owner), 'BOB', 'XXX'), 'YYY', 'X')) = 15 AND NOT owner <> $actor AND NOT owner LIKE '%not%'",
];

/// Statements that are made up for each role and filter: `GATEHOUSE_SOAK` times as many by `make soak`.
fn cases(dialect: Dialect) -> u32 {
    let times = std::env::var("GATEHOUSE_SOAK").map_or(1, |times| times.parse().unwrap());
    // SQLite takes less to plan one.
    times * if dialect == Dialect::Sqlite { 800 } else { 200 }
}

fn leaks(dialect: Dialect) {
    let runtime = Runtime::new().unwrap();
    let (ran, with_rows, mut leaks) = (Cell::new(0), Cell::new(0), Vec::new());
    let [analyst, agent, lead] = callers();
    let filters = FILTERS.map(|filter| (agent.clone(), contracts_with(filter)));
    for (i, (caller, policy)) in [(analyst, contracts()), (lead, contracts())].into_iter().chain(filters).enumerate() {
        let pair = runtime.block_on(Pair::new(caller, dialect));
        let compare = |proposal: &Proposal| {
            let (ran_now, had_rows) = runtime.block_on(pair.same(&policy, proposal))?;
            ran.set(ran.get() + usize::from(ran_now));
            with_rows.set(with_rows.get() + usize::from(had_rows));
            Ok::<_, String>(())
        };
        leaks.extend(lines(include_str!("../cases/probes.sql")).filter_map(|probe| compare(&sql(probe)).err()));
        // Each role once: another filter makes no difference to these.
        let known = accepted(dialect).into_iter().chain(accepted_plans()).filter(|p| i < 3 && is_steady(p));
        leaks.extend(known.filter_map(|proposal| compare(&proposal).err()));
        let mut runner =
            TestRunner::new(Config { cases: cases(dialect), failure_persistence: None, ..Config::default() });
        let fresh = runner.run(&queries::query(), |text| compare(&sql(text)).map_err(TestCaseError::fail));
        leaks.extend(fresh.err().map(|e| e.to_string()));
    }
    let what = format!("hidden values changed, answers compared: {dialect:?}");
    testkit::compared("engine", &what, ran.get(), with_rows.get(), leaks.len());
    assert!(leaks.is_empty(), "{} of {} differ:\n{}", leaks.len(), ran.get(), leaks.join("\n"));
}

#[test]
fn hidden_values_have_no_part_in_any_answer_of_duckdb() {
    leaks(Dialect::DuckDb);
}

#[test]
fn hidden_values_have_no_part_in_any_answer_of_sqlite() {
    leaks(Dialect::Sqlite);
}
