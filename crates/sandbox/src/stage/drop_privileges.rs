//! From root to somebody who may do nothing. Bubblewrap run by root is no sandbox.

use crate::account::Account;
use crate::handshake::Failure;
use rustix::process::{Gid, Uid};
use rustix::thread::{set_thread_groups, set_thread_res_gid, set_thread_res_uid};
use std::io;

/// It is the thread that changes: a stage is a process with one thread. Leaving uid 0 in all three
/// places also empties the capability sets.
pub(crate) fn to(account: &Account) -> io::Result<()> {
    let (uid, gid) = (Uid::from_raw(account.uid), Gid::from_raw(account.gid));
    rustix::thread::set_keep_capabilities(false)?;
    set_thread_groups(&[])?;
    set_thread_res_gid(gid, gid, gid)?;
    set_thread_res_uid(uid, uid, uid)?;
    if set_thread_res_uid(Uid::ROOT, Uid::ROOT, Uid::ROOT).is_ok() {
        return Err(io::Error::other("root could be had back"));
    }
    Ok(())
}

pub(super) fn refuse_root() -> Result<(), Failure> {
    if rustix::process::getuid().is_root() || rustix::process::geteuid().is_root() {
        return Err(Failure::setup("user", "a worker must not run as root"));
    }
    Ok(())
}
