//! Whether a manifest asks for what there is, and for no more than anybody may have.

use super::environment::is_dangerous_variable;
use super::paths::{Paths, is_delicate};
use super::refuse::refuse;
use super::review::Grants;
use super::risk::Reasons;
use domain::{Fault, Network, Risk};

pub fn check(paths: &Paths<'_>, grants: &Grants, refusals: &mut Vec<Fault>, reasons: &mut Reasons) {
    let (manifest, settings) = (paths.manifest, paths.settings);
    let mut no = |code: &str, part: &str, what: String, hint: &str| refusals.push(refuse(code, 0, part, &what, hint));

    let caps = [
        ("timeout_seconds", manifest.timeout_seconds.0, settings.max_timeout_seconds),
        ("resources.memory_mb", manifest.resources.memory_mb, settings.max_memory_mb),
        ("resources.output_kb", manifest.resources.output_kb, settings.max_output_kb),
        ("resources.disk_mb", manifest.resources.disk_mb, settings.max_disk_mb),
        ("resources.processes", manifest.resources.processes, settings.max_processes),
        ("resources.cpu_percent", manifest.resources.cpu_percent, 100),
    ];
    for (name, asked, most) in caps {
        if asked == 0 || asked > most {
            no("manifest_limit", name, format!("is {asked}, and must be from 1 to {most}"), "ask for less");
        }
    }
    for (name, value) in &manifest.env {
        let plain = !name.is_empty()
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
            && !name.starts_with(|c: char| c.is_ascii_digit());
        if !plain || is_dangerous_variable(name) {
            no(
                "env_not_allowed",
                name,
                "is no variable that a script may be given".to_owned(),
                "use a name of its own",
            );
        } else if value.len() > 4096 || value.contains('\0') {
            no("env_not_allowed", name, "has a value that no variable can have".to_owned(), "use a shorter text");
        }
    }
    let dir = &manifest.work_dir;
    if dir.starts_with('/') || dir.split('/').any(|part| part == "..") || dir.len() > 200 || dir.contains('\0') {
        no(
            "manifest_work_dir",
            dir,
            "is not below the job's own directory".to_owned(),
            "use a relative path, or leave it out",
        );
    }
    for path in &manifest.writable_paths {
        if paths.grantable(path).is_err() {
            no(
                "manifest_path",
                path,
                "is no path that a script may be given to write".to_owned(),
                "name one directory or file, at least two levels deep",
            );
        } else if !grants.writable(path) {
            no("not_grantable", path, "can't be made writable on this device".to_owned(), "see what the device grants");
        } else if is_delicate(path) {
            reasons.add(Risk::High, "delicate_path", 0, format!("may change `{path}`, which other programs depend on"));
        } else {
            reasons.add(Risk::Medium, "writable_path", 0, format!("may change `{path}`"));
        }
    }
    for capability in &manifest.capabilities {
        if !grants.capabilities.contains(capability) {
            no(
                "not_grantable",
                capability,
                "is a capability that the device's sandbox can't grant".to_owned(),
                "do without it",
            );
        } else if capability != "NET_RAW" {
            reasons.add(Risk::High, "capability", 0, format!("runs with the capability {capability}"));
        }
    }
    if manifest.network == Network::Host && !grants.network {
        no("not_grantable", "network", "can't be had on this device".to_owned(), "do without the network");
    }
    if manifest.network == Network::Host {
        // To ask whether an address answers is a look, as long as the address is all that goes out.
        reasons.add(Risk::Low, "network", 0, "may speak to other machines, at addresses that it names".to_owned());
    }
}
