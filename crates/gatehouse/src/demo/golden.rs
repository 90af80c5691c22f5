//! The right answers to all suggested prompts, folded from the records themselves: another route
//! than SQL. `demo/golden.jsonl` keeps them for the tests that ask a running server.
//!
//! `check` says how an answer is compared: `scalar` (one value), `rows` (the same rows in any
//! order), `ranked` (the same rows in this order), `leader` (one row, of which only the first
//! column must be given). Decimals are text and exact; other numbers compare within 1e-9 of their
//! size; a month or a day is its first day, to which an answer may add a time of midnight.

use super::energy::Energy;
use super::sales::{Order, Sales};
use super::shop::Shop;
use super::support::Support;
use jiff::civil::Date;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

#[derive(Serialize)]
pub struct Golden {
    pub dataset: &'static str,
    pub question: &'static str,
    pub kind: &'static str,
    pub check: &'static str,
    pub rows: Vec<Vec<Value>>,
}

pub fn golden() -> Vec<Golden> {
    let asked = |dataset| {
        move |(question, (check, rows)): (&'static str, Answer)| {
            let kind = if check == "scalar" { "scalar" } else { "table" };
            Golden { dataset, question, kind, check, rows }
        }
    };
    let sales = sales(&Sales::generate()).into_iter().map(asked("sales"));
    let support = support(&Support::generate()).into_iter().map(asked("support"));
    let energy = energy(&Energy::generate()).into_iter().map(asked("energy"));
    let shop = shop(&Shop::generate()).into_iter().map(asked("shop"));
    sales.chain(support).chain(energy).chain(shop).collect()
}

type Answer = (&'static str, Vec<Vec<Value>>);

fn sales(data: &Sales) -> Vec<(&'static str, Answer)> {
    let in_2026 = || data.orders.iter().filter(|o| o.day.year() == 2026);
    let product = |sku: &str| data.products.iter().find(|p| p.sku == sku).unwrap();
    let tier = |o: &Order| data.accounts.iter().find(|a| a.id == o.account_id).unwrap().tier;
    let discounts = data.orders.iter().filter_map(|o| Some((tier(o), o.discount? as f64 / 100.0)));
    let october = in_2026().filter(|o| o.day.month() == 10);
    vec![
        ("Total revenue by region", rows(sums(data.orders.iter().map(|o| (o.region, o.amount))), money)),
        ("Monthly revenue in 2026", rows(sums(in_2026().map(|o| (month(o.day), o.amount))), money)),
        (
            "Top 5 products by revenue",
            ranked(5, sums(data.orders.iter().map(|o| (product(o.sku).name, o.amount))), money),
        ),
        ("How many orders were refunded in 2026?", scalar(in_2026().filter(|o| o.status == "refunded").count().into())),
        ("Average discount by tier", rows(means(discounts), Value::from)),
        (
            "Revenue by category in October 2026",
            rows(sums(october.map(|o| (product(o.sku).category.name, o.amount))), money),
        ),
    ]
}

fn support(data: &Support) -> Vec<(&'static str, Answer)> {
    let agent = |id: u32| data.agents.iter().find(|a| a.id == id).unwrap();
    let urgent_open = data.tickets.iter().filter(|t| t.priority == "urgent" && t.closed_at.is_none());
    let satisfaction = data.tickets.iter().filter_map(|t| Some((agent(t.agent_id).team, t.satisfaction? as f64)));
    let march = data.tickets.iter().map(|t| t.created_at.date()).filter(|d| (d.year(), d.month()) == (2026, 3));
    let responses = data.tickets.iter().filter_map(|t| Some((t.priority, t.first_response_minutes?)));
    vec![
        ("How many urgent tickets are open?", scalar(urgent_open.count().into())),
        ("Average satisfaction by team", rows(means(satisfaction), Value::from)),
        ("Number of tickets per day in March 2026", rows(sums(march.map(|day| (day.to_string(), 1))), Value::from)),
        ("Median first response minutes by priority", rows(medians(responses), Value::from)),
        (
            "Top 5 agents by number of tickets",
            ranked(5, sums(data.tickets.iter().map(|t| (&agent(t.agent_id).name, 1))), Value::from),
        ),
        ("Number of tickets by area", rows(sums(data.tickets.iter().map(|t| (t.area, 1))), Value::from)),
    ]
}

fn energy(data: &Energy) -> Vec<(&'static str, Answer)> {
    let site = |id: &str| data.sites.iter().find(|s| s.site_id == id).unwrap();
    let in_2026 = || data.readings.iter().filter(|r| r.reading_date.year() == 2026);
    let october = in_2026().filter(|r| r.reading_date.month() == 10);
    let temperatures = data.readings.iter().filter_map(|r| Some((site(r.site_id).city, r.temperature_c?)));
    let mut demand: BTreeMap<&str, f64> = BTreeMap::new();
    for reading in &data.readings {
        let most = demand.entry(&reading.meter).or_default();
        *most = most.max(reading.demand_kw);
    }
    let (_, leader) = ranked(1, sums(october.map(|r| (site(r.site_id).site, r.kwh))), Value::from);
    vec![
        ("Which site had the highest energy consumption in October 2026?", ("leader", leader)),
        (
            "Total consumption by month in 2026",
            rows(sums(in_2026().map(|r| (month(r.reading_date), r.kwh))), Value::from),
        ),
        ("Average temperature by city", rows(means(temperatures), Value::from)),
        (
            "Total consumption by site type in 2026",
            rows(sums(in_2026().map(|r| (site(r.site_id).site_type, r.kwh))), Value::from),
        ),
        (
            "How many readings are estimated?",
            scalar(data.readings.iter().filter(|r| r.quality == "estimated").count().into()),
        ),
        ("Maximum demand by meter", rows(demand, Value::from)),
    ]
}

fn shop(data: &Shop) -> Vec<(&'static str, Answer)> {
    let in_2026 = || data.orders.iter().filter(|o| o.created_at.year() == 2026);
    let category = |id: i64| data.products.iter().find(|p| p.id == id).unwrap().category;
    let prices = data.products.iter().map(|p| (p.category, p.price as f64 / 100.0));
    let idle = data.customers.iter().filter(|c| data.orders.iter().all(|o| o.customer_id != c.id));
    vec![
        ("How many customers are there per tier?", rows(sums(data.customers.iter().map(|c| (c.tier, 1))), Value::from)),
        (
            "Number of orders per month in 2026",
            rows(sums(in_2026().map(|o| (month(o.created_at.date()), 1))), Value::from),
        ),
        (
            "How many orders were cancelled in 2026?",
            scalar(in_2026().filter(|o| o.status == "cancelled").count().into()),
        ),
        ("Average price by category", rows(means(prices), Value::from)),
        (
            "Total quantity by category",
            rows(sums(data.items.iter().map(|i| (category(i.product_id), i.quantity))), Value::from),
        ),
        ("Which customers have no orders?", ("rows", idle.map(|c| vec![json!(c.name)]).collect())),
    ]
}

fn scalar(value: Value) -> Answer {
    ("scalar", vec![vec![value]])
}

fn rows<K: Serialize, V>(groups: BTreeMap<K, V>, show: impl Fn(V) -> Value) -> Answer {
    ("rows", groups.into_iter().map(|(key, value)| vec![json!(key), show(value)]).collect())
}

/// The first `count` by falling value; a tie that would make the order a matter of luck is a fault
/// of the data.
fn ranked<K: Serialize + Copy, V: PartialOrd + Copy>(
    count: usize,
    groups: BTreeMap<K, V>,
    show: impl Fn(V) -> Value,
) -> Answer {
    let mut all: Vec<(K, V)> = groups.into_iter().collect();
    all.sort_by(|(_, a), (_, b)| b.partial_cmp(a).unwrap());
    assert!(all.windows(2).take(count).all(|pair| pair[0].1 > pair[1].1), "a tie among the first {count}");
    ("ranked", all.into_iter().take(count).map(|(key, value)| vec![json!(key), show(value)]).collect())
}

fn sums<K: Ord, V: std::ops::AddAssign + Default>(pairs: impl Iterator<Item = (K, V)>) -> BTreeMap<K, V> {
    let mut sums = BTreeMap::new();
    for (key, value) in pairs {
        *sums.entry(key).or_default() += value;
    }
    sums
}

fn lists<K: Ord, V>(pairs: impl Iterator<Item = (K, V)>) -> BTreeMap<K, Vec<V>> {
    let mut lists: BTreeMap<K, Vec<V>> = BTreeMap::new();
    for (key, value) in pairs {
        lists.entry(key).or_default().push(value);
    }
    lists
}

fn means<K: Ord>(pairs: impl Iterator<Item = (K, f64)>) -> BTreeMap<K, f64> {
    let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
    lists(pairs).into_iter().map(|(key, values)| (key, mean(values))).collect()
}

fn medians<K: Ord>(pairs: impl Iterator<Item = (K, i64)>) -> BTreeMap<K, f64> {
    let median = |mut values: Vec<i64>| {
        values.sort();
        let (low, high) = (values[(values.len() - 1) / 2], values[values.len() / 2]);
        (low + high) as f64 / 2.0
    };
    lists(pairs).into_iter().map(|(key, values)| (key, median(values))).collect()
}

fn month(day: Date) -> String {
    day.first_of_month().to_string()
}

fn money(cents: i64) -> Value {
    json!(format!("{}.{:02}", cents / 100, cents % 100))
}
