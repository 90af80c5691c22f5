//! How well and how fast values are taken out of device logs: recall and precision by kind, for the labelled
//! lines that the rules were tuned on and for those that were held out (by another hand, and of the shapes of
//! public logs); and megabytes a second.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::print_stdout, reason = "a bench")]

#[path = "../tests/labelled/mod.rs"]
mod labelled;

use policy::redact::{Keep, Masks, Redactor};
use std::time::Instant;

fn main() {
    let redactor = Redactor::new(Keep { private_ips: false, public_ips: false }).unwrap();
    let lines = labelled::tuned();
    let sets = [("tuned on", &lines), ("held out", &labelled::held_out()), ("held out, public", &labelled::fresh())];
    for (set, lines) in sets {
        let (scores, _) = labelled::measure(&redactor, lines);
        for (kind, score) in scores {
            let (values, recall, precision) = (score.hits + score.missed, score.recall(), score.precision());
            println!(
                "redact, {set}: {:5} {values:4} values  recall {recall:.3}  precision {precision:.3}",
                kind.as_str()
            );
        }
    }
    let text: String = lines.iter().map(|line| format!("{}\n", line.text)).collect();
    let start = Instant::now();
    let rounds = 20;
    for _ in 0..rounds {
        std::hint::black_box(redactor.redact(&text, &mut Masks::default()));
    }
    let speed = (text.len() * rounds) as f64 / start.elapsed().as_secs_f64() / 1e6;
    println!("redact: {speed:.1} MB/s over {} KB of device logs", text.len() / 1024);
}
