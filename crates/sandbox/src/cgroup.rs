//! Control groups: the only limit on memory and processor time of a whole process tree.
//!
//! Version 2 and version 1 are both in use, and often neither is writable. Files are written
//! directly: no daemon is needed or assumed.

mod locate;

use crate::jail::JailLimits;
use crate::owned_name;
pub(crate) use locate::{Controller, Version, own_limit_files, own_limits};
use rustix::process::{Pid, Signal, kill_process};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, io, thread};

/// Over which the share of a processor is counted: long, so that a short query is not slowed down.
const PERIOD_US: u64 = 1_000_000;
/// Half the weight of an ordinary process (1,024 in version 1, 100 in version 2): where processors are short, the server
/// that answers everybody comes before statements at work.
const WEIGHT: (&str, &str) = ("512", "50");
const KIND: &str = "jail";
/// How long killed processes may take to leave their group.
const LEAVE: Duration = Duration::from_secs(2);

/// A directory in which groups can be made, and what they can limit there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub version: Version,
    pub parent: PathBuf,
    pub controllers: Vec<Controller>,
}

/// The places that this process may really use: each was tried.
pub(crate) fn usable_places() -> Vec<Place> {
    let places: Vec<Place> = locate::places().into_iter().filter(|place| try_out(place).is_ok()).collect();
    let patience = Instant::now() + LEAVE;
    for place in &places {
        owned_name::orphans(&place.parent, KIND, |dir| end_orphan(dir, patience));
    }
    places
}

/// Workers end with their server. What was only being made when it died may wait for it for ever: bubblewrap's child, which
/// is told of the end of its parent only later.
fn end_orphan(dir: &Path, patience: Instant) -> io::Result<()> {
    loop {
        match fs::remove_dir(dir) {
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy && Instant::now() < patience => {
                kill_members(dir);
                thread::sleep(Duration::from_millis(1));
            }
            other => return other,
        }
    }
}

fn try_out(place: &Place) -> io::Result<()> {
    let limits = JailLimits::default();
    Group::create(std::slice::from_ref(place), &limits)?.limit_cpu(&limits)
}

/// One worker's group: a directory in each place. Removed, with whatever still runs in it, on drop.
#[derive(Debug)]
pub(crate) struct Group {
    dirs: Vec<PathBuf>,
    memory: Option<(Version, PathBuf)>,
    cpu: Option<(Version, PathBuf)>,
}

impl Group {
    /// Limits memory and processes.
    pub fn create(places: &[Place], limits: &JailLimits) -> io::Result<Self> {
        let name = owned_name::fresh(KIND);
        let mut group = Self { dirs: Vec::new(), memory: None, cpu: None };
        for place in places {
            let dir = place.parent.join(&name);
            fs::create_dir(&dir)?;
            group.dirs.push(dir.clone());
            for controller in &place.controllers {
                let here = Some((place.version, dir.clone()));
                match controller {
                    Controller::Memory => {
                        limit_memory(&dir, place.version, limits)?;
                        group.memory = here;
                    }
                    Controller::Cpu => {
                        group.cpu = here;
                        group.weight().set()?;
                    }
                    Controller::Pids => fs::write(dir.join("pids.max"), limits.processes.to_string())?,
                }
            }
        }
        Ok(group)
    }

    /// For a worker that is locked down and about to work: until then only our own code runs in it,
    /// and half a processor would make its start twice as long.
    pub fn limit_cpu(&self, limits: &JailLimits) -> io::Result<()> {
        let Some((version, dir)) = &self.cpu else { return Ok(()) };
        // Cut to whole microseconds. The kernel takes no less than 1 ms.
        let quota = ((limits.cpus * PERIOD_US as f64) as u64).max(1_000);
        match version {
            Version::V1 => {
                fs::write(dir.join("cpu.cfs_period_us"), PERIOD_US.to_string())?;
                fs::write(dir.join("cpu.cfs_quota_us"), quota.to_string())
            }
            Version::V2 => fs::write(dir.join("cpu.max"), format!("{quota} {PERIOD_US}")),
        }
    }

    pub fn weight(&self) -> Weight {
        Weight { cpu: self.cpu.clone() }
    }

    pub fn dirs(&self) -> &[PathBuf] {
        &self.dirs
    }

    /// The most memory that it had at a time, where the kernel keeps that.
    pub fn memory_peak(&self) -> Option<u64> {
        let (version, dir) = self.memory.as_ref()?;
        let peak = match version {
            Version::V1 => "memory.max_usage_in_bytes",
            Version::V2 => "memory.peak",
        };
        fs::read_to_string(dir.join(peak)).ok()?.trim().parse().ok()
    }

    /// Whether the kernel killed in this group because its memory ran out.
    pub fn ran_out_of_memory(&self) -> bool {
        let Some((version, dir)) = &self.memory else { return false };
        let events = match version {
            Version::V1 => "memory.oom_control",
            Version::V2 => "memory.events",
        };
        let events = fs::read_to_string(dir.join(events)).unwrap_or_default();
        let kills = events.lines().find_map(|line| line.strip_prefix("oom_kill "));
        kills.is_some_and(|count| count.trim() != "0")
    }
}

fn kill_members(dir: &Path) {
    if fs::write(dir.join("cgroup.kill"), "1").is_ok() {
        return;
    }
    for pid in fs::read_to_string(dir.join("cgroup.procs")).unwrap_or_default().lines() {
        if let Some(pid) = pid.parse().ok().and_then(Pid::from_raw) {
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let deadline = Instant::now() + LEAVE;
        loop {
            self.dirs.retain(|dir| fs::remove_dir(dir).is_err_and(|e| e.kind() != io::ErrorKind::NotFound));
            if self.dirs.is_empty() || Instant::now() > deadline {
                return;
            }
            self.dirs.iter().for_each(|dir| kill_members(dir));
            thread::sleep(Duration::from_millis(1));
        }
    }
}

/// What a worker gets of a busy processor beside the others. Without a group there is nothing to weigh.
#[derive(Debug, Clone, Default)]
pub struct Weight {
    cpu: Option<(Version, PathBuf)>,
}

impl Weight {
    /// Its statement takes long: whoever wakes up goes first, at once and not at the end of a time slice.
    pub fn give_way(&self) {
        // Fails for a worker that has ended meanwhile, and then nothing is left to weigh, and before Linux 5.15.
        let _ = self.idle("1");
    }

    /// The next statement is as good as any other's.
    pub fn reset(&self) {
        let _ = self.idle("0");
        let _ = self.set();
    }

    fn idle(&self, idle: &str) -> io::Result<()> {
        self.cpu.as_ref().map_or(Ok(()), |(_, dir)| fs::write(dir.join("cpu.idle"), idle))
    }

    fn set(&self) -> io::Result<()> {
        match &self.cpu {
            Some((Version::V1, dir)) => fs::write(dir.join("cpu.shares"), WEIGHT.0),
            Some((Version::V2, dir)) => fs::write(dir.join("cpu.weight"), WEIGHT.1),
            None => Ok(()),
        }
    }
}

/// Called by the process that joins.
pub(crate) fn join(dir: &Path) -> io::Result<()> {
    fs::write(dir.join("cgroup.procs"), "0")
}

fn limit_memory(dir: &Path, version: Version, limits: &JailLimits) -> io::Result<()> {
    let bytes = limits.memory_bytes.to_string();
    let (memory, extras) = match version {
        Version::V1 => ("memory.limit_in_bytes", vec![("memory.memsw.limit_in_bytes", bytes.as_str())]),
        Version::V2 => ("memory.max", vec![("memory.swap.max", "0"), ("memory.oom.group", "1")]),
    };
    fs::write(dir.join(memory), &bytes)?;
    for (file, value) in extras {
        // Kernels without swap accounting have no such file, and then no swap to limit.
        if dir.join(file).exists() {
            fs::write(dir.join(file), value)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory stands in for version 2 where the machine has none: the files are what counts.
    #[test]
    fn limits_of_version_2_are_written_as_the_kernel_wants_them() {
        let parent = tempfile::tempdir().unwrap();
        let place =
            Place { version: Version::V2, parent: parent.path().to_owned(), controllers: Controller::ALL.to_vec() };
        let limits = JailLimits { memory_bytes: 1 << 20, cpus: 0.25, processes: 7, ..JailLimits::default() };
        let group = Group::create(&[place], &limits).unwrap();
        group.limit_cpu(&limits).unwrap();
        let dir = group.dirs().first().unwrap().clone();
        let read = |file: &str| fs::read_to_string(dir.join(file)).unwrap();
        assert_eq!(
            [read("memory.max"), read("cpu.max"), read("cpu.weight"), read("pids.max")],
            ["1048576", "250000 1000000", "50", "7"].map(String::from)
        );

        assert_eq!(group.memory_peak(), None, "before Linux 5.19");
        fs::write(dir.join("memory.peak"), "4096\n").unwrap();
        assert_eq!(group.memory_peak(), Some(4096));
        assert!(!group.ran_out_of_memory());
        fs::write(dir.join("memory.events"), "low 0\noom 3\noom_kill 1\n").unwrap();
        assert!(group.ran_out_of_memory());
        group.weight().give_way();
        assert_eq!(read("cpu.idle"), "1");
        group.weight().reset();
        assert_eq!([read("cpu.idle"), read("cpu.weight")], ["0", "50"]);
        // A real group's directory goes although it has files.
        fs::remove_dir_all(&dir).unwrap();
    }
}
