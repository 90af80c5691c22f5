//! One approved script in its jail.

use crate::output::{Heard, Streams};
use domain::package::{Ending, Usage};
use domain::{Fault, Interpreter, Kind, Network};
use jiff::Timestamp;
use policy::script::ApprovedScript;
use sandbox::{Death, Host, Jail, JailLimits, Profile, Program, Sandbox, ScriptProfile};
use std::ffi::OsString;
use std::fs;
use std::io::{self, BufRead, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

/// The word that leads to [`become_script`].
pub const RUNNER: &str = "runner";
const MIB: u64 = 1024 * 1024;

/// What came of it.
pub struct Ran {
    pub ending: Ending,
    pub exit_code: Option<i32>,
    pub started_at: Timestamp,
    pub duration: Duration,
    pub usage: Usage,
    pub said: Vec<u8>,
    pub truncated: bool,
}

/// Finds out by trial what this device can hold.
pub fn jail(user: Option<&str>) -> Result<Sandbox, Fault> {
    let path = std::env::current_exe().map_err(|e| failed(&e))?;
    let program = Program { path, args: vec![RUNNER.into()], libraries: Vec::new() };
    Ok(Sandbox::probe(Host::detect(user)?, program)?)
}

/// Runs the script, or its rollback, to its end or to the end of its time. `hidden` is never shown to it.
pub fn run(sandbox: &Sandbox, approved: &ApprovedScript, rollback: bool, hidden: &Path) -> Result<Ran, Fault> {
    let text = if rollback { approved.rollback().unwrap_or("true") } else { approved.script() };
    let manifest = approved.manifest();
    let file = ScriptFile::write(text).map_err(|e| failed(&e))?;
    let jail = Jail {
        read: vec![file.script()],
        limits: limits(approved),
        profile: Profile::Script(ScriptProfile {
            network: manifest.network == Network::Host,
            writable: manifest.writable_paths.iter().map(PathBuf::from).collect(),
            hidden: vec![hidden.to_owned()],
        }),
        ..Jail::default()
    };
    let (started_at, start, cpu) = (Timestamp::now(), Instant::now(), cpu_of_children());
    let mut jailed = sandbox.spawn(&jail, &orders(approved)).map_err(|error| Fault::from(&error))?;
    let inside = jailed.inside(&file.script()).ok_or_else(|| Fault::internal("device.script_inside"))?;
    let mut stdin = jailed.stdin.take().ok_or_else(|| Fault::internal("device.stdin"))?;
    writeln!(stdin, "{}", inside.display()).map_err(|e| failed(&e))?;
    drop(stdin);
    let streams: Vec<Box<dyn Read + Send>> =
        [jailed.stdout.take().map(boxed), jailed.stderr.take().map(boxed)].into_iter().flatten().collect();
    let most = usize::try_from(manifest.resources.output_kb.saturating_mul(1024)).unwrap_or(usize::MAX);
    let (said, heard) = Streams::of(streams).listen(most, start + Duration::from_secs(manifest.timeout_seconds.0));
    // With the first of its processes goes everything that the script has started.
    let death =
        if heard == Heard::Everything { wait(&mut jailed, start, manifest.timeout_seconds.0) } else { jailed.kill() };
    let (ending, exit_code) = ending(&heard, death);
    Ok(Ran {
        ending,
        exit_code,
        started_at,
        duration: start.elapsed(),
        usage: Usage { cpu_ms: cpu_of_children().saturating_sub(cpu), output_bytes: said.len() as u64 },
        truncated: heard == Heard::TooMuch,
        said,
    })
}

fn boxed(stream: impl Read + Send + 'static) -> Box<dyn Read + Send> {
    Box::new(stream)
}

/// It has closed its streams, and may be at work still.
fn wait(jailed: &mut sandbox::Jailed, start: Instant, seconds: u64) -> Death {
    while start.elapsed() < Duration::from_secs(seconds) {
        if let Some(death) = jailed.try_wait() {
            return death;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    jailed.kill()
}

fn ending(heard: &Heard, death: Death) -> (Ending, Option<i32>) {
    match (heard, death) {
        (_, Death::OutOfMemory) => (Ending::OutOfMemory, None),
        (Heard::TooLong, Death::Signal(_)) => (Ending::TimedOut, None),
        (Heard::TooMuch, Death::Signal(_)) => (Ending::OutputExceeded, None),
        (_, Death::Exited(code)) => (Ending::Exited, Some(code)),
        (Heard::Everything, Death::Signal(_)) => (Ending::Killed, None),
    }
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

/// In the process that becomes the script: lock down, read where the script is, become its shell.
pub fn become_script(args: Vec<OsString>) -> ExitCode {
    let Ok(orders) = sandbox::enter(args) else { return ExitCode::from(125) };
    let error = replace(&orders).err().unwrap_or_else(|| io::Error::other("nothing to become"));
    let _ = writeln!(io::stderr(), "gatehouse-device: {error}");
    ExitCode::from(126)
}

fn replace(orders: &[OsString]) -> io::Result<()> {
    let words: Option<Vec<&str>> = orders.iter().map(|order| order.to_str()).collect();
    let words = words.unwrap_or_default();
    let [interpreter, work_dir, env @ ..] = words.as_slice() else {
        return Err(io::Error::other("orders are missing"));
    };
    let mut script = String::new();
    io::stdin().lock().read_line(&mut script)?;
    let dir = std::env::temp_dir().join(work_dir);
    fs::create_dir_all(&dir)?;
    let mut command = match *interpreter {
        "bash" => {
            let mut bash = Command::new("/usr/bin/bash");
            bash.args(["--noprofile", "--norc"]);
            bash
        }
        _ => Command::new("/usr/bin/sh"),
    };
    command.arg(script.trim_end()).current_dir(dir).stdin(std::process::Stdio::null()).env_clear();
    command.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").env("LC_ALL", "C.UTF-8").env("TMPDIR", std::env::temp_dir());
    command.envs(env.iter().filter_map(|pair| pair.split_once('=')));
    Err(command.exec())
}

/// The script's text where the jail's user can read it, for as long as it runs.
struct ScriptFile(PathBuf);

impl ScriptFile {
    fn write(text: &str) -> io::Result<Self> {
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(io::Error::other)?;
        let name: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        let file = Self(std::env::temp_dir().join(format!("gatehouse-script-{name}")));
        fs::create_dir(&file.0)?;
        fs::set_permissions(&file.0, fs::Permissions::from_mode(0o755))?;
        fs::write(file.script(), text)?;
        fs::set_permissions(file.script(), fs::Permissions::from_mode(0o644))?;
        Ok(file)
    }

    fn script(&self) -> PathBuf {
        self.0.join("script")
    }
}

impl Drop for ScriptFile {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Milliseconds of processor time of children that have ended, from `/proc/self/stat`.
fn cpu_of_children() -> u64 {
    const TICK_MS: u64 = 10;
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    // Fields 16 and 17; the name was field 2.
    after_name.split_whitespace().skip(13).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum::<u64>() * TICK_MS
}

fn failed(error: &io::Error) -> Fault {
    Fault::new(Kind::Unavailable, "device.run", format!("the script could not be started: {error}"))
}
