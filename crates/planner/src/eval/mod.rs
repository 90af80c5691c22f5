//! Scores of a planner over questions whose right result is known.
//!
//! Whoever runs the questions brings the rows: of the planned statement and of the right one. Here
//! they are compared and counted.

mod rows;
mod shapes;
mod tally;

pub use rows::same_rows;
pub use shapes::shapes;
pub use tally::{Figures, Outcome, Tally};
