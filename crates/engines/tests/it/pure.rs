//! What policy accepts, the engine itself prepares as one pure read of what was granted. And it runs.

use crate::cases::{accepted, accepted_plans, check, contracts, shown};
use crate::firm::{Firm, callers};
use crate::jail::quick_engines;
use domain::Dialect;

#[tokio::test]
async fn accepted_statements_run() {
    let dir = tempfile::tempdir().unwrap();
    let engines = quick_engines();
    let policy = contracts();
    let mut wrong = Vec::new();
    for dialect in [Dialect::DuckDb, Dialect::Sqlite] {
        let source = Firm::new().source(dialect, dir.path());
        let schema = engines.describe(&source).await.unwrap();
        for proposal in accepted(dialect).iter().chain(&accepted_plans()) {
            match check(&policy, &callers()[0], &schema, proposal) {
                Ok(approved) => {
                    if let Err(fault) = engines.run(&source, &approved).await {
                        wrong.push(format!("{dialect:?}: {}\n   {fault}", shown(proposal)));
                    }
                }
                Err(fault) => wrong.push(format!("refused {dialect:?}: {}\n   {fault}", shown(proposal))),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
