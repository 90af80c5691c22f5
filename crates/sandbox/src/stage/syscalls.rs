//! seccomp: the system calls that remain.
//!
//! An allow-list. A call that is not on it fails with EPERM, so that an engine can report it;
//! a call of another architecture (32-bit entry points) ends the process.

mod lists;
#[cfg(test)]
mod never;

use lists::{ALWAYS, FCNTL, LOCKS, PRCTL};
use seccompiler::{
    BpfProgram, Error, SeccompAction, SeccompCmpArgLen as Len, SeccompCmpOp as Op, SeccompCondition as Condition,
    SeccompFilter, SeccompRule as Rule,
};
use std::collections::BTreeMap;

type Rules = BTreeMap<i64, Vec<Rule>>;

/// What kind of work remains possible.
#[derive(Debug, Clone, Copy)]
pub(super) enum Profile {
    /// Reads its files, computes, answers on its pipes. No sockets, no new processes, no exec.
    /// `locks` lets it lock what it reads or writes, over data that changes.
    Worker { locks: bool },
}

/// For this thread and all that it will start.
pub(super) fn restrict(profile: Profile) -> Result<(), String> {
    let Profile::Worker { locks } = profile;
    let filters = worker(locks).map_err(|e| e.to_string())?;
    for filter in &filters {
        seccompiler::apply_filter(filter).map_err(|e| e.to_string())?;
    }
    Ok(())
}

fn worker(locks: bool) -> Result<Vec<BpfProgram>, Error> {
    let allowed = filter(rules()?, SeccompAction::Errno(libc::EPERM as u32), SeccompAction::Allow)?;

    // The flags of clone3 are behind a pointer, where no filter can look. ENOSYS makes libc fall
    // back to clone. Of two filters the stricter answer counts, so the list may name it as allowed.
    let clone3 = BTreeMap::from([(libc::SYS_clone3, Vec::new())]);
    let absent = filter(clone3, SeccompAction::Allow, SeccompAction::Errno(libc::ENOSYS as u32))?;
    if locks {
        return Ok(vec![absent, allowed]);
    }
    // An engine that is told that there are no locks reads without; told that it may not lock, it gives up.
    let setlk = BTreeMap::from([(libc::SYS_fcntl, one_of(1, LOCKS)?)]);
    let unsupported = filter(setlk, SeccompAction::Allow, SeccompAction::Errno(libc::ENOTSUP as u32))?;
    Ok(vec![absent, unsupported, allowed])
}

/// What a worker may call, and with which arguments.
#[allow(clippy::unnecessary_cast, reason = "the type of `TCGETS` differs between C libraries")]
fn rules() -> Result<Rules, Error> {
    let mut rules: Rules = ALWAYS.iter().map(|call| (*call, Vec::new())).collect();
    rules.insert(libc::SYS_clone, vec![threads_only()?]);
    rules.insert(libc::SYS_mmap, vec![never_executable()?]);
    rules.insert(libc::SYS_mprotect, vec![never_executable()?]);
    rules.insert(libc::SYS_tgkill, vec![rule(0, Op::Eq, u64::from(std::process::id()))?]);
    rules.insert(libc::SYS_prlimit64, vec![reads_own_limits()?]);
    rules.insert(libc::SYS_ioctl, vec![rule(1, Op::Eq, libc::TCGETS as u64)?]);
    rules.insert(libc::SYS_fcntl, one_of(1, &[FCNTL, LOCKS].concat())?);
    rules.insert(libc::SYS_prctl, one_of(0, PRCTL)?);
    Ok(rules)
}

fn filter(rules: Rules, otherwise: SeccompAction, matched: SeccompAction) -> Result<BpfProgram, Error> {
    let program = SeccompFilter::new(rules, otherwise, matched, std::env::consts::ARCH.try_into()?)?;
    Ok(program.try_into()?)
}

fn rule(argument: u8, op: Op, value: u64) -> Result<Rule, Error> {
    Ok(Rule::new(vec![Condition::new(argument, Len::Dword, op, value)?])?)
}

fn one_of(argument: u8, values: &[libc::c_int]) -> Result<Vec<Rule>, Error> {
    values.iter().map(|value| rule(argument, Op::Eq, *value as u64)).collect()
}

fn threads_only() -> Result<Rule, Error> {
    let thread = libc::CLONE_THREAD as u64;
    let namespaces = (libc::CLONE_NEWNS
        | libc::CLONE_NEWCGROUP
        | libc::CLONE_NEWUTS
        | libc::CLONE_NEWIPC
        | libc::CLONE_NEWUSER
        | libc::CLONE_NEWPID
        | libc::CLONE_NEWNET) as u64;
    Ok(Rule::new(vec![Condition::new(0, Len::Dword, Op::MaskedEq(thread | namespaces), thread)?])?)
}

/// All code is loaded by now: memory that can be written never becomes code.
fn never_executable() -> Result<Rule, Error> {
    rule(2, Op::MaskedEq(libc::PROT_EXEC as u64), 0)
}

fn reads_own_limits() -> Result<Rule, Error> {
    let own = Condition::new(0, Len::Dword, Op::Eq, 0)?;
    let no_new_value = Condition::new(2, Len::Qword, Op::Eq, 0)?;
    Ok(Rule::new(vec![own, no_new_value])?)
}
