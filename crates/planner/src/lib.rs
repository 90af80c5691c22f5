//! Ask to Proposal: the embedded planner, which needs no model and no network.

pub mod offline;
