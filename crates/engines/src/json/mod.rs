//! Values as JSON, with every digit: what Chat replies, and what a scan as JSON or CSV is written with.

mod capped;
mod cell;
pub(crate) mod text;

pub use capped::{Capped, EXCEEDED};
pub use cell::write as write_cell;
