//! Instructions of Records to change plans, without a model.
//!
//! 1. [`words`] cuts an instruction into names, literals and marks; [`spans`] says what each may mean under the contracts
//!    of one role ([`surface`], [`lexicon`]).
//! 2. [`router`] finds the resources that it is about and whether something is to be written, and says how sure that is.
//! 3. [`read`] and [`write`] turn it into one step. A word that neither contracts nor grammar explain is not understood.
//! 4. [`decide`] answers with a plan, one clarifying question or a refusal. It never guesses.
//!
//! [`cache`] keeps plans of instructions that differ in their literals only; [`model`] asks a model instead, which is shown
//! the contracts of the routed resources and nothing else.

mod cache;
mod clarify;
mod command;
mod confidence;
mod decide;
mod english;
mod keys;
mod lexicon;
mod literal;
pub mod model;
mod moments;
mod read;
mod refuse;
mod router;
mod shown;
mod spans;
mod surface;
mod words;
mod write;

pub use cache::Cache;
pub use confidence::{Signs, WEIGHTS};
pub use decide::{Decided, Planned, decide, plan};
pub use literal::Now;
pub use router::{Intent, Routed, Settings, route, signs};
pub use shown::in_words;
pub use surface::{Caps, Field, Join, Resource, Surface};

use lexicon::Lexicon;

/// Everything that the planner knows of the resources of one role.
#[derive(Debug)]
pub struct Index {
    surface: Surface,
    lexicon: Lexicon,
    fingerprint: String,
}

impl Index {
    pub fn new(surface: Surface) -> Self {
        let lexicon = Lexicon::new(&surface);
        let fingerprint = surface.fingerprint();
        Self { surface, lexicon, fingerprint }
    }

    pub fn surface(&self) -> &Surface {
        &self.surface
    }
}

/// Why an instruction does not become a plan.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Trouble {
    /// Words that nothing explains.
    Unknown(Vec<String>),
    /// Nothing says what it is about.
    WhichResource,
    /// Nothing says which row is to be changed.
    WhichRow { resource: String },
    /// A value that several fields have.
    WhichField { text: String, fields: Vec<String> },
    /// Something that is no value of the field.
    Unfit { field: String, text: String },
    /// A field that is to be changed, to nobody knows what.
    WhichValue { resource: String, field: String, text: Option<String> },
    /// A row that is to be changed, nobody knows how.
    NothingToChange { resource: String },
    /// Fields without which no row can be.
    Missing { resource: String, fields: Vec<String> },
    /// Rows are not deleted here.
    Delete,
    /// More than one row is to be changed.
    Bulk,
    /// More than one thing is to be done.
    Several,
    /// A figure over many rows.
    Aggregate,
    /// SQL, or another language that is not spoken here.
    Code,
    /// What the plan language has no words for.
    Unsaid(String),
    /// What no contract gives to anybody.
    Overreach(String),
}
