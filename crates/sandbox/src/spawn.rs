//! Starts a worker and waits until it is locked down.

use crate::cgroup::Group;
use crate::container::{self, Named};
use crate::error::SpawnError;
use crate::handshake::{self, Failure, Heard};
use crate::jail::{Jail, Profile};
use crate::jailed::{Death, Jailed};
use crate::probe::{Sandbox, Tier};
use crate::scratch::Scratch;
use crate::spec::{self, Spec, T1_TMP};
use crate::window::{self, Window};
use std::ffi::OsString;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;
use std::{fs, io, thread};

/// Far more than a start takes on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) fn spawn(sandbox: &Sandbox, jail: &Jail, tail: &[OsString], trial: bool) -> Result<Jailed, SpawnError> {
    let (host, tier) = (&sandbox.host, sandbox.report().tier);
    if tier != Tier::T1 && matches!(jail.profile, Profile::Script(_)) {
        return Err(SpawnError::setup("tier", format!("a script needs T1, and this machine has {tier}")));
    }
    let reads = spec::place(tier, resolve(jail)?);
    let account = host.root.then(|| host.account.clone());
    let (tmp, scratch) = match tier {
        Tier::T1 | Tier::Container => (PathBuf::from(T1_TMP), None),
        Tier::T2 => {
            let scratch = Scratch::create(account.as_ref())?;
            (scratch.path().to_owned(), Some(scratch))
        }
    };
    let group = Group::create(&sandbox.places, &jail.limits).map_err(|e| SpawnError::setup("cgroup", e))?;
    if jail.unhurried {
        group.weight().give_way();
    }
    // A container's client hands on no memory.
    let window = (jail.window && tier != Tier::Container).then(Window::open).transpose();
    let window = window.map_err(|e| SpawnError::setup("window", e))?;
    let spec = Spec {
        tier,
        trial,
        supervisor: rustix::process::getpid().as_raw_nonzero().get(),
        account: if tier == Tier::Container { None } else { account },
        groups: group.dirs().to_owned(),
        bwrap: host.bwrap.clone(),
        container: host.container.as_ref().map(Named::fresh),
        landlock_abi: sandbox.report().landlock_abi,
        program: sandbox.program.clone(),
        reads,
        locks: jail.locks,
        window: window.as_ref().map(|(_, memory)| memory.as_raw_fd()),
        tmp,
        limits: jail.limits,
        profile: jail.profile.clone(),
    };
    let mut command = command(&spec, tail)?;
    let window = window.map(|(window, memory)| {
        window::hand_over(memory, &mut command);
        window
    });
    let child = start(command)?;
    let mut jailed = Jailed::new(child, spec, group, scratch);
    jailed.window = window;
    wait_until_locked(&mut jailed, sandbox)?;
    jailed.limit_cpu(&jail.limits).map_err(|e| SpawnError::setup("cgroup", e))?;
    Ok(jailed)
}

/// Each path as it was named, made absolute, what it really is, and whether it may be written in.
fn resolve(jail: &Jail) -> Result<Vec<(PathBuf, PathBuf, bool)>, SpawnError> {
    let resolve = |path: &PathBuf, write| Ok((std::path::absolute(path)?, fs::canonicalize(path)?, write));
    let paths = jail.write.iter().map(|path| (path, true)).chain(jail.read.iter().map(|path| (path, false)));
    let missing = |path: &PathBuf, reason| SpawnError::Missing { path: path.clone(), reason };
    paths.map(|(path, write)| resolve(path, write).map_err(|reason| missing(path, reason))).collect()
}

fn command(spec: &Spec, tail: &[OsString]) -> Result<Command, SpawnError> {
    let json = serde_json::to_string(spec).map_err(|e| SpawnError::setup("paths", e))?;
    let mut command = Command::new(&spec.program.path);
    command.args(&spec.program.args).arg("outer").arg(json).args(tail);
    command.env_clear().envs(environment(&spec.program.libraries, &spec.tmp)).current_dir("/");
    if spec.container.is_some() {
        // For the client of the engine, which this process becomes.
        command.envs(container::client_environment());
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    Ok(command)
}

/// All of a worker's environment. Few malloc arenas: each reserves 64 MB of address space.
pub(crate) fn environment(libraries: &[PathBuf], tmp: &Path) -> Vec<(&'static str, OsString)> {
    let mut variables = vec![("TMPDIR", tmp.into()), ("MALLOC_ARENA_MAX", "2".into())];
    if let Ok(path) = std::env::join_paths(libraries)
        && !libraries.is_empty()
    {
        variables.push(("LD_LIBRARY_PATH", path));
    }
    variables
}

fn wait_until_locked(jailed: &mut Jailed, sandbox: &Sandbox) -> Result<(), SpawnError> {
    let heard = match &mut jailed.stderr {
        Some(stderr) => handshake::listen(stderr, PATIENCE)?,
        None => Heard::Silence(String::new()),
    };
    Err(match heard {
        Heard::Locked => return Ok(()),
        Heard::GaveUp(Failure::Unreadable { path, reason }) => SpawnError::Unreadable {
            path,
            reason,
            user: sandbox.report().user.clone(),
            // Where somebody who may go everywhere brings the file to the worker.
            staged: match jailed.tier() {
                Tier::T1 => sandbox.host.root,
                Tier::T2 => false,
                Tier::Container => true,
            },
        },
        Heard::GaveUp(Failure::Setup { step, reason }) => SpawnError::Setup { step, reason },
        // It has ended, or closed stderr and must end.
        Heard::Silence(stderr) => SpawnError::NoHandshake { status: describe(jailed.kill()), stderr },
    })
}

fn describe(death: Death) -> String {
    match death {
        Death::Exited(code) => format!("exit code {code}"),
        Death::Signal(signal) => format!("signal {signal}"),
        Death::OutOfMemory => "out of memory".to_owned(),
    }
}

/// A process to start, and where to send it.
type Order = (Command, Sender<io::Result<Child>>);

/// Starts the process from a thread that lives as long as the server. Workers ask the kernel to be
/// killed when their parent dies, and by "parent" it means the thread that started them: one of an
/// async runtime's pool would take its workers along when it goes idle.
fn start(command: Command) -> io::Result<Child> {
    static STARTER: OnceLock<Sender<Order>> = OnceLock::new();
    let starter = match STARTER.get() {
        Some(starter) => starter,
        None => {
            let fresh = starter_thread()?;
            STARTER.get_or_init(|| fresh)
        }
    };
    let gone = || io::Error::other("the thread that starts workers is gone");
    let (reply, answer) = channel();
    starter.send((command, reply)).map_err(|_| gone())?;
    answer.recv().map_err(|_| gone())?
}

fn starter_thread() -> io::Result<Sender<Order>> {
    let (orders, inbox) = channel::<Order>();
    thread::Builder::new().name("sandbox-starter".into()).spawn(move || {
        for (mut command, reply) in inbox {
            // Whoever ordered it waits for it.
            let _ = reply.send(command.spawn());
        }
    })?;
    Ok(orders)
}
