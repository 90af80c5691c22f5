//! Finds out, by trying, how well this machine can hold a worker.

use crate::cgroup::{self, Controller, Place};
use crate::container;
use crate::error::{SpawnError, Unavailable};
use crate::host::{self, Host};
use crate::jail::{Jail, Program};
use crate::jailed::{Death, Jailed};
use crate::scratch;
use crate::spawn;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fmt;
use std::io::Read;

/// Without namespaces, Landlock must also cover abstract sockets and signals: its sixth ABI does.
const T2_LANDLOCK: u32 = 6;

/// Of what a trial says, more than it has to say.
const MAX_SAID: u64 = 4096;

/// What holds a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Tier {
    /// Namespaces, Landlock, seccomp.
    T1,
    /// Landlock of ABI 6 or later and seccomp, without namespaces.
    T2,
    /// A container of the engine that the operator named; seccomp and, where it is to be had, Landlock inside.
    #[serde(rename = "container")]
    Container,
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::T1 => "T1",
            Self::T2 => "T2",
            Self::Container => "container",
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

/// What a trial in a container finds there.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Found {
    /// Of the program in the image.
    pub version: String,
    pub landlock_abi: u32,
    /// Controllers of the container's cgroup that hold it to our limits.
    pub limited: Vec<String>,
}

impl Found {
    fn read(said: &[u8]) -> Result<Self, SpawnError> {
        let found: Self = serde_json::from_slice(said).map_err(|e| SpawnError::setup("trial", e))?;
        let ours = env!("CARGO_PKG_VERSION");
        if found.version != ours {
            let reason = format!("it holds version {}, this is {ours}: build it anew", found.version);
            return Err(SpawnError::setup("image", reason));
        }
        Ok(found)
    }

    fn unenforced(&self) -> Vec<String> {
        let limits = [(Controller::Cpu, "cpu"), (Controller::Memory, "tree_memory"), (Controller::Pids, "threads")];
        let lacks = limits.into_iter().filter(|(controller, _)| !self.limited.iter().any(|l| l == controller.name()));
        // Docker's tmpfs has a size and no number of files.
        lacks.map(|(_, limit)| limit).chain(["tmp_files"]).map(str::to_owned).collect()
    }
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
    /// that the lock holds. Machines lie about what they support; a trial does not. Who asked for a
    /// container gets a container or nothing.
    pub fn probe(host: Host, program: Program) -> Result<Self, Unavailable> {
        if host.container.is_some() {
            return Self::probe_container(host, program);
        }
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
                Ok(_) => return Ok(sandbox),
                Err(why) => missing.push(format!("{tier}: {why}")),
            }
            if tier == Tier::T1 {
                missing.extend(host::setting_against_namespaces());
            }
        }
        Err(Unavailable { missing })
    }

    fn probe_container(host: Host, program: Program) -> Result<Self, Unavailable> {
        let unavailable = |what: &str, why: String| Unavailable { missing: vec![format!("{what}: {why}")] };
        if let Some(container) = &host.container {
            container.sweep().map_err(|why| unavailable("docker engine", why))?;
        }
        let report = Report {
            tier: Tier::Container,
            user: container::USER.to_owned(),
            landlock_abi: 0,
            missing: Vec::new(),
            unenforced: Vec::new(),
        };
        let mut sandbox = Self { host, program, places: Vec::new(), report };
        let found = sandbox.trial().and_then(|said| Found::read(&said));
        let found = found.map_err(|why| unavailable("container", why.to_string()))?;
        sandbox.report.unenforced = found.unenforced();
        sandbox.report.landlock_abi = found.landlock_abi;
        if found.landlock_abi == 0 {
            sandbox.report.missing.push("Landlock inside the container".to_owned());
        }
        Ok(sandbox)
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

    /// What the worker says about itself, when all is well.
    fn trial(&self) -> Result<Vec<u8>, SpawnError> {
        let mut worker = spawn::spawn(self, &Jail::default(), &[], true)?;
        let mut said = Vec::new();
        if let Some(stdout) = worker.stdout.take() {
            stdout.take(MAX_SAID).read_to_end(&mut said)?;
        }
        match worker.wait() {
            Death::Exited(0) => Ok(said),
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
        Tier::T2 | Tier::Container => {}
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
        // Asked of the container itself: [`Found::unenforced`].
        Tier::Container => {}
    }
    lacks.into_iter().map(str::to_owned).collect()
}
