//! The worker: runs inside the jail, opens one source, answers one statement at a time.
//!
//! It starts after `sandbox::inner` has locked the process down. It reads requests on stdin and
//! answers on stdout; the end of stdin is the end of it.

mod duck;
pub(crate) mod encode;
pub(crate) mod message;
pub(crate) mod sqlite;
#[cfg(test)]
mod tests;

use crate::protocol::{
    Cause, Change, CopyOut, Done, Estimate, Failed, Form, Open, OpenEngine, Queried, Query, Request, TAG_DONE,
    TAG_FAILED, TAG_REQUEST, read_frame, write_frame,
};
use domain::SourceSchema;
use sandbox::WindowInside;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::PathBuf;
use std::time::Instant;

/// An engine with its source open and its own lockdown in force.
pub(crate) trait Engine {
    fn describe(&mut self) -> Result<SourceSchema, Failed>;
    /// Writes the rows to `out`, in the form that they are wanted in, and says what they were.
    fn query(&self, query: &Query, out: &mut dyn encode::Sink) -> Result<Queried, Failed>;
    /// Makes one change, all of it or none, and writes the row as it then is to `out`.
    fn change(&mut self, _: &Change, _: &mut dyn encode::Sink) -> Result<(Queried, u64), Failed> {
        Err(Failed::new(Cause::Denied, "this engine only reads"))
    }
    /// What the statement would read and give, found out in little time.
    fn estimate(&mut self, query: &Query) -> Result<Estimate, Failed>;
}

/// Serves requests until the pipe ends.
pub fn serve(input: impl Read, output: impl Write + Send, mut window: Option<WindowInside>) -> io::Result<()> {
    let mut input = BufReader::new(input);
    let mut output = BufWriter::with_capacity(256 * 1024, output);
    let mut opened: Option<Opened> = None;
    while let Some((tag, payload)) = read_frame(&mut input)? {
        let answer = if tag == TAG_REQUEST {
            serde_json::from_slice(&payload)
                .map_err(|e| Failed::new(Cause::Protocol, e.to_string()))
                .and_then(|request| answer(&mut opened, request, &mut output, window.as_mut()))
        } else {
            Err(Failed::new(Cause::Protocol, "unexpected frame"))
        };
        match answer {
            Ok(done) => write_frame(&mut output, TAG_DONE, &serde_json::to_vec(&done)?)?,
            Err(failed) => write_frame(&mut output, TAG_FAILED, &serde_json::to_vec(&failed)?)?,
        }
        output.flush()?;
    }
    Ok(())
}

/// A source in its engine, and the files that it stands in.
struct Opened {
    engine: Box<dyn Engine>,
    files: Vec<PathBuf>,
}

fn answer(
    opened: &mut Option<Opened>,
    request: Request,
    out: &mut (impl Write + Send),
    window: Option<&mut WindowInside>,
) -> Result<Done, Failed> {
    match (request, opened.as_mut()) {
        (Request::Open(open), None) => {
            let files = open.engine.paths().into_iter().cloned().collect();
            *opened = Some(Opened { engine: open_engine(&open)?, files });
            Ok(Done::Opened)
        }
        (Request::Copy(copy), None) => copy_out(&copy, out),
        (Request::Describe, Some(opened)) => opened.engine.describe().map(Done::Described),
        (Request::Query(query), Some(opened)) => {
            let start = Instant::now();
            let mut frames = encode::Frames::new(out, query.announce).through(window.filter(|_| query.window));
            let mut queried = match query.form {
                Form::Estimate => estimate(opened.engine.as_mut(), &query, &mut frames)?,
                _ => opened.engine.query(&query, &mut frames)?,
            };
            frames.finish().map_err(|e| Failed::new(Cause::Protocol, e.to_string()))?;
            queried.exec_ms = start.elapsed().as_secs_f64() * 1e3;
            Ok(Done::Queried(queried))
        }
        (Request::Change(change), Some(opened)) => {
            let start = Instant::now();
            let mut frames = encode::Frames::new(out, false);
            let (mut queried, affected) = opened.engine.change(&change, &mut frames)?;
            frames.finish().map_err(|e| Failed::new(Cause::Protocol, e.to_string()))?;
            queried.exec_ms = start.elapsed().as_secs_f64() * 1e3;
            Ok(Done::Changed(queried, affected))
        }
        (Request::TryToWrite, Some(opened)) => try_to_write(&opened.files),
        (Request::Open(_) | Request::Copy(_), Some(_)) => Err(Failed::new(Cause::Protocol, "already open")),
        (_, None) => Err(Failed::new(Cause::Protocol, "nothing is open")),
    }
}

fn estimate(engine: &mut dyn Engine, query: &Query, out: &mut dyn encode::Sink) -> Result<Queried, Failed> {
    let estimate = engine.estimate(query)?;
    let json = serde_json::to_vec(&estimate).map_err(io::Error::from);
    let sent = out.columns(&[]).and(json).and_then(|json| out.write_all(&json));
    sent.map_err(|e| Failed::new(Cause::Protocol, e.to_string()))?;
    Ok(Queried { columns: Vec::new(), row_count: 0, truncated: false, exec_ms: 0.0 })
}

/// The copy, made in the scratch directory, and then sent.
fn copy_out(copy: &CopyOut, out: &mut (impl Write + Send)) -> Result<Done, Failed> {
    duck::copy(copy)?;
    let broken = |e: io::Error| Failed::new(Cause::Protocol, e.to_string());
    let mut file = std::fs::File::open(&copy.to).map_err(broken)?;
    let mut frames = encode::Frames::new(out, false);
    io::copy(&mut file, &mut frames).map_err(broken)?;
    frames.finish().map_err(broken)?;
    Ok(Done::Copied)
}

fn open_engine(open: &Open) -> Result<Box<dyn Engine>, Failed> {
    Ok(match &open.engine {
        OpenEngine::Files(tables) => {
            Box::new(duck::Duck::open(tables, open.memory_bytes, open.threads, open.hides_rows)?)
        }
        OpenEngine::Sqlite(path) => Box::new(sqlite::Sqlite::open(path, sqlite::Access::Immutable)?),
        OpenEngine::SqliteLive(path) => Box::new(sqlite::Sqlite::open(path, sqlite::Access::Live)?),
        OpenEngine::SqliteWriter(path) => Box::new(sqlite::Sqlite::open(path, sqlite::Access::Writer)?),
    })
}

/// Past the engine, straight at the files: what holds then is the jail alone.
fn try_to_write(files: &[PathBuf]) -> Result<Done, Failed> {
    let writable = files.iter().any(|file| std::fs::OpenOptions::new().append(true).open(file).is_ok());
    if writable { Err(Failed::new(Cause::Source, "the source is not read-only")) } else { Ok(Done::CouldNotWrite) }
}
