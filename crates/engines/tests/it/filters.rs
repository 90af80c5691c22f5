//! A row filter takes rows away and never adds any.

use crate::cases::{check, contracts_with, sql};
use crate::firm::{Firm, callers};
use crate::jail::quick_engines;
use crate::queries;
use crate::rows::row_texts;
use domain::{Dialect, Fault, SourceSchema};
use engines::{Engines, Source};
use policy::Policy;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use std::cell::Cell;
use tokio::runtime::Runtime;

const FILTERS: [&str; 5] = [
    "owner = $actor",
    "status = 'ACTIVE' OR is_urgent",
    "priority > 2",
    "NOT (amount < 500)",
    "lower(owner) LIKE '%example%' AND client_id IN (1, 2, 3)",
];

struct Scene {
    runtime: Runtime,
    engines: Engines,
    source: Source,
    schema: SourceSchema,
}

impl Scene {
    fn rows(&self, policy: &Policy, text: &str) -> Result<Vec<String>, Fault> {
        let [_, agent, _] = callers();
        let approved = check(policy, &agent, &self.schema, &sql(text))?;
        let (executed, ()) = self.runtime.block_on(self.engines.run(&self.source, &approved, ()))?;
        assert!(!executed.rows.truncated, "too many rows to compare: {text}");
        Ok(row_texts(&executed.rows.ipc))
    }

    /// Whether there was something to compare.
    fn holds(&self, some: &Policy, all: &Policy, text: &str) -> Result<bool, String> {
        // What fails on the data of all rows says nothing here.
        let Ok(mut rest) = self.rows(all, text) else { return Ok(false) };
        let shown = self.rows(some, text).map_err(|fault| format!("fails with fewer rows: {text}\n  {fault}"))?;
        for row in shown {
            let Some(at) = rest.iter().position(|other| *other == row) else {
                return Err(format!("a row that was not there: {text}\n  {row}"));
            };
            rest.swap_remove(at);
        }
        Ok(true)
    }
}

#[test]
fn a_row_filter_never_adds_rows() {
    let (compared, mut added) = (Cell::new(0), Vec::new());
    let all = contracts_with("id IS NOT NULL");
    for dialect in [Dialect::DuckDb, Dialect::Sqlite] {
        let dir = tempfile::tempdir().unwrap();
        let (runtime, source) = (Runtime::new().unwrap(), Firm::new().source(dialect, dir.path()));
        let engines = runtime.block_on(async { quick_engines() });
        let schema = runtime.block_on(engines.describe(&source)).unwrap();
        let scene = Scene { runtime, engines, source, schema };
        for filter in FILTERS {
            let some = contracts_with(filter);
            let mut runner = TestRunner::new(Config { cases: 30, failure_persistence: None, ..Config::default() });
            let outcome = runner.run(&queries::monotone(), |text| {
                let done = scene.holds(&some, &all, &text).map_err(TestCaseError::fail)?;
                compared.set(compared.get() + usize::from(done));
                Ok(())
            });
            added.extend(outcome.err().map(|e| format!("{dialect:?}, {filter}: {e}")));
        }
    }
    testkit::tally("engine", "row filters: the same query with fewer rows", compared.get(), "rows added", added.len());
    assert!(compared.get() > 100, "only {} could be compared", compared.get());
    assert!(added.is_empty(), "{}", added.join("\n"));
}
