//! What is sold, and to whom.

use super::super::rng::Rng;
use super::{Account, Product};
use jiff::ToSpan;
use jiff::civil::{Date, date};

/// A kind of product, with its own year.
pub struct Category {
    pub name: &'static str,
    pub year: [f64; 12],
}

static TENTS: Category = Category { name: "Tents", year: [0.4, 0.5, 1.0, 1.6, 2.1, 2.0, 1.5, 0.9, 0.5, 0.3, 0.5, 0.7] };
static BACKPACKS: Category =
    Category { name: "Backpacks", year: [0.8, 0.8, 0.9, 1.0, 1.2, 1.3, 1.2, 1.3, 1.0, 0.8, 0.9, 1.0] };
static SLEEPING: Category =
    Category { name: "Sleeping Bags", year: [0.7, 0.7, 0.9, 1.2, 1.4, 1.4, 1.2, 0.9, 0.8, 0.8, 1.0, 1.0] };
static FOOTWEAR: Category =
    Category { name: "Footwear", year: [1.0, 0.9, 1.1, 1.2, 1.0, 0.9, 0.8, 0.9, 1.2, 1.3, 1.1, 1.1] };
static COOKING: Category =
    Category { name: "Cooking", year: [0.7, 0.7, 0.9, 1.1, 1.3, 1.4, 1.3, 1.1, 0.9, 0.8, 0.9, 1.1] };
static LIGHTING: Category =
    Category { name: "Lighting", year: [1.2, 1.0, 0.8, 0.6, 0.5, 0.5, 0.5, 0.8, 1.2, 1.6, 1.8, 1.9] };

type Row = (&'static str, &'static str, &'static Category, Date, i64, f64);

#[rustfmt::skip]
fn rows() -> [Row; 31] {
    let old = |year| date(year, 3, 1);
    [
        ("TN-110", "Larch 2 Tent",           &TENTS,     old(2019),         24_900, 1.5),
        ("TN-120", "Larch 3 Tent",           &TENTS,     old(2019),         31_900, 1.1),
        ("TN-210", "Fell Ultralight Tent",   &TENTS,     old(2022),         48_900, 0.6),
        ("TN-310", "Basecamp 6 Tent",        &TENTS,     old(2018),         69_900, 0.35),
        ("TN-410", "Storm Shelter",          &TENTS,     date(2026, 4, 14), 39_900, 1.3),
        ("BP-110", "Trail 25 Backpack",      &BACKPACKS, old(2018),         8_900,  2.2),
        ("BP-120", "Trail 40 Backpack",      &BACKPACKS, old(2018),         12_900, 1.7),
        ("BP-210", "Expedition 65 Backpack", &BACKPACKS, old(2020),         21_900, 0.8),
        ("BP-310", "Commuter Roll-top",      &BACKPACKS, old(2023),         9_900,  1.2),
        ("BP-410", "Kids Trail 15 Backpack", &BACKPACKS, old(2021),         4_900,  0.9),
        ("SB-110", "Meadow Sleeping Bag",    &SLEEPING,  old(2018),         7_900,  1.6),
        ("SB-120", "Ridge Sleeping Bag",     &SLEEPING,  old(2019),         14_900, 1.1),
        ("SB-210", "Polar Down Bag",         &SLEEPING,  old(2020),         37_900, 0.35),
        ("SB-310", "Foam Mat",               &SLEEPING,  old(2018),         2_900,  1.9),
        ("SB-320", "Air Mat",                &SLEEPING,  old(2021),         8_400,  1.3),
        ("FW-110", "Brook Trail Shoe",       &FOOTWEAR,  old(2020),         11_900, 1.8),
        ("FW-120", "Brook Mid Boot",         &FOOTWEAR,  old(2020),         15_900, 1.5),
        ("FW-210", "Summit Boot",            &FOOTWEAR,  old(2019),         25_900, 0.7),
        ("FW-310", "Camp Sandal",            &FOOTWEAR,  old(2022),         4_400,  0.9),
        ("FW-410", "Merino Socks",           &FOOTWEAR,  old(2018),         1_900,  2.6),
        ("CK-110", "Pocket Stove",           &COOKING,   old(2018),         5_400,  1.6),
        ("CK-120", "Twin Stove",             &COOKING,   old(2019),         11_400, 0.6),
        ("CK-210", "Nested Pot Set",         &COOKING,   old(2018),         6_900,  1.2),
        ("CK-310", "Steel Bottle",           &COOKING,   old(2020),         2_400,  2.4),
        ("CK-320", "Water Filter",           &COOKING,   old(2021),         4_900,  1.0),
        ("CK-410", "Camp Coffee Press",      &COOKING,   date(2025, 9, 2),  3_900,  1.4),
        ("LT-110", "Beam 200 Headlamp",      &LIGHTING,  old(2018),         3_400,  2.0),
        ("LT-120", "Beam 600 Headlamp",      &LIGHTING,  old(2021),         7_900,  1.3),
        ("LT-210", "Glow Lantern",           &LIGHTING,  old(2019),         4_400,  1.5),
        ("LT-310", "Solar String Lights",    &LIGHTING,  old(2022),         2_900,  0.9),
        ("LT-410", "Rescue Beacon",          &LIGHTING,  old(2023),         18_900, 0.3),
    ]
}

pub fn products() -> Vec<Product> {
    let product = |(sku, name, category, launched, list_price, popularity): Row| Product {
        sku,
        name,
        category,
        launched,
        list_price,
        popularity,
    };
    rows().map(product).into()
}

#[rustfmt::skip]
const PLACES: [&str; 28] = [
    "Alpine", "Birchwood", "Blue Ridge", "Canyon", "Cedar", "Coastal", "Driftwood", "Eagle", "Evergreen", "Fjord",
    "Glacier", "Granite", "Harbour", "Highland", "Horizon", "Juniper", "Lakeside", "Maple", "Meridian", "Northern",
    "Old Mill", "Pinecrest", "Red Rock", "River Bend", "Sierra", "Summit", "Timberline", "Wildwood",
];
#[rustfmt::skip]
const TRADES: [&str; 12] = [
    "Outfitters", "Sports", "Outdoor", "Trading", "Supply", "Adventures", "Camping", "Mountain Shop", "Gear",
    "Stores", "Expeditions", "Equipment",
];
/// Countries with their region and their share of the accounts.
const COUNTRIES: [((&str, &str), f64); 11] = [
    (("United States", "Americas"), 30.0),
    (("Canada", "Americas"), 8.0),
    (("Brazil", "Americas"), 5.0),
    (("Germany", "EMEA"), 15.0),
    (("United Kingdom", "EMEA"), 12.0),
    (("France", "EMEA"), 9.0),
    (("Spain", "EMEA"), 5.0),
    (("Netherlands", "EMEA"), 4.0),
    (("Japan", "APAC"), 8.0),
    (("Australia", "APAC"), 7.0),
    (("Singapore", "APAC"), 3.0),
];

pub fn accounts(rng: &mut Rng) -> Vec<Account> {
    let mut names: Vec<String> =
        PLACES.iter().flat_map(|place| TRADES.iter().map(move |trade| format!("{place} {trade}"))).collect();
    rng.shuffle(&mut names);
    names.into_iter().zip(1001..).map(|(name, id)| account(rng, id, name)).collect()
}

fn account(rng: &mut Rng, id: i32, name: String) -> Account {
    let (tier, typical) = rng.weighted(&[(("standard", 1.0), 0.7), (("plus", 2.2), 0.22), (("premier", 6.0), 0.08)]);
    let (country, region) = rng.weighted(&COUNTRIES);
    let signed_up = signed_up(rng, tier);
    let email = (!rng.chance(0.05)).then(|| format!("orders@{}.example", name.to_lowercase().replace(' ', "-")));
    Account { id, name, email, tier, country, signed_up, region, weight: typical * rng.skewed() }
}

/// Large accounts have been there for years; new ones keep coming until September 2026.
fn signed_up(rng: &mut Rng, tier: &str) -> Date {
    let first = date(2018, 5, 2);
    let latest = if tier == "premier" { 2_200.0 } else { 3_060.0 };
    first.saturating_add(((rng.unit() * latest) as i64).days())
}
