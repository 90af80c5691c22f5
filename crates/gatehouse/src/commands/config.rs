//! `gatehouse config show`.

use super::{flags, load};
use crate::cli::Config;
use crate::print::{self, Problem};
use gateway::config as settings;
use std::process::ExitCode;

pub fn run(config: Config) -> Result<ExitCode, Problem> {
    let Config::Show { data, origin, json } = config;
    let (_, shown) = load(&flags(&data))?;
    if json {
        print::json(&shown);
    } else {
        print::line(settings::text(&shown, origin).trim_end());
    }
    Ok(ExitCode::SUCCESS)
}
