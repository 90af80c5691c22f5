//! What a run over many questions comes to.

use serde::Serialize;
use std::collections::BTreeMap;

/// What became of one question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Right,
    /// Answered, with other rows than the right ones.
    Wrong,
    /// Asked back.
    Asked,
    Refused,
}

/// Counts of outcomes, as shares of what they are shares of.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Figures {
    pub questions: usize,
    pub answered: usize,
    pub right: usize,
    pub asked: usize,
    pub refused: usize,
}

impl Figures {
    fn add(&mut self, outcome: Outcome) {
        self.questions += 1;
        self.answered += usize::from(matches!(outcome, Outcome::Right | Outcome::Wrong));
        self.right += usize::from(outcome == Outcome::Right);
        self.asked += usize::from(outcome == Outcome::Asked);
        self.refused += usize::from(outcome == Outcome::Refused);
    }
    /// The share of all questions that were answered rightly.
    pub fn right_of_all(&self) -> f64 {
        share(self.right, self.questions)
    }
    /// The share of answers that were right: 1 where nothing was answered, because nothing was wrong.
    pub fn right_of_answered(&self) -> f64 {
        if self.answered == 0 { 1.0 } else { share(self.right, self.answered) }
    }
    pub fn answered_of_all(&self) -> f64 {
        share(self.answered, self.questions)
    }
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// Figures over all questions and per shape, with how long planning took.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    pub all: Figures,
    pub by_shape: BTreeMap<String, Figures>,
    milliseconds: Vec<f64>,
}

impl Tally {
    pub fn add(&mut self, outcome: Outcome, shapes: &[&str], milliseconds: f64) {
        self.all.add(outcome);
        for shape in shapes {
            self.by_shape.entry((*shape).to_owned()).or_default().add(outcome);
        }
        self.milliseconds.push(milliseconds);
    }

    /// The time within which this share of questions was planned: 0.5 for the median.
    pub fn percentile(&self, share: f64) -> Option<f64> {
        let mut sorted = self.milliseconds.clone();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len().checked_sub(1)?;
        sorted.get(((last as f64) * share.clamp(0.0, 1.0)).round() as usize).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_what_they_say() {
        let mut tally = Tally::default();
        for (outcome, ms) in
            [(Outcome::Right, 1.0), (Outcome::Wrong, 2.0), (Outcome::Refused, 3.0), (Outcome::Asked, 100.0)]
        {
            tally.add(outcome, &["one table"], ms);
        }
        assert_eq!((tally.all.right_of_all(), tally.all.right_of_answered()), (0.25, 0.5));
        assert_eq!(tally.all.answered_of_all(), 0.5);
        assert_eq!(tally.by_shape.get("one table"), Some(&tally.all));
        assert_eq!((tally.percentile(0.5), tally.percentile(0.99)), (Some(3.0), Some(100.0)));
        assert_eq!(Tally::default().percentile(0.5), None);
        assert_eq!(Figures::default().right_of_answered(), 1.0);
    }
}
