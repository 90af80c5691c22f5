//! Finds out, by trying, how well this machine can hold a worker.

use crate::cgroup::{self, Controller, Place};
use crate::error::{SpawnError, Unavailable};
use crate::host::{self, Host};
use crate::jail::{Jail, Program};
use crate::jailed::{Death, Jailed};
use crate::scratch;
use crate::spawn;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fmt;

/// Without namespaces, Landlock must also cover abstract sockets and signals: its sixth ABI does.
const T2_LANDLOCK: u32 = 6;

/// What holds a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Tier {
    /// Namespaces, Landlock, seccomp.
    T1,
    /// Landlock of ABI 6 or later and seccomp, without namespaces.
    T2,
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::T1 => "T1",
            Self::T2 => "T2",
        })
    }
}

/// What was found: shown by `doctor` and `/healthz`, recorded with each run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    pub tier: Tier,
    /// Whom workers run as.
    pub user: String,
    pub landlock_abi: u32,
    /// What keeps this machine from the tier above; empty in T1.
    pub missing: Vec<String>,
    /// Limits that nothing here enforces: `cpu`, `tree_memory`, `threads`, `tmp_size`, `tmp_files`.
    pub unenforced: Vec<String>,
}

/// A machine on which workers of one program can be locked down.
#[derive(Debug)]
pub struct Sandbox {
    pub(crate) host: Host,
    pub(crate) program: Program,
    pub(crate) places: Vec<Place>,
    report: Report,
}

impl Sandbox {
    /// Starts a worker in each tier, best first, until one locks itself down and finds, from inside,
    /// that the lock holds. Machines lie about what they support; a trial does not.
    pub fn probe(host: Host, program: Program) -> Result<Self, Unavailable> {
        let places = cgroup::usable_places();
        scratch::sweep();
        let mut missing = Vec::new();
        for tier in [Tier::T1, Tier::T2] {
            let lacks = lacks(tier, &host);
            if !lacks.is_empty() {
                missing.extend(lacks);
                continue;
            }
            let report = Report {
                tier,
                user: host.account.name.clone(),
                landlock_abi: host.landlock_abi,
                missing: missing.clone(),
                unenforced: unenforced(tier, host.root, &places),
            };
            let sandbox = Self { host: host.clone(), program: program.clone(), places: places.clone(), report };
            match sandbox.trial() {
                Ok(()) => return Ok(sandbox),
                Err(why) => missing.push(format!("{tier}: {why}")),
            }
            if tier == Tier::T1 {
                missing.extend(host::setting_against_namespaces());
            }
        }
        Err(Unavailable { missing })
    }

    pub fn report(&self) -> &Report {
        &self.report
    }

    /// Starts a worker that sees only what `jail` names. `tail` is what [`crate::enter`] gives it back.
    ///
    /// Blocks for some 20 ms, until the worker has said that it is locked down.
    pub fn spawn(&self, jail: &Jail, tail: &[OsString]) -> Result<Jailed, SpawnError> {
        spawn::spawn(self, jail, tail, false)
    }

    fn trial(&self) -> Result<(), SpawnError> {
        let mut worker = spawn::spawn(self, &Jail::default(), &[], true)?;
        match worker.wait() {
            Death::Exited(0) => Ok(()),
            other => Err(SpawnError::setup("trial", format!("{other:?}"))),
        }
    }
}

/// What can be told to be missing without a trial.
fn lacks(tier: Tier, host: &Host) -> Vec<String> {
    let abi = host.landlock_abi;
    let mut lacks = Vec::new();
    match tier {
        Tier::T1 => {
            if !host.bwrap.is_file() {
                lacks.push(format!("bubblewrap (no `{}`)", host.bwrap.display()));
            }
            if abi == 0 {
                lacks.push("Landlock (a kernel of 5.13 or later with `landlock` among its `lsm=`)".to_owned());
            }
        }
        Tier::T2 if abi < T2_LANDLOCK => {
            lacks.push(format!("Landlock ABI {T2_LANDLOCK} for a sandbox without namespaces (this kernel has {abi})"));
        }
        Tier::T2 => {}
    }
    lacks
}

fn unenforced(tier: Tier, root: bool, places: &[Place]) -> Vec<String> {
    let has = |controller| places.iter().any(|p| p.controllers.contains(&controller));
    let mut lacks = Vec::new();
    if !has(Controller::Cpu) {
        lacks.push("cpu");
    }
    if !has(Controller::Memory) {
        lacks.push("tree_memory");
    }
    match tier {
        // The kernel counts RLIMIT_NPROC per user namespace, so there it stands in for a cgroup.
        Tier::T1 => {
            if !root {
                lacks.push("tmp_files");
            }
        }
        // There it would count every process of the user. New processes are refused all the same.
        Tier::T2 => {
            if !has(Controller::Pids) {
                lacks.push("threads");
            }
            lacks.extend(["tmp_size", "tmp_files"]);
        }
    }
    lacks.into_iter().map(str::to_owned).collect()
}
