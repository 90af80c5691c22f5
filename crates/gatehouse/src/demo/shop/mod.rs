//! Dataset `shop`: the e-commerce database of a web shop for desks and what stands on them.
//!
//! Eighteen months of orders that grow, peak before Christmas and come mostly from few customers:
//! enterprises order often and by the dozen, half of the free tier once or twice, some never.

mod sqlite;

use super::names::{email, people};
use super::rng::Rng;
use super::season::{days, days_between, weekly, yearly};
use jiff::ToSpan;
use jiff::civil::{Date, DateTime, Time, date};
use std::io;
use std::path::Path;

pub const FIRST: Date = date(2025, 5, 1);
pub const LAST: Date = date(2026, 10, 31);

pub struct Shop {
    pub customers: Vec<Customer>,
    pub products: Vec<Product>,
    pub orders: Vec<Order>,
    pub items: Vec<Item>,
}

/// One row of `customers`.
pub struct Customer {
    pub id: i64,
    pub name: String,
    pub email: String,
    pub tier: &'static str,
    pub created_at: DateTime,
    /// How often it orders, compared with others.
    weight: f64,
}

/// One row of `products`. Money is in cents.
pub struct Product {
    pub id: i64,
    pub name: &'static str,
    pub category: &'static str,
    pub price: i64,
    popularity: f64,
}

/// One row of `orders`.
pub struct Order {
    pub id: i64,
    pub customer_id: i64,
    pub status: &'static str,
    pub created_at: DateTime,
}

/// One row of `order_items`.
pub struct Item {
    pub id: i64,
    pub order_id: i64,
    pub product_id: i64,
    pub quantity: i64,
    /// What was paid then, which need not be today's price.
    pub unit_price: i64,
}

const CUSTOMERS: usize = 84;
const WEEK: [f64; 7] = [1.2, 1.15, 1.1, 1.05, 1.1, 0.7, 0.7];
const YEAR: [f64; 12] = [0.9, 0.8, 0.9, 0.95, 0.9, 0.85, 0.75, 0.95, 1.1, 1.1, 1.6, 1.55];

#[rustfmt::skip]
const PRODUCTS: [(&str, &str, i64, f64); 27] = [
    ("Oak Standing Desk",      "Furniture",  64_900, 0.7),
    ("Compact Desk",           "Furniture",  28_900, 1.0),
    ("Mesh Office Chair",      "Furniture",  34_900, 1.1),
    ("Leather Office Chair",   "Furniture",  58_900, 0.4),
    ("Drawer Unit",            "Furniture",  15_900, 0.6),
    ("Monitor Shelf",          "Furniture",   5_900, 1.1),
    ("24-inch Monitor",        "Displays",   18_900, 1.3),
    ("27-inch Monitor",        "Displays",   32_900, 1.2),
    ("34-inch Curved Monitor", "Displays",   69_900, 0.5),
    ("Portable Monitor",       "Displays",   21_900, 0.6),
    ("Monitor Arm",            "Displays",    9_900, 1.2),
    ("Mechanical Keyboard",    "Keyboards",  12_900, 1.5),
    ("Compact Keyboard",       "Keyboards",   7_900, 1.2),
    ("Split Keyboard",         "Keyboards",  22_900, 0.5),
    ("Wrist Rest",             "Keyboards",   2_400, 1.0),
    ("Wireless Mouse",         "Mice",        4_900, 2.0),
    ("Vertical Mouse",         "Mice",        6_900, 1.0),
    ("Trackball",              "Mice",        8_900, 0.5),
    ("Desk Mat",               "Mice",        2_900, 1.4),
    ("Studio Headphones",      "Audio",      17_900, 0.8),
    ("Noise-cancelling Headset", "Audio",    24_900, 1.1),
    ("USB Microphone",         "Audio",      11_900, 0.9),
    ("Desktop Speakers",       "Audio",      13_900, 0.6),
    ("USB-C Dock",             "Cables",     15_900, 1.3),
    ("USB-C Cable",            "Cables",      1_400, 2.6),
    ("HDMI Cable",             "Cables",      1_200, 1.6),
    ("Power Strip",            "Cables",      3_400, 1.2),
];

impl Shop {
    pub fn generate() -> Self {
        let mut rng = Rng::new(0x5E09);
        let customers = customers(&mut rng);
        let products = products();
        let (mut orders, mut items): (Vec<Order>, Vec<Item>) = (Vec::new(), Vec::new());
        for day in days(FIRST, LAST) {
            let growth = 0.8 + 0.45 * f64::from(days_between(FIRST, day)) / 365.0;
            let count = rng.count(1.25 * growth * weekly(&WEEK, day) * yearly(&YEAR, day));
            let mut moments: Vec<DateTime> = (0..count).map(|_| moment(&mut rng, day)).collect();
            moments.sort();
            for created_at in moments {
                let customer = rng.pick_by(&customers, |c| if c.created_at.date() < day { c.weight } else { 0.0 });
                let order = order(&mut rng, orders.len() as i64 + 1, customer, created_at);
                add_items(&mut rng, &mut items, &order, customer, &products);
                orders.push(order);
            }
        }
        Self { customers, products, orders, items }
    }

    pub fn write(&self, folder: &Path) -> io::Result<()> {
        sqlite::write(self, &folder.join("shop.sqlite"))
    }
}

fn customers(rng: &mut Rng) -> Vec<Customer> {
    let mut customers: Vec<Customer> = people(rng, CUSTOMERS).into_iter().map(|name| customer(rng, name)).collect();
    customers.sort_by_key(|customer| customer.created_at);
    for (customer, id) in customers.iter_mut().zip(1..) {
        customer.id = id;
    }
    customers
}

fn customer(rng: &mut Rng, name: String) -> Customer {
    let (tier, often, host) = rng.weighted(&[
        (("free", 1.0, "mail"), 0.58),
        (("pro", 2.6, "studio"), 0.3),
        (("enterprise", 7.0, "corp"), 0.12),
    ]);
    let email = email(&name, host);
    let joined = date(2024, 9, 1).saturating_add(rng.int(0, 760).days());
    // Some signed up and never came back.
    let weight = if tier == "free" && rng.chance(0.1) { 0.0 } else { often * rng.skewed() };
    Customer { id: 0, name, email, tier, created_at: moment(rng, joined), weight }
}

fn products() -> Vec<Product> {
    let product = |((name, category, price, popularity), id)| Product { id, name, category, price, popularity };
    PRODUCTS.into_iter().zip(1..).map(product).collect()
}

fn order(rng: &mut Rng, id: i64, customer: &Customer, created_at: DateTime) -> Order {
    let pending = (0.85 - 0.07 * f64::from(days_between(created_at.date(), LAST))).max(0.0);
    let settled = [("completed", 0.885), ("cancelled", 0.06), ("refunded", 0.055)];
    let status = if rng.chance(pending) { "pending" } else { rng.weighted(&settled) };
    Order { id, customer_id: customer.id, status, created_at }
}

/// What the order holds, no product twice.
fn add_items(rng: &mut Rng, items: &mut Vec<Item>, order: &Order, customer: &Customer, products: &[Product]) {
    let (most, dozens, rebate) = match customer.tier {
        "enterprise" => (6, 6.0, 90),
        "pro" => (4, 1.2, 95),
        _ => (3, 0.35, 100),
    };
    // Until the end of 2025 everything was 5 % cheaper.
    let then = if order.created_at.year() < 2026 { 95 } else { 100 };
    let first = items.len();
    for _ in 0..rng.int(1, most) {
        let product = rng.pick_by(products, |p| p.popularity);
        if items.iter().skip(first).any(|item| item.product_id == product.id) {
            continue;
        }
        let cheap = if product.price < 5_000 { 1.6 } else { 0.8 };
        items.push(Item {
            id: items.len() as i64 + 1,
            order_id: order.id,
            product_id: product.id,
            quantity: 1 + (dozens * rng.skewed() * cheap) as i64,
            unit_price: product.price * rebate * then / 10_000,
        });
    }
}

/// Some minute of the waking day.
fn moment(rng: &mut Rng, day: Date) -> DateTime {
    day.to_datetime(Time::midnight()).saturating_add(rng.int(7 * 3_600, 23 * 3_600 - 1).seconds())
}
