//! What people read: data on stdout, messages on stderr, meaning never by colour alone.

use domain::Fault;
use gateway::CannotOpen;
use std::fmt::Display;
use std::io::Write;
use std::process::ExitCode;

/// Why a command failed: lines for people and an exit code for scripts.
pub struct Problem {
    pub lines: Vec<String>,
    pub code: u8,
}

impl From<Fault> for Problem {
    fn from(fault: Fault) -> Self {
        Self { lines: vec![fault.to_string(), format!("hint: {}", fault.hint)], code: fault.kind.exit_code() }
    }
}

impl From<CannotOpen> for Problem {
    fn from(cannot: CannotOpen) -> Self {
        Self { lines: cannot.0, code: 2 }
    }
}

impl From<ledger::LedgerError> for Problem {
    fn from(error: ledger::LedgerError) -> Self {
        Self { lines: vec![error.to_string()], code: 9 }
    }
}

impl From<std::io::Error> for Problem {
    fn from(error: std::io::Error) -> Self {
        Self { lines: vec![error.to_string()], code: 1 }
    }
}

impl Problem {
    pub fn usage(message: impl Into<String>, hint: impl Display) -> Self {
        Self { lines: vec![message.into(), format!("hint: {hint}")], code: 2 }
    }
}

pub fn problem(problem: &Problem) -> ExitCode {
    for (i, line) in problem.lines.iter().enumerate() {
        eprintln!("{}{line}", if i == 0 { "gatehouse: " } else { "  " });
    }
    ExitCode::from(problem.code)
}

/// A line of data. A reader that has gone away (`| head`) ends the program quietly.
pub fn line(text: impl Display) {
    if writeln!(std::io::stdout(), "{text}").is_err() {
        std::process::exit(0);
    }
}

pub fn json(value: &impl serde::Serialize) {
    line(serde_json::to_string_pretty(value).unwrap_or_default());
}

/// Columns of text, aligned.
pub fn table(header: &[&str], rows: &[Vec<String>]) {
    let width = |i: usize| {
        let cells = rows.iter().filter_map(|r| r.get(i)).map(|c| c.chars().count());
        cells.chain(header.get(i).map(|h| h.chars().count())).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    let show = |cells: Vec<&str>| {
        let padded: Vec<String> = cells.iter().zip(&widths).map(|(c, w)| format!("{c:<w$}")).collect();
        line(padded.join("  ").trim_end());
    };
    show(header.to_vec());
    for row in rows {
        show(row.iter().map(String::as_str).collect());
    }
}
