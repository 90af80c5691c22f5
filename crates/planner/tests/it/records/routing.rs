//! How sure routes are, and how right: told and held to on the half that nothing was tuned on.

use super::labelled::{Half, Labelled, all};
use super::{index, settings};
use planner::records::{Index, Intent, Routed, Settings, WEIGHTS, route, signs};

/// Whether the first resource and the intent are the labelled ones.
fn is_right(labelled: &Labelled, routed: &Routed) -> bool {
    let first = routed.resources.first().map(String::as_str);
    first.is_some() && first == labelled.resources.first().copied() && routed.intent == labelled.intent
}

fn routes(index: &Index, half: Half) -> Vec<(Labelled, Routed, bool)> {
    let route = |labelled: Labelled| {
        let routed = route(index, labelled.text, &[], &settings());
        let right = is_right(&labelled, &routed);
        (labelled, routed, right)
    };
    all().into_iter().filter(|l| l.half == half).map(route).collect()
}

const BINS: [(f64, f64); 5] = [(0.0, 0.4), (0.4, 0.6), (0.6, 0.8), (0.8, 0.9), (0.9, 1.01)];

#[test]
fn confidence_is_a_share_of_right_routes() {
    let index = index("agent");
    let held = routes(&index, Half::Held);
    let (mut error, mut table) = (0.0, String::new());
    for (from, to) in BINS {
        let bin: Vec<_> = held.iter().filter(|(_, r, _)| (from..to).contains(&r.confidence)).collect();
        if bin.is_empty() {
            continue;
        }
        let count = bin.len() as f64;
        let said = bin.iter().map(|(_, r, _)| r.confidence).sum::<f64>() / count;
        let right = bin.iter().filter(|(_, _, right)| *right).count() as f64 / count;
        error += (said - right).abs() * count / held.len() as f64;
        table += &format!("  {from:.1}–{:.1}: {count:3} routes, said {said:.2}, right {right:.2}\n", to.min(1.0));
    }
    let right = held.iter().filter(|(_, _, right)| *right).count();
    println!("router, held half: {right} of {} right; mean error of confidence {error:.3}\n{table}", held.len());
    assert!(error <= 0.10, "confidence is off by {error:.3} on average\n{table}");
    let clear = held.iter().filter(|(l, ..)| ["read", "join", "write"].contains(&l.kind));
    let (right, count) = clear.fold((0, 0), |(r, n), (_, _, right)| (r + usize::from(*right), n + 1));
    println!("router, held half: clear instructions {right} of {count} right");
    assert!(right * 100 >= count * 95, "{right} of {count}");
}

#[test]
fn a_write_that_is_sure_enough_is_right() {
    let index = index("agent");
    let sure =
        |(l, r, _): &&(Labelled, Routed, bool)| l.intent == Intent::Write && r.confidence >= settings().write_threshold;
    let held = routes(&index, Half::Held);
    let (right, count) =
        held.iter().filter(sure).fold((0, 0), |(r, n), (_, _, right)| (r + usize::from(*right), n + 1));
    let clear = held.iter().filter(|(l, ..)| l.kind == "write").count();
    let passed = held.iter().filter(|(l, ..)| l.kind == "write").filter(sure).count();
    println!("router, held half: {right} of {count} sure writes right; {passed} of {clear} clear writes are sure");
    assert!(right * 100 >= count * 95, "{right} of {count}");
    assert!(passed * 100 >= clear * 90, "{passed} of {clear}");
}

#[test]
fn few_resources_are_handed_on() {
    let index = index("agent");
    for labelled in all() {
        let routed = route(&index, labelled.text, &[], &settings());
        assert!(routed.resources.len() <= 3, "{}: {:?}", labelled.text, routed.resources);
        let join = labelled.resources.len() > 1;
        if labelled.kind == "join" && is_right(&labelled, &routed) {
            assert!(labelled.resources.iter().all(|r| routed.resources.iter().any(|n| n == r)), "{}", labelled.text);
        }
        assert!(join || routed.intent == Intent::Read || routed.resources.len() <= 2, "{}", labelled.text);
        let literal = routed.reason.contains(|c: char| c.is_ascii_digit());
        assert!(!routed.reason.is_empty() && !literal, "{}", routed.reason);
    }
    let narrow = Settings { resources: 1, resources_joined: 1, ..settings() };
    assert_eq!(route(&index, "emails of active cases", &[], &narrow).resources.len(), 1);
}

#[test]
fn a_hint_is_evidence_and_no_more() {
    let index = index("agent");
    let first =
        |text: &str, hint: &str| route(&index, text, &[hint.to_owned()], &settings()).resources.first().cloned();
    assert_eq!(first("Show me case_987", "document_analysis").as_deref(), Some("cases"));
    assert_eq!(first("Mark case_987 as IN_REVIEW", "client_communications").as_deref(), Some("cases"));
    assert_eq!(first("what is the status", "document_analysis").as_deref(), Some("document_analysis"));
    assert_eq!(first("Show me case_987", "payroll").as_deref(), Some("cases"), "a hint makes no resource");
}

/// Logistic regression by gradient descent, with a small price on large weights.
fn fit(points: &[([f64; 4], f64)]) -> [f64; 4] {
    let mut weights = [0.0; 4];
    for _ in 0..40_000 {
        let mut slope = weights.map(|w| -0.01 * w);
        for (features, right) in points {
            let sum: f64 = features.iter().zip(weights).map(|(f, w)| f * w).sum();
            let missed = right - 1.0 / (1.0 + (-sum).exp());
            slope.iter_mut().zip(features).for_each(|(s, f)| *s += missed * f / points.len() as f64);
        }
        weights.iter_mut().zip(slope).for_each(|(w, s)| *w += 0.1 * s);
    }
    weights
}

#[test]
fn the_weights_are_those_of_the_tuned_half() {
    let index = index("agent");
    let tuned = routes(&index, Half::Tuned);
    let point = |(l, _, right): &(Labelled, Routed, bool)| {
        let signs = signs(&index, l.text, &[]);
        (signs.best > 0.0).then(|| (signs.features(), f64::from(u8::from(*right))))
    };
    let points: Vec<_> = tuned.iter().filter_map(point).collect();
    let fitted = fit(&points);
    println!("fitted on {} routes: {fitted:.2?}", points.len());
    for (fitted, used) in fitted.iter().zip(WEIGHTS) {
        assert!((fitted - used).abs() < 0.1, "{fitted:.2} is fitted, {used:.2} is used");
    }
}
