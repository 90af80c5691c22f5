//! Case files, and people who send what is in them.

pub use crate::promise::house::{policy, source};
use domain::{Caller, Dialect, Fault, Limits, Proposal, QueryPlan};
use policy::{Approved, Policy};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

static POLICY: LazyLock<Policy> = LazyLock::new(policy);

pub fn path(relative: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(relative)
}

pub fn text(relative: &str) -> String {
    std::fs::read_to_string(path(relative)).unwrap()
}

/// The lines of a case file, without comments and blank lines.
pub fn cases(relative: &str) -> Vec<String> {
    text(relative).lines().filter(|l| !l.is_empty() && !l.starts_with('#')).map(str::to_owned).collect()
}

pub fn analyst() -> Caller {
    Caller::new("ann@example.com", "analyst")
}

pub fn agent() -> Caller {
    Caller::new("bob@example.com", "agent")
}

pub fn admin() -> Caller {
    Caller::new("root@example.com", "admin")
}

pub fn sql_as(caller: &Caller, dialect: Dialect, text: &str) -> Result<Approved, Fault> {
    let proposal = Proposal::Sql { source: "crm".to_owned(), text: text.to_owned() };
    POLICY.check(caller, &source(dialect), &proposal, &Limits::default())
}

pub fn plan_as(caller: &Caller, dialect: Dialect, json: &str) -> Result<Approved, Fault> {
    let plan: QueryPlan = policy::parse_plan(json)?;
    let proposal = Proposal::Query { source: "crm".to_owned(), plan: Box::new(plan) };
    POLICY.check(caller, &source(dialect), &proposal, &Limits::default())
}
