//! Every rule finds what it is for, and nothing in a healthy device.

use ops::{Diagnostics, Output, RuleBase, Submission};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn cases() -> Vec<(&'static str, Submission)> {
    let text = include_str!("../cases/findings.txt");
    text.split("\n== ")
        .skip(1)
        .map(|case| {
            let (rule, outputs) = case.split_once('\n').unwrap();
            let outputs = outputs.split("$ ").skip(1).map(|output| {
                let (command, text) = output.split_once('\n').unwrap();
                Output { command: command.to_owned(), text: text.to_owned() }
            });
            (rule, Submission { outputs: outputs.collect(), ..Submission::default() })
        })
        .collect()
}

#[test]
fn every_rule_finds_what_it_is_for() {
    let base = RuleBase::built_in().unwrap();
    let mut tried = BTreeSet::new();
    let mut wrong = Vec::new();
    for (rule, submission) in cases() {
        let found = base.analyse(&submission.normalise());
        let ids: Vec<&str> = found.iter().map(|finding| finding.id.as_str()).collect();
        let right = if rule == "-" { ids.is_empty() } else { ids.contains(&rule) };
        if !right {
            wrong.push(format!("{rule}: found {ids:?}"));
        }
        for finding in &found {
            assert!((0.0..=1.0).contains(&finding.confidence) && !finding.title.contains('{'), "{finding:?}");
            let printed: String = submission.outputs.iter().map(|output| output.text.as_str()).collect();
            assert!(
                finding.evidence.iter().all(|line| printed.contains(line.as_str())),
                "evidence is quoted: {finding:?}"
            );
        }
        tried.insert(rule);
    }
    testkit::tally("ops", "faults of devices found by rules", cases().len(), "missed or invented", wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let untried: Vec<_> = base.rules().map(|rule| rule.id.as_str()).filter(|id| !tried.contains(id)).collect();
    assert!(base.rules().count() >= 25 && untried.is_empty(), "no case for {untried:?}");
}

#[test]
fn a_runbook_is_told_what_the_log_names_or_not_offered() {
    let call = |line: &str| {
        let output = Output { command: "journalctl".to_owned(), text: line.to_owned() };
        let submission = Submission { outputs: vec![output], ..Submission::default() };
        let found = RuleBase::built_in().unwrap().analyse(&submission.normalise()).remove(0);
        found.runbook.map(|call| call.parameters.into_values().collect::<Vec<_>>())
    };
    let told = call("app[1]: stale lock /var/lib/app/run/a-b.lock: process 4711 is gone").unwrap();
    assert_eq!(told, ["/var/lib/app/run", "a-b.lock"]);
    assert_eq!(call("app[1]: lock file already exists: /srv/x.lock").unwrap(), ["/srv", "x.lock"]);
    assert_eq!(call("app[1]: log /a/b.log has grown beyond its quota").unwrap(), ["/a", "b.log"]);
    assert_eq!(call("app[1]: stale lock, not starting"), None, "of what?");
}

#[test]
fn output_is_read_into_shape() {
    let all: Vec<Output> = cases().pop().unwrap().1.outputs;
    let diagnostics = Submission { outputs: all, ..Submission::default() }.normalise();
    assert_eq!(diagnostics.interfaces[1].addresses, ["10.0.0.5/24"]);
    assert_eq!(diagnostics.disks[0].used_percent, 43);
    assert_eq!(diagnostics.memory.as_ref().unwrap().available_mb, 2900);
    assert_eq!(diagnostics.routes.as_ref().unwrap()[0].via, "10.0.0.1");
    assert_eq!(diagnostics.dns.as_ref().unwrap().servers, ["10.0.0.1"]);
    assert_eq!(diagnostics.sockets[0].port, 80);
    assert_eq!(diagnostics.sockets[0].process, "nginx");
    assert_eq!(diagnostics.pings[0].received, 2);
    assert_eq!(diagnostics.services[0].active, "active");
    assert_eq!(diagnostics.logs[1].unit, "sshd");
    let json = serde_json::to_string(&diagnostics).unwrap();
    assert_eq!(serde_json::from_str::<Diagnostics>(&json).unwrap(), diagnostics);
    assert!(serde_json::from_str::<Diagnostics>(r#"{"secrets": []}"#).is_err(), "unknown keys are refused");
}

proptest! {
    /// Whatever a device sends, nobody falls over it.
    #[test]
    fn any_output_is_read(
        command in prop::sample::select(vec!["ip addr", "ip route", "route -n", "cat /etc/resolv.conf", "df -h", "free -m", "systemctl", "ss", "ping", "journalctl"]),
        text in "([ -~]{0,30}|[0-9]+% ?|via|mtu|Active: |PING |\u{fffd}|\n){0,20}",
    ) {
        let outputs = vec![Output { command: command.to_owned(), text }];
        RuleBase::built_in().unwrap().analyse(&Submission { outputs, ..Submission::default() }.normalise());
    }
}
