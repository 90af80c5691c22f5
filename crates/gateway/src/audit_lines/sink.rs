//! Where audit lines end up.

use crate::config::{Audit, AuditOutput};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

pub struct Sinks {
    stdout: bool,
    file: Option<LogFile>,
}

impl Sinks {
    pub fn new(settings: &Audit) -> Self {
        let to_file = matches!(settings.output, AuditOutput::File | AuditOutput::Both);
        Self {
            stdout: matches!(settings.output, AuditOutput::Stdout | AuditOutput::Both),
            file: to_file.then(|| LogFile { path: settings.file.clone(), open: None }),
        }
    }

    /// To each place, whatever happened at the other.
    pub fn write(&mut self, line: &str) {
        let line = format!("{line}\n");
        if self.stdout
            && let Err(error) = write_to_stdout(&line)
        {
            tracing::error!(%error, "an audit line cannot be written to stdout");
        }
        if let Some(file) = &mut self.file
            && let Err(error) = file.write(&line)
        {
            tracing::error!(%error, file = %file.path.display(), "an audit line cannot be written");
        }
    }

    pub fn reopen(&mut self) {
        if let Some(file) = &mut self.file
            && let Err(error) = file.reopen()
        {
            tracing::error!(%error, file = %file.path.display(), "the file of the audit lines cannot be opened");
        }
    }
}

fn write_to_stdout(line: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(line.as_bytes())?;
    stdout.flush()
}

struct LogFile {
    path: PathBuf,
    open: Option<File>,
}

impl LogFile {
    /// After a failure the file is opened anew for the next line: the disk may have space again.
    fn write(&mut self, line: &str) -> io::Result<()> {
        if self.open.is_none() {
            self.reopen()?;
        }
        let written = self.open.as_mut().map_or(Ok(()), |file| file.write_all(line.as_bytes()));
        if written.is_err() {
            self.open = None;
        }
        written
    }

    fn reopen(&mut self) -> io::Result<()> {
        self.open = None;
        // Questions and answers are nobody else's to read.
        let mut file = OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(&self.path)?;
        if ends_in_the_middle(&mut file) {
            file.write_all(b"\n")?;
        }
        self.open = Some(file);
        Ok(())
    }
}

/// Whether a full disk or a crash cut the last line off.
fn ends_in_the_middle(file: &mut File) -> bool {
    let is_file = file.metadata().is_ok_and(|meta| meta.is_file());
    let mut last = [b'\n'];
    is_file && file.seek(SeekFrom::End(-1)).is_ok() && file.read_exact(&mut last).is_ok() && last != *b"\n"
}
