//! Which statements may read personal fields: what they give never reaches a model as it is.

use crate::fixture::{agent, cases, sql_as};
use domain::Dialect;

const BOTH: [(Dialect, &str); 2] = [(Dialect::DuckDb, "duckdb | "), (Dialect::Sqlite, "sqlite | ")];

#[test]
fn whatever_may_read_a_personal_field_is_known_to() {
    let (mut tried, mut wrong) = (0, Vec::new());
    for (file, personal) in [("cases/personal/reads.txt", true), ("cases/personal/not.txt", false)] {
        for (dialect, name) in BOTH {
            for case in cases(file) {
                let text = case.strip_prefix(name).unwrap_or(&case);
                if text.contains(" | ") {
                    continue;
                }
                tried += 1;
                let approved = sql_as(&agent(), dialect, text).unwrap_or_else(|fault| panic!("{text}: {fault}"));
                if approved.is_personal() != personal {
                    wrong.push(format!("{name}{text}"));
                }
            }
        }
    }
    testkit::tally("policy", "statements told apart by personal fields", tried, "mistakes", wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
