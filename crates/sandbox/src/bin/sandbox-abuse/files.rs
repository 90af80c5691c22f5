//! Reaching for files.

use crate::{Attempt, Case, Scene, called, read, write};
use std::ffi::CString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
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
    ("append_to_data", |s| OpenOptions::new().append(true).open(s.open.join("hello.txt")).map(opened)),
    ("truncate_data", |s| truncate(&s.open.join("hello.txt"))),
    ("cut_data_opened_for_reading", |s| File::open(s.open.join("hello.txt"))?.set_len(0).map(done)),
    ("allocate_in_data", |s| allocate(&s.open.join("hello.txt"))),
    ("map_data_for_writing", |s| map_for_writing(&s.open.join("hello.txt"))),
    ("unnamed_file_in_data", |s| unnamed(&s.open)),
    ("directory_in_data", |s| fs::create_dir(s.open.join("d")).map(done)),
    ("replace_data", |s| replace(s, "hello.txt")),
    ("swap_data", |s| swap(s)),
    ("create_in_data", |s| write(s.open.join("new.txt"))),
    ("remove_data", |s| fs::remove_file(s.open.join("hello.txt")).map(done)),
    ("rename_data", |s| fs::rename(s.open.join("hello.txt"), s.tmp.join("hello.txt")).map(done)),
    ("rename_inside_data", |s| fs::rename(s.open.join("hello.txt"), s.open.join("x")).map(done)),
    ("link_inside_data", |s| fs::hard_link(s.open.join("hello.txt"), s.open.join("h")).map(done)),
    ("symlink_in_data", |s| symlink("/etc/passwd", s.open.join("l")).map(done)),
    ("own_data", |s| std::os::unix::fs::chown(s.open.join("hello.txt"), Some(0), Some(0)).map(done)),
    ("touch_data", |s| File::open(s.open.join("hello.txt"))?.set_modified(std::time::UNIX_EPOCH).map(done)),
    ("label_data", |s| label(&s.open.join("hello.txt"))),
    ("lock_data", |s| lock(&s.open.join("hello.txt"), libc::LOCK_EX)),
    ("share_lock_data", |s| lock(&s.open.join("hello.txt"), libc::LOCK_SH)),
    ("record_lock_data", |s| record_lock(&s.open.join("hello.txt"))),
    ("lease_on_data", |s| control(&s.open.join("hello.txt"), libc::F_SETLEASE, libc::F_RDLCK)),
    ("watch_data", |s| control(&s.open, libc::F_NOTIFY, 1)),
    ("chmod_data", |s| fs::set_permissions(s.open.join("hello.txt"), mode(0o777)).map(done)),
    ("symlink_out", |s| read(s.open.join("link"))),
    ("make_symlink", |s| symlink("/etc/passwd", s.tmp.join("l")).and_then(|()| read(s.tmp.join("l")))),
    ("hard_link", |s| fs::hard_link(s.open.join("hello.txt"), s.tmp.join("h")).map(done)),
    ("chmod_own_file", |s| chmod_own(&s.tmp.join("own"))),
    ("open_tmp_to_others", |s| File::open(&s.tmp)?.set_permissions(mode(0o777)).map(done)),
    ("unnamed_file_in_tmp_linked_out", |s| link_unnamed(s)),
    ("handle_of_data", |s| handle(&s.open.join("hello.txt"))),
    ("open_by_two_steps", |_| two_steps(libc::O_PATH)),
    ("open_with_resolve_flags", |_| openat2()),
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

fn opened(_: File) -> String {
    "opened".into()
}

fn name(path: &Path) -> io::Result<CString> {
    Ok(CString::new(path.as_os_str().as_encoded_bytes())?)
}

fn truncate(path: &Path) -> Attempt {
    let name = name(path)?;
    // SAFETY: a C string that outlives the call.
    called(unsafe { libc::truncate(name.as_ptr(), 0) })
}

fn allocate(path: &Path) -> Attempt {
    let file = File::open(path)?;
    // SAFETY: names a descriptor.
    called(unsafe { libc::fallocate(file.as_raw_fd(), libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE, 0, 5) })
}

fn map_for_writing(path: &Path) -> Attempt {
    let (file, rw) = (File::open(path)?, libc::PROT_READ | libc::PROT_WRITE);
    // SAFETY: a fresh mapping of a file; nothing is written to it.
    let memory = unsafe { libc::mmap(std::ptr::null_mut(), 5, rw, libc::MAP_SHARED, file.as_raw_fd(), 0) };
    called(if memory == libc::MAP_FAILED { -1 } else { 0 })
}

fn unnamed(dir: &Path) -> Attempt {
    OpenOptions::new().write(true).custom_flags(libc::O_TMPFILE).mode(0o600).open(dir).map(opened)
}

/// A file of its own in the place of one of the data.
fn replace(scene: &Scene, over: &str) -> Attempt {
    fs::write(scene.tmp.join("forged"), "forged")?;
    fs::rename(scene.tmp.join("forged"), scene.open.join(over)).map(done)
}

fn swap(scene: &Scene) -> Attempt {
    fs::write(scene.tmp.join("forged"), "forged")?;
    let (ours, theirs) = (name(&scene.tmp.join("forged"))?, name(&scene.open.join("hello.txt"))?);
    let (here, exchange) = (libc::AT_FDCWD, libc::RENAME_EXCHANGE);
    // SAFETY: C strings that outlive the call.
    called(unsafe { libc::syscall(libc::SYS_renameat2, here, ours.as_ptr(), here, theirs.as_ptr(), exchange) })
}

fn label(path: &Path) -> Attempt {
    let name = name(path)?;
    // SAFETY: C strings and a value that outlive the call.
    called(unsafe { libc::setxattr(name.as_ptr(), c"user.x".as_ptr(), c"x".as_ptr().cast(), 1, 0) })
}

/// A lock on data would stall whoever keeps the data up to date.
fn lock(path: &Path, kind: i32) -> Attempt {
    let file = File::open(path)?;
    // SAFETY: names a descriptor.
    called(unsafe { libc::flock(file.as_raw_fd(), kind | libc::LOCK_NB) })
}

fn record_lock(path: &Path) -> Attempt {
    let file = File::open(path)?;
    // SAFETY: all zeroes is a valid value of this plain structure: the whole file.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = libc::F_RDLCK as _;
    // SAFETY: a structure that outlives the call.
    called(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETLK, &lock) })
}

fn control(path: &Path, command: i32, argument: i32) -> Attempt {
    let file = File::open(path)?;
    // SAFETY: names a descriptor; the argument is a number.
    called(unsafe { libc::fcntl(file.as_raw_fd(), command, argument) })
}

/// Left for somebody else to run as the worker's user.
fn chmod_own(path: &Path) -> Attempt {
    File::create(path)?.set_permissions(mode(0o4777)).map(done)
}

fn link_unnamed(scene: &Scene) -> Attempt {
    let file = OpenOptions::new().write(true).custom_flags(libc::O_TMPFILE).mode(0o600).open(&scene.tmp)?;
    let target = name(&scene.open.join("new.txt"))?;
    let (empty, fd) = (c"".as_ptr(), file.as_raw_fd());
    // SAFETY: C strings that outlive the call.
    called(unsafe { libc::linkat(fd, empty, libc::AT_FDCWD, target.as_ptr(), libc::AT_EMPTY_PATH) })
}

fn handle(path: &Path) -> Attempt {
    let name = name(path)?;
    let (mut handle, mut mount) = ([0_u32; 64], 0);
    let (here, room) = (libc::AT_FDCWD, handle.as_mut_ptr());
    // SAFETY: a C string, and room for a handle that says it has no room.
    called(unsafe { libc::syscall(libc::SYS_name_to_handle_at, here, name.as_ptr(), room, &raw mut mount, 0) })
}

/// A directory that is only a name, then a file in it.
fn two_steps(flags: i32) -> Attempt {
    let dir = OpenOptions::new().read(true).custom_flags(flags | libc::O_DIRECTORY).open("/etc")?;
    // SAFETY: a constant C string.
    called(unsafe { libc::openat(dir.as_raw_fd(), c"passwd".as_ptr(), libc::O_RDONLY) })
}

fn openat2() -> Attempt {
    let how = [0_u64; 3];
    let (here, path) = (libc::AT_FDCWD, c"/etc/passwd".as_ptr());
    // SAFETY: a constant C string and a structure of this size that outlive the call.
    called(unsafe { libc::syscall(libc::SYS_openat2, here, path, how.as_ptr(), size_of_val(&how)) })
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
    let path = name(&tmp.join("s"))?;
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
