//! A script that another program of the device holds, behind its client.

use super::failed;
use domain::{Fault, Interpreter, Kind, Manifest};
use policy::script::ApprovedScript;
use sandbox::Death;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How long a client may take to notice that its script is gone.
const GRACE: Duration = Duration::from_secs(5);
const KILL: i32 = 9;

pub struct Client {
    child: Child,
    /// Ends all of it; the client alone is not it.
    end: Command,
    killed: bool,
    death: Option<Death>,
}

impl Client {
    pub fn start(mut command: Command, end: Command) -> Result<Self, Fault> {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().map_err(|e| failed(&e))?;
        Ok(Self { child, end, killed: false, death: None })
    }

    pub fn stdout(&mut self) -> Option<ChildStdout> {
        self.child.stdout.take()
    }

    pub fn stderr(&mut self) -> Option<ChildStderr> {
        self.child.stderr.take()
    }

    pub fn try_wait(&mut self) -> Option<Death> {
        if self.death.is_none()
            && let Ok(Some(status)) = self.child.try_wait()
        {
            self.death = Some(self.read(status));
        }
        self.death
    }

    pub fn kill(&mut self) -> Death {
        if let Some(death) = self.try_wait() {
            return death;
        }
        self.killed = true;
        let _ = self.end.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
        let deadline = Instant::now() + GRACE;
        while Instant::now() < deadline {
            if let Some(death) = self.try_wait() {
                return death;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
        Death::Signal(KILL)
    }

    /// Both clients tell a death by a signal as exit code 128 + signal; nobody but us and the kernel kills there.
    fn read(&self, status: ExitStatus) -> Death {
        match (status.code(), status.signal()) {
            (Some(code), _) if code == 128 + KILL && !self.killed => Death::OutOfMemory,
            (Some(code), _) if code > 128 => Death::Signal(code - 128),
            (Some(code), _) => Death::Exited(code),
            (None, signal) => Death::Signal(signal.unwrap_or(KILL)),
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The words that become the script, in a work directory and with an environment of its own.
pub fn words(approved: &ApprovedScript, text: &str) -> Vec<String> {
    let manifest = approved.manifest();
    let mut words: Vec<String> = ["/usr/bin/bash", "-c", "mkdir -p -- \"$0\" && cd -- \"$0\" && exec \"$@\""]
        .into_iter()
        .chain([format!("/tmp/{}", manifest.work_dir).as_str()])
        .chain(["/usr/bin/env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8", "TMPDIR=/tmp"])
        .map(str::to_owned)
        .collect();
    words.extend(manifest.env.iter().map(|(name, value)| format!("{name}={value}")));
    let shell: &[&str] = match manifest.interpreter {
        Interpreter::Bash => &["/usr/bin/bash", "--noprofile", "--norc"],
        Interpreter::Sh => &["/usr/bin/sh"],
    };
    words.extend(shell.iter().chain(&["-c", text, "script"]).map(|word| (*word).to_owned()));
    words
}

/// What the names of all scripts of one device begin with.
pub fn family(own: &Path) -> String {
    let device: String = domain::sha256_hex(own.as_os_str().as_encoded_bytes()).chars().take(12).collect();
    format!("gatehouse-script-{device}-")
}

/// A name that nobody else has.
pub fn name(own: &Path) -> Result<String, Fault> {
    let number = getrandom::u64().map_err(|_| Fault::internal("device.random"))?;
    Ok(format!("{}{number:016x}", family(own)))
}

/// Paths that mean nothing but themselves in the arguments of these programs.
pub fn check_paths(manifest: &Manifest, hidden: &[PathBuf]) -> Result<(), Fault> {
    let plain = |path: &str| path.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c));
    let fine = |path: &String| path.starts_with('/') && plain(path);
    if manifest.writable_paths.iter().all(fine) && hidden.iter().all(|path| path.to_str().is_some_and(plain)) {
        return Ok(());
    }
    let message = "a path that it may write, or must not see, is not made of letters, digits, `.`, `_` and `-`";
    Err(Fault::new(Kind::Forbidden, "device.path", message).hint("let `bubblewrap` hold it"))
}

/// Runs what shows that it can be had; what it says where it can't.
pub fn trial(what: &str, mut command: Command, hint: &str) -> Result<(), Fault> {
    let output = command.stdin(Stdio::null()).output();
    let why = match output {
        Ok(output) if output.status.success() => return Ok(()),
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            said.lines().next().unwrap_or("it failed").chars().take(200).collect()
        }
        Err(error) => error.to_string(),
    };
    let message = format!("this device can't hold a script by {what}: {why}");
    Err(Fault::new(Kind::Unavailable, "device.cell_unavailable", message).hint(hint))
}
