//! Data goes to stdout, messages to stderr. A reader that has gone away (`| head`) ends the program quietly.

use crate::problem::{Problem, Result};
use serde::Serialize;
use std::fmt::Display;
use std::io::{self, BufWriter, Write};

/// Stdout, with room for many lines at a time.
pub fn out() -> BufWriter<io::StdoutLock<'static>> {
    BufWriter::with_capacity(64 * 1024, io::stdout().lock())
}

/// A line of data.
pub fn line(text: impl Display) -> Result<()> {
    written(writeln!(io::stdout(), "{text}"))
}

pub fn json(value: &impl Serialize) -> Result<()> {
    line(serde_json::to_string_pretty(value).unwrap_or_default())
}

/// What became of writing to stdout.
pub fn written(result: io::Result<()>) -> Result<()> {
    match result {
        Ok(()) => Ok(()),
        // Whoever reads has enough: that is no failure.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => std::process::exit(0),
        Err(error) => Err(Problem::file("stdout cannot be written", &error)),
    }
}

/// Something to know that is no failure.
pub fn warn(text: impl Display) {
    eprintln!("WARN: {text}");
}

/// Progress in words; not where it was asked to be quiet.
pub fn note(quiet: bool, text: impl Display) {
    if !quiet {
        eprintln!("{text}");
    }
}
