//! Which statements may read personal fields: what they give never reaches a model as it is.

use crate::fixture::{agent, cases, policy, source, sql_as};
use domain::{Dialect, Fault, Limits, Proposal};
use policy::{Approved, Author};

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

/// All that the user of these models has written.
const WORDS: &str = "What did ann@example.com and bob@example.com (client 4711) do?";

fn model_sql(dialect: Dialect, text: &str, words: Option<&str>) -> Result<Approved, Fault> {
    let proposal = Proposal::Sql { source: "crm".to_owned(), text: text.to_owned() };
    by_model(dialect, &proposal, words)
}

fn by_model(dialect: Dialect, proposal: &Proposal, words: Option<&str>) -> Result<Approved, Fault> {
    policy().check_by(Author::Model { words }, &agent(), &source(dialect), proposal, &Limits::default())
}

/// The statements of a file, in each dialect that they are for.
fn statements(file: &str) -> Vec<(Dialect, String)> {
    let all = cases(file);
    let of = |(dialect, name): (Dialect, &'static str)| {
        let texts = all.iter().map(move |case| case.strip_prefix(name).unwrap_or(case));
        texts.filter(|text| !text.contains(" | ")).map(move |text| (dialect, text.to_owned())).collect::<Vec<_>>()
    };
    BOTH.into_iter().flat_map(of).collect()
}

fn plans(file: &str) -> Vec<(Dialect, String)> {
    let all = cases(file);
    BOTH.into_iter().flat_map(|(dialect, _)| all.iter().map(move |plan| (dialect, plan.clone()))).collect()
}

fn plan(json: &str) -> Proposal {
    Proposal::Query { source: "crm".to_owned(), plan: Box::new(policy::parse_plan(json).unwrap()) }
}

#[test]
fn a_models_statement_that_a_personal_field_decides_is_refused() {
    let mut wrong = Vec::new();
    let statements = statements("cases/personal/model_refused.txt");
    let plans = plans("cases/personal/model_plans_refused.txt");
    let tried = statements.len() + plans.len();
    let by_sql = statements.into_iter().map(|(dialect, text)| (model_sql(dialect, &text, Some(WORDS)), dialect, text));
    let by_plan =
        plans.into_iter().map(|(dialect, json)| (by_model(dialect, &plan(&json), Some(WORDS)), dialect, json));
    for (checked, dialect, text) in by_sql.chain(by_plan) {
        match checked {
            Ok(_) => wrong.push(format!("{dialect:?} accepted: {text}")),
            Err(fault) if fault.code != "model.personal" || fault.hint.is_empty() => {
                wrong.push(format!("{dialect:?} {fault}: {text}"));
            }
            Err(_) => {}
        }
    }
    testkit::tally("policy", "statements of a model that a personal field decides", tried, "accepted", wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_models_ordinary_statement_is_accepted() {
    let mut wrong = Vec::new();
    let statements = statements("cases/personal/model_allowed.txt");
    let plans = plans("cases/personal/model_plans_allowed.txt");
    let tried = statements.len() + plans.len();
    let by_sql = statements.into_iter().map(|(dialect, text)| (model_sql(dialect, &text, Some(WORDS)), dialect, text));
    let by_plan =
        plans.into_iter().map(|(dialect, json)| (by_model(dialect, &plan(&json), Some(WORDS)), dialect, json));
    for (checked, dialect, text) in by_sql.chain(by_plan) {
        wrong.extend(checked.err().map(|fault| format!("{dialect:?} {fault}: {text}")));
    }
    testkit::tally("policy", "ordinary statements of a model", tried, "false refusals", wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A caller's own statements are free: whoever may read a field may also compare it.
#[test]
fn the_rules_for_models_bind_no_caller() {
    for (dialect, text) in statements("cases/personal/model_refused.txt") {
        if let Err(fault) = sql_as(&agent(), dialect, &text) {
            assert_ne!(fault.code, "model.personal", "{text}");
        }
    }
}

/// Where nothing puts values back into an answer, a model reads none.
#[test]
fn a_model_without_placeholders_reads_no_personal_field() {
    for (dialect, text) in statements("cases/personal/reads.txt") {
        let fault = model_sql(dialect, &text, None).err().unwrap_or_else(|| panic!("{text}"));
        assert_eq!(fault.code, "model.personal", "{text}");
    }
    for (dialect, text) in statements("cases/personal/not.txt") {
        model_sql(dialect, &text, None).unwrap_or_else(|fault| panic!("{text}: {fault}"));
    }
}

/// Labels are names of fields, never texts of expressions or aliases.
#[test]
fn columns_of_a_models_statement_are_labelled_by_their_fields() {
    let labels = |text: &str| -> Vec<Option<String>> {
        model_sql(Dialect::DuckDb, text, Some(WORDS)).unwrap().labels().to_vec()
    };
    let some = |names: &[&str]| names.iter().map(|name| Some((*name).to_owned())).collect::<Vec<_>>();
    assert_eq!(labels("SELECT email AS marek, c.name FROM clients c"), some(&["email", "name"]));
    assert_eq!(labels("SELECT * FROM clients"), some(&["id", "name", "email", "region", "since"]));
    assert_eq!(labels("SELECT upper(name) AS x, email FROM clients"), [None, Some("email".to_owned())]);
    assert_eq!(labels("WITH w AS (SELECT email AS e, id FROM clients) SELECT e AS f FROM w"), some(&["email"]));
}
