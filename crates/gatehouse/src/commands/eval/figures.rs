//! The figures: answered, right of answered, right of all, refused; in all and for each shape of question.

use super::came::Came;
use super::question::{Known, Question};
use crate::print;
use domain::Run;
use serde::Serialize;
use std::collections::BTreeMap;

/// Wrong answers that are told without `--json`.
const SHOWN: usize = 20;

/// What came of one question.
#[derive(Serialize)]
pub struct Verdict {
    id: String,
    question: String,
    shape: String,
    came: Came,
    right: bool,
    /// Whether rows would have been right.
    #[serde(skip)]
    answerable: bool,
    reading: Option<String>,
    sql: Option<String>,
    message: String,
    plan_ms: f64,
    /// Not known where a model has no price.
    cost_usd: Option<f64>,
}

impl Verdict {
    pub fn of(question: &Question, run: &Run, came: Came, right: bool) -> Self {
        Self {
            id: question.id.clone(),
            question: question.text.clone(),
            shape: question.shape.clone(),
            came,
            right,
            answerable: matches!(question.known, Known::Sql(_) | Known::Rows { .. }),
            reading: run.reading.clone(),
            sql: run.compiled_sql.clone(),
            message: run.assistant_message.clone(),
            plan_ms: run.timings.plan_ms,
            cost_usd: run.cost_usd,
        }
    }

    pub fn unjudged(question: &Question, run: &Run, why: String) -> Self {
        let verdict = Self::of(question, run, Came::Unjudged, false);
        Self { answerable: false, message: why, reading: None, ..verdict }
    }
}

/// Counts over questions that have an answer.
#[derive(Default, Serialize)]
pub struct Figures {
    questions: usize,
    answered: usize,
    right: usize,
    asked: usize,
    refused: usize,
    failed: usize,
}

impl Figures {
    fn add(&mut self, verdict: &Verdict) {
        self.questions += 1;
        self.right += usize::from(verdict.right);
        match verdict.came {
            Came::Answered => self.answered += 1,
            Came::Asked => self.asked += 1,
            Came::Refused => self.refused += 1,
            Came::Failed | Came::Unjudged => self.failed += 1,
        }
    }

    pub fn right_of_all(&self) -> Option<f64> {
        share(self.right, self.questions)
    }

    pub fn right_of_answered(&self) -> Option<f64> {
        share(self.right, self.answered)
    }

    fn row(&self, name: &str) -> Vec<String> {
        let percent = |share: Option<f64>| share.map_or("-".to_owned(), |s| format!("{:.1} %", s * 100.0));
        vec![
            name.to_owned(),
            self.questions.to_string(),
            percent(share(self.answered, self.questions)),
            percent(self.right_of_answered()),
            percent(self.right_of_all()),
            percent(share(self.refused, self.questions)),
            percent(share(self.asked, self.questions)),
            percent(share(self.failed, self.questions)),
        ]
    }
}

fn share(part: usize, of: usize) -> Option<f64> {
    (of > 0).then(|| part as f64 / of as f64)
}

#[derive(Default)]
pub struct Verdicts(Vec<Verdict>);

#[derive(Serialize)]
pub struct Report {
    planner: &'static str,
    /// Questions that have an answer.
    pub all: Figures,
    shapes: BTreeMap<String, Figures>,
    /// Questions that are to be refused or asked back: how many, and how many were.
    not_to_answer: usize,
    not_answered: usize,
    plan_ms_p50: f64,
    plan_ms_p99: f64,
    /// Of all questions; null where a model has no price.
    cost_usd: Option<f64>,
    verdicts: Vec<Verdict>,
}

impl Verdicts {
    pub fn add(&mut self, verdict: Verdict) {
        self.0.push(verdict);
    }

    pub fn report(self, planner: &'static str) -> Report {
        let (mut all, mut shapes) = (Figures::default(), BTreeMap::<String, Figures>::new());
        for verdict in self.0.iter().filter(|v| v.answerable) {
            all.add(verdict);
            shapes.entry(verdict.shape.clone()).or_default().add(verdict);
        }
        let others = || self.0.iter().filter(|v| !v.answerable && v.came != Came::Unjudged);
        let mut times: Vec<f64> = self.0.iter().map(|v| v.plan_ms).collect();
        times.sort_by(f64::total_cmp);
        let at = |part: usize| times.get(times.len().saturating_sub(1) * part / 100).copied().unwrap_or(0.0);
        Report {
            planner,
            all,
            shapes,
            not_to_answer: others().count(),
            not_answered: others().filter(|v| v.right).count(),
            plan_ms_p50: at(50),
            plan_ms_p99: at(99),
            cost_usd: self.0.iter().map(|v| v.cost_usd).sum(),
            verdicts: self.0,
        }
    }
}

impl Report {
    /// Of the questions that are to be refused or asked back, the share that were.
    pub fn withheld(&self) -> Option<f64> {
        share(self.not_answered, self.not_to_answer)
    }

    pub fn unjudged(&self) -> usize {
        self.verdicts.iter().filter(|v| v.came == Came::Unjudged).count()
    }

    pub fn show(&self) {
        let header =
            ["shape", "questions", "answered", "right of answered", "right of all", "refused", "asked back", "failed"];
        let mut rows: Vec<_> = self.shapes.iter().map(|(shape, figures)| figures.row(shape)).collect();
        rows.push(self.all.row("all"));
        print::table(&header, &rows);
        if self.not_to_answer > 0 {
            let (right, of) = (self.not_answered, self.not_to_answer);
            print::line(format!("\nwithout an answer  {right} of {of} refused or asked back as they should be"));
        }
        let (p50, p99) = (self.plan_ms_p50, self.plan_ms_p99);
        let cost =
            self.cost_usd.map_or("cost not known: the model has no price".to_owned(), |c| format!("cost ${c:.4}"));
        print::line(format!("\nplanning by {}  p50 {p50:.1} ms, p99 {p99:.1} ms; {cost}", self.planner));
        let wrong: Vec<_> =
            self.verdicts.iter().filter(|v| !v.right && (v.came == Came::Answered || !v.answerable)).collect();
        for verdict in wrong.iter().take(SHOWN) {
            let label = if verdict.came == Came::Unjudged { "unjudged" } else { "wrong" };
            let reading = verdict.reading.as_deref().unwrap_or(&verdict.message);
            print::line(format!(
                "{label:<9} {}  {}\n          {}: {reading}",
                verdict.id,
                verdict.question,
                verdict.came.as_str()
            ));
        }
        if wrong.len() > SHOWN {
            print::line(format!("… and {} more (`--json` has all)", wrong.len() - SHOWN));
        }
    }
}
