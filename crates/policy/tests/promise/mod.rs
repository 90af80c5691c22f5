//! What must hold of any input, whoever sends it. The tests try it on cases and on generated input, `fuzz/` on whatever
//! its fuzzers come up with.
//!
//! Each function panics when a promise is broken: the input crashes the check or takes it too long, the rendered
//! statement reads back as something else, reads more than was granted, or something hidden is told.

pub mod events;
pub mod house;
mod reads;

use domain::{Caller, Dialect, Fault, Flavour, Limits, Manifest, Proposal, Scan, ScriptProposal, SourceSchema};
use house::{House, READERS};
use policy::script::{Grants, ScriptPolicy};
use policy::{Approved, ContractError, Policy};
use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// The longest that any input may keep policy busy.
pub const PROMPT: Duration = Duration::from_millis(100);

thread_local! {
    static HOUSE: House = House::new();
    static EVENTS: Policy = events::policy();
}

/// A statement, sent by everybody to everything.
pub fn sql(text: &str) {
    HOUSE.with(|house| {
        for source in &house.sources {
            for reader in &READERS {
                let proposal = Proposal::Sql { source: source.source.clone(), text: text.to_owned() };
                proposed(house, &reader.caller(), source, &proposal, text);
            }
        }
    });
}

/// A QueryPlan as JSON, sent by everybody to everything.
pub fn plan(json: &str) {
    let plan = match promptly(json, || policy::parse_plan(json)) {
        Ok(plan) => plan,
        Err(fault) => return well_told(&fault, json, &[]),
    };
    HOUSE.with(|house| {
        for source in &house.sources {
            for reader in &READERS {
                let proposal = Proposal::Query { source: source.source.clone(), plan: Box::new(plan.clone()) };
                proposed(house, &reader.caller(), source, &proposal, json);
            }
        }
    });
}

fn proposed(house: &House, caller: &Caller, source: &SourceSchema, proposal: &Proposal, input: &str) {
    match promptly(input, || house.policy.check(caller, source, proposal, &Limits::default())) {
        Ok(approved) => reads::only_what_is_granted(&approved, caller),
        Err(fault) => well_told(&fault, input, house::hidden_from(&caller.role)),
    }
}

/// A contract's `rows`.
pub fn predicate(text: &str) {
    match promptly(text, || house::with_rows(text)) {
        Ok(policy) => {
            for dialect in [Dialect::DuckDb, Dialect::Sqlite] {
                let approved = filtered(&policy, dialect);
                // A caller without the claims that it names sees nothing.
                if let Ok(approved) = approved {
                    reads::one_filtered_table(&approved);
                }
            }
        }
        Err(errors) => all_told(&errors),
    }
}

fn filtered(policy: &Policy, dialect: Dialect) -> Result<Approved, Fault> {
    let proposal = Proposal::Sql { source: "crm".to_owned(), text: "SELECT count(*) FROM cases".to_owned() };
    policy.check(&house::caller("agent"), &house::source(dialect), &proposal, &Limits::default())
}

/// A text of a scan, sent by everybody in both flavours as a predicate, as a column and as an order.
pub fn scan(text: &str) {
    for flavour in Flavour::ALL {
        let bare = || Scan { table: "events".to_owned(), flavour, ..Scan::default() };
        let filtered = events::filtered(flavour, text);
        for scan in [
            filtered,
            Scan { select: vec![text.to_owned()], ..bare() },
            Scan { order_by: vec![text.to_owned()], ..bare() },
        ] {
            scanned(&scan, text);
        }
    }
}

fn scanned(scan: &Scan, text: &str) {
    EVENTS.with(|policy| {
        for role in ["analyst", "agent"] {
            let caller = house::caller(role);
            let canonical = policy.canonical_scan(&caller, &events::source(Dialect::DuckDb), scan);
            if let Ok(canonical) = &canonical {
                let again = policy.canonical_scan(&caller, &events::source(Dialect::DuckDb), canonical);
                assert_eq!(again.as_ref(), Ok(canonical), "what was understood of {text} reads as something else");
            }
            for dialect in [Dialect::DuckDb, Dialect::Sqlite] {
                match promptly(text, || events::check(policy, &caller, dialect, scan.clone())) {
                    Ok(approved) => reads::one_scan(&approved, &caller),
                    Err(fault) => {
                        well_told(&fault, text, &["secret", "not_in_contract"]);
                        assert!(fault.code.starts_with("scan."), "{text}: {fault}");
                    }
                }
            }
        }
    });
}

/// A script for a device.
pub fn script(text: &str) {
    let proposal = ScriptProposal {
        script: text.to_owned(),
        manifest: Manifest::default(),
        rollback: None,
        intent: "whatever".to_owned(),
    };
    let policy = ScriptPolicy::default();
    let report = promptly(text, || policy.review(&proposal, &Grants::default()));
    report.violations.iter().for_each(|fault| well_told(fault, text, &[]));
    assert_eq!(report.digest, proposal.digest());
    assert_eq!(policy.check(&proposal, &Grants::default()).is_ok(), report.violations.is_empty(), "{text}");
}

/// A contract file.
pub fn contract(yaml: &str) {
    let load = |yaml: &str| Policy::load([("cases.yaml".to_owned(), yaml.to_owned())]);
    let policy = match promptly(yaml, || load(yaml)) {
        Ok(policy) => policy,
        Err(errors) => return all_told(&errors),
    };
    for contract in policy.contracts() {
        let written = serde_json::to_string(contract).expect("a contract is JSON");
        // Written out in full it may be longer than a file may be.
        if written.len() < 100_000 {
            let again = load(&written).expect("what was read and written can be read again");
            assert_eq!(again.fingerprint(), policy.fingerprint(), "{written}");
        }
        let mut source = house::source(Dialect::DuckDb);
        source.source.clone_from(&contract.source);
        for (role, rules) in &contract.roles {
            let view = policy.view(&house::caller(role), &source);
            let seen = view.tables.iter().filter(|t| t.name == contract.resource).flat_map(|t| &t.columns);
            let shows = |name: &str| rules.hide.iter().any(|hidden| hidden.eq_ignore_ascii_case(name));
            assert!(role == "admin" || !seen.map(|c| c.name.as_str()).any(shows), "{role} sees what is hidden from it");
        }
    }
}

/// Answers in time. A busy machine may be slow once, never five times.
fn promptly<T>(input: &str, work: impl Fn() -> T) -> T {
    let mut least = Duration::MAX;
    for _ in 0..5 {
        let (result, took) = timed(&work);
        if took < PROMPT {
            return result;
        }
        least = least.min(took);
    }
    panic!("took {least:?}: {}", input.chars().take(200).collect::<String>());
}

/// The result, and the time that this thread worked on it: that of others on a busy machine does not count.
pub fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let now = || Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).expect("a clock does not go below 0");
    let start = now();
    let result = work();
    (result, now() - start)
}

/// A refusal has a rule, a short text and a way out, is no accident of ours, and tells nothing that its reader did not
/// write.
fn well_told(fault: &Fault, input: &str, hidden: &[&str]) {
    assert!(!fault.code.is_empty() && !fault.message.is_empty() && !fault.hint.is_empty(), "{fault:?}");
    assert!(fault.message.len() + fault.hint.len() < 1_500, "the refusal repeats the attack: {fault:?}");
    assert!(fault.kind != domain::Kind::Internal, "{fault:?}");
    // The parser read what it cannot write: a rule for that input is missing.
    assert!(fault.code != "sql.roundtrip", "{fault:?}");
    // Escapes can spell a name in many ways.
    let (input, told) = (input.to_lowercase(), format!("{} {}", fault.message, fault.hint).to_lowercase());
    for name in hidden.iter().filter(|name| !input.contains(**name) && !input.contains('\\')) {
        assert!(!told.contains(name), "`{name}` in {fault:?}");
    }
}

fn all_told(errors: &[ContractError]) {
    assert!(!errors.is_empty());
    for error in errors {
        assert!(!error.key.is_empty() && !error.message.is_empty() && !error.hint.is_empty(), "{error:?}");
        assert!(error.to_string().len() < 2_000, "the error repeats the attack: {error:?}");
    }
}
