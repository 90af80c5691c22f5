//! Runs cases in fresh workers and tells what came of each.

use crate::SEPARATOR;
use sandbox::{Container, Death, Host, Jail, Jailed, Profile, Program, Sandbox, ScriptProfile};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::io::{self, BufRead, Read, Write};
use std::path::Path;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

/// Wall clock and output of one case: what a supervisor of real workers also enforces.
const TIME: Duration = Duration::from_secs(4);
const OUTPUT: u64 = 1024 * 1024;
/// Of what it said, so much is told.
const SHOWN: usize = 200;

pub fn run(args: Vec<OsString>) -> ExitCode {
    match supervise(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "{error}");
            ExitCode::FAILURE
        }
    }
}

fn supervise(args: Vec<OsString>) -> Result<(), Box<dyn std::error::Error>> {
    let mut profile = Profile::Worker;
    let (bwrap, open, closed, container) = match args.as_slice() {
        [bwrap, open, closed] => (bwrap, open, closed, None),
        [bwrap, open, closed, script] if script == "script" => {
            profile = Profile::Script(ScriptProfile::default());
            (bwrap, open, closed, None)
        }
        [bwrap, open, closed, client, image] => {
            let image = image.to_str().ok_or("not the name of an image")?;
            (bwrap, open, closed, Some(Container { client: client.into(), image: image.to_owned() }))
        }
        _ => return Err("usage: supervise BWRAP OPEN CLOSED [script | CLIENT IMAGE]".into()),
    };
    let mut host = Host::detect(None)?;
    host.bwrap = bwrap.into();
    host.container = container;
    let program = Program { path: std::env::current_exe()?, args: vec!["runner".into()], libraries: Vec::new() };
    let sandbox = Sandbox::probe(host, program)?;
    say(&serde_json::to_value(sandbox.report())?)?;
    for case in io::stdin().lock().lines() {
        say(&attempt(&sandbox, &profile, &case?, open.as_ref(), closed.as_ref())?)?;
    }
    Ok(())
}

fn say(value: &Value) -> io::Result<()> {
    writeln!(io::stdout(), "{value}")
}

fn attempt(
    sandbox: &Sandbox,
    profile: &Profile,
    case: &str,
    open: &Path,
    closed: &Path,
) -> Result<Value, Box<dyn std::error::Error>> {
    let mut jail = Jail { read: vec![open.to_owned()], profile: profile.clone(), ..Jail::default() };
    if case.starts_with("outgrow_group_memory") {
        // So little that the limits on address space and /tmp are not what stops it.
        jail.limits.memory_bytes = 40 * 1024 * 1024;
    }
    let start = Instant::now();
    let mut worker = sandbox.spawn(&jail, &[])?;
    let start_ms = start.elapsed().as_secs_f64() * 1e3;
    let inside = worker.inside(open).ok_or("not inside")?;
    let mut stdin = worker.stdin.take().ok_or("no stdin")?;
    writeln!(stdin, "{case}\t{}\t{}", inside.display(), closed.display())?;
    let (said, death) = watch(&mut worker);
    let said: Vec<String> = said.split(SEPARATOR).map(|said| said.chars().take(SHOWN).collect()).collect();
    Ok(json!({"case": case, "said": said, "death": format!("{death:?}"), "start_ms": start_ms}))
}

/// Reads what it says, up to a time and a size, then ends it.
fn watch(worker: &mut Jailed) -> (String, Death) {
    let Some(stdout) = worker.stdout.take() else { return (String::new(), worker.kill()) };
    let reader = thread::spawn(move || {
        let mut said = Vec::new();
        let mut capped = stdout.take(OUTPUT);
        let _ = capped.read_to_end(&mut said);
        // Kept open, so that a worker that says too much does not end by itself.
        (said, capped.into_inner())
    });
    let deadline = Instant::now() + TIME;
    while !reader.is_finished() && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(1));
    }
    let death = worker.kill();
    let said = reader.join().map(|(said, _)| said).unwrap_or_default();
    (String::from_utf8_lossy(&said).into_owned(), death)
}
