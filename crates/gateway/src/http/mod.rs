//! The threshold: what every request crosses before it reaches a door.

pub mod address;
pub mod attempts;
pub mod error;
pub mod health;
mod host;
pub mod identify;
mod json;
pub mod jwt;
mod page;
mod params;
pub mod rates;
pub mod router;
mod session;
mod threshold;
mod unread;

pub use error::HttpFault;
pub use json::StrictJson;
pub use params::{Path, Query};
