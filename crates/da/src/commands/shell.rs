//! `da completions` and `da man`, from the one definition of commands and flags.

use crate::cli::Cli;
use crate::print;
use crate::problem::{Problem, Result};
use clap::CommandFactory;
use clap_complete::Shell;
use std::path::Path;

pub fn completions(shell: Shell) -> Result<()> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "da", &mut text);
    print::line(String::from_utf8_lossy(&text).trim_end())
}

pub fn man(dir: Option<&Path>) -> Result<()> {
    let failed = |error: std::io::Error| Problem::file("the man pages cannot be written", &error);
    match dir {
        Some(dir) => {
            std::fs::create_dir_all(dir).map_err(failed)?;
            clap_mangen::generate_to(Cli::command(), dir).map_err(failed)
        }
        None => {
            let mut text = Vec::new();
            clap_mangen::Man::new(Cli::command()).render(&mut text).map_err(failed)?;
            print::line(String::from_utf8_lossy(&text).trim_end())
        }
    }
}
