//! `da config show`.

use super::Context;
use crate::cli::Config;
use crate::print;
use crate::problem::Result;

pub fn run(context: &Context, command: &Config) -> Result<()> {
    let Config::Show { origin } = command;
    let shown = context.config.shown();
    if context.all.json {
        return print::json(&shown);
    }
    for setting in shown {
        let origin = if *origin { format!("    # {}", setting.origin) } else { String::new() };
        print::line(format!("{}: {}{origin}", setting.key, setting.value))?;
    }
    Ok(())
}
