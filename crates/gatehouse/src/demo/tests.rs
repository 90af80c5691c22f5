//! The demo is the same everywhere, whole, and looks like business.

use super::*;
use rusqlite::{Connection, OpenFlags};
use season::days_between;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use tempfile::TempDir;

fn demo() -> TempDir {
    let dir = TempDir::new().unwrap();
    write(dir.path()).unwrap();
    dir
}

/// Every file under `dir`: its path, mode and bytes.
fn tree(dir: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let mode = path.metadata().unwrap().permissions().mode() & 0o777;
                found.insert(path.strip_prefix(dir).unwrap().to_owned(), (mode, fs::read(&path).unwrap()));
            }
        }
    }
    found
}

fn registry() -> Value {
    serde_json::from_str(REGISTRY).unwrap()
}

#[test]
fn two_demos_are_the_same_bytes_and_everybody_may_read_them() {
    let (one, two) = (tree(demo().path()), tree(demo().path()));
    assert!(one == two);
    for (path, (mode, _)) in one {
        let expected = if path.ends_with("shop.sqlite") || path.ends_with("demo.db") { 0o444 } else { 0o644 };
        assert_eq!(mode, expected, "{}", path.display());
    }
}

#[test]
fn a_demo_that_is_there_is_left_alone() {
    let dir = demo();
    let (data, contract) = (dir.path().join("datasets/support/agents.csv"), dir.path().join("contracts/agents.yaml"));
    fs::write(&data, "changed").unwrap();
    fs::remove_file(&contract).unwrap();
    write(dir.path()).unwrap();
    assert_eq!(fs::read_to_string(&data).unwrap(), "changed");
    assert!(!contract.exists());
}

#[test]
fn another_version_is_replaced_but_edited_contracts_stay() {
    let dir = demo();
    let (data, contract) = (dir.path().join("datasets/support/agents.csv"), dir.path().join("contracts/agents.yaml"));
    fs::write(&data, "old").unwrap();
    fs::write(&contract, "mine").unwrap();
    fs::write(dir.path().join("datasets/.demo-version"), "0\n").unwrap();
    write(dir.path()).unwrap();
    assert!(fs::read_to_string(&data).unwrap().starts_with("agent_id,"));
    assert_eq!(fs::read_to_string(&contract).unwrap(), "mine");
}

#[test]
fn the_registry_names_every_data_file_and_every_table_has_a_contract() {
    let dir = demo();
    let mut named = BTreeSet::from([PathBuf::from(".demo-version"), PathBuf::from("registry.json")]);
    let shop = ["customers", "products", "orders", "order_items"];
    let crm = ["cases", "client_communications", "document_analysis"];
    let mut tables: BTreeSet<String> = shop.iter().chain(&crm).map(|table| (*table).to_owned()).collect();
    for dataset in registry()["datasets"].as_array().unwrap() {
        for file in dataset["files"].as_array().unwrap() {
            named.insert(file["path"].as_str().unwrap().into());
            tables.extend(file["table"].as_str().map(str::to_owned));
        }
    }
    assert_eq!(tree(&dir.path().join("datasets")).into_keys().collect::<BTreeSet<_>>(), named);
    let contracts: BTreeSet<String> = CONTRACTS.map(|(file, _)| file.trim_end_matches(".yaml").to_owned()).into();
    assert_eq!(contracts, tables);
}

#[test]
fn golden_answers_are_those_of_the_data() {
    let golden = golden::golden();
    let prompts: Vec<(Value, Value)> = registry()["datasets"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|dataset| dataset["prompts"].as_array().unwrap().iter().map(|p| (dataset["id"].clone(), p.clone())))
        .collect();
    let asked: Vec<(Value, Value)> = golden.iter().map(|g| (g.dataset.into(), g.question.into())).collect();
    assert_eq!(asked, prompts, "every prompt has its golden answer");

    let text: String = golden.iter().map(|g| serde_json::to_string(g).unwrap() + "\n").collect();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../demo/golden.jsonl");
    if std::env::var_os("GOLDEN_UPDATE").is_some() {
        fs::write(&path, &text).unwrap();
    }
    assert!(fs::read_to_string(&path).unwrap_or_default() == text, "write it again with GOLDEN_UPDATE=1");
}

#[test]
fn sales_have_season_growth_tiers_outliers_and_gaps() {
    let Sales { orders, accounts, products } = Sales::generate();
    assert!((15_000..60_000).contains(&orders.len()), "{} orders", orders.len());
    assert_eq!(orders.iter().map(|o| o.day).max(), Some(sales::LAST));
    let revenue = |year, month| -> i64 {
        orders.iter().filter(|o| (o.day.year(), o.day.month()) == (year, month)).map(|o| o.amount).sum()
    };
    assert!(revenue(2026, 6) as f64 > 1.4 * revenue(2026, 2) as f64, "summer is stronger than winter");
    assert!(revenue(2026, 6) > revenue(2025, 6), "it grows");
    let premier: BTreeSet<i32> = accounts.iter().filter(|a| a.tier == "premier").map(|a| a.id).collect();
    let theirs: i64 = orders.iter().filter(|o| premier.contains(&o.account_id)).map(|o| o.amount).sum();
    let all: i64 = orders.iter().map(|o| o.amount).sum();
    assert!(premier.len() * 6 < accounts.len() && theirs * 4 > all, "few accounts bring much");
    let mut quantities: Vec<i32> = orders.iter().map(|o| o.quantity).collect();
    quantities.sort();
    assert!(quantities[quantities.len() - 1] > 40 * quantities[quantities.len() / 2], "bulk orders");
    assert!(orders.iter().any(|o| o.discount.is_none()) && accounts.iter().any(|a| a.email.is_none()));
    assert!(orders.iter().all(|o| (o.amount == 0) == ["cancelled", "refunded"].contains(&o.status)));
    assert!(orders.iter().all(|o| products.iter().any(|p| p.sku == o.sku && p.launched <= o.day)));
    assert!(orders.iter().all(|o| accounts.iter().any(|a| a.id == o.account_id && a.signed_up <= o.day)));
}

#[test]
fn support_has_weeks_an_outage_and_silent_customers() {
    let Support { tickets, agents } = Support::generate();
    assert!((8_000..60_000).contains(&tickets.len()), "{} tickets", tickets.len());
    let per_day = counts_of(tickets.iter().map(|t| t.created_at.date()));
    let weekend = |d: &jiff::civil::Date| d.weekday().to_monday_zero_offset() >= 5;
    let mean = |end: bool| {
        let counts: Vec<usize> = per_day.iter().filter(|(d, _)| weekend(d) == end).map(|(_, n)| *n).collect();
        counts.iter().sum::<usize>() as f64 / counts.len() as f64
    };
    assert!(mean(false) > 2.0 * mean(true), "weekends are quiet");
    let busiest = per_day.iter().max_by_key(|(_, n)| **n).unwrap().0;
    assert!(support::is_outage(*busiest), "{busiest}");
    let silent = tickets.iter().filter(|t| t.satisfaction.is_none()).count();
    assert!(silent * 2 > tickets.len() && silent * 10 < tickets.len() * 7);
    assert!(tickets.iter().filter(|t| t.closed_at.is_none()).count() > 50);
    assert!(tickets.iter().all(|t| t.closed_at.is_none_or(|at| at > t.created_at)));
    assert!(tickets.iter().all(|t| t.satisfaction.is_none_or(|s| (1..=5).contains(&s))));
    assert!(tickets.iter().all(|t| agents.iter().any(|a| a.id == t.agent_id)));
}

fn counts_of<K: Ord>(keys: impl Iterator<Item = K>) -> BTreeMap<K, usize> {
    keys.fold(BTreeMap::new(), |mut counts, key| {
        *counts.entry(key).or_default() += 1;
        counts
    })
}

#[test]
fn energy_has_seasons_gaps_and_one_faulty_meter() {
    let Energy { readings, sites } = Energy::generate();
    let days = days_between(energy::FIRST, energy::LAST) as usize + 1;
    let per_meter = counts_of(readings.iter().map(|r| &r.meter));
    assert!(per_meter.values().all(|n| *n > days * 9 / 10 && *n <= days));
    assert!(per_meter.values().any(|n| *n < days), "meters go silent");
    assert!(readings.iter().any(|r| r.temperature_c.is_none()));
    let lyon = |month| -> f64 {
        let in_month = |r: &&energy::Reading| r.site_id == "LYS" && r.reading_date.month() == month;
        readings.iter().filter(in_month).map(|r| r.kwh).sum()
    };
    assert!(lyon(1) > 1.2 * lyon(6), "electric heating");
    let faulty: Vec<_> = readings.iter().filter(|r| r.kwh > 25_000.0).collect();
    assert!(faulty.len() >= 5 && faulty.iter().all(|r| r.meter == energy::FAULTY_METER));
    assert!(faulty.iter().all(|r| r.reading_date >= energy::FAULT.0 && r.reading_date <= energy::FAULT.1));
    assert!(sites.iter().any(|s| s.solar_kw.is_some()) && sites.iter().any(|s| s.solar_kw.is_none()));
}

#[test]
fn the_shop_is_the_database_of_the_specification() {
    let dir = demo();
    let shop =
        Connection::open_with_flags(dir.path().join("datasets/shop/shop.sqlite"), OpenFlags::SQLITE_OPEN_READ_ONLY)
            .unwrap();
    let text = |sql: &str| -> String { shop.query_row(sql, [], |row| row.get(0)).unwrap() };
    let number = |sql: &str| -> i64 { shop.query_row(sql, [], |row| row.get(0)).unwrap() };
    assert_eq!(text("PRAGMA integrity_check"), "ok", "CHECKs and UNIQUE hold");
    assert!(!shop.prepare("PRAGMA foreign_key_check").unwrap().exists([]).unwrap());
    assert_eq!(text("PRAGMA journal_mode"), "delete");
    assert!(number("SELECT count(*) FROM customers") >= 60);
    assert!(number("SELECT count(*) FROM orders") >= 400);
    assert!(number("SELECT count(*) FROM order_items") >= 1_000);
    assert!(number("SELECT count(DISTINCT substr(created_at, 1, 7)) FROM orders") == 18);
    assert_eq!(number("SELECT count(DISTINCT tier) FROM customers"), 3);
    assert_eq!(number("SELECT count(DISTINCT status) FROM orders"), 4);
    assert_eq!(number("SELECT count(*) FROM orders WHERE datetime(created_at) IS NULL"), 0);
    assert_eq!(
        number(
            "SELECT count(*) FROM orders o JOIN customers c ON c.id = o.customer_id WHERE o.created_at < c.created_at"
        ),
        0
    );
}

#[test]
fn the_firm_has_what_the_flows_of_the_specification_speak_of() {
    let dir = demo();
    let crm = Connection::open(dir.path().join("datasets/crm/crm.sqlite")).unwrap();
    let number = |sql: &str| -> i64 { crm.query_row(sql, [], |row| row.get(0)).unwrap() };
    assert!(!crm.prepare("PRAGMA foreign_key_check").unwrap().exists([]).unwrap());
    assert_eq!(number("SELECT count(*) FROM cases WHERE id = 'case_987' AND deleted_at IS NULL"), 1);
    assert!(number("SELECT count(*) FROM cases WHERE client_id = '123' AND created_at >= '2024-01-01'") > 0);
    assert!(number("SELECT count(*) FROM cases WHERE deleted_at IS NOT NULL") > 0);
    assert!(number("SELECT count(*) FROM client_communications") > 500);
    assert!(number("SELECT count(DISTINCT status) FROM document_analysis") == 3);
}
