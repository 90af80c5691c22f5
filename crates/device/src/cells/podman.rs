//! Podman: a container over the device's own files, read-only, with nothing of its own but a work directory.

use super::Task;
use super::client::{self, Client};
use domain::{Fault, Manifest, Network};
use std::path::Path;
use std::process::{Command, Stdio};

/// Nobody, whatever the device calls it.
const USER: &str = "65534:65534";
const HINT: &str = "install podman, or set `cells` of `device.json` to `bubblewrap`";

pub fn trial(own: &Path) -> Result<(), Fault> {
    let mut command = podman(&client::name(own)?, &Manifest::default());
    command.args(["--rootfs", "/:O", "/usr/bin/true"]);
    client::trial("podman", command, HINT)
}

/// Ends containers whose device was killed.
pub fn sweep(own: &Path) {
    let ours = format!("name=^{}", client::family(own));
    let listed = Command::new("podman").args(["ps", "--all", "--quiet", "--filter", &ours]).output();
    let listed = listed.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    for id in listed.split_whitespace() {
        let _ = Command::new("podman").args(["rm", "--force", "--time", "0", id]).stdout(Stdio::null()).status();
    }
}

pub fn start(task: &Task<'_>) -> Result<Client, Fault> {
    let manifest = task.approved.manifest();
    client::check_paths(manifest, task.hidden)?;
    let name = client::name(task.own)?;
    let mut command = podman(&name, manifest);
    for path in &manifest.writable_paths {
        command.args(["--volume", &format!("{path}:{path}:rw")]);
    }
    task.hidden.iter().for_each(|path| hide(&mut command, path));
    command.args(["--rootfs", "/:O"]).args(client::words(task.approved, task.text));
    let mut end = Command::new("podman");
    end.args(["kill", "--signal", "KILL", &name]);
    Client::start(command, end)
}

/// A directory is empty and closed, and a file holds nothing.
fn hide(command: &mut Command, path: &Path) {
    let path_is = path.display();
    match path.is_dir() {
        true => {
            let empty = format!("type=tmpfs,destination={path_is},tmpfs-size=1m,tmpfs-mode=0,notmpcopyup");
            command.args(["--mount", &empty]);
        }
        false => {
            command.args(["--volume", &format!("/dev/null:{path_is}:ro")]);
        }
    }
}

/// Everything but what it is to show and to run. Should its device die, its time still ends.
fn podman(name: &str, manifest: &Manifest) -> Command {
    let resources = &manifest.resources;
    let mut command = Command::new("podman");
    command.args(["run", "--rm", "--name", name, "--read-only", "--read-only-tmpfs=false", "--systemd=false"]);
    command.args(["--cap-drop=ALL", "--security-opt=no-new-privileges", "--user", USER, "--cgroupns=private"]);
    command.args(manifest.capabilities.iter().map(|capability| format!("--cap-add={capability}")));
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

#[cfg(test)]
mod tests {
    use super::*;

    fn words(command: &Command) -> Vec<String> {
        command.get_args().map(|word| word.to_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn a_container_has_the_capabilities_of_its_manifest_and_no_others() {
        let has = |capabilities: &[&str]| {
            let capabilities = capabilities.iter().map(|name| (*name).to_owned()).collect();
            let words = words(&podman("x", &Manifest { capabilities, ..Manifest::default() }));
            words.into_iter().filter(|word| word.starts_with("--cap-")).collect::<Vec<_>>()
        };
        assert_eq!(has(&[]), ["--cap-drop=ALL"]);
        assert_eq!(has(&["NET_RAW", "NET_ADMIN"]), ["--cap-drop=ALL", "--cap-add=NET_RAW", "--cap-add=NET_ADMIN"]);
    }

    #[test]
    fn what_is_hidden_is_covered_by_something_of_its_kind() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("file"), "").unwrap();
        let mut command = Command::new("podman");
        hide(&mut command, dir.path());
        hide(&mut command, &dir.path().join("file"));
        let words = words(&command);
        assert!(words[1].starts_with("type=tmpfs,destination=/") && words[1].contains("tmpfs-mode=0"), "{words:?}");
        assert_eq!(words[3], format!("/dev/null:{}/file:ro", dir.path().display()));
    }
}
