//! From a worker's failure to what a caller is told.

use crate::protocol::{Cause, Failed};
use domain::{Fault, Kind};

/// What is said of a change that is not made, by whichever engine.
pub mod words {
    pub const NO_TARGET: &str = "a value names a row that is not there";
    pub const OUTSIDE: &str = "the row would not be yours to see";
    pub const RULE: &str = "a rule of the table does not take these values";
    pub const SEVERAL: &str = "more than one row was written";
    pub const STALE: &str = "the row has been changed since you read it";
    pub const TAKEN: &str = "another row has this natural key, with other values";
    pub const UNIQUE: &str = "another row has a value that must be unique";
}

pub fn from_worker(failed: &Failed) -> Fault {
    let (kind, code) = match failed.cause {
        Cause::Syntax => return syntax(&failed.message),
        Cause::Statement => (Kind::Invalid, "engine.statement"),
        Cause::Data => (Kind::Execution, "engine.data"),
        Cause::Memory => return out_of_memory(),
        Cause::Source => (Kind::Unavailable, "source.unreadable"),
        Cause::Denied => (Kind::SqlPolicy, "engine.denied"),
        Cause::Protocol => (Kind::Internal, "engine.protocol"),
        Cause::Missing => return no_row(),
        Cause::Taken => (Kind::Conflict, "change.taken"),
        Cause::Stale => (Kind::Conflict, "change.stale"),
        Cause::Outside => (Kind::Forbidden, "change.outside_rows"),
        Cause::Unique => (Kind::Conflict, "change.unique"),
        Cause::Reference => (Kind::Invalid, "change.reference"),
        Cause::Check => (Kind::Invalid, "change.constraint"),
        Cause::Required => (Kind::Invalid, "change.required"),
        Cause::Busy => (Kind::Unavailable, "source.busy"),
    };
    let fault = Fault::new(kind, code, failed.message.clone());
    match failed.cause {
        Cause::Required => fault.detail("field", &failed.message).hint("give it one"),
        Cause::Taken => fault.hint("read the row that has it; change it with an UPDATE"),
        Cause::Stale => fault.hint("read the row again, and decide on what it holds now"),
        Cause::Outside => fault.hint("keep the values that make the row yours"),
        Cause::Unique => fault.hint("another row has these values: read it, or choose others"),
        Cause::Reference => fault.hint("name a row that exists"),
        Cause::Check => fault.hint("give values that the table takes"),
        Cause::Source => fault.hint("look at the source's file: it is there, and cannot be read as what its name says"),
        _ => fault,
    }
}

/// A data error as the caller of this statement is told it. Where rows are hidden from the caller, it is one sentence
/// whatever the engine said: its words could quote a row that it came across before it was filtered.
pub fn on_data(hides_rows: bool, fault: Fault) -> Fault {
    if fault.code != "engine.data" || !hides_rows {
        return fault;
    }
    Fault::new(Kind::Execution, "engine.data", "the statement fails on a value of the rows that you may see")
        .hint("look for a cast, a division or a function that cannot take every value; try_cast and nullif can help")
}

/// A field is named to who may know of it.
pub fn named(fault: Fault, known: &[String]) -> Fault {
    if fault.code != "change.required" {
        return fault;
    }
    let field = fault.details.as_ref().and_then(|details| details.get("field"));
    match field.and_then(|field| known.iter().find(|name| name.eq_ignore_ascii_case(field))) {
        Some(field) => Fault { message: format!("the field `{field}` must have a value"), ..fault },
        None => Fault { message: "a field that must have a value has none".to_owned(), details: None, ..fault },
    }
}

/// Said alike of a row that is not there and of one that policy hides.
fn no_row() -> Fault {
    Fault::new(Kind::NotFound, "change.no_row", "there is no such row that you may change")
        .hint("look for it with a READ first")
}

pub fn read_only(source: &str) -> Fault {
    Fault::new(Kind::Forbidden, "source.read_only", format!("the source `{source}` is only read"))
        .hint("whoever runs this server may mark it as `writable`")
}

/// What our parser has read and the engine's cannot. Its words are of the statement, never of data.
pub fn syntax(message: &str) -> Fault {
    Fault::new(Kind::Invalid, "engine.syntax", message)
        .hint("the engine does not know this syntax: write it in another way")
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
