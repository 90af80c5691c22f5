use super::company;
use crate::offline::query::Trouble;

#[test]
fn near_ties_are_ambiguity() {
    let index = company();
    match index.bound("list all names") {
        Err(Trouble::Ambiguous(text, things)) => {
            assert_eq!(text, "names");
            assert!(things.len() > 1, "{things:?}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_else_is_named_decides_between_equals() {
    let index = company();
    let query = index.bound("names of customers").unwrap();
    let (text, _, margin) = query.rival.unwrap();
    assert_eq!(text, "names");
    assert!(margin > 0.04, "{margin}");
}

#[test]
fn the_share_of_words_that_took_part_is_told() {
    let index = company();
    let explained = |question: &str| {
        let context = crate::offline::Context { history: &[], today: super::TODAY };
        crate::offline::explain(&index, question, &context).explained
    };
    assert!((explained("how many customers per tier") - 1.0).abs() < f32::EPSILON);
    assert!(explained("how many customers per frob") < 1.0);
}
