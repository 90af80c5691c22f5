//! Noninterference: two copies of the data that differ only in what a role may not see (columns, filtered rows, rows that are
//! marked as deleted, tables without a grant) give it the same replies, byte for byte but for ids and times, in every door.

mod absent;
mod compared;
mod deleted;
mod exceptions;
mod pair;
mod requests;
mod routes;
mod told;

use compared::Compared;
use pair::{DATASETS, Hidden, Side};
use requests::Request;

/// Copies at work at the same time.
const AT_ONCE: usize = 2;

/// Copies that are made up, one of high cardinality and one of low at least: more by `make soak`.
fn seeds() -> Vec<u64> {
    (1..=std::env::var("GATEHOUSE_SOAK").map_or(2, |times| times.parse::<u64>().unwrap().max(2))).collect()
}

#[test]
fn two_copies_give_a_role_the_same_replies() {
    let mut all = Compared::default();
    for seeds in seeds().chunks(AT_ONCE) {
        let of_seeds = std::thread::scope(|scope| {
            let at_work: Vec<_> = seeds.iter().map(|seed| scope.spawn(|| Compared::of_seed(*seed))).collect();
            at_work.into_iter().map(|compared| compared.join().unwrap()).collect::<Vec<_>>()
        });
        all = of_seeds.into_iter().fold(all, Compared::add);
    }
    all.settle("replies of two copies that differ in what is hidden");
}

/// Versions as a role is told them, of a dataset and of its orders.
fn versions(side: &Side, dataset: &str) -> [String; 2] {
    let datasets = Request::get("/datasets").send_until_told(side).json();
    let of = datasets["datasets"].as_array().unwrap().iter().find(|entry| entry["id"] == dataset);
    let hash = of.unwrap_or_else(|| panic!("{datasets}"))["version_hash"].as_str().unwrap().to_owned();
    [hash, side.agent.get(&format!("/api/sync/tables/orders_{dataset}")).header("etag").to_owned()]
}

const HIDDEN_CHANGES: &str = "UPDATE orders SET note = 'other', amount = 3 WHERE region <> 'E'; \
     UPDATE orders SET secret = 'other'; UPDATE items SET cost = 5; DELETE FROM visits WHERE deleted_at IS NOT NULL;";
const SEEN_CHANGE: &str = "UPDATE orders SET amount = amount + 1 WHERE id = 5;";

#[test]
fn a_version_changes_with_what_a_role_sees_and_with_nothing_else() {
    let side = Side::new(Hidden::Few);
    // The version of a database on another machine is one of time.
    for dataset in DATASETS.into_iter().filter(|dataset| *dataset != "books") {
        let before = versions(&side, dataset);
        side.change(dataset, HIDDEN_CHANGES);
        assert_eq!(versions(&side, dataset), before, "{dataset}: only what is hidden has changed");
        side.change(dataset, SEEN_CHANGE);
        let after = versions(&side, dataset);
        assert_ne!(after[0], before[0], "{dataset}: a row has changed");
        assert!(after[1].is_empty() || after[1] != before[1], "orders_{dataset}: a row has changed");
    }
}
