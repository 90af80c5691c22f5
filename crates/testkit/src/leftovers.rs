//! What belongs to a server besides itself: its workers, and the directories that it made for them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Processes that a server started to work for it, also when it is dead. Each is told by whom.
pub fn workers_of(server: u32) -> Vec<u32> {
    let mark = format!("\"supervisor\":{server},");
    let processes = fs::read_dir("/proc").expect("processes").flatten();
    let ids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let told = ids.filter(|pid| fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|l| contains(&l, mark.as_bytes())));
    let mut workers: Vec<u32> = told.collect();
    // One that is about to end has no command line any more, but is in its group still.
    for dir in directories_of(server) {
        let members = fs::read_to_string(dir.join("cgroup.procs")).unwrap_or_default();
        workers.extend(members.lines().filter_map(|line| line.parse::<u32>().ok()));
    }
    workers.sort_unstable();
    workers.dedup();
    workers
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

/// Ends processes at once.
pub fn end(processes: &[u32]) {
    if processes.is_empty() {
        return;
    }
    let ids = processes.iter().map(u32::to_string);
    // One of them may have ended on its own meanwhile, which `kill` complains about.
    Command::new("kill").arg("-KILL").args(ids).output().expect("kill to run");
}

/// Groups and scratch directories that a server made, wherever they can be.
pub fn directories_of(server: u32) -> Vec<PathBuf> {
    let mut found = Vec::new();
    look(&std::env::temp_dir(), server, 0, &mut found);
    look(Path::new("/sys/fs/cgroup"), server, 6, &mut found);
    found
}

fn look(dir: &Path, server: u32, depth: usize, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let (name, path) = (entry.file_name(), entry.path());
        let name = name.to_string_lossy();
        if name.starts_with("gatehouse-") && name.split('-').nth(2) == Some(&server.to_string()) {
            found.push(path);
        } else if depth > 0 && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            look(&path, server, depth - 1, found);
        }
    }
}
