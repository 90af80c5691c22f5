//! Many at a time.

use crate::shop::Shop;
use crate::support::{DIALECTS, agent_of, system};
use planner::{Agent, Caps, Message};
use std::sync::Arc;
use testkit::{Messages, Said};

const STREAMS: usize = 100;

/// Runs this many conversations at once; how many of them came out wrong.
async fn round(agent: &Arc<Agent>, text: &str) -> usize {
    let runs: Vec<_> = (0..STREAMS)
        .map(|_| {
            let (agent, text) = (agent.clone(), text.to_owned());
            tokio::spawn(async move {
                let mut streamed = String::new();
                let mut hear = |event| {
                    if let planner::Event::Text(text) = event {
                        streamed.push_str(&text);
                    }
                };
                let finished = agent.run(&system(), &[Message::user("Go")], &Shop::open(), &mut hear).await;
                finished.answer.is_ok_and(|answer| answer.text == text) && streamed == text
            })
        })
        .collect();
    let mut wrong = 0;
    for run in runs {
        wrong += usize::from(!run.await.unwrap());
    }
    wrong
}

/// Of this process, the scripted server included.
fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_streams_at_a_time_all_complete_and_memory_stays() {
    let text = "One sentence of an answer. ".repeat(20);
    for dialect in DIALECTS {
        let server = Messages::always(Said::text(&text));
        let agent = Arc::new(agent_of(dialect, &server, Caps::default()));
        let mut wrong = round(&agent, &text).await;
        let before = resident_kib();
        for _ in 0..3 {
            wrong += round(&agent, &text).await;
        }
        assert_eq!(wrong, 0);
        let grown = resident_kib().saturating_sub(before);
        println!("{dialect:?}: {grown} KiB more after {} streams", 3 * STREAMS);
        assert!(grown < 16 * 1024, "{grown} KiB more after {} streams", 3 * STREAMS);
    }
}
