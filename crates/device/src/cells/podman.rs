//! Podman: a container over the device's own files, read-only, with nothing of its own but a work directory.

use super::Task;
use super::client::{self, Client};
use domain::{Fault, Manifest, Network};
use std::path::Path;
use std::process::{Command, Stdio};

/// Nobody, whatever the device calls it.
const USER: &str = "65534:65534";
const HINT: &str = "install podman, or set `cells` of `device.json` to `bubblewrap`";

pub fn trial(hidden: &Path) -> Result<(), Fault> {
    let mut command = podman(&client::name(hidden)?, &Manifest::default());
    command.args(["--rootfs", "/:O", "/usr/bin/true"]);
    client::trial("podman", command, HINT)
}

/// Ends containers whose device was killed.
pub fn sweep(hidden: &Path) {
    let ours = format!("name=^{}", client::family(hidden));
    let listed = Command::new("podman").args(["ps", "--all", "--quiet", "--filter", &ours]).output();
    let listed = listed.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    for id in listed.split_whitespace() {
        let _ = Command::new("podman").args(["rm", "--force", "--time", "0", id]).stdout(Stdio::null()).status();
    }
}

pub fn start(task: &Task<'_>) -> Result<Client, Fault> {
    let manifest = task.approved.manifest();
    client::check_paths(manifest, task.hidden)?;
    let name = client::name(task.hidden)?;
    let mut command = podman(&name, manifest);
    for path in &manifest.writable_paths {
        command.args(["--volume", &format!("{path}:{path}:rw")]);
    }
    let hide = format!("type=tmpfs,destination={},tmpfs-size=1m,tmpfs-mode=0,notmpcopyup", task.hidden.display());
    command.args(["--mount", &hide, "--rootfs", "/:O"]).args(client::words(task.approved, task.text));
    let mut end = Command::new("podman");
    end.args(["kill", "--signal", "KILL", &name]);
    Client::start(command, end)
}

/// Everything but what it is to show and to run. Should its device die, its time still ends.
fn podman(name: &str, manifest: &Manifest) -> Command {
    let resources = &manifest.resources;
    let mut command = Command::new("podman");
    command.args(["run", "--rm", "--name", name, "--read-only", "--read-only-tmpfs=false", "--systemd=false"]);
    command.args(["--cap-drop=ALL", "--security-opt=no-new-privileges", "--user", USER, "--cgroupns=private"]);
    command.arg(match manifest.network {
        Network::None => "--network=none",
        Network::Host => "--network=host",
    });
    // Left out, podman asks for more than a device may be allowed to give.
    command.args(["--ulimit", "nofile=256:256", "--ulimit", "nproc=1024:1024", "--ulimit", "core=0:0"]);
    command.arg(format!("--timeout={}", manifest.timeout_seconds.0.saturating_add(1)));
    command.arg(format!("--pids-limit={}", resources.processes));
    command.args([format!("--memory={}m", resources.memory_mb), format!("--memory-swap={}m", resources.memory_mb)]);
    command.arg(format!("--cpu-quota={}", resources.cpu_percent.saturating_mul(1000)));
    let size = resources.disk_mb;
    command.args(["--mount", &format!("type=tmpfs,destination=/tmp,tmpfs-size={size}m,tmpfs-mode=1777,notmpcopyup")]);
    command
}
