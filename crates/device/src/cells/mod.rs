//! What holds a script: bubblewrap with our own jail around it, or another program of the device that its owner prefers.
//!
//! Each is found out by trial, when it is first demanded. What a device does not have, its scripts do without: those that
//! need it are refused, never run with less.

mod capabilities;
mod client;
mod granted;
mod hidden;
mod podman;
mod systemd;

use client::Client;
use domain::{Fault, Holder, Holders, Interpreter, Kind, Network, Risk};
use policy::script::ApprovedScript;
use sandbox::{Death, Host, Jail, JailLimits, Jailed, Profile, Program, Sandbox, ScriptProfile};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The word that leads to [`crate::run::become_script`].
pub const RUNNER: &str = "runner";
const MIB: u64 = 1024 * 1024;

/// What holds scripts of one class.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cell {
    /// Our own jail: namespaces, Landlock, seccomp.
    #[default]
    Bubblewrap,
    /// A container over the device's own files, read-only.
    Podman,
    /// A transient unit of the device's systemd.
    Systemd,
}

impl Cell {
    pub const ALL: [Self; 3] = [Self::Bubblewrap, Self::Podman, Self::Systemd];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Bubblewrap => "bubblewrap",
            Self::Podman => "podman",
            Self::Systemd => "systemd",
        }
    }

    /// What it can let a script have, as far as manifest and owner do.
    pub fn capabilities(self) -> &'static [&'static str] {
        capabilities::of(self)
    }
}

/// Which one each class of risk is held by: the owner's to say, in `device.json`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Demands {
    pub low: Cell,
    pub medium: Cell,
    pub high: Cell,
}

impl Demands {
    /// High risk demands the stricter ones.
    pub fn of(&self, risk: Risk) -> Result<Cell, Fault> {
        match risk {
            Risk::Low => Ok(self.low),
            Risk::Medium => Ok(self.medium),
            Risk::High if self.high == Cell::Systemd => {
                let message = "a script of high risk is not run under systemd-run alone";
                Err(Fault::new(Kind::Forbidden, "device.cell_too_weak", message)
                    .hint("set `cells.high` of `device.json` to `bubblewrap` or `podman`"))
            }
            Risk::High => Ok(self.high),
        }
    }
}

/// All of them on this device, each tried once.
pub struct Cells {
    user: Option<String>,
    /// Where the device keeps its secrets: never shown to a script.
    own: PathBuf,
    /// What its owner denies to every script.
    denied: Vec<String>,
    bubblewrap: OnceLock<Result<Sandbox, Fault>>,
    podman: OnceLock<Result<(), Fault>>,
    systemd: OnceLock<Result<(), Fault>>,
}

/// A script that runs.
pub enum Held {
    Jail(Box<Jailed>),
    Client(Box<Client>),
}

/// What is to run, and what must never be shown to it.
struct Task<'a> {
    approved: &'a ApprovedScript,
    text: &'a str,
    own: &'a Path,
    hidden: &'a [PathBuf],
}

impl Cells {
    pub fn new(user: Option<&str>, own: &Path) -> Self {
        Self {
            user: user.map(str::to_owned),
            own: own.to_owned(),
            denied: Vec::new(),
            bubblewrap: OnceLock::new(),
            podman: OnceLock::new(),
            systemd: OnceLock::new(),
        }
    }

    pub fn denying(self, denied: &[String]) -> Self {
        Self { denied: denied.to_vec(), ..self }
    }

    /// What the jail of this device can hold, or why there is none.
    pub fn sandbox(&self) -> Result<&Sandbox, Fault> {
        self.bubblewrap.get_or_init(|| probe(self.user.as_deref())).as_ref().map_err(Clone::clone)
    }

    /// Whether it can be had, by trial.
    pub fn try_out(&self, cell: Cell) -> Result<(), Fault> {
        match cell {
            Cell::Bubblewrap => self.sandbox().map(drop),
            Cell::Podman => self.podman.get_or_init(|| podman::trial(&self.own)).clone(),
            Cell::Systemd => self.systemd.get_or_init(systemd::trial).clone(),
        }
    }

    /// What holds it, for the record: the tier of our jail, or the other's name.
    pub fn tier(&self, cell: Cell) -> String {
        match (cell, self.sandbox()) {
            (Cell::Bubblewrap, Ok(sandbox)) => sandbox.report().tier.to_string(),
            _ => cell.as_str().to_owned(),
        }
    }

    pub fn unenforced(&self, cell: Cell) -> Vec<String> {
        match (cell, self.sandbox()) {
            (Cell::Bubblewrap, Ok(sandbox)) => sandbox.report().unenforced.clone(),
            // Neither counts the files of a work directory.
            _ => vec!["tmp_files".to_owned()],
        }
    }

    /// What the house is told of them: what holds each class, and what that can grant. One that is not there grants nothing.
    pub fn holders(&self, demands: &Demands) -> Holders {
        let holder = |risk, cell: Cell| {
            let is_there = demands.of(risk).and_then(|cell| self.try_out(cell)).is_ok();
            let capabilities = if is_there { cell.capabilities() } else { &[] };
            Holder {
                cell: cell.as_str().to_owned(),
                capabilities: capabilities.iter().map(|name| (*name).to_owned()).collect(),
            }
        };
        Holders {
            low: holder(Risk::Low, demands.low),
            medium: holder(Risk::Medium, demands.medium),
            high: holder(Risk::High, demands.high),
        }
    }

    /// Ends what a killed device left behind. Our own jail ends with its device, by itself.
    pub fn sweep(&self, demands: &Demands) {
        let demanded = |cell| [demands.low, demands.medium, demands.high].contains(&cell);
        if demanded(Cell::Podman) {
            podman::sweep(&self.own);
        }
        if demanded(Cell::Systemd) {
            systemd::sweep(&self.own);
        }
    }

    pub fn start(&self, cell: Cell, approved: &ApprovedScript, text: &str) -> Result<Held, Fault> {
        granted::check(&approved.manifest().writable_paths)?;
        capabilities::check(cell, &approved.manifest().capabilities)?;
        self.try_out(cell)?;
        let hidden = &hidden::paths(&self.own, &self.denied)?;
        let task = Task { approved, text, own: &self.own, hidden };
        match cell {
            Cell::Bubblewrap => in_jail(self.sandbox()?, &task),
            Cell::Podman => podman::start(&task).map(Box::new).map(Held::Client),
            Cell::Systemd => systemd::start(&task, self.user.as_deref()).map(Box::new).map(Held::Client),
        }
    }
}

impl Held {
    /// What it says.
    pub fn streams(&mut self) -> Vec<Box<dyn Read + Send>> {
        fn boxed(stream: impl Read + Send + 'static) -> Box<dyn Read + Send> {
            Box::new(stream)
        }
        let both = match self {
            Self::Jail(jailed) => [jailed.stdout.take().map(boxed), jailed.stderr.take().map(boxed)],
            Self::Client(client) => [client.stdout().map(boxed), client.stderr().map(boxed)],
        };
        both.into_iter().flatten().collect()
    }

    pub fn try_wait(&mut self) -> Option<Death> {
        match self {
            Self::Jail(jailed) => jailed.try_wait(),
            Self::Client(client) => client.try_wait(),
        }
    }

    /// In KiB, where what holds it can tell, once it has ended.
    pub fn memory_peak_kb(&self) -> Option<u64> {
        match self {
            Self::Jail(jailed) => jailed.memory_peak().map(|bytes| bytes.div_ceil(1024)),
            Self::Client(_) => None,
        }
    }

    /// Ends it with everything that it started.
    pub fn kill(&mut self) -> Death {
        match self {
            Self::Jail(jailed) => jailed.kill(),
            Self::Client(client) => client.kill(),
        }
    }
}

fn probe(user: Option<&str>) -> Result<Sandbox, Fault> {
    let path = std::env::current_exe().map_err(|e| failed(&e))?;
    let program = Program { path, args: vec![RUNNER.into()], libraries: Vec::new() };
    Ok(Sandbox::probe(Host::detect(user)?, program)?)
}

fn in_jail(sandbox: &Sandbox, task: &Task<'_>) -> Result<Held, Fault> {
    let manifest = task.approved.manifest();
    let jail = Jail {
        limits: limits(task.approved),
        profile: Profile::Script(ScriptProfile {
            network: manifest.network == Network::Host,
            writable: manifest.writable_paths.iter().map(PathBuf::from).collect(),
            hidden: task.hidden.to_vec(),
        }),
        ..Jail::default()
    };
    let mut jailed = sandbox.spawn(&jail, &orders(task.approved)).map_err(|error| Fault::from(&error))?;
    let mut stdin = jailed.stdin.take().ok_or_else(|| Fault::internal("device.stdin"))?;
    stdin.write_all(task.text.as_bytes()).map_err(|e| failed(&e))?;
    Ok(Held::Jail(Box::new(jailed)))
}

fn limits(approved: &ApprovedScript) -> JailLimits {
    let resources = &approved.manifest().resources;
    JailLimits {
        memory_bytes: resources.memory_mb * MIB,
        address_space_bytes: (resources.memory_mb + 256) * MIB,
        processes: resources.processes,
        cpus: resources.cpu_percent as f64 / 100.0,
        tmp_bytes: resources.disk_mb * MIB,
        ..JailLimits::default()
    }
}

/// Interpreter, work directory, then the environment as `NAME=value`.
fn orders(approved: &ApprovedScript) -> Vec<OsString> {
    let manifest = approved.manifest();
    let interpreter = match manifest.interpreter {
        Interpreter::Bash => "bash",
        Interpreter::Sh => "sh",
    };
    let env = manifest.env.iter().map(|(name, value)| format!("{name}={value}"));
    [interpreter.to_owned(), manifest.work_dir.clone()].into_iter().chain(env).map(OsString::from).collect()
}

pub fn failed(error: &std::io::Error) -> Fault {
    Fault::new(Kind::Unavailable, "device.run", format!("the script could not be started: {error}"))
}
