//! The time that entries without a signed head take up.

use jiff::{SignedDuration, Timestamp};

/// The oldest and the youngest of them, wherever they stand: the times of the first and the last alone could be rewritten
/// together with the chain. Times that run backwards count like those that run forwards, but only here, in the unsigned
/// tail: clocks are set, so that a signed chain may well run backwards, and says so truly.
#[derive(Default)]
pub(super) struct Span(Option<(Moment, Moment)>);

/// An entry, and when it says it was added.
#[derive(Clone, Copy)]
pub(super) struct Moment {
    pub seq: i64,
    pub at: Timestamp,
}

impl Span {
    pub(super) fn add(&mut self, entry: Moment) {
        let (oldest, youngest) = self.0.unwrap_or((entry, entry));
        let oldest = if entry.at < oldest.at { entry } else { oldest };
        let youngest = if entry.at >= youngest.at { entry } else { youngest };
        self.0 = Some((oldest, youngest));
    }

    /// Both ends, the oldest first, where more time lies between them than a server lets pass.
    pub(super) fn beyond(&self, patience: SignedDuration) -> Option<(Moment, Moment)> {
        self.0.filter(|(oldest, youngest)| youngest.at.duration_since(oldest.at) > patience)
    }
}
