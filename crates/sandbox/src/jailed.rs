//! A worker that is locked down, and its end.

use crate::cgroup::{Group, Weight};
use crate::container::{Named, ends_within};
use crate::jail::JailLimits;
use crate::probe::Tier;
use crate::scratch::Scratch;
use crate::spec::{Read, Spec};
use crate::window::Window;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, ExitStatus};
use std::sync::Arc;
use std::time::Duration;
use std::{fs, io};

/// How long bubblewrap, or the client of an engine, may take to notice that its worker is gone.
const GRACE: Duration = Duration::from_secs(1);

/// How a worker ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Death {
    Exited(i32),
    Signal(i32),
    /// Killed because the memory of its group ran out.
    OutOfMemory,
}

const KILLED: Death = Death::Signal(libc::SIGKILL);

/// A running worker. Dropping it kills it.
#[derive(Debug)]
pub struct Jailed {
    pub stdin: Option<ChildStdin>,
    pub stdout: Option<ChildStdout>,
    pub stderr: Option<ChildStderr>,
    pub window: Option<Arc<Window>>,
    child: Child,
    tier: Tier,
    reads: Vec<Read>,
    tmp: PathBuf,
    death: Option<Death>,
    memory_peak: Option<u64>,
    group: Option<Group>,
    scratch: Option<Scratch>,
    container: Option<Named>,
    /// Whether its container was ended by us: it may have ended by itself a moment before.
    killed: bool,
}

impl Jailed {
    pub(crate) fn new(mut child: Child, spec: Spec, group: Group, scratch: Option<Scratch>) -> Self {
        Self {
            stdin: child.stdin.take(),
            stdout: child.stdout.take(),
            stderr: child.stderr.take(),
            window: None,
            child,
            tier: spec.tier,
            reads: spec.reads,
            tmp: spec.tmp,
            death: None,
            memory_peak: None,
            group: Some(group),
            scratch,
            container: spec.container,
            killed: false,
        }
    }

    pub(crate) fn limit_cpu(&self, limits: &JailLimits) -> io::Result<()> {
        self.group.as_ref().map_or(Ok(()), |group| group.limit_cpu(limits))
    }

    pub fn weight(&self) -> Weight {
        self.group.as_ref().map(Group::weight).unwrap_or_default()
    }

    pub fn tier(&self) -> Tier {
        self.tier
    }

    /// The process to look for in a process list.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Where the worker finds a path of its [`crate::Jail`], or something below one.
    pub fn inside(&self, path: &Path) -> Option<PathBuf> {
        let path = std::path::absolute(path).ok()?;
        self.reads.iter().find_map(|read| {
            let below = path.strip_prefix(&read.name).ok()?;
            Some(if below.as_os_str().is_empty() { read.inside.clone() } else { read.inside.join(below) })
        })
    }

    /// The worker's private scratch directory, as it sees it.
    pub fn tmp(&self) -> &Path {
        &self.tmp
    }

    /// The most bytes of memory that it had at a time with everything that it started: known once it has ended.
    pub fn memory_peak(&self) -> Option<u64> {
        self.memory_peak
    }

    /// How it ended, if it did.
    pub fn try_wait(&mut self) -> Option<Death> {
        if self.death.is_none()
            && let Ok(Some(status)) = self.child.try_wait()
        {
            self.bury(Ok(status));
        }
        self.death
    }

    /// Waits for it to end by itself.
    pub fn wait(&mut self) -> Death {
        match self.death {
            Some(death) => death,
            None => {
                let status = self.child.wait();
                self.bury(status)
            }
        }
    }

    /// Ends it with everything that it started, and says how it ended: by itself before, or so.
    /// Blocks until that is done, some milliseconds.
    pub fn kill(&mut self) -> Death {
        if let Some(death) = self.try_wait() {
            return death;
        }
        let told = match (self.tier, &self.container) {
            (Tier::T1, _) => kill_first_of_namespace(&self.child),
            (_, Some(container)) => {
                self.killed = container.kill();
                true
            }
            _ => false,
        };
        if !told || !ends_within(&self.child, GRACE) {
            // Fails only when it has ended meanwhile. In T1 the namespace goes with it.
            let _ = self.child.kill();
        }
        self.wait()
    }

    fn bury(&mut self, status: io::Result<ExitStatus>) -> Death {
        let death = match status {
            _ if self.group.as_ref().is_some_and(Group::ran_out_of_memory) => Death::OutOfMemory,
            // The group is the engine's there, and gone. Nobody else kills what is in a container.
            Ok(status) if self.container.is_some() && !self.killed && status.code() == Some(128 + libc::SIGKILL) => {
                Death::OutOfMemory
            }
            Ok(status) => read_status(self.tier, status),
            Err(_) => KILLED,
        };
        self.memory_peak = self.group.as_ref().and_then(Group::memory_peak);
        self.group = None;
        self.scratch = None;
        self.death = Some(death);
        death
    }
}

impl Drop for Jailed {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Bubblewrap and Docker tell a worker's death by a signal as exit code 128 + signal.
fn read_status(tier: Tier, status: ExitStatus) -> Death {
    match (status.code(), status.signal()) {
        (Some(code), _) if tier != Tier::T2 && code > 128 => Death::Signal(code - 128),
        (Some(code), _) => Death::Exited(code),
        (None, signal) => Death::Signal(signal.unwrap_or(libc::SIGKILL)),
    }
}

/// Kills the first process of bubblewrap's PID namespace, and so all of it. Bubblewrap then sees it
/// end and reaps it; killed the other way round, it would leave an orphan for somebody else to reap.
fn kill_first_of_namespace(bwrap: &Child) -> bool {
    let kill = || -> Option<()> {
        let first = *children_of(bwrap.id()).first()?;
        let handle = pidfd_open(first, PidfdFlags::empty()).ok()?;
        // Still its child now, so the handle is of the process that we mean and of no later one.
        children_of(bwrap.id()).contains(&first).then_some(())?;
        pidfd_send_signal(handle, Signal::KILL).ok()
    };
    kill().is_some()
}

fn children_of(pid: u32) -> Vec<Pid> {
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    children.split_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?)).collect()
}
