//! A device with a state directory of its own, and the program of a real house.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use tempfile::TempDir;

const DEVICE: &str = env!("CARGO_BIN_EXE_gatehouse-device");

/// The server's program: what `GATEHOUSE` names, or what lies beside ours. `cargo test --workspace` has made it; alone, we do.
pub fn gatehouse() -> &'static Path {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| {
        if let Some(path) = std::env::var_os("GATEHOUSE") {
            return path.into();
        }
        let path = Path::new(DEVICE).with_file_name("gatehouse");
        if !path.exists() {
            let built = Command::new(env!("CARGO")).args(["build", "--quiet", "-p", "gatehouse"]).status().unwrap();
            assert!(built.success(), "gatehouse does not build");
        }
        path
    })
}

/// A device, and a directory that its owner lets scripts write in.
pub struct Device {
    pub state: TempDir,
    pub shared: TempDir,
}

impl Device {
    pub fn enrolled(url: &str, code: &str) -> Self {
        let shared = tempfile::Builder::new().prefix("gatehouse-").tempdir_in("/var/tmp").unwrap();
        fs::set_permissions(shared.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let device = Self { state: tempfile::tempdir().unwrap(), shared };
        let output = device.run(&["enrol", url, code, "--writable", "/var/tmp"]);
        assert!(output.status.success(), "{output:?}");
        device
    }

    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(DEVICE);
        command.arg("--state").arg(self.state.path()).args(words);
        command
    }

    pub fn run(&self, words: &[&str]) -> Output {
        self.command(words).output().unwrap()
    }

    pub fn once(&self) {
        let output = self.run(&["run", "--once"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    /// `device.json`, which holds its secrets.
    pub fn config(&self) -> serde_json::Value {
        serde_json::from_slice(&fs::read(self.state.path().join("device.json")).unwrap()).unwrap()
    }

    pub fn set_config(&self, key: &str, value: impl Into<serde_json::Value>) {
        let mut config = self.config();
        config[key] = value.into();
        fs::write(self.state.path().join("device.json"), config.to_string()).unwrap();
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.shared.path().join(name)
    }
}
