//! A machine that lacks something, for real: a filter takes system calls away before the supervisor starts.

use libc::*;
use seccompiler::{
    SeccompAction, SeccompCmpArgLen as Len, SeccompCmpOp as Op, SeccompCondition as Condition, SeccompFilter,
    SeccompRule as Rule,
};
use std::collections::BTreeMap;
use std::error::Error;
use std::ffi::OsString;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

/// `without LAYERS COMMAND…`
pub fn run(args: Vec<OsString>) -> ExitCode {
    let [layers, arguments @ ..] = args.as_slice() else { return ExitCode::from(2) };
    let become_it = || -> Result<(), Box<dyn Error>> {
        for layer in layers.to_str().unwrap_or_default().split(',') {
            take_away(layer)?;
        }
        Err(Command::new(std::env::current_exe()?).args(arguments).exec().into())
    };
    if let Err(error) = become_it() {
        let _ = writeln!(io::stderr(), "{error}");
    }
    ExitCode::FAILURE
}

/// As kernels without it answer, and administrators who forbid it.
fn take_away(layer: &str) -> Result<(), Box<dyn Error>> {
    match layer {
        "landlock" => refuse(ENOSYS, [(SYS_landlock_create_ruleset, Vec::new())]),
        "userns" => {
            refuse(ENOSYS, [(SYS_clone3, Vec::new())])?;
            let asked = || -> Result<_, Box<dyn Error>> { flag(0, CLONE_NEWUSER as u64) };
            refuse(EPERM, [(SYS_unshare, asked()?), (SYS_clone, asked()?)])
        }
        "seccomp" => {
            let by_prctl = vec![Rule::new(vec![Condition::new(0, Len::Dword, Op::Eq, PR_SET_SECCOMP as u64)?])?];
            refuse(EINVAL, [(SYS_seccomp, Vec::new()), (SYS_prctl, by_prctl)])
        }
        other => Err(format!("no such layer: {other}").into()),
    }
}

fn flag(argument: u8, bit: u64) -> Result<Vec<Rule>, Box<dyn Error>> {
    Ok(vec![Rule::new(vec![Condition::new(argument, Len::Dword, Op::MaskedEq(bit), bit)?])?])
}

fn refuse<const N: usize>(error: c_int, calls: [(c_long, Vec<Rule>); N]) -> Result<(), Box<dyn Error>> {
    let action = SeccompAction::Errno(error as u32);
    let rules: BTreeMap<i64, Vec<Rule>> = calls.into_iter().collect();
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, action, std::env::consts::ARCH.try_into()?)?;
    let program: seccompiler::BpfProgram = filter.try_into()?;
    Ok(seccompiler::apply_filter(&program)?)
}
