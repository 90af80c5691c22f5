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

/// `da` plans without a model: whatever else the planner can do is not for laptops.
#[test]
fn da_sees_only_the_offline_part_of_the_planner() {
    let mut waiting = vec![std::path::PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../da/src"))];
    let mut uses = 0;
    while let Some(path) = waiting.pop() {
        if path.is_dir() {
            waiting.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        for (at, name) in text.match_indices("planner::") {
            let part = &text[at + name.len()..];
            assert!(part.starts_with("offline"), "{}: planner::{}", path.display(), part.lines().next().unwrap());
            uses += 1;
        }
    }
    assert!(uses > 0, "it plans questions");
}
