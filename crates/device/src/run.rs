//! One approved script in its jail.

use crate::cells::{Cell, Cells, Held};
use crate::output::{Heard, Streams};
use domain::Fault;
use domain::package::{Ending, Usage};
use jiff::Timestamp;
use policy::script::ApprovedScript;
use sandbox::Death;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// What came of it.
pub struct Ran {
    pub ending: Ending,
    pub exit_code: Option<i32>,
    pub started_at: Timestamp,
    pub duration: Duration,
    pub usage: Usage,
    pub truncated: bool,
}

/// Runs the script, or its rollback, to its end or to the end of its time; what it says is told to `hear` as it comes.
pub fn run(
    (cells, cell): (&Cells, Cell),
    approved: &ApprovedScript,
    rollback: bool,
    hear: &mut dyn FnMut(&[u8]),
) -> Result<Ran, Fault> {
    let text = if rollback { approved.rollback().unwrap_or("true") } else { approved.script() };
    let manifest = approved.manifest();
    let (started_at, start, cpu) = (Timestamp::now(), Instant::now(), cpu_of_children());
    let mut held = cells.start(cell, approved, text)?;
    let most = usize::try_from(manifest.resources.output_kb.saturating_mul(1024)).unwrap_or(usize::MAX);
    let deadline = start + Duration::from_secs(manifest.timeout_seconds.0);
    let (output, heard) = Streams::of(held.streams()).listen(most, deadline, hear);
    // With the first of its processes goes everything that the script has started.
    let death = if heard == Heard::Everything { wait(&mut held, deadline) } else { held.kill() };
    let (ending, exit_code) = ending(&heard, death, deadline);
    Ok(Ran {
        ending,
        exit_code,
        started_at,
        duration: start.elapsed(),
        usage: Usage {
            cpu_ms: cpu_of_children().saturating_sub(cpu),
            output_bytes: output as u64,
            memory_peak_kb: held.memory_peak_kb(),
        },
        truncated: heard == Heard::TooMuch,
    })
}

/// It has closed its streams, and may be at work still.
fn wait(held: &mut Held, deadline: Instant) -> Death {
    while Instant::now() < deadline {
        if let Some(death) = held.try_wait() {
            return death;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    held.kill()
}

fn ending(heard: &Heard, death: Death, deadline: Instant) -> (Ending, Option<i32>) {
    match (heard, death) {
        (_, Death::OutOfMemory) => (Ending::OutOfMemory, None),
        // What it made of nobody listening any more does not matter.
        (Heard::TooMuch, _) => (Ending::OutputExceeded, None),
        (Heard::TooLong, Death::Signal(_)) => (Ending::TimedOut, None),
        (_, Death::Exited(code)) => (Ending::Exited, Some(code)),
        // It had closed its streams, and went on until it was ended.
        (Heard::Everything, Death::Signal(_)) if Instant::now() >= deadline => (Ending::TimedOut, None),
        (Heard::Everything, Death::Signal(_)) => (Ending::Killed, None),
    }
}

/// In the process that becomes the script: lock down, read the script, become its shell.
pub fn become_script(args: Vec<OsString>) -> ExitCode {
    let Ok(orders) = sandbox::enter(args) else { return ExitCode::from(125) };
    let error = replace(&orders).err().unwrap_or_else(|| io::Error::other("nothing to become"));
    let _ = writeln!(io::stderr(), "gatehouse-device: {error}");
    ExitCode::from(126)
}

/// The text comes through a pipe and goes on as an argument: it lies in no file that could be changed, or be left behind.
fn replace(orders: &[OsString]) -> io::Result<()> {
    let words: Option<Vec<&str>> = orders.iter().map(|order| order.to_str()).collect();
    let words = words.unwrap_or_default();
    let [interpreter, work_dir, env @ ..] = words.as_slice() else {
        return Err(io::Error::other("orders are missing"));
    };
    let script = io::read_to_string(io::stdin().lock())?;
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
    command.args(["-c", &script, "script"]).current_dir(dir).stdin(Stdio::null()).env_clear();
    command.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").env("LC_ALL", "C.UTF-8").env("TMPDIR", std::env::temp_dir());
    command.envs(env.iter().filter_map(|pair| pair.split_once('=')));
    Err(command.exec())
}

/// Milliseconds of processor time of children that have ended, from `/proc/self/stat`.
fn cpu_of_children() -> u64 {
    const TICK_MS: u64 = 10;
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    // Fields 16 and 17; the name was field 2.
    after_name.split_whitespace().skip(13).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum::<u64>() * TICK_MS
}
