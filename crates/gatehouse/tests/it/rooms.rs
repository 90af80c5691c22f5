//! Who may see whom (design §2): checked over what cargo itself knows.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

const ALLOWED: &[(&str, &[&str])] = &[
    ("domain", &[]),
    ("policy", &["domain"]),
    ("planner", &["domain"]),
    ("sandbox", &["domain"]),
    ("engines", &["domain", "policy", "sandbox"]),
    ("ledger", &["domain"]),
    ("gateway", &["domain", "engines", "ledger", "planner", "policy", "sandbox"]),
    ("gatehouse", &["domain", "engines", "gateway", "ledger", "planner", "policy", "sandbox"]),
    ("da", &["domain", "planner", "policy"]),
    ("testkit", &[]),
];

#[test]
fn rooms_see_only_whom_they_may() {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1", "--offline"])
        .output()
        .unwrap();
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo metadata");
    let packages = metadata["packages"].as_array().unwrap();
    let rooms: BTreeSet<&str> = packages.iter().map(|p| p["name"].as_str().unwrap()).collect();
    let allowed: BTreeMap<&str, &[&str]> = ALLOWED.iter().copied().collect();
    for package in packages {
        let name = package["name"].as_str().unwrap();
        let may = allowed.get(name).unwrap_or_else(|| panic!("room `{name}` is not in the table above"));
        for dependency in package["dependencies"].as_array().unwrap() {
            let (to, kind) = (dependency["name"].as_str().unwrap(), &dependency["kind"]);
            if rooms.contains(to) && kind.is_null() {
                assert!(may.contains(&to), "`{name}` must not see `{to}`");
            }
        }
    }
}
