//! The statements and plans of policy's own tests, and this crate's case files.

use domain::{Caller, Dialect, Fault, Limits, Proposal, SourceSchema};
use policy::{Approved, Policy};
use std::fs;
use std::path::PathBuf;

fn of_policy(relative: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../policy/tests").join(relative)
}

/// The lines of a text of cases, without comments and blank lines.
pub fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|l| !l.is_empty() && !l.starts_with('#'))
}

/// The dialect as case files call it.
pub fn name(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::DuckDb => "duckdb",
        Dialect::Sqlite => "sqlite",
        Dialect::Postgres => "postgres",
        Dialect::Spark => "spark",
        Dialect::DataFusion => "datafusion",
        Dialect::BigQuery => "bigquery",
    }
}

/// Lines of policy's case files of one kind that apply to a dialect.
fn of_dialect(kind: &str, dialect: Dialect) -> Vec<String> {
    let files = ["both", name(dialect)].map(|file| of_policy(&format!("cases/sql/{kind}/{file}.txt")));
    let texts = files.map(|file| fs::read_to_string(file).unwrap());
    texts.iter().flat_map(|text| lines(text)).map(str::to_owned).collect()
}

/// The statements that must pass.
pub fn accepted(dialect: Dialect) -> Vec<Proposal> {
    of_dialect("accept", dialect).into_iter().map(sql).collect()
}

/// The statements that policy must refuse, with its code for each.
pub fn rejected(dialect: Dialect) -> Vec<(String, String)> {
    let split = |line: String| line.split_once(" | ").map(|(code, text)| (code.to_owned(), text.to_owned())).unwrap();
    of_dialect("reject", dialect).into_iter().map(split).collect()
}

/// Whether a statement asks for too much rather than for the wrong thing: that is the jail's to stop, and the clock's.
pub fn is_bomb(code: &str, text: &str) -> bool {
    matches!(code, "sql.unbounded" | "sql.too_deep" | "sql.too_long" | "sql.too_many_tables") || text.contains("sleep")
}

/// The plans that must pass.
pub fn accepted_plans() -> Vec<Proposal> {
    let text = fs::read_to_string(of_policy("cases/plan/accept/both.txt")).unwrap();
    // A line `# name`, then JSON up to the next such line.
    let mut plans: Vec<String> = Vec::new();
    for line in text.lines() {
        match plans.last_mut() {
            _ if line.starts_with("# ") => plans.push(String::new()),
            Some(json) => json.push_str(line),
            None => {}
        }
    }
    let plan = |json: &String| Box::new(policy::parse_plan(json).unwrap());
    plans.iter().map(|json| Proposal::Query { source: "crm".to_owned(), plan: plan(json) }).collect()
}

pub fn sql(text: impl Into<String>) -> Proposal {
    Proposal::Sql { source: "crm".to_owned(), text: text.into() }
}

/// What a proposal says, for a message.
pub fn shown(proposal: &Proposal) -> String {
    match proposal {
        Proposal::Sql { text, .. } => text.clone(),
        Proposal::Query { plan, .. } => serde_json::to_string(plan).unwrap(),
        Proposal::Scan { scan, .. } => serde_json::to_string(scan).unwrap(),
        Proposal::Change { plan, .. } => serde_json::to_string(plan).unwrap(),
        script @ Proposal::Script { .. } => format!("{script:?}"),
    }
}

/// The contracts of policy's tests.
pub fn contracts() -> Policy {
    contracts_with(AGENT_ROWS)
}

/// What the contract of `cases` says that an agent sees.
const AGENT_ROWS: &str = "owner = $actor";

/// The same contracts with another row filter for agents.
pub fn contracts_with(agent_rows: &str) -> Policy {
    contracts_where(&[(AGENT_ROWS, agent_rows)])
}

/// The same contracts with some of their words replaced.
pub fn contracts_where(replaced: &[(&str, &str)]) -> Policy {
    let files = fs::read_dir(of_policy("fixture")).unwrap().map(|entry| {
        let entry = entry.unwrap();
        let yaml = fs::read_to_string(entry.path()).unwrap();
        let yaml = replaced.iter().fold(yaml, |yaml, (from, to)| yaml.replace(from, to));
        (entry.file_name().into_string().unwrap(), yaml)
    });
    Policy::load(files).unwrap()
}

pub fn check(policy: &Policy, caller: &Caller, schema: &SourceSchema, proposal: &Proposal) -> Result<Approved, Fault> {
    policy.check(caller, schema, proposal, &Limits { seconds: 10, ..Limits::default() })
}
