//! The doors. Each translates its own wire format to an `Ask` and a reply back; none decides.

pub mod admin;
pub mod analyst;
pub mod chat;
pub mod records;
pub mod scan;
