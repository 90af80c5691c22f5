//! Workers in containers, for who counts on a container engine's walls (`RUNNER_IMAGE`).
//!
//! The engine is somebody else's program behind its own client, so nothing is assumed of it: the
//! worker looks at its walls from inside before it works (`stage/walls.rs`), and each container has a
//! name to kill it by and a label to find it by when its server could not.

use crate::owned_name;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;
use std::{env, fs};

/// Whom workers in containers run as: nobody, whatever the image says.
pub(crate) const USER: &str = "65534:65534";
/// The label of every worker's container; its value says which machine's servers it belongs to.
pub(crate) const LABEL: &str = "gatehouse.worker";
const KIND: &str = "worker";
/// How long the client may take for a question or a kill. An engine that hangs is none.
const PATIENCE: Duration = Duration::from_secs(10);

/// A container engine, as its client shows it, and the image to start workers from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Container {
    /// Docker's client, or another program that takes the same arguments.
    pub client: PathBuf,
    /// Holds this program as its entry point.
    pub image: String,
}

impl Container {
    /// The image, through the client of this machine.
    pub fn of(image: &str) -> Self {
        Self { client: find_client(), image: image.to_owned() }
    }

    /// Removes what killed servers left, which also shows whether an engine answers at all.
    pub(crate) fn sweep(&self) -> Result<(), String> {
        if !self.client.is_file() {
            return Err(format!("no `{}`", self.client.display()));
        }
        let label = format!("label={LABEL}={}", origin());
        let listed = self.ask(&["ps", "--all", "--filter", &label, "--format", "{{.Names}}"])?;
        for name in listed.lines().map(str::trim).filter(|name| owned_name::is_orphan(name, KIND)) {
            // Another server may be removing it too.
            let _ = self.ask(&["rm", "--force", name]);
        }
        Ok(())
    }

    fn ask(&self, arguments: &[&str]) -> Result<String, String> {
        let mut command = client(&self.client);
        let output = run(command.args(arguments)).map_err(|e| e.to_string())?;
        let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        if output.status.success() { Ok(said(&output.stdout)) } else { Err(said(&output.stderr)) }
    }
}

/// The container of one worker.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Named {
    pub container: Container,
    pub name: String,
    pub origin: String,
}

impl Named {
    pub fn fresh(container: &Container) -> Self {
        // Not one that an earlier boot's server with this process id may have left behind.
        let moment = std::time::UNIX_EPOCH.elapsed().unwrap_or_default().as_nanos();
        let name = format!("{}-{moment:x}", owned_name::fresh(KIND));
        Self { container: container.clone(), name, origin: origin() }
    }

    /// The client alone would leave its container running. Fails when it has ended meanwhile, or never
    /// came to be; the sweep finds what is left.
    pub fn kill(&self) -> bool {
        self.container.ask(&["kill", &self.name]).is_ok()
    }
}

/// The client, with nothing of our environment but what tells it where its engine is.
pub(crate) fn client(path: &Path) -> Command {
    let mut command = Command::new(path);
    command.env_clear().envs(client_environment()).current_dir("/");
    command
}

pub(crate) fn client_environment() -> impl Iterator<Item = (OsString, OsString)> {
    env::vars_os().filter(|(name, _)| {
        let name = name.to_string_lossy();
        matches!(&*name, "PATH" | "HOME" | "XDG_RUNTIME_DIR")
            || ["DOCKER_", "CONTAINERS_"].iter().any(|prefix| name.starts_with(prefix))
    })
}

/// This boot of this machine, and the part of it in which our process ids mean something: one engine
/// may serve several.
fn origin() -> String {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let processes = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    let digits: String = processes.to_string_lossy().chars().filter(char::is_ascii_digit).collect();
    format!("{}.{digits}", boot.trim())
}

/// From fixed places, as bubblewrap is.
fn find_client() -> PathBuf {
    let places = ["/usr/bin/docker", "/usr/local/bin/docker", "/bin/docker"].map(PathBuf::from);
    let [usual, ..] = places.clone();
    places.into_iter().find(|p| p.is_file()).unwrap_or(usual)
}

/// Runs a short command to its end, or kills it. What it says is short too, and waits in its pipes.
fn run(command: &mut Command) -> io::Result<Output> {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    if !ends_within(&child, PATIENCE) {
        child.kill()?;
        child.wait()?;
        return Err(io::Error::new(io::ErrorKind::TimedOut, format!("no answer in {} s", PATIENCE.as_secs())));
    }
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    child.stdout.take().map(|mut pipe| pipe.read_to_end(&mut stdout)).transpose()?;
    child.stderr.take().map(|mut pipe| pipe.read_to_end(&mut stderr)).transpose()?;
    Ok(Output { status: child.wait()?, stdout, stderr })
}

pub(crate) fn ends_within(child: &Child, patience: Duration) -> bool {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let Some(handle) = pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok()) else { return false };
    let Ok(patience) = Timespec::try_from(patience) else { return false };
    matches!(poll(&mut [PollFd::new(&handle, PollFlags::IN)], Some(&patience)), Ok(1..))
}
