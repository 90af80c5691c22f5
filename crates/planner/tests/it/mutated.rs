//! A hundred thousand questions, thrown together and mutated: no panic, and no plan that policy
//! refuses.

use crate::support::TODAY;
use crate::support::schemas::{Source, energy, sales, shop, support as help_desk};
use crate::support::{questions, render};
use domain::{Caller, Limits, Proposal};
use planner::offline::{Context, Index, Planned, inferred_keys, plan};
use policy::Policy;
use std::collections::HashSet;

const QUESTIONS: u64 = 100_000;

/// Questions that people may ask, to be cut, doubled, swapped and misspelt.
const ASKED: [&str; 5] = [
    include_str!("cases/shop_answered.txt"),
    include_str!("cases/sales_answered.txt"),
    include_str!("cases/support_answered.txt"),
    include_str!("cases/energy_answered.txt"),
    include_str!("cases/words.txt"),
];

/// A small generator of its own: the same questions every time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % sides.max(1)
    }
    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        let at = self.roll(from.len());
        from.get(at).copied().unwrap_or_default()
    }
}

fn mutated(dice: &mut Dice, asked: &[&str], words: &[&str]) -> String {
    let mut question: Vec<String> = dice.pick(asked).split(' ').map(str::to_owned).collect();
    for _ in 0..dice.roll(5) {
        let at = dice.roll(question.len());
        match dice.roll(6) {
            0 => drop((!question.is_empty()).then(|| question.remove(at))),
            1 => question.insert(at, dice.pick(words).to_owned()),
            2 => question.extend(dice.pick(asked).split(' ').map(str::to_owned).take(4)),
            3 if question.len() > 1 => question.swap(at, 0),
            4 => question
                .iter_mut()
                .skip(at)
                .take(1)
                .for_each(|word| word.truncate(word.floor_char_boundary(word.len().saturating_sub(1)))),
            _ => question.truncate(at.max(3)),
        }
    }
    question.join(" ")
}

struct House {
    source: Source,
    index: Index,
}

fn house(mut source: Source) -> House {
    let index = source.index();
    for (table, key) in inferred_keys(&source.schema) {
        let table = source.schema.tables.iter_mut().find(|t| t.name == table).unwrap();
        table.foreign_keys.push(key);
    }
    House { source, index }
}

/// How many of these questions were answered, and what policy refused of them.
fn run(from: u64, to: u64) -> (u64, Vec<String>) {
    let policy = Policy::load(Vec::<(String, String)>::new()).ok().unwrap();
    let caller = Caller::new("ann@example.com", "admin");
    let houses = [shop(), sales(), help_desk(), energy()].map(house);
    let asked: Vec<&str> = ASKED.iter().flat_map(|text| questions(text)).collect();
    let words: Vec<&str> = asked.iter().flat_map(|q| q.split(' ')).collect();
    let (mut answered, mut refused) = (0, Vec::new());
    let mut checked: HashSet<String> = HashSet::new();
    for number in from..to {
        let mut dice = Dice(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let question = mutated(&mut dice, &asked, &words);
        let House { source, index } = houses.get(dice.roll(houses.len())).unwrap();
        if let Planned::Plan { plan, .. } = plan(index, &question, &Context { history: &[], today: TODAY }) {
            answered += 1;
            let written = serde_json::to_string(&plan).unwrap();
            if !checked.insert(format!("{} {written}", source.schema.source)) {
                continue;
            }
            let proposal = Proposal::Query { source: source.schema.source.clone(), plan: plan.clone() };
            if let Err(fault) = policy.check(&caller, &source.schema, &proposal, &Limits::default()) {
                refused.push(format!("{question}: {fault}\n  {}", render::sql(&plan)));
            }
        }
    }
    (answered, refused)
}

#[test]
fn no_plan_that_policy_refuses() {
    let parts = 4;
    let (answered, refused) = std::thread::scope(|scope| {
        let share = QUESTIONS / parts;
        let threads: Vec<_> =
            (0..parts).map(|part| scope.spawn(move || run(part * share, (part + 1) * share))).collect();
        threads.into_iter().map(|t| t.join().expect("no panic")).fold((0, Vec::new()), |(n, mut all), (m, more)| {
            all.extend(more);
            (n + m, all)
        })
    });
    testkit::tally(
        "policy",
        "generated questions, planned and checked",
        QUESTIONS as usize,
        "plans refused",
        refused.len(),
    );
    assert!(answered > QUESTIONS / 20, "only {answered} were answered: the questions say little");
    assert!(
        refused.is_empty(),
        "{} plans were refused, such as\n{}",
        refused.len(),
        refused.join("\n").get(..3000).unwrap_or(&refused.join("\n"))
    );
}
