//! Labelled lines of device logs, and how well the redactor finds what is labelled. For its tests and its bench.

use policy::redact::{Found, Redactor, Sensitive};
use std::collections::BTreeMap;

/// One line without its labels, and what they say.
pub struct Line {
    pub text: String,
    pub labels: Vec<Found>,
}

/// Found, missed and wrong values of one kind.
#[derive(Debug, Default, Clone, Copy)]
pub struct Score {
    pub hits: usize,
    pub missed: usize,
    pub wrong: usize,
}

impl Score {
    pub fn recall(self) -> f64 {
        share(self.hits, self.hits + self.missed)
    }
    pub fn precision(self) -> f64 {
        share(self.hits, self.hits + self.wrong)
    }
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}

/// Those that the rules were written and corrected with.
pub fn tuned() -> Vec<Line> {
    let texts = [
        include_str!("../cases/redact/labelled.txt"),
        include_str!("../cases/redact/public.txt"),
        include_str!("../cases/redact/shapes.txt"),
    ];
    texts.into_iter().flat_map(lines).collect()
}

/// Those that no rule was written with, of the shapes of public logs: see how they were measured, in the file.
pub fn fresh() -> Vec<Line> {
    lines(include_str!("../cases/redact/held_out_fresh.txt"))
}

/// Those that no rule was written with, of another hand.
pub fn held_out() -> Vec<Line> {
    let texts = [include_str!("../cases/redact/held_out.txt"), include_str!("../cases/redact/held_out_more.txt")];
    texts.into_iter().flat_map(lines).collect()
}

fn lines(text: &str) -> Vec<Line> {
    text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).map(parse).collect()
}

/// `«kind|value»` is a label.
fn parse(line: &str) -> Line {
    let (mut text, mut labels) = (String::new(), Vec::new());
    let mut rest = line;
    while let Some((before, label)) = rest.split_once('«') {
        let (label, after) = label.split_once('»').expect("a label ends");
        let (kind, value) = label.split_once('|').expect("a label has a kind");
        let kind = Sensitive::ALL.into_iter().find(|k| k.as_str() == kind).expect("a known kind");
        text.push_str(before);
        labels.push(Found { kind, range: text.len()..text.len() + value.len() });
        text.push_str(value);
        rest = after;
    }
    text.push_str(rest);
    Line { text, labels }
}

/// Exact hits only: the right kind, from the first to the last byte. Also tells what was missed or wrong.
pub fn measure(redactor: &Redactor, lines: &[Line]) -> (BTreeMap<Sensitive, Score>, Vec<String>) {
    let mut scores: BTreeMap<Sensitive, Score> =
        Sensitive::ALL.into_iter().map(|kind| (kind, Score::default())).collect();
    let mut notes = Vec::new();
    for line in lines {
        let found = redactor.find(&line.text);
        for label in &line.labels {
            let score = scores.entry(label.kind).or_default();
            if found.contains(label) {
                score.hits += 1;
            } else {
                score.missed += 1;
                notes.push(format!(
                    "missed {} `{}` in {}",
                    label.kind.as_str(),
                    &line.text[label.range.clone()],
                    line.text
                ));
            }
        }
        for wrong in found.iter().filter(|found| !line.labels.contains(found)) {
            scores.entry(wrong.kind).or_default().wrong += 1;
            notes.push(format!("wrong {} `{}` in {}", wrong.kind.as_str(), &line.text[wrong.range.clone()], line.text));
        }
    }
    (scores, notes)
}
