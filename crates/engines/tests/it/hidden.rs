//! Non-interference: what a role may not see has no part in any answer to it.
//!
//! Two firms differ in nothing but hidden fields and filtered rows. Whatever policy lets a role run must give the same
//! in both: rows and their order, names, types, counts, truncation, errors, and the very bytes of the Arrow stream.

use crate::cases::{accepted, accepted_plans, check, contracts, shown, sql};
use crate::firm::{Firm, callers};
use crate::jail::quick_engines;
use crate::queries;
use arrow_array::{Array, ArrayRef, make_array};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_ipc::reader::StreamReader;
use arrow_schema::DataType;
use domain::{Caller, Dialect, Proposal, SourceSchema};
use engines::{Engines, Executed, Source};
use policy::{Approved, Policy};
use proptest::test_runner::{Config, TestRunner};
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

    /// Whether it ran; `Err` says how the answers differ.
    async fn same(&self, policy: &Policy, proposal: &Proposal) -> Result<bool, String> {
        let Ok(approved) = check(policy, &self.caller, &self.schema, proposal) else { return Ok(false) };
        let [(left, a), (right, b)] = &self.sides;
        let (one, other) = tokio::join!(told(left, a, &approved), told(right, b, &approved));
        if one.same(&other) {
            return Ok(true);
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
    match engines.run(source, approved).await {
        Ok(Executed { rows, .. }) => {
            let what = format!("{:?} {} {}", rows.columns, rows.row_count, rows.truncated);
            Told { what, rows: lines(&rows.ipc), ipc: domain::sha256_hex(&rows.ipc) }
        }
        Err(fault) => Told { what: format!("{fault:?}"), rows: Vec::new(), ipc: String::new() },
    }
}

/// The rows as text.
fn lines(ipc: &[u8]) -> Vec<String> {
    let options = FormatOptions::default().with_null("NULL");
    let mut lines = Vec::new();
    for batch in StreamReader::try_new(ipc, None).unwrap().map(Result::unwrap) {
        let arrays: Vec<_> = batch.columns().iter().map(without_zone).collect();
        let columns: Vec<_> = arrays.iter().map(|c| ArrayFormatter::try_new(c, &options).unwrap()).collect();
        for row in 0..batch.num_rows() {
            lines.push(columns.iter().map(|c| c.value(row).to_string()).collect::<Vec<_>>().join("|"));
        }
    }
    lines
}

/// The formatter knows no names of time zones.
fn without_zone(array: &ArrayRef) -> ArrayRef {
    match array.data_type() {
        DataType::Timestamp(unit, Some(_)) => {
            let data = array.to_data().into_builder().data_type(DataType::Timestamp(*unit, None));
            make_array(data.build().unwrap())
        }
        _ => array.clone(),
    }
}

/// Answers that differ from one moment to the next say nothing.
fn is_steady(proposal: &Proposal) -> bool {
    let text = shown(proposal).to_lowercase();
    let moody = ["random", "uuid", "now", "current_", "today", "tablesample", "age(", "time_bucket"];
    !moody.iter().any(|word| text.contains(word))
}

#[test]
fn hidden_values_have_no_part_in_any_answer() {
    let runtime = Runtime::new().unwrap();
    let policy = contracts();
    let (ran, mut leaks) = (Cell::new(0), Vec::new());
    for dialect in [Dialect::DuckDb, Dialect::Sqlite] {
        for caller in callers() {
            let pair = runtime.block_on(Pair::new(caller, dialect));
            let known = accepted(dialect).into_iter().chain(accepted_plans()).filter(is_steady);
            for proposal in known {
                match runtime.block_on(pair.same(&policy, &proposal)) {
                    Ok(yes) => ran.set(ran.get() + usize::from(yes)),
                    Err(difference) => leaks.push(difference),
                }
            }
            let mut runner = TestRunner::new(Config { cases: 150, failure_persistence: None, ..Config::default() });
            let fresh = runner.run(&queries::query(), |text| {
                match runtime.block_on(pair.same(&policy, &sql(text))) {
                    Ok(yes) => ran.set(ran.get() + usize::from(yes)),
                    Err(difference) => return Err(proptest::test_runner::TestCaseError::fail(difference)),
                }
                Ok(())
            });
            leaks.extend(fresh.err().map(|e| e.to_string()));
        }
    }
    let ran = ran.get();
    eprintln!("{ran} answers compared");
    testkit::tally("engine", "answers compared where only hidden values differ", ran, "leaks", leaks.len());
    assert!(leaks.is_empty(), "{} differ:\n{}", leaks.len(), leaks.join("\n"));
}
