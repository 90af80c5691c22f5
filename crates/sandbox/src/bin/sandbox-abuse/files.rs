//! Reaching for files.

use crate::{Attempt, Case, Scene, called};
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::{OpenOptionsExt, symlink};
use std::path::Path;
use std::process::Command;

pub const CASES: &[Case] = &[
    ("data_is_read", |s| fs::read_to_string(s.open.join("hello.txt"))),
    ("data_is_listed", |s| Ok(fs::read_dir(&s.open)?.count().to_string())),
    ("tmp_is_writable", |s| round_trip(&s.tmp.join("x"))),
    ("tmp_takes_directories", |s| fs::create_dir(s.tmp.join("d")).and_then(|()| round_trip(&s.tmp.join("d/x")))),
    ("urandom_is_read", |_| File::open("/dev/urandom")?.read(&mut [0; 8]).map(|n| n.to_string())),
    ("dev_null_takes_all", |_| OpenOptions::new().write(true).open("/dev/null")?.write(b"x").map(|n| n.to_string())),
    ("shadow", |_| read("/etc/shadow")),
    ("passwd", |_| read("/etc/passwd")),
    ("hostname", |_| read("/etc/hostname")),
    ("other_dataset", |s| read(s.closed.join("secret.txt"))),
    ("other_dataset_by_dots", |s| read(s.open.join("../closed/secret.txt"))),
    ("list_root", |_| Ok(fs::read_dir("/")?.count().to_string())),
    ("list_usr", |_| Ok(fs::read_dir("/usr")?.count().to_string())),
    ("write_usr", |_| write("/usr/abuse")),
    ("write_root", |_| write("/abuse")),
    ("write_data", |s| write(s.open.join("hello.txt"))),
    ("create_in_data", |s| write(s.open.join("new.txt"))),
    ("remove_data", |s| fs::remove_file(s.open.join("hello.txt")).map(done)),
    ("rename_data", |s| fs::rename(s.open.join("hello.txt"), s.tmp.join("hello.txt")).map(done)),
    ("chmod_data", |s| fs::set_permissions(s.open.join("hello.txt"), mode(0o777)).map(done)),
    ("symlink_out", |s| read(s.open.join("link"))),
    ("make_symlink", |s| symlink("/etc/passwd", s.tmp.join("l")).and_then(|()| read(s.tmp.join("l")))),
    ("hard_link", |s| fs::hard_link(s.open.join("hello.txt"), s.tmp.join("h")).map(done)),
    ("proc_root", |_| read("/proc/self/root/etc/passwd")),
    ("proc_maps", |_| read("/proc/self/maps")),
    ("proc_mem", |_| write("/proc/self/mem")),
    ("peer_environ", |_| read("/proc/1/environ")),
    ("parent_environ", |_| read(format!("/proc/{}/environ", std::os::unix::process::parent_id()))),
    ("sys", |_| read("/sys/kernel/notes")),
    ("cgroup_escape", |_| write("/sys/fs/cgroup/cgroup.procs")),
    ("core_pattern", |_| write("/proc/sys/kernel/core_pattern")),
    ("dev_shm", |_| write("/dev/shm/abuse")),
    ("dev_tty", |_| read("/dev/tty")),
    ("exec_shell", |_| Command::new("/bin/sh").arg("-c").arg("true").status().map(|s| s.to_string())),
    ("exec_itself", |_| Command::new("/gatehouse/program").status().map(|s| s.to_string())),
    ("exec_from_tmp", exec_from_tmp),
    ("memfd", |_| memfd()),
    ("fifo", |s| special(&s.tmp, libc::S_IFIFO)),
    ("device", |s| special(&s.tmp, libc::S_IFCHR)),
    ("inherited_files", |_| inherited()),
    ("environment", |_| environment()),
];

fn done(_: ()) -> String {
    "done".into()
}

fn read(path: impl AsRef<Path>) -> Attempt {
    let mut bytes = [0; 16];
    File::open(path)?.read(&mut bytes).map(|n| format!("{n} bytes"))
}

fn write(path: impl AsRef<Path>) -> Attempt {
    OpenOptions::new().write(true).create(true).truncate(false).open(path).map(|_| "opened".into())
}

fn round_trip(path: &Path) -> Attempt {
    fs::write(path, "kept")?;
    let kept = fs::read_to_string(path)?;
    fs::remove_file(path).map(|()| kept)
}

fn mode(bits: u32) -> fs::Permissions {
    std::os::unix::fs::PermissionsExt::from_mode(bits)
}

fn exec_from_tmp(scene: &Scene) -> Attempt {
    let path = scene.tmp.join("program");
    OpenOptions::new().write(true).create(true).truncate(true).mode(0o700).open(&path)?.write_all(b"#!/bin/sh\n")?;
    Command::new(path).status().map(|s| s.to_string())
}

fn memfd() -> Attempt {
    // SAFETY: a constant C string.
    called(unsafe { libc::memfd_create(c"x".as_ptr(), 0) })
}

fn special(tmp: &Path, kind: libc::mode_t) -> Attempt {
    let path = std::ffi::CString::new(tmp.join("s").as_os_str().as_encoded_bytes())?;
    // SAFETY: a C string that outlives the call.
    called(unsafe { libc::mknod(path.as_ptr(), kind | 0o600, libc::makedev(1, 3)) })
}

/// How many descriptors there are beyond stdin, stdout and stderr.
fn inherited() -> Attempt {
    // SAFETY: asks for the flags of a descriptor, whether there is one or not.
    let open = (3..256).filter(|fd| unsafe { libc::fcntl(*fd, libc::F_GETFD) } >= 0);
    Ok(open.count().to_string())
}

fn environment() -> Attempt {
    let mut names: Vec<String> = std::env::vars().map(|(name, _)| name).collect();
    names.sort();
    Ok(names.join(" "))
}
