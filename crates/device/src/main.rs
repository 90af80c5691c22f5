//! Runs on a device what was approved for it: once, in a jail, and tells what came of it.
//!
//! ```text
//! enrol ─► poll ─► claim ─► open (signature, digest, expiry, target, policy) ─► journal ─► jail ─► report
//! ```

mod agent;
mod api;
mod arguments;
mod cells;
mod config;
mod enrol;
mod journal;
mod log;
mod output;
mod pause;
mod run;

use agent::Agent;
use arguments::{Arguments, Wish};
use cells::{Cell, Cells};
use domain::Fault;
use serde_json::json;
use std::io::Write;
use std::process::ExitCode;

const USAGE: &str = "\
gatehouse-device: runs on this device what was approved for it

  gatehouse-device enrol URL CODE      once: make this device known to the house
  gatehouse-device run                 ask for packages and run them, until stopped
  gatehouse-device run --once          ask once, run what there is, end
  gatehouse-device --rollback ID       run the rollback of a package that ran here
  gatehouse-device doctor              say what the jail of this device can hold

  --state DIR    where keys and the journal are kept (default /var/lib/gatehouse-device)
  --writable DIR where scripts may ask to write, as often as there are such places; for `enrol`
  --user NAME    whom scripts run as where this runs as root (default gatehouse, else nobody)

exit codes: 0 done, 1 failed, 2 wrong usage, 9 no jail
";

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1).peekable();
    // First of all, before any thread: this may be the process that becomes a script.
    if words.peek().is_some_and(|word| word == cells::RUNNER) {
        return run::become_script(words.skip(1).collect());
    }
    let words: Option<Vec<String>> = words.map(|word| word.into_string().ok()).collect();
    let Some(arguments) = words.and_then(|words| Arguments::parse(&words)) else {
        let _ = write!(std::io::stderr(), "{USAGE}");
        return ExitCode::from(2);
    };
    if arguments.wish == Wish::Help {
        let _ = write!(std::io::stdout(), "{USAGE}");
        return ExitCode::SUCCESS;
    }
    match serve(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            let _ = writeln!(std::io::stderr(), "error: {fault}\nhint: {}", fault.hint);
            ExitCode::from(fault.kind.exit_code())
        }
    }
}

fn serve(arguments: &Arguments) -> Result<(), Fault> {
    let state = &config::prepare(&arguments.state)?;
    let cells = Cells::new(arguments.user.as_deref(), state);
    match &arguments.wish {
        Wish::Help => Ok(()),
        Wish::Doctor => doctor(&cells),
        Wish::Enrol { url, code } => enrol::enrol((state, &arguments.writable), (url, code), &cells),
        Wish::Run { once } => Agent::new(state, cells)?.work(*once),
        Wish::Rollback(id) => Agent::new(state, cells)?.roll_back(id),
    }
}

/// What can hold a script here, and why what can't. A device that has nothing fails.
fn doctor(cells: &Cells) -> Result<(), Fault> {
    let mut report = serde_json::Map::new();
    for cell in Cell::ALL {
        let found = match cells.try_out(cell) {
            Ok(()) => json!({
                "tier": cells.tier(cell),
                "unenforced": cells.unenforced(cell),
                "capabilities": cell.capabilities(),
            }),
            Err(fault) => json!({ "unavailable": fault.message, "hint": fault.hint }),
        };
        report.insert(cell.as_str().to_owned(), found);
    }
    let shown = serde_json::to_string_pretty(&report).map_err(|_| Fault::internal("device.report"))?;
    let _ = writeln!(std::io::stdout(), "{shown}");
    Cell::ALL.into_iter().find_map(|cell| cells.try_out(cell).ok()).map_or_else(|| cells.try_out(Cell::Bubblewrap), Ok)
}
