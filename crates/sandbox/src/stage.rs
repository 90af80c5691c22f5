//! The two stages, walked by the process that becomes the worker.

mod bwrap;
mod docker;
pub(crate) mod drop_privileges;
mod filesystem;
mod process;
mod script;
mod staging;
mod syscalls;
mod trial;
mod walls;

use crate::handshake::{self, Failure};
use crate::probe::Tier;
use crate::spec::Spec;
use std::ffi::OsString;
use std::fmt;
use std::os::unix::process::CommandExt;

/// The process was not locked down and must end: the supervisor has been told why.
#[derive(Debug)]
pub struct Refused(Failure);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Failure::Unreadable { path, reason } => write!(f, "`{}` can't be read: {reason}", path.display()),
            Failure::Setup { step, reason } => write!(f, "the sandbox could not be set up: {step}: {reason}"),
        }
    }
}

impl std::error::Error for Refused {}

/// Locks this process down as [`crate::Sandbox::spawn`] told it to, and returns the `tail` given there.
///
/// `args` is what follows [`crate::Program`]'s `args`. Call it first in `main`, before any thread
/// runs: Landlock holds only the thread that asks for it, so a second one is an error. In T1 the
/// outer stage does not return: it becomes bubblewrap, which starts the inner one; for a container it
/// becomes the engine's client.
pub fn enter(args: impl IntoIterator<Item = OsString>) -> Result<Vec<OsString>, Refused> {
    let mut args = args.into_iter();
    walk(args.next(), args.next(), args.collect()).map_err(|failure| {
        handshake::say_gave_up(&failure);
        Refused(failure)
    })
}

fn walk(stage: Option<OsString>, spec: Option<OsString>, tail: Vec<OsString>) -> Result<Vec<OsString>, Failure> {
    let json = spec.as_ref().and_then(|s| s.to_str()).unwrap_or_default();
    let spec: Spec = serde_json::from_str(json).map_err(|e| Failure::setup("arguments", e))?;
    process::close_inherited_files(spec.window).map_err(|e| Failure::setup("files", e))?;
    process::require_single_thread().map_err(|e| Failure::setup("threads", e))?;
    match stage.as_ref().and_then(|s| s.to_str()) {
        Some("outer") => outer(&spec, json, &tail)?,
        Some("inner") => {}
        _ => return Err(Failure::setup("arguments", "the stage is neither `outer` nor `inner`")),
    }
    inner(spec)?;
    Ok(tail)
}

/// Returns in T2 only, where the inner stage follows at once.
fn outer(spec: &Spec, json: &str, tail: &[OsString]) -> Result<(), Failure> {
    process::stand_apart().map_err(|e| Failure::setup("session", e))?;
    if let Some(container) = &spec.container {
        // The engine makes the walls, and its client needs the rights that the server has.
        process::die_with_supervisor(spec.supervisor).map_err(|e| Failure::setup("supervisor", e))?;
        let error = docker::command(spec, container, json, tail)?.exec();
        return Err(Failure::setup("docker", error));
    }
    for group in &spec.groups {
        crate::cgroup::join(group).map_err(|e| Failure::setup("cgroup", e))?;
    }
    let stage = match (spec.tier, &spec.account) {
        (Tier::T1, Some(account)) => Some(staging::build(spec, account)?),
        _ => None,
    };
    if let Some(account) = &spec.account {
        drop_privileges::to(account).map_err(|e| Failure::setup("user", e))?;
    }
    drop_privileges::refuse_root()?;
    process::die_with_supervisor(spec.supervisor).map_err(|e| Failure::setup("supervisor", e))?;
    rustix::thread::set_no_new_privs(true).map_err(|e| Failure::setup("no_new_privs", e))?;
    filesystem::require_readable(spec, stage.as_ref())?;
    match spec.tier {
        Tier::T1 => {
            let error = bwrap::command(spec, stage.as_ref(), json, tail).exec();
            Err(Failure::setup("bubblewrap", error))
        }
        Tier::T2 | Tier::Container => Ok(()),
    }
}

fn inner(mut spec: Spec) -> Result<(), Failure> {
    drop_privileges::refuse_root()?;
    if spec.tier != Tier::T2 && std::os::unix::process::parent_id() != 1 {
        return Err(Failure::setup("namespaces", "this is not the PID namespace of a worker"));
    }
    let mut found = None;
    if spec.tier == Tier::Container {
        walls::require(&spec).map_err(|e| Failure::setup("container", e))?;
        filesystem::require_readable(&spec, None)?;
        if spec.trial {
            // What the trial finds, later workers must have.
            let has = walls::found(&spec);
            spec.landlock_abi = has.landlock_abi;
            found = Some(has);
        }
    }
    lock(&spec)?;
    crate::window::received(spec.window);
    if spec.trial {
        trial::check(&spec).map_err(|e| Failure::setup("trial", e))?;
        trial::tell(found.as_ref()).map_err(|e| Failure::setup("trial", e))?;
    }
    handshake::say_locked().map_err(|e| Failure::setup("handshake", e))?;
    if spec.trial {
        std::process::exit(0);
    }
    Ok(())
}

fn lock(spec: &Spec) -> Result<(), Failure> {
    std::env::set_current_dir(&spec.tmp).map_err(|e| Failure::setup("tmp", e))?;
    process::set_limits(spec).map_err(|e| Failure::setup("limits", e))?;
    process::close_to_peers().map_err(|e| Failure::setup("process", e))?;
    if spec.tier != Tier::Container || spec.landlock_abi > 0 {
        filesystem::restrict(spec).map_err(|e| Failure::setup("landlock", e))?;
    }
    syscalls::restrict(&spec.profile, spec.locks).map_err(|e| Failure::setup("seccomp", e))
}
