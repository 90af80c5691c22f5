//! What no script sees of this device: its own files, and what its owner denies.
//!
//! Policy refuses a script that names what is denied; one that comes to it by a pattern or through a directory finds it
//! covered. A rule with `*` covers what is there when the script starts.

use domain::{Fault, Kind};
use policy::script::is_denied_by;
use std::fs;
use std::path::{Path, PathBuf};

/// Where nothing of the owner's lies, and where looking for names would never end.
const NOT_SEARCHED: [&str; 4] = ["/proc", "/sys", "/dev", "/run"];
/// Places that are looked at for one rule, and covers of one script. Beyond them a script is refused: it must not see what
/// there was no time to find.
const MOST_LOOKED_AT: usize = 500_000;
const MOST_HIDDEN: usize = 500;

/// The device's own directory first, then what is denied and there: each by its real name, none within another.
pub fn paths(own: &Path, denied: &[String]) -> Result<Vec<PathBuf>, Fault> {
    let mut found = Vec::new();
    for rule in denied.iter().map(|rule| rule.trim_end_matches('/')).filter(|rule| !rule.is_empty()) {
        search(rule, &mut found)?;
    }
    let mut found: Vec<PathBuf> = found.iter().filter_map(|path| path.canonicalize().ok()).collect();
    found.sort();
    let mut hidden = vec![own.to_owned()];
    for path in found {
        if !hidden.iter().any(|outer| path.starts_with(outer)) && !is_of_a_process(&path) {
            hidden.push(path);
        }
    }
    match hidden.len() > MOST_HIDDEN {
        true => Err(too_many(&format!("they mean more than {MOST_HIDDEN} files"))),
        false => Ok(hidden),
    }
}

/// Of the device's own processes: a script has others, under the same names.
fn is_of_a_process(path: &Path) -> bool {
    let below = path.strip_prefix("/proc").ok().and_then(|rest| rest.iter().next()?.to_str());
    below.is_some_and(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
}

/// What a rule means, as far as it is there.
fn search(rule: &str, found: &mut Vec<PathBuf>) -> Result<(), Fault> {
    let Some((literal, _)) = rule.split_once('*') else {
        found.push(rule.into());
        return Ok(());
    };
    let start = literal.rsplit_once('/').map_or("", |(dir, _)| dir);
    let (mut waiting, mut looked_at) = (vec![PathBuf::from(format!("{start}/"))], 0);
    while let Some(dir) = waiting.pop() {
        for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
            looked_at += 1;
            if looked_at > MOST_LOOKED_AT {
                return Err(too_many(&format!("`{rule}` would have to be looked for in too many places")));
            }
            let path = entry.path();
            let text = path.to_string_lossy();
            if is_denied_by(rule, &text) {
                found.push(path);
            } else if leads_there(literal, &text) && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                waiting.push(path);
            }
        }
    }
    Ok(())
}

/// Whether something below this directory may be meant.
fn leads_there(literal: &str, dir: &str) -> bool {
    let on_the_way = literal.strip_prefix(dir).is_some_and(|rest| rest.starts_with('/'));
    (on_the_way || dir.starts_with(literal)) && !NOT_SEARCHED.contains(&dir)
}

fn too_many(why: &str) -> Fault {
    let message = format!("what `scripts.deny_paths` denies can't be hidden: {why}");
    Fault::new(Kind::Forbidden, "device.deny_paths", message).hint("deny the directories that they lie in")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn rules_are_found_by_their_real_names_and_once() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for name in ["keys/inner", "data/deep", "state"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        for name in ["keys/a", "data/x.token", "data/deep/y.token", "data/fine", "secret-1"] {
            fs::write(root.join(name), "").unwrap();
        }
        symlink(root.join("keys"), root.join("link")).unwrap();
        let hidden = |rules: &[&str]| -> Vec<String> {
            let rules: Vec<String> = rules.iter().map(|rule| format!("{}/{rule}", root.display())).collect();
            let found = paths(&root.join("state"), &rules).unwrap();
            let name = |path: &PathBuf| path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
            found.iter().skip(1).map(name).collect()
        };
        assert_eq!(hidden(&["keys/"]), ["keys"]);
        assert_eq!(hidden(&["link", "keys/a", "keys/inner"]), ["keys"], "a link by what it leads to");
        assert_eq!(hidden(&["*.token"]), ["data/deep/y.token", "data/x.token"]);
        assert_eq!(hidden(&["data/d*/y*", "secret-*"]), ["data/deep/y.token", "secret-1"]);
        assert!(hidden(&["absent", "absent*", "state", "state/journal"]).is_empty());
    }

    #[test]
    fn what_belongs_to_a_process_of_the_device_is_left_out() {
        let hidden = paths(Path::new("/var/lib/x"), &["/proc/self/status".to_owned(), "/proc/cpuinfo".to_owned()]);
        assert_eq!(hidden.unwrap(), [Path::new("/var/lib/x"), Path::new("/proc/cpuinfo")]);
    }
}
