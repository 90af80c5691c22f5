//! The Python that real clients run in.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The interpreter of the cached virtual environment, made on first use (`scripts/python-deps`).
pub fn python() -> PathBuf {
    environment(None)
}

/// The same for clients, or engines, with requirements of their own: `requirements-{which}.txt`.
pub fn environment(which: Option<&str>) -> PathBuf {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/python-deps");
    let output = Command::new(script).args(which).output().expect("scripts/python-deps to run");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().into()
}
