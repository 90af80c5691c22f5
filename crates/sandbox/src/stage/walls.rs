//! A worker in a container looks at the walls around it, since an engine may take a flag and not heed it.

use crate::cgroup;
use crate::host;
use crate::probe::Found;
use crate::spec::Spec;
use rustix::fs::{StatVfsMountFlags as Flags, statvfs};
use std::fs;
use std::path::Path;

/// What holds in every container, before this process locks itself down further.
pub(super) fn require(spec: &Spec) -> Result<(), String> {
    mounted("/", Flags::RDONLY)?;
    mounted(&spec.tmp, Flags::NOEXEC | Flags::NOSUID)?;
    for read in spec.reads.iter().filter(|read| !read.write) {
        mounted(&read.inside, Flags::RDONLY)?;
    }
    let tmp = statvfs(&spec.tmp).map_err(|e| e.to_string())?;
    if tmp.f_blocks.saturating_mul(tmp.f_frsize) > spec.limits.tmp_bytes {
        return Err(format!("`{}` is larger than {} bytes", spec.tmp.display(), spec.limits.tmp_bytes));
    }
    no_network()?;
    no_capabilities()
}

/// What differs between engines and machines, for the report.
pub(super) fn found(spec: &Spec) -> Found {
    Found {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        landlock_abi: host::landlock_abi(),
        limited: cgroup::own_limits(&spec.limits).into_iter().map(|c| c.name().to_owned()).collect(),
    }
}

fn mounted(path: impl AsRef<Path>, wanted: Flags) -> Result<(), String> {
    let path = path.as_ref();
    let flags = statvfs(path).map_err(|e| format!("`{}`: {e}", path.display()))?.f_flag;
    if flags.contains(wanted) {
        return Ok(());
    }
    Err(format!("`{}` is not mounted {:?}", path.display(), wanted - flags))
}

/// Devices may be there (some kernels put tunnels into every namespace), but no way to anywhere.
fn no_network() -> Result<(), String> {
    let read = |file: &str| fs::read_to_string(file).unwrap_or_default();
    let v4 = read("/proc/net/route").lines().count() > 1;
    let v6 = read("/proc/net/ipv6_route").lines().any(|line| line.split_whitespace().last() != Some("lo"));
    if v4 || v6 { Err("there is a network".to_owned()) } else { Ok(()) }
}

fn no_capabilities() -> Result<(), String> {
    let status = fs::read_to_string("/proc/self/status").map_err(|e| format!("`/proc/self/status`: {e}"))?;
    let value = |name: &str| status.lines().find_map(|l| l.strip_prefix(name)).map(str::trim);
    for name in ["CapPrm:", "CapEff:", "CapBnd:", "CapAmb:"] {
        if !value(name).is_some_and(|set| !set.is_empty() && set.bytes().all(|digit| digit == b'0')) {
            return Err(format!("capabilities are left ({name} {})", value(name).unwrap_or("unknown")));
        }
    }
    match value("NoNewPrivs:") {
        Some("1") => Ok(()),
        _ => Err("new privileges are not excluded".to_owned()),
    }
}
