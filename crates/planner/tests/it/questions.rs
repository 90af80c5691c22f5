//! Questions of four trades and what becomes of each. Read the snapshots: they are the behaviour.

use crate::support::schemas::{Source, energy, sales, shop, support as help_desk};
use crate::support::{TODAY, outcome, questions};
use domain::Turn;
use planner::offline::{Context, Planned, plan};

fn answered(source: &Source, text: &str) -> String {
    let index = source.index();
    let case = |question: &str| format!("{question}\n  = {}\n", outcome(&index, question, &[]));
    let outcomes: String = questions(text).map(case).collect();
    assert!(!outcomes.contains("\n  = !") && !outcomes.contains("\n  = ?"), "{outcomes}");
    outcomes
}

fn source(name: &str) -> Source {
    match name {
        "shop" => shop(),
        "sales" => sales(),
        "support" => help_desk(),
        "energy" => energy(),
        other => panic!("no source `{other}`"),
    }
}

fn across_sources(text: &str) -> String {
    let case = |line: &str| {
        let (name, question) = line.split_once('|').unwrap();
        format!("{name}| {}\n  = {}\n", question.trim(), outcome(&source(name.trim()).index(), question.trim(), &[]))
    };
    questions(text).map(case).collect()
}

#[test]
fn ordinary_questions_are_answered() {
    insta::assert_snapshot!("shop", answered(&shop(), include_str!("cases/shop_answered.txt")));
    insta::assert_snapshot!("sales", answered(&sales(), include_str!("cases/sales_answered.txt")));
    insta::assert_snapshot!("support", answered(&help_desk(), include_str!("cases/support_answered.txt")));
    insta::assert_snapshot!("energy", answered(&energy(), include_str!("cases/energy_answered.txt")));
}

#[test]
fn what_the_data_cannot_answer_is_refused() {
    let outcomes = across_sources(include_str!("cases/refused.txt"));
    let kept = outcomes.lines().filter(|l| l.starts_with("  =")).all(|l| l.starts_with("  = !"));
    assert!(kept, "{outcomes}");
    insta::assert_snapshot!("refused", outcomes);
}

#[test]
fn unclear_questions_are_asked_about() {
    let outcomes = across_sources(include_str!("cases/clarified.txt"));
    let kept = outcomes.lines().filter(|l| l.starts_with("  =")).all(|l| l.starts_with("  = ?"));
    assert!(kept, "{outcomes}");
    insta::assert_snapshot!("clarified", outcomes);
}

#[test]
fn threads_carry_on() {
    let mut told = String::new();
    for line in questions(include_str!("cases/threads.txt")) {
        let (name, turns) = line.split_once('|').unwrap();
        let index = source(name.trim()).index();
        let mut history: Vec<Turn> = Vec::new();
        told += &format!("{}\n", name.trim());
        for question in turns.split('>').map(str::trim) {
            told += &format!("  {question}\n    = {}\n", outcome(&index, question, &history));
            let (plan, clarification) = match plan(&index, question, &Context { history: &history, today: TODAY }) {
                Planned::Plan { plan, .. } => (Some(*plan), None),
                Planned::Clarify(c) => (None, Some(c)),
                _ => (None, None),
            };
            history.push(Turn { question: question.to_owned(), plan, clarification, answer: String::new() });
        }
    }
    insta::assert_snapshot!("threads", told);
}
