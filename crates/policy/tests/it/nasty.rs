//! Input that is made to hurt: too long, too deep, too many, or not what it looks like.

use crate::fixture::{analyst, cases, plan_as, sql_as};
use crate::promise::{self, PROMPT, events, house};
use domain::Dialect::{DuckDb, Sqlite};
use domain::{Fault, Flavour};
use policy::{Approved, ContractError, Policy};
use std::sync::LazyLock;
use std::time::Duration;

/// Where input comes in: the promises that hold there, and the answers, one for each dialect or flavour: `ok`, or the code (of a
/// contract: the key) of the first refusal.
type Door = (&'static str, fn(&str), &'static [fn(&str) -> String]);

const DOORS: [Door; 5] = [
    (
        "sql",
        promise::sql,
        &[|text| code(sql_as(&analyst(), DuckDb, text)), |text| code(sql_as(&analyst(), Sqlite, text))],
    ),
    (
        "plan",
        promise::plan,
        &[|json| code(plan_as(&analyst(), DuckDb, json)), |json| code(plan_as(&analyst(), Sqlite, json))],
    ),
    ("predicate", promise::predicate, &[|text| key(house::with_rows(text))]),
    ("scan", promise::scan, &[|text| filtered(Flavour::BigQuery, text), |text| filtered(Flavour::DuckDb, text)]),
    ("contract", promise::contract, &[|yaml| key(Policy::load([("cases.yaml".to_owned(), yaml.to_owned())]))]),
];

fn filtered(flavour: Flavour, text: &str) -> String {
    static POLICY: LazyLock<Policy> = LazyLock::new(events::policy);
    code(events::check(&POLICY, &house::caller("analyst"), DuckDb, events::filtered(flavour, text)))
}

fn code(result: Result<Approved, Fault>) -> String {
    result.map_or_else(|fault| fault.code, |_| "ok".to_owned())
}

fn key(result: Result<Policy, Vec<ContractError>>) -> String {
    result.map_or_else(|errors| errors[0].key.clone(), |_| "ok".to_owned())
}

#[test]
fn nasty_inputs_are_answered_in_time() {
    let (mut tried, mut wrong) = (0, Vec::new());
    for (door, keeps_promises, answers) in DOORS {
        for case in cases(&format!("cases/nasty/{door}.txt")) {
            let (expected, template) = case.split_once(" | ").map(|(e, t)| (expand(e), t)).unwrap();
            let input = expand(template);
            tried += 1;
            let before = wrong.len();
            for (dialect, answer) in answers.iter().enumerate() {
                // `a/b` where the second answers otherwise.
                let expected = expected.split('/').nth(dialect).unwrap_or(&expected);
                let (told, took) = timed(|| answer(&input));
                if told != expected || took > PROMPT {
                    wrong.push(format!("{door}: {template}\n    {told} in {took:?}, expected {expected}"));
                }
            }
            if wrong.len() == before {
                keeps_promises(&input);
            }
        }
    }
    testkit::tally("policy", "nasty inputs", tried, "crashes, wrong answers or over 100 ms", wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The answer, and the least time of three: what else the machine is busy with can only add to it.
fn timed(answer: impl Fn() -> String) -> (String, Duration) {
    let [one, two, three] = [(); 3].map(|()| promise::timed(&answer).1);
    (answer(), one.min(two).min(three))
}

/// `⟨text⟩×3` is the text three times, with `#` as its number; `\n`, `\0` and `\u{…}` are escapes.
fn expand(template: &str) -> String {
    let mut rest = template;
    let mut text = String::new();
    while let Some((before, after)) = rest.split_once('⟨') {
        let (inside, behind) = after.split_once("⟩×").unwrap();
        let digits = behind.find(|c: char| !c.is_ascii_digit()).unwrap_or(behind.len());
        let (times, behind) = behind.split_at(digits);
        text.push_str(before);
        (0..times.parse().unwrap()).for_each(|n: usize| text.push_str(&inside.replace('#', &n.to_string())));
        rest = behind;
    }
    unescaped(&(text + rest))
}

fn unescaped(text: &str) -> String {
    let text = text.replace("\\n", "\n").replace("\\0", "\0");
    let mut parts = text.split("\\u{");
    let mut plain = parts.next().unwrap().to_owned();
    for part in parts {
        let (hex, rest) = part.split_once('}').unwrap();
        plain.push(char::from_u32(u32::from_str_radix(hex, 16).unwrap()).unwrap());
        plain.push_str(rest);
    }
    plain
}

/// Bytes that are not UTF-8 cannot be said to policy at all: it takes text. Whoever reads bytes refuses them.
#[test]
fn broken_text_is_no_text() {
    for bytes in [&b"SELECT '\xff'"[..], b"\xc0\xaf", b"\xed\xa0\x80", b"SELECT 1\xe2\x80"] {
        assert!(std::str::from_utf8(bytes).is_err());
        assert!(serde_json::from_slice::<domain::QueryPlan>(bytes).is_err());
    }
}
