//! Instructions of Records, labelled with what is right.

mod caching;
pub mod contracts;
mod labelled;
mod planning;
mod routing;

pub use contracts::{policy, surface};

use planner::records::{Index, Now, Settings};

pub const NOW: &str = "2025-08-20T10:30:00Z";

pub fn now() -> Now {
    Now(NOW.parse().unwrap())
}

pub fn settings() -> Settings {
    Settings::default()
}

pub fn index(role: &str) -> Index {
    Index::new(surface(&policy(), role))
}
