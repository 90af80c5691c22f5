//! Dataset `sales`: two years of a wholesaler of outdoor equipment, as Parquet.
//!
//! Orders follow the year (tents in spring, lamps in autumn, a rush around Black Friday) and the
//! week, grow by about a fifth a year, and lean on few large accounts. Some are cancelled or
//! refunded and then bring nothing; tills do not always report a discount; now and then a bulk
//! order dwarfs the rest.

mod catalog;
mod parquet;

use super::rng::Rng;
use super::season::{days, days_between, weekly, yearly};
use catalog::{Category, accounts, products};
use jiff::civil::{Date, date};
use std::io;
use std::path::Path;

/// The first and the last day of the orders.
pub const FIRST: Date = date(2024, 11, 1);
pub const LAST: Date = date(2026, 10, 31);

pub struct Sales {
    pub orders: Vec<Order>,
    pub accounts: Vec<Account>,
    pub products: Vec<Product>,
}

/// One row of `sales_orders`. Money is in cents.
pub struct Order {
    pub id: i64,
    pub day: Date,
    pub account_id: i32,
    pub sku: &'static str,
    pub region: &'static str,
    pub channel: &'static str,
    pub sales_rep: Option<&'static str>,
    pub quantity: i32,
    pub unit_price: i64,
    /// In percent of the list price; `None` where the till did not report it.
    pub discount: Option<i64>,
    /// What the order brings: 0 once it is cancelled or refunded.
    pub amount: i64,
    pub status: &'static str,
}

/// One row of `accounts`.
pub struct Account {
    pub id: i32,
    pub name: String,
    pub email: Option<String>,
    pub tier: &'static str,
    pub country: &'static str,
    pub signed_up: Date,
    region: &'static str,
    /// How much it buys, compared with others.
    weight: f64,
}

/// One row of `catalog`.
pub struct Product {
    pub sku: &'static str,
    pub name: &'static str,
    pub category: &'static Category,
    pub launched: Date,
    pub list_price: i64,
    popularity: f64,
}

const WEEK: [f64; 7] = [1.2, 1.15, 1.1, 1.1, 1.15, 0.75, 0.55];
const YEAR: [f64; 12] = [0.74, 0.78, 0.95, 1.1, 1.22, 1.24, 1.1, 0.98, 0.9, 0.88, 1.08, 1.18];
const REPS: [(&str, [&str; 3]); 3] = [
    ("Americas", ["Dana Whitfield", "Luis Ortega", "Carol Jennings"]),
    ("EMEA", ["Anke Vogel", "Pierre Lambert", "Moira Kelly"]),
    ("APAC", ["Yuki Tanaka", "Ben Hargrave", "Wei Ling"]),
];

impl Sales {
    pub fn generate() -> Self {
        let mut rng = Rng::new(0x5A1E5);
        let products = products();
        let accounts = accounts(&mut rng);
        let mut orders: Vec<Order> = Vec::with_capacity(24_000);
        for day in days(FIRST, LAST) {
            let growth = 1.0 + 0.22 * f64::from(days_between(FIRST, day)) / 365.0;
            let rush = if is_rush(day) { 2.1 } else { 1.0 };
            let mean = 27.0 * growth * weekly(&WEEK, day) * yearly(&YEAR, day) * rush;
            for _ in 0..rng.count(mean) {
                let id = 100_001 + orders.len() as i64;
                orders.push(order(&mut rng, id, day, &accounts, &products));
            }
        }
        Self { orders, accounts, products }
    }

    pub fn write(&self, folder: &Path) -> io::Result<()> {
        parquet::write(self, folder)
    }
}

/// Black Friday and the days around it.
fn is_rush(day: Date) -> bool {
    day.month() == 11 && (24..=30).contains(&day.day())
}

fn order(rng: &mut Rng, id: i64, day: Date, accounts: &[Account], products: &[Product]) -> Order {
    let account = rng.pick_by(accounts, |a| if a.signed_up <= day { a.weight } else { 0.0 });
    let product = rng.pick_by(products, |p| p.demand(day));
    let channel = channel(rng, account.tier);
    let quantity = quantity(rng, account.tier);
    let unit_price = unit_price(account.tier, product, day);
    let discount = discount(rng, channel, account.tier, day);
    let status = status(rng, day);
    let full = i64::from(quantity) * unit_price;
    let amount = match status {
        "cancelled" | "refunded" => 0,
        _ => (full * (100 - discount.unwrap_or(0)) + 50) / 100,
    };
    Order {
        id,
        day,
        account_id: account.id,
        sku: product.sku,
        region: account.region,
        channel,
        sales_rep: sales_rep(rng, channel, account.region),
        quantity,
        unit_price,
        discount,
        amount,
        status,
    }
}

impl Product {
    fn demand(&self, day: Date) -> f64 {
        if self.launched > day { 0.0 } else { self.popularity * yearly(&self.category.year, day) }
    }
}

fn channel(rng: &mut Rng, tier: &str) -> &'static str {
    match tier {
        "premier" => rng.weighted(&[("direct", 0.62), ("online", 0.2), ("partner", 0.18)]),
        "plus" => rng.weighted(&[("direct", 0.25), ("online", 0.42), ("partner", 0.25), ("retail", 0.08)]),
        _ => rng.weighted(&[("online", 0.55), ("retail", 0.27), ("partner", 0.13), ("direct", 0.05)]),
    }
}

fn quantity(rng: &mut Rng, tier: &str) -> i32 {
    let typical = match tier {
        "premier" => 22.0,
        "plus" => 9.0,
        _ => 3.5,
    };
    let bulk = if rng.chance(0.0006) { 18.0 } else { 1.0 };
    (typical * rng.skewed() * bulk) as i32 + 1
}

/// Better tiers pay less; everybody pays 4 % more since January 2026.
fn unit_price(tier: &str, product: &Product, day: Date) -> i64 {
    let rebate = match tier {
        "premier" => 8,
        "plus" => 4,
        _ => 0,
    };
    let rise = if day >= date(2026, 1, 1) { 104 } else { 100 };
    product.list_price * (100 - rebate) * rise / 10_000
}

/// Large accounts have bargained; everybody gets something in the rush.
fn discount(rng: &mut Rng, channel: &str, tier: &str, day: Date) -> Option<i64> {
    if channel == "retail" && rng.chance(0.18) {
        return None;
    }
    let likely = match tier {
        _ if is_rush(day) => 0.75,
        "premier" => 0.48,
        "plus" => 0.3,
        _ => 0.17,
    };
    let given = rng.chance(likely).then(|| rng.weighted(&[(5, 4.0), (10, 4.0), (15, 2.0), (20, 1.0), (30, 0.2)]));
    Some(given.unwrap_or(0))
}

/// Only the latest orders can still be pending.
fn status(rng: &mut Rng, day: Date) -> &'static str {
    let pending = (0.9 - 0.06 * f64::from(days_between(day, LAST))).max(0.0);
    if rng.chance(pending) {
        return "pending";
    }
    rng.weighted(&[("completed", 0.935), ("cancelled", 0.033), ("refunded", 0.032)])
}

/// Nobody sells what is bought online or over the counter.
fn sales_rep(rng: &mut Rng, channel: &str, region: &str) -> Option<&'static str> {
    let (_, reps) = REPS.iter().find(|(name, _)| *name == region)?;
    let named = match channel {
        "direct" => 0.98,
        "partner" => 0.85,
        _ => 0.0,
    };
    rng.chance(named).then(|| *rng.pick_by(reps, |rep| rep.len() as f64))
}
