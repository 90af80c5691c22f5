//! Where on this machine groups might be made, read from what the kernel says about us.

use super::Place;
use crate::jail::JailLimits;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Where a server moves that is alone in its group, to make room for others beside it.
const SERVER_LEAF: &str = "gatehouse-server";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    V1,
    V2,
}

/// What we ask of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Controller {
    Memory,
    Cpu,
    Pids,
}

impl Controller {
    pub const ALL: [Self; 3] = [Self::Memory, Self::Cpu, Self::Pids];

    pub fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Cpu => "cpu",
            Self::Pids => "pids",
        }
    }

    fn among<'a>(words: impl IntoIterator<Item = &'a str>) -> Vec<Self> {
        let words: Vec<&str> = words.into_iter().collect();
        Self::ALL.into_iter().filter(|c| words.contains(&c.name())).collect()
    }
}

/// Groups go below the one that this process is in: limits set on us from above still hold.
pub(super) fn places() -> Vec<Place> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let ours = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let mut places = v1_places(&mounts, &ours);
    places.extend(v2_candidates(&mounts, &ours).into_iter().find_map(|parent| prepare_v2(&parent).ok()));
    places
}

/// A mounted hierarchy.
struct Mount<'a> {
    root: &'a str,
    point: &'a str,
    kind: &'a str,
    options: &'a str,
}

/// A line of mountinfo: `36 31 0:33 ROOT POINT opts [tags…] - TYPE source OPTIONS`.
fn parse_mount(line: &str) -> Option<Mount<'_>> {
    let (left, right) = line.split_once(" - ")?;
    let mut left = left.split(' ').skip(3);
    let mut right = right.split(' ');
    let (root, point) = (left.next()?, left.next()?);
    let (kind, options) = (right.next()?, right.nth(1)?);
    Some(Mount { root, point, kind, options })
}

/// Our own group as a directory below where its hierarchy is mounted.
fn own_directory(mount: &Mount<'_>, own: &str) -> PathBuf {
    let below = Path::new(own).strip_prefix(mount.root).unwrap_or(Path::new(""));
    let inside = below.components().all(|c| matches!(c, std::path::Component::Normal(_)));
    let mut directory = PathBuf::from(mount.point);
    if inside {
        directory.extend(below);
    }
    directory
}

/// The path of our own group in this hierarchy, from lines like `4:memory:/service` and `0::/service`.
fn own_group<'a>(mount: &Mount<'_>, ours: &'a str) -> Option<&'a str> {
    let wanted = Controller::among(mount.options.split(','));
    ours.lines().find_map(|line| {
        let (names, path) = line.split_once(':')?.1.split_once(':')?;
        let ours = match mount.kind {
            "cgroup" => wanted.first().is_some_and(|c| names.split(',').any(|n| n == c.name())),
            "cgroup2" => names.is_empty(),
            _ => false,
        };
        ours.then_some(path)
    })
}

fn v1_places(mounts: &str, ours: &str) -> Vec<Place> {
    let mounts = mounts.lines().filter_map(parse_mount).filter(|mount| mount.kind == "cgroup");
    let place = |mount: Mount<'_>| {
        let controllers = Controller::among(mount.options.split(','));
        Some(Place { version: Version::V1, parent: own_directory(&mount, own_group(&mount, ours)?), controllers })
    };
    mounts.filter_map(place).collect()
}

/// Our own group, and the root of the hierarchy for a server started by hand beside other processes.
fn v2_candidates(mounts: &str, ours: &str) -> Vec<PathBuf> {
    let Some(mount) = mounts.lines().filter_map(parse_mount).find(|m| m.kind == "cgroup2") else { return Vec::new() };
    let Some(own) = own_group(&mount, ours) else { return Vec::new() };
    let mut own = own_directory(&mount, own);
    if own.file_name().is_some_and(|name| name == SERVER_LEAF) {
        own.pop();
    }
    vec![own, PathBuf::from(mount.point)]
}

/// The files in which a process reads how much it may use. Engines do, to choose their defaults,
/// and some fall over when a file is there that they can't read.
pub(crate) fn own_limit_files() -> Vec<PathBuf> {
    const NAMES: [&str; 5] =
        ["memory.max", "cpu.max", "memory.limit_in_bytes", "cpu.cfs_quota_us", "cpu.cfs_period_us"];
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let ours = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let mut files = vec![PathBuf::from("/proc/self/cgroup")];
    for mount in mounts.lines().filter_map(parse_mount) {
        if let Some(own) = own_group(&mount, &ours) {
            let dirs = [own_directory(&mount, own), PathBuf::from(mount.point)];
            files.extend(dirs.iter().flat_map(|dir| NAMES.map(|name| dir.join(name))));
        }
    }
    files.retain(|file| file.is_file());
    files
}

/// Which of these limits hold for the group that this process is in, set by whoever put it there.
pub(crate) fn own_limits(limits: &JailLimits) -> Vec<Controller> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let ours = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let dirs = mounts.lines().filter_map(parse_mount).filter_map(|m| Some(own_directory(&m, own_group(&m, &ours)?)));
    let dirs: Vec<PathBuf> = dirs.collect();
    Controller::ALL
        .into_iter()
        .filter(|controller| dirs.iter().any(|dir| is_limited(dir, *controller, limits)))
        .collect()
}

fn is_limited(dir: &Path, controller: Controller, limits: &JailLimits) -> bool {
    let numbers = |file: &str| -> Vec<f64> {
        let text = fs::read_to_string(dir.join(file)).unwrap_or_default();
        // "max" and -1 are no limits.
        text.split_whitespace().map_while(|word| word.parse().ok()).filter(|n| *n >= 0.0).collect()
    };
    let at_most =
        |files: [&str; 2], most: u64| files.iter().any(|f| numbers(f).first().is_some_and(|n| *n <= most as f64));
    match controller {
        Controller::Memory => at_most(["memory.max", "memory.limit_in_bytes"], limits.memory_bytes),
        Controller::Pids => at_most(["pids.max", "pids.max"], limits.processes),
        Controller::Cpu => {
            let v1 = [numbers("cpu.cfs_quota_us"), numbers("cpu.cfs_period_us")].concat();
            [numbers("cpu.max"), v1].iter().any(|n| matches!(n[..], [quota, period] if quota <= limits.cpus * period))
        }
    }
}

/// Hands the controllers down to our children. A group that has members can't do that, so a server
/// that is alone in its group first moves itself into a leaf of it.
fn prepare_v2(parent: &Path) -> io::Result<Place> {
    let available = fs::read_to_string(parent.join("cgroup.controllers"))?;
    let controllers = Controller::among(available.split_whitespace());
    if controllers.is_empty() {
        return Err(io::Error::other("no controllers"));
    }
    if let Err(error) = enable(parent, &controllers) {
        let members = fs::read_to_string(parent.join("cgroup.procs"))?;
        if members.trim() != std::process::id().to_string() {
            return Err(error);
        }
        let leaf = parent.join(SERVER_LEAF);
        fs::create_dir_all(&leaf)?;
        super::join(&leaf)?;
        enable(parent, &controllers)?;
    }
    Ok(Place { version: Version::V2, parent: parent.to_owned(), controllers })
}

fn enable(parent: &Path, controllers: &[Controller]) -> io::Result<()> {
    let words: Vec<String> = controllers.iter().map(|c| format!("+{}", c.name())).collect();
    fs::write(parent.join("cgroup.subtree_control"), words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HYBRID: &str = "\
32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct
35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory
40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,name=systemd
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw";

    #[test]
    fn v1_groups_go_below_our_own() {
        let places = v1_places(HYBRID, "9:name=systemd:/x\n4:memory:/service\n1:cpu,cpuacct:/\n0::/");
        let shown: Vec<_> = places.iter().map(|p| (p.parent.to_str().unwrap(), p.controllers.as_slice())).collect();
        assert_eq!(
            shown,
            [
                ("/sys/fs/cgroup/cpu,cpuacct", [Controller::Cpu].as_slice()),
                ("/sys/fs/cgroup/memory/service", &[Controller::Memory]),
            ]
        );
    }

    #[test]
    fn v2_groups_go_below_our_own_and_not_below_the_leaf_we_moved_to() {
        let mounts = "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw";
        for ours in ["0::/system.slice/g.service\n", "0::/system.slice/g.service/gatehouse-server\n"] {
            let candidates = v2_candidates(mounts, ours);
            assert_eq!(candidates, ["/sys/fs/cgroup/system.slice/g.service", "/sys/fs/cgroup"].map(PathBuf::from));
        }
    }

    #[test]
    fn a_mount_of_a_part_of_the_hierarchy_hides_what_is_above() {
        let mounts = "30 23 0:26 /docker/abc /sys/fs/cgroup rw - cgroup2 cgroup2 rw";
        assert_eq!(v2_candidates(mounts, "0::/docker/abc/x")[0], Path::new("/sys/fs/cgroup/x"));
        assert_eq!(v2_candidates(mounts, "0::/../elsewhere")[0], Path::new("/sys/fs/cgroup"));
    }

    #[test]
    fn a_limit_counts_when_it_is_as_low_as_asked() {
        let holds = |files: &[(&str, &str)], controller| {
            let dir = tempfile::tempdir().unwrap();
            for (name, text) in files {
                fs::write(dir.path().join(name), text).unwrap();
            }
            is_limited(dir.path(), controller, &JailLimits::default())
        };
        use Controller::{Cpu, Memory, Pids};
        assert!(holds(&[("memory.max", "536870912\n")], Memory));
        assert!(!holds(&[("memory.max", "536870913\n")], Memory));
        assert!(!holds(&[("memory.max", "max\n")], Memory));
        assert!(!holds(&[("memory.limit_in_bytes", "9223372036854771712\n")], Memory));
        assert!(holds(&[("pids.max", "64\n")], Pids));
        assert!(!holds(&[], Pids));
        assert!(holds(&[("cpu.max", "50000 100000\n")], Cpu));
        assert!(!holds(&[("cpu.max", "max 100000\n")], Cpu));
        assert!(holds(&[("cpu.cfs_quota_us", "50000\n"), ("cpu.cfs_period_us", "100000\n")], Cpu));
        assert!(!holds(&[("cpu.cfs_quota_us", "-1\n"), ("cpu.cfs_period_us", "100000\n")], Cpu));
    }

    #[test]
    fn v2_hands_controllers_down() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("cgroup.controllers"), "cpuset cpu io memory pids\n").unwrap();
        let place = prepare_v2(dir.path()).unwrap();
        assert_eq!(place.controllers, Controller::ALL);
        assert_eq!(fs::read_to_string(dir.path().join("cgroup.subtree_control")).unwrap(), "+memory +cpu +pids");
    }
}
