//! The data directory is its owner's. Workers read what they are to read all the same.

use crate::support::server;
use serde_json::Value;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// What doctor says of the data directory.
fn doctor(data: &Path) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gatehouse"));
    let output = command.args(["doctor", "--json", "--data"]).arg(data).output().unwrap();
    let findings: Value = serde_json::from_slice(&output.stdout).unwrap();
    findings.as_array().unwrap().iter().find(|found| found["check"] == "config").unwrap()["verdict"].clone()
}

#[test]
fn other_users_are_kept_out_of_the_data_and_workers_are_not() {
    let above = tempfile::tempdir().unwrap();
    fs::set_permissions(above.path(), Permissions::from_mode(0o755)).unwrap();
    let (new, old) = (above.path().join("new"), above.path().join("old"));
    fs::create_dir(&old).unwrap();
    fs::set_permissions(&old, Permissions::from_mode(0o755)).unwrap();
    assert_eq!(doctor(&old), "warn", "before a server has shut it");
    for data in [&new, &old] {
        let server = server().demo().data(data).start();
        assert_eq!(mode(data), 0o700, "{}", data.display());
        assert_eq!(mode(&data.join("demo.db")), 0o444, "nobody writes to it, not even by mistake");
        let ann = server.client("ann", "analyst");
        for (dataset, question) in [("shop", "How many orders?"), ("sales", "How many orders?")] {
            assert_eq!(ann.ask(dataset, question)["status"], "succeeded", "{dataset}");
        }
        if rustix::process::geteuid().is_root() {
            let read = |path: &str| {
                let mut cat = Command::new("setpriv");
                cat.args(["--reuid", "65534", "--regid", "65534", "--clear-groups", "cat"]).arg(data.join(path));
                cat.output().unwrap().status.success()
            };
            let files = ["demo.db", "datasets/shop/shop.sqlite", "contracts/cases.yaml", "datasets/crm/crm.sqlite"];
            assert_eq!(files.map(read), [false; 4]);
        }
        assert_eq!(doctor(data), "ok");
    }
}
