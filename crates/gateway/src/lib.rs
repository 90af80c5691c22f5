//! The one path and its doors.
//!
//! [`path`] is the path; [`doors`] translate; [`http`] is the threshold that every request crosses
//! first; [`House`] is what they share; [`serve`] opens it to the world.

mod active;
mod answer;
mod aside;
mod audit_lines;
mod changes;
mod chart;
pub mod config;
mod connections;
pub mod contracts;
pub mod data_dir;
pub mod datasets;
mod device_room;
mod disk;
pub mod doctor;
pub mod doors;
mod house;
mod http;
pub mod keyring;
pub mod log;
pub mod mcp;
mod metrics;
mod nothing;
mod path;
mod planning;
mod registry;
mod replay;
mod rows;
mod scripts;
mod serve;
mod servers;
mod streamed;
pub mod tools;
mod turns;
mod versions;

pub use audit_lines::AuditLines;
pub use house::{CannotOpen, House, open_sandbox};
pub use path::{Reply, Walk};
pub use planning::Planned;
pub use replay::{Difference, Replayed, Verdict};
pub use serve::{Serving, serve};
