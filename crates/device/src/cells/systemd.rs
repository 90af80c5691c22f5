//! systemd-run: a transient unit with the properties of spec 003.

use super::Task;
use super::client::{self, Client};
use domain::{Fault, Manifest, Network};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const HINT: &str =
    "the device must run systemd as its first process; else set `cells` of `device.json` to `bubblewrap`";

/// What holds for every script.
const PROPERTIES: [&str; 18] = [
    "NoNewPrivileges=yes",
    "PrivateTmp=yes",
    "PrivateDevices=yes",
    "ProtectSystem=strict",
    "ProtectHome=yes",
    "ProtectKernelTunables=yes",
    "ProtectKernelModules=yes",
    "ProtectControlGroups=yes",
    "ProtectProc=invisible",
    "RestrictSUIDSGID=yes",
    "RestrictNamespaces=yes",
    "LockPersonality=yes",
    "CapabilityBoundingSet=",
    "SystemCallArchitectures=native",
    "SystemCallFilter=@system-service",
    "MemorySwapMax=0",
    "LimitCORE=0",
    "KillMode=control-group",
];

pub fn trial() -> Result<(), Fault> {
    let mut command = Command::new("systemd-run");
    command
        .args(["--quiet", "--wait", "--pipe", "--collect"])
        .args(PROPERTIES.iter().map(|p| format!("--property={p}")));
    command.arg("/usr/bin/true");
    client::trial("systemd-run", command, HINT)
}

/// Ends units whose device was killed.
pub fn sweep(own: &Path) {
    let ours = format!("{}*", client::family(own));
    let mut end = Command::new("systemctl");
    let _ = end.args(["kill", "--signal=KILL", &ours]).stdout(Stdio::null()).stderr(Stdio::null()).status();
}

pub fn start(task: &Task<'_>, user: Option<&str>) -> Result<Client, Fault> {
    client::check_paths(task.approved.manifest(), task.hidden)?;
    let name = client::name(task.own)?;
    let mut command = Command::new("systemd-run");
    command.args(["--quiet", "--wait", "--pipe", "--collect", "--unit", &name, "--uid", user.unwrap_or("nobody")]);
    let own = properties(task.approved.manifest(), task.hidden);
    command.args(PROPERTIES.iter().map(|p| (*p).to_owned()).chain(own).map(|p| format!("--property={p}")));
    command.args(client::words(task.approved, task.text).iter().map(|word| literal(word)));
    let mut end = Command::new("systemctl");
    end.args(["kill", "--signal=KILL", &name]);
    Client::start(command, end)
}

/// A word of a command line as it is: the manager would put its own variables into it.
fn literal(word: &str) -> String {
    word.replace('$', "$$")
}

/// What its manifest asks for.
fn properties(manifest: &Manifest, hidden: &[PathBuf]) -> Vec<String> {
    let resources = &manifest.resources;
    let mut properties = vec![
        format!("MemoryMax={}M", resources.memory_mb),
        format!("TasksMax={}", resources.processes),
        format!("CPUQuota={}%", resources.cpu_percent),
        format!("RuntimeMaxSec={}", manifest.timeout_seconds.0),
        format!("TemporaryFileSystem=/tmp:size={}M,mode=1777", resources.disk_mb),
    ];
    properties.extend(hidden.iter().map(|path| format!("InaccessiblePaths={}", path.display())));
    if !manifest.capabilities.is_empty() {
        let named: Vec<String> = manifest.capabilities.iter().map(|name| format!("CAP_{name}")).collect();
        // Added to the empty set that holds for every script; ambient, as nothing that it runs may gain rights of its own.
        properties.push(format!("CapabilityBoundingSet={}", named.join(" ")));
        properties.push(format!("AmbientCapabilities={}", named.join(" ")));
    }
    properties.push(match manifest.network {
        Network::None => "PrivateNetwork=yes".to_owned(),
        Network::Host => "RestrictAddressFamilies=AF_INET AF_INET6 AF_NETLINK".to_owned(),
    });
    properties.extend(manifest.writable_paths.iter().map(|path| format!("ReadWritePaths={path}")));
    properties
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_has_what_its_manifest_asks_for_and_no_more() {
        let manifest = Manifest { writable_paths: vec!["/var/log/app".to_owned()], ..Manifest::default() };
        let hidden = ["/var/lib/gatehouse-device", "/srv/keys"].map(PathBuf::from);
        let asking = Manifest { capabilities: vec!["NET_RAW".into(), "NET_ADMIN".into()], ..manifest.clone() };
        let granted: Vec<String> = properties(&asking, &hidden).into_iter().filter(|p| p.contains("CAP_")).collect();
        let named = "CAP_NET_RAW CAP_NET_ADMIN";
        assert_eq!(granted, [format!("CapabilityBoundingSet={named}"), format!("AmbientCapabilities={named}")]);
        let properties = properties(&manifest, &hidden);
        let expected = [
            "MemoryMax=256M",
            "TasksMax=64",
            "CPUQuota=50%",
            "RuntimeMaxSec=60",
            "TemporaryFileSystem=/tmp:size=64M,mode=1777",
            "InaccessiblePaths=/var/lib/gatehouse-device",
            "InaccessiblePaths=/srv/keys",
            "PrivateNetwork=yes",
            "ReadWritePaths=/var/log/app",
        ];
        assert_eq!(properties, expected);
    }

    #[test]
    fn the_manager_leaves_the_words_of_a_script_alone() {
        for (word, expected) in [("df -h", "df -h"), ("echo $HOME ${x} $$", "echo $$HOME $${x} $$$$"), ("", "")] {
            assert_eq!(literal(word), expected);
        }
    }
}
