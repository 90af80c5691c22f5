//! The device's program brings along nothing of the house but domain, policy and sandbox.

use std::process::Command;

#[test]
fn neither_engines_nor_a_runtime_nor_a_server_come_along() {
    let args = ["tree", "--package", "device", "--edges", "normal", "--prefix", "none", "--offline", "--locked"];
    let output = Command::new(env!("CARGO")).args(args).current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let tree = String::from_utf8(output.stdout).unwrap();
    let names: Vec<&str> = tree.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert!(names.contains(&"policy") && names.contains(&"sandbox"), "{tree}");
    let unwanted =
        ["duckdb", "libduckdb-sys", "arrow-array", "rusqlite", "tokio", "axum", "engines", "ledger", "gateway", "ops"];
    let found: Vec<&str> = unwanted.into_iter().filter(|name| names.contains(name)).collect();
    assert!(found.is_empty(), "{found:?}");
}
