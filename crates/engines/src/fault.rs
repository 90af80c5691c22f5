//! From a worker's failure to what a caller is told.

use crate::protocol::{Cause, Failed};
use domain::{Fault, Kind};

pub fn from_worker(failed: &Failed) -> Fault {
    let (kind, code) = match failed.cause {
        Cause::Statement => (Kind::Invalid, "engine.statement"),
        Cause::Data => (Kind::Execution, "engine.data"),
        Cause::Memory => return out_of_memory(),
        Cause::Source => (Kind::Unavailable, "source.unreadable"),
        Cause::Denied => (Kind::SqlPolicy, "engine.denied"),
        Cause::Protocol => (Kind::Internal, "engine.protocol"),
    };
    let fault = Fault::new(kind, code, failed.message.clone());
    match failed.cause {
        Cause::Source => fault.hint("look at the source's file: it is there, and cannot be read as what its name says"),
        _ => fault,
    }
}

pub fn out_of_memory() -> Fault {
    Fault::new(Kind::ResourceExceeded, "engine.memory", "the statement needed more memory than it may use")
}

pub fn timeout(seconds: u64) -> Fault {
    Fault::new(Kind::Timeout, "engine.timeout", format!("the statement ran longer than {seconds} s and was stopped"))
}

pub fn busy() -> Fault {
    Fault::new(Kind::Unavailable, "engine.busy", "all workers are busy")
}

/// The worker went away without a word: killed from outside, or a crash of the engine.
pub fn worker_lost() -> Fault {
    Fault::new(Kind::Internal, "engine.worker_lost", "the worker that ran the statement died")
        .hint("try again; if it dies again, report the request id")
}

/// The engine did not survive the source's files (JSON nested without end, for example).
pub fn crashed_on_opening(source: &str) -> Fault {
    Fault::new(
        Kind::Unavailable,
        "source.unreadable",
        format!("source `{source}` cannot be read: its engine crashed on it"),
    )
    .hint("look at the source's files: one of them is not what its name says, or nested too deeply")
}
