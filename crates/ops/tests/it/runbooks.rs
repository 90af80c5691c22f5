//! Every runbook gives a proposal that policy accepts; no parameter can smuggle anything in.

use ops::{Library, RuleBase, RunbookCall, RunbookError};
use policy::script::{Grants, ScriptPolicy};

fn grants() -> Grants {
    Grants { network: true, writable_roots: vec!["/var".into(), "/etc".into()], ..Grants::default() }
}

/// Values for parameters without a default.
fn sample(name: &str) -> &'static str {
    match name {
        "server" => "10.0.0.53",
        "unit" => "nginx.service",
        "target" => "10.0.0.1",
        other => panic!("no sample for {other}"),
    }
}

fn call(id: &str, parameters: &[(&str, &str)]) -> RunbookCall {
    let parameters = parameters.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    RunbookCall { id: id.to_owned(), parameters }
}

#[test]
fn every_runbook_passes_the_script_policy() {
    let library = Library::built_in().unwrap();
    let mut refused = Vec::new();
    for runbook in library.iter() {
        let given = runbook
            .parameters
            .iter()
            .filter(|(_, p)| p.default.is_none())
            .map(|(name, _)| (name.clone(), sample(name).to_owned()));
        let call = RunbookCall { id: runbook.id.clone(), parameters: given.collect() };
        let proposal = library.propose(&call).unwrap();
        assert!(!proposal.script.contains("{{") && !proposal.intent.contains("{{"), "{}", proposal.script);
        let report = ScriptPolicy::default().review(&proposal, &grants());
        refused.extend(report.violations.iter().map(|v| format!("{}: {v} {:?}", runbook.id, v.span)));
    }
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

#[test]
fn rules_name_runbooks_that_exist_with_parameters_that_they_have() {
    let library = Library::built_in().unwrap();
    for rule in RuleBase::built_in().unwrap().rules() {
        let Some(mut call) = rule.runbook.clone() else { continue };
        for (name, value) in call.parameters.iter_mut().filter(|(_, value)| value.contains('{')) {
            *value = if name == "directory" { "/var/lib/app" } else { "nginx.service" }.to_owned();
        }
        library.propose(&call).unwrap_or_else(|error| panic!("{}: {error}", rule.id));
    }
}

#[test]
fn parameters_are_held_to_their_kinds() {
    let library = Library::built_in().unwrap();
    for (id, name, value) in [
        ("reach", "target", "10.0.0.1; reboot"),
        ("reach", "target", "$(reboot)"),
        ("reach", "target", "-f"),
        ("reach", "target", ""),
        ("find_large_files", "directory", "/var/../etc"),
        ("find_large_files", "directory", "relative"),
        ("find_large_files", "directory", "/var log"),
        ("find_large_files", "directory", "/var/*"),
        ("service_state", "unit", "nginx`id`"),
        ("set_dns_server", "server", "dns.example"),
        ("remove_old_logs", "days", "30 -o -true"),
    ] {
        let refused = library.propose(&call(id, &[(name, value)])).unwrap_err();
        assert!(matches!(refused, RunbookError::Wrong { .. }), "{id} {value}: {refused}");
    }
    assert!(matches!(library.propose(&call("reach", &[])), Err(RunbookError::Missing { .. })));
    assert!(matches!(library.propose(&call("failed_units", &[("x", "y")])), Err(RunbookError::Surplus { .. })));
    assert_eq!(library.propose(&call("nonesuch", &[])), Err(RunbookError::Unknown("nonesuch".to_owned())));
}
