//! For a server that is root: a private tree with everything that the worker needs.
//!
//! The data, the program and its libraries may live below directories that the worker's user can't
//! enter (`/root`, a `0700` data directory). Root binds them, in a mount namespace of this process
//! alone, where that user finds them. Bubblewrap takes its binds from there, read-only.

use crate::account::Account;
use crate::handshake::Failure;
use crate::spec::{Spec, T1_DATA};
use rustix::fs::CWD;
use rustix::mount::{
    MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, mount, mount_change, move_mount, open_tree,
};
use rustix::thread::{UnshareFlags, unshare_unsafe};
use std::ffi::CString;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// Existing directories to mount over, first found first; what they hide is hidden in our namespace only.
const MOUNT_POINTS: [&str; 4] = ["/mnt", "/media", "/srv", "/tmp"];

/// Where everything is for the moment between root and bubblewrap.
pub(super) struct Stage {
    root: PathBuf,
}

impl Stage {
    pub fn data(&self) -> PathBuf {
        self.root.join("data")
    }
    /// What the worker will find at `inside`.
    pub fn read(&self, inside: &Path) -> PathBuf {
        self.data().join(inside.strip_prefix(T1_DATA).unwrap_or(inside))
    }
    pub fn program(&self) -> PathBuf {
        self.root.join("program")
    }
    pub fn library(&self, number: usize) -> PathBuf {
        self.root.join("lib").join(number.to_string())
    }
    pub fn tmp(&self) -> PathBuf {
        self.root.join("tmp")
    }
}

pub(super) fn build(spec: &Spec, account: &Account) -> Result<Stage, Failure> {
    let point = MOUNT_POINTS.iter().find(|p| Path::new(p).is_dir());
    let point = point.ok_or_else(|| Failure::setup("staging", format!("none of {MOUNT_POINTS:?} is a directory")))?;
    let stage = Stage { root: PathBuf::from(point) };
    populate(&stage, spec, account).map_err(|e| Failure::setup("staging", e))?;
    Ok(stage)
}

fn populate(stage: &Stage, spec: &Spec, account: &Account) -> io::Result<()> {
    // SAFETY: unsharing mounts does not touch the table of descriptors.
    unsafe { unshare_unsafe(UnshareFlags::NEWNS) }?;
    mount_change("/", MountPropagationFlags::REC | MountPropagationFlags::PRIVATE)?;

    // All trees are taken before anything is mounted: one of them may lie below the mount point.
    let mut trees: Vec<(OwnedFd, PathBuf)> = Vec::new();
    for read in &spec.reads {
        trees.push((take(&read.real)?, stage.read(&read.inside)));
    }
    trees.push((take(&spec.program.path)?, stage.program()));
    for (number, library) in spec.program.libraries.iter().enumerate() {
        trees.push((take(library)?, stage.library(number)));
    }

    mount_tmpfs(&stage.root, "mode=0755,size=1m".to_owned())?;
    fs::create_dir(stage.data())?;
    for (tree, target) in &trees {
        put(tree, target)?;
    }
    fs::create_dir(stage.tmp())?;
    let limits = &spec.limits;
    let (size, files) = (limits.tmp_bytes, limits.tmp_files);
    mount_tmpfs(
        &stage.tmp(),
        format!("mode=0700,size={size},nr_inodes={files},uid={},gid={}", account.uid, account.gid),
    )
}

fn take(path: &Path) -> io::Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_RECURSIVE;
    open_tree(CWD, path, flags).map_err(|e| io::Error::other(format!("`{}`: {e}", path.display())))
}

fn put(tree: &OwnedFd, target: &Path) -> io::Result<()> {
    fs::create_dir_all(target.parent().unwrap_or(target))?;
    if fs::File::from(tree.try_clone()?).metadata()?.is_dir() {
        fs::create_dir(target)?;
    } else {
        fs::File::create_new(target)?;
    }
    Ok(move_mount(tree, "", CWD, target, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?)
}

fn mount_tmpfs(target: &Path, options: String) -> io::Result<()> {
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    Ok(mount("tmpfs", target, "tmpfs", flags, CString::new(options)?.as_c_str())?)
}
