//! How sure a route is, as a share of right ones: calibrated, not felt.
//!
//! The weights are those of a logistic regression on one half of the labelled instructions
//! (`tests/it/records/instructions.txt`); a test fits them again, and another holds them to the other half.

/// What speaks for a route, and against it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Signs {
    /// The evidence for the best resource.
    pub best: f64,
    /// How far it is ahead of the next.
    pub margin: f64,
    /// It writes, and no row or owner is named by an id.
    pub rowless: bool,
}

/// Weights of the features of [`Signs`].
pub const WEIGHTS: [f64; 4] = [-1.24, 0.47, 0.62, -1.18];

impl Signs {
    /// As numbers: one, and each of the signs, bounded.
    pub fn features(&self) -> [f64; 4] {
        [1.0, self.best.min(8.0), self.margin.min(6.0), f64::from(u8::from(self.rowless))]
    }
}

pub(crate) fn confidence(signs: &Signs) -> f64 {
    if signs.best <= 0.0 {
        return 0.02;
    }
    let sum: f64 = signs.features().iter().zip(WEIGHTS).map(|(feature, weight)| feature * weight).sum();
    let share = 1.0 / (1.0 + (-sum).exp());
    // No rule is ever quite sure, nor quite lost.
    (share.clamp(0.02, 0.99) * 1000.0).round() / 1000.0
}
