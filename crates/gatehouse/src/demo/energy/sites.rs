//! The fourteen sites.

use super::{Building, Load, Site};
use jiff::civil::date;

const OFFICE: [f64; 7] = [1.15, 1.18, 1.18, 1.16, 1.05, 0.5, 0.42];
const FACTORY: [f64; 7] = [1.1, 1.12, 1.12, 1.12, 1.08, 0.8, 0.55];
const STORE: [f64; 7] = [0.92, 0.92, 0.94, 0.98, 1.08, 1.2, 0.85];
const ALWAYS: [f64; 7] = [1.0; 7];

const NORTH: [f64; 12] = [-2.5, -2.0, 1.5, 6.5, 12.0, 16.0, 18.5, 17.5, 13.0, 8.0, 3.0, -0.5];
const COAST: [f64; 12] = [4.0, 4.2, 6.8, 9.8, 13.2, 16.0, 18.0, 18.1, 15.4, 11.6, 7.6, 4.8];
const INLAND: [f64; 12] = [0.8, 2.0, 6.0, 10.6, 15.0, 18.4, 20.4, 20.0, 15.4, 10.2, 5.0, 1.8];
const SOUTH: [f64; 12] = [10.5, 11.5, 13.8, 16.2, 19.6, 23.8, 26.8, 27.2, 23.8, 19.2, 14.4, 11.4];

#[rustfmt::skip]
pub fn sites() -> Vec<Site> {
    vec![
        site(
            "RTM", "Maasvlakte Cold Store", "Rotterdam", "Netherlands", "warehouse", 18_400,
            (2009, 2, "heat pump"), Some(640), &["refrigerated", "24/7"],
            load(&[5_200.0, 3_900.0], COAST, 0.002, 0.035, ALWAYS),
        ),
        site(
            "HAM", "Hafen Depot", "Hamburg", "Germany", "warehouse", 22_100,
            (1998, 1, "gas"), None, &["rail"],
            load(&[2_300.0, 1_150.0], COAST, 0.022, 0.006, FACTORY),
        ),
        site(
            "MUC", "Isar Offices", "Munich", "Germany", "office", 9_600,
            (2016, 7, "district"), Some(85), &["headquarters"],
            load(&[1_750.0, 820.0], INLAND, 0.024, 0.028, OFFICE),
        ),
        site(
            "LEJ", "Leipzig Works", "Leipzig", "Germany", "factory", 31_500,
            (1987, 3, "gas"), None, &["shift work", "solvents"],
            refurbished(load(&[8_600.0, 6_400.0, 2_100.0], INLAND, 0.012, 0.008, FACTORY)),
        ),
        site(
            "LYS", "Atelier du Rhône", "Lyon", "France", "factory", 12_700,
            (1974, 2, "electric"), Some(210), &["shift work"],
            load(&[4_700.0, 1_900.0], INLAND, 0.026, 0.012, FACTORY),
        ),
        site(
            "MRS", "Vieux-Port Store", "Marseille", "France", "store", 2_300,
            (1962, 3, "electric"), None, &["listed building"],
            load(&[640.0], SOUTH, 0.02, 0.04, STORE),
        ),
        site(
            "BCN", "Diagonal Offices", "Barcelona", "Spain", "office", 5_400,
            (2004, 5, "heat pump"), Some(60), &[],
            load(&[980.0, 410.0], SOUTH, 0.014, 0.045, OFFICE),
        ),
        site(
            "VLC", "Turia Store", "Valencia", "Spain", "store", 3_100,
            (2011, 1, "heat pump"), Some(120), &["car park"],
            load(&[860.0], SOUTH, 0.012, 0.05, STORE),
        ),
        site(
            "GOT", "Göta Works", "Gothenburg", "Sweden", "factory", 16_900,
            (1993, 2, "district"), None, &["shift work"],
            load(&[5_900.0, 2_600.0], NORTH, 0.014, 0.002, FACTORY),
        ),
        site(
            "ARN", "Mälaren Data Centre", "Stockholm", "Sweden", "data centre", 4_200,
            (2019, 2, "none"), Some(150), &["24/7", "heat recovery"],
            load(&[7_100.0, 7_000.0], NORTH, 0.0, 0.012, ALWAYS),
        ),
        site(
            "CPH", "Nordhavn Offices", "Copenhagen", "Denmark", "office", 7_800,
            (2013, 6, "district"), Some(95), &[],
            load(&[1_240.0, 560.0], NORTH, 0.016, 0.01, OFFICE),
        ),
        site(
            "DUB", "Liffey Data Centre", "Dublin", "Ireland", "data centre", 3_600,
            (2021, 1, "none"), None, &["24/7"],
            load(&[6_300.0], COAST, 0.0, 0.015, ALWAYS),
        ),
        site(
            "MAN", "Irwell Depot", "Manchester", "United Kingdom", "warehouse", 14_200,
            (2001, 1, "gas"), Some(300), &["rail"],
            load(&[1_900.0, 700.0], COAST, 0.02, 0.004, FACTORY),
        ),
        site(
            "LIS", "Tejo Store", "Lisbon", "Portugal", "store", 2_700,
            (1979, 2, "electric"), None, &[],
            load(&[690.0], SOUTH, 0.016, 0.036, STORE),
        ),
    ]
}

#[allow(clippy::too_many_arguments, reason = "one row of the table above")]
fn site(
    site_id: &'static str,
    site: &'static str,
    city: &'static str,
    country: &'static str,
    site_type: &'static str,
    floor_area_m2: u32,
    (built, floors, heating): (u16, u8, &'static str),
    solar_kw: Option<u32>,
    tags: &[&'static str],
    load: Load,
) -> Site {
    let building = Building { built, floors, heating };
    Site { site_id, site, city, country, site_type, floor_area_m2, building, solar_kw, tags: tags.to_vec(), load }
}

fn load(meters: &'static [f64], climate: [f64; 12], heating: f64, cooling: f64, week: [f64; 7]) -> Load {
    Load { meters, climate, heating, cooling, week, refurbished: None }
}

fn refurbished(load: Load) -> Load {
    Load { refurbished: Some(date(2025, 8, 1)), ..load }
}
