//! The intent cache: what is found is what would have been planned, by the same role under the same contracts.

use super::labelled::all;
use super::{index, now, policy, settings, surface};
use planner::records::{Cache, Index, Intent, Now, decide};
use proptest::prelude::*;
use std::sync::LazyLock;

static INDEX: LazyLock<Index> = LazyLock::new(|| index("agent"));

/// Whether it was found, after the plan was compared with the one that is made fresh.
fn same_as_fresh(cache: &Cache, text: &str, now: Now) -> bool {
    let (decided, found) = cache.decide(&INDEX, text, &[], &settings(), now);
    assert_eq!(decided, decide(&INDEX, text, &[], &settings(), now), "{text}");
    found
}

#[test]
fn instructions_that_differ_in_literals_share_an_entry() {
    let cache = Cache::new(100);
    for (first, then) in [
        ("Find active cases for client 123 since 2024-01-01", "find active cases for client 456 since 2025-02-03"),
        ("Mark case_987 as IN_REVIEW", "mark case_12 as in_review"),
        (
            "Record an outbound email for case_1 with subject \"a b\"",
            "Record an outbound email for case_2 with subject 'c'",
        ),
        ("Give me the 5 newest cases", "Give me the 7 newest cases"),
        ("cases due before 2025-09-01", "cases due before 2026-01-01"),
        ("cases whose title contains 'lease'", "cases whose title contains '50%_off'"),
        ("Set the due date of case_10 to 2025-09-30", "Set the due date of case_11 to 2025-10-01"),
    ] {
        let before = cache.len();
        assert!(!same_as_fresh(&cache, first, now()), "{first}");
        assert!(same_as_fresh(&cache, then, now()), "{then}");
        assert_eq!(cache.len(), before + 1, "{first}");
    }
}

#[test]
fn what_depends_on_the_day_is_kept_for_the_day() {
    let cache = Cache::new(100);
    let tomorrow = Now("2025-08-21T00:00:01Z".parse().unwrap());
    for text in ["cases created last week", "Set the due date of case_1 to tomorrow", "cases due in the last 30 days"] {
        assert!(!same_as_fresh(&cache, text, now()), "{text}");
        assert!(same_as_fresh(&cache, text, now()), "{text}");
        assert!(!same_as_fresh(&cache, text, tomorrow), "{text}");
    }
    assert!(!same_as_fresh(&cache, "cases of client 1", now()));
    assert!(same_as_fresh(&cache, "cases of client 1", tomorrow));
}

#[test]
fn nothing_is_shared_between_roles_or_kept_beyond_a_contract() {
    let cache = Cache::new(100);
    let text = "show case_1";
    let (mut seen, policy) = (Vec::new(), policy());
    let mut changed = surface(&policy, "agent");
    changed.resources[0].version = "2".into();
    for index in [index("agent"), index("reader"), Index::new(changed)] {
        let (decided, found) = cache.decide(&index, text, &[], &settings(), now());
        assert!(!found);
        assert_eq!(decided, decide(&index, text, &[], &settings(), now()));
        assert!(cache.decide(&index, text, &[], &settings(), now()).1);
        seen.push(decided.plan().cloned());
    }
    assert_ne!(seen[0], seen[1], "a reader sees other fields");
    assert_eq!(cache.len(), 3);
}

#[test]
fn what_is_asked_back_or_refused_is_not_kept() {
    let cache = Cache::new(100);
    for text in ["Mark the case as closed", "delete case_1", "what is the weather"] {
        assert!(!same_as_fresh(&cache, text, now()));
        assert!(!same_as_fresh(&cache, text, now()));
    }
    assert!(cache.is_empty());
}

#[test]
fn the_cache_is_bounded() {
    let cache = Cache::new(8);
    let words = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
    for word in words {
        same_as_fresh(&cache, &format!("cases assigned to {}", word.to_uppercase()), now());
        assert!(cache.len() <= 8);
    }
    assert!(same_as_fresh(&cache, "cases assigned to TWELVE", now()), "the last one is still there");
}

/// The same intents with other literals, over and over: what agents do all day.
fn workload() -> Vec<String> {
    let texts: Vec<&str> =
        all().into_iter().filter(|l| ["read", "join", "write"].contains(&l.kind)).map(|l| l.text).collect();
    let digits = |text: &str, n: usize| {
        text.replace("case_", &format!("case_{}", 3 + n)).replace("client ", &format!("client {}", 4 + n))
    };
    // Each of a third of the intents comes 6 times, with other ids.
    (0..6).flat_map(|n| texts.iter().step_by(3).map(move |text| digits(text, n))).collect()
}

#[test]
fn a_stable_workload_is_found_more_often_than_not() {
    let cache = Cache::new(1_000);
    let work = workload();
    let found = work.iter().filter(|text| same_as_fresh(&cache, text, now())).count();
    let (hits, misses) = cache.counts();
    assert_eq!((hits, misses), (found as u64, (work.len() - found) as u64));
    let share = 100 * found / work.len();
    println!("intent cache: {found} of {} found ({share} %), {} entries", work.len(), cache.len());
    assert!(share >= 50, "{share} %");
}

/// Literals of one sort, so that instructions often share an entry.
fn literal(sort: usize) -> BoxedStrategy<String> {
    match sort {
        0 => (0u64..40).prop_map(|n| n.to_string()).boxed(),
        1 => (0u64..100_000).prop_map(|n| n.to_string()).boxed(),
        2 => (0u64..2_200).prop_map(|n| format!("case_{n}")).boxed(),
        3 => (0u64..50).prop_map(|n| format!("C-2024-{n:04}")).boxed(),
        4 => (0i64..60_000).prop_map(|n| (n as f64 / 100.0).to_string()).boxed(),
        5 => (1i8..13, 1i8..29).prop_map(|(m, d)| format!("2025-{m:02}-{d:02}")).boxed(),
        6 => prop_oneof!["[a-zA-Z%_' ]{0,8}", Just("CLOSED".to_owned())].prop_map(|t| format!("\"{t}\"")).boxed(),
        7 => "[a-c]{1,3}@example\\.com".boxed(),
        _ => "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}".boxed(),
    }
}

fn literals() -> impl Strategy<Value = Vec<(String, String)>> {
    (0usize..9, 0usize..9).prop_flat_map(|(a, b)| prop::collection::vec((literal(a), literal(b)), 2..5))
}

/// Instructions with places for literals, of every sort of step.
const FRAMES: [&str; 16] = [
    "cases of client {} and {}",
    "cases with claim amount between {} and {}",
    "show the {} newest cases, skipping the first {}",
    "communications with subject {} for {}",
    "cases created since {} for client {}",
    "cases due after {} limit {}",
    "cases, {} per page, page {}",
    "set the due date of {} to {}",
    "change the title of {} to {}",
    "set the status of {} to {}",
    "assign {} to {}",
    "record an outbound email for {} with subject {}",
    "documents with more than {} pages and confidence above {}",
    "documents analysed before {} of {}",
    "fetch cases {}, {}",
    "add a case: case_no {}, client_id 9, title {}, status ON_HOLD, priority LOW",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Whatever was kept before, and whatever the literals are.
    #[test]
    fn a_kept_plan_is_the_plan_made_fresh(
        frame in prop::sample::select(&FRAMES[..]),
        literals in literals(),
    ) {
        let cache = Cache::new(100);
        for (first, second) in literals {
            let text = frame.replacen("{}", &first, 1).replacen("{}", &second, 1);
            let (decided, _) = cache.decide(&INDEX, &text, &[], &settings(), now());
            prop_assert_eq!(decided, decide(&INDEX, &text, &[], &settings(), now()), "{}", text);
        }
    }

    #[test]
    fn any_text_is_survived(text in "\\PC{0,60}") {
        let cache = Cache::new(10);
        let decided = cache.decide(&INDEX, &text, &[], &settings(), now()).0;
        prop_assert_eq!(&decided, &cache.decide(&INDEX, &text, &[], &settings(), now()).0);
        let writes = decided.plan().and_then(|p| p.step()).is_some_and(|s| s.op().writes());
        prop_assert!(!writes || decided.routed.intent == Intent::Write);
    }
}
