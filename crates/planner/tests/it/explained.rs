//! Why a question is read as it is.

use crate::support::TODAY;
use crate::support::schemas::{energy, shop};
use planner::offline::{Context, explain};

#[test]
fn every_choice_can_be_explained() {
    let context = Context { history: &[], today: TODAY };
    let mut told = String::new();
    for (source, question) in [
        (shop(), "total revenue per category in 2024"),
        (shop(), "names of customers who bought a Desk Lamp"),
        (energy(), "average temperature of Harbour"),
        (shop(), "customers with purple shoes"),
    ] {
        let explained = explain(&source.index(), question, &context);
        told += &format!("{question}\n");
        for span in &explained.spans {
            let meanings: Vec<String> = span.meanings.iter().map(|(m, score)| format!("{m} ({score:.2})")).collect();
            told += &format!("  {}: {}\n", span.text, meanings.join(", "));
        }
        told += &format!("  = {}\n", explained.reading.as_deref().unwrap_or("not answered"));
        if let (Some(other), Some(margin)) = (&explained.runner_up, explained.margin) {
            told += &format!("  or, by {margin:.2} less: {other}\n");
        }
    }
    insta::assert_snapshot!("explained", told);
}
