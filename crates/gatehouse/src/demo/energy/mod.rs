//! Dataset `energy`: two years of daily meter readings, as newline-delimited JSON.
//!
//! Consumption follows the weather (heating and cooling) and the week, and sinks a little where a
//! site was refurbished. Meters go silent for days, thermometers for single days; one meter in
//! Rotterdam counted tenfold for nine days.

mod sites;

use super::files::place_bytes;
use super::rng::Rng;
use super::season::{days, days_between, weekly, yearly};
use jiff::civil::{Date, date};
use serde::Serialize;
use std::io;
use std::path::Path;

pub const FIRST: Date = date(2024, 11, 1);
pub const LAST: Date = date(2026, 10, 31);
/// The meter that counted tenfold, and when.
pub const FAULTY_METER: &str = "RTM-2";
pub const FAULT: (Date, Date) = (date(2026, 2, 9), date(2026, 2, 17));

pub struct Energy {
    pub readings: Vec<Reading>,
    pub sites: Vec<Site>,
}

/// One line of `readings`.
#[derive(Serialize)]
pub struct Reading {
    pub site_id: &'static str,
    pub meter: String,
    pub reading_date: Date,
    pub kwh: f64,
    pub demand_kw: f64,
    /// Outdoors, at the site; null where the thermometer failed.
    pub temperature_c: Option<f64>,
    pub quality: &'static str,
}

/// One line of `sites`.
#[derive(Serialize)]
pub struct Site {
    pub site_id: &'static str,
    pub site: &'static str,
    pub city: &'static str,
    pub country: &'static str,
    pub site_type: &'static str,
    pub floor_area_m2: u32,
    pub building: Building,
    /// Only the sites that have panels have this key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub solar_kw: Option<u32>,
    pub tags: Vec<&'static str>,
    #[serde(skip)]
    load: Load,
}

#[derive(Serialize)]
pub struct Building {
    pub built: u16,
    pub floors: u8,
    pub heating: &'static str,
}

/// What the consumption of a site depends on.
struct Load {
    /// A usual day's kWh of each meter.
    meters: &'static [f64],
    /// Mean temperatures of January to December.
    climate: [f64; 12],
    /// Share of a usual day that one degree of cold, or of heat, adds.
    heating: f64,
    cooling: f64,
    week: [f64; 7],
    /// From this day on it uses 14 % less.
    refurbished: Option<Date>,
}

impl Energy {
    pub fn generate() -> Self {
        let mut rng = Rng::new(0xE4E26);
        let sites = sites::sites();
        let mut readings: Vec<Reading> = Vec::with_capacity(20_000);
        let weather: Vec<Vec<f64>> = sites.iter().map(|site| weather(&mut rng, &site.load.climate)).collect();
        for (site, weather) in sites.iter().zip(&weather) {
            for (usual, number) in site.load.meters.iter().zip(1..) {
                readings.extend(meter(&mut rng, site, format!("{}-{number}", site.site_id), *usual, weather));
            }
        }
        readings.sort_by(|a, b| (a.reading_date, &a.meter).cmp(&(b.reading_date, &b.meter)));
        Self { readings, sites }
    }

    pub fn write(&self, folder: &Path) -> io::Result<()> {
        place_bytes(&folder.join("readings.ndjson"), lines(&self.readings)?.as_bytes())?;
        place_bytes(&folder.join("sites.ndjson"), lines(&self.sites)?.as_bytes())
    }
}

fn lines(rows: &[impl Serialize]) -> io::Result<String> {
    rows.iter().try_fold(String::new(), |text, row| Ok(text + &serde_json::to_string(row)? + "\n"))
}

/// One temperature a day: the climate, with spells of warmer and colder days.
fn weather(rng: &mut Rng, climate: &[f64; 12]) -> Vec<f64> {
    let mut spell = 0.0;
    days(FIRST, LAST)
        .map(|day| {
            spell = 0.8 * spell + 1.5 * rng.bell();
            yearly(climate, day) + spell
        })
        .collect()
}

fn meter(rng: &mut Rng, site: &Site, meter: String, usual: f64, weather: &[f64]) -> Vec<Reading> {
    let mut readings = Vec::with_capacity(weather.len());
    let mut silent = 0;
    for (day, temperature) in days(FIRST, LAST).zip(weather) {
        if rng.chance(0.0035) {
            silent = rng.int(1, 6);
        }
        silent -= 1;
        if silent >= 0 {
            continue;
        }
        let faulty = meter == FAULTY_METER && day >= FAULT.0 && day <= FAULT.1;
        let kwh = usual * site.load.factor(day, *temperature) * (1.0 + 0.045 * rng.bell());
        let kwh = if faulty { kwh * 10.0 } else { kwh };
        readings.push(Reading {
            site_id: site.site_id,
            meter: meter.clone(),
            reading_date: day,
            kwh: tenths(kwh),
            demand_kw: tenths(kwh / 24.0 * rng.between(1.6, 2.5)),
            temperature_c: (!rng.chance(0.021)).then(|| tenths(*temperature)),
            quality: if rng.chance(0.018) { "estimated" } else { "measured" },
        });
    }
    readings
}

impl Load {
    fn factor(&self, day: Date, temperature: f64) -> f64 {
        let cold = (16.0 - temperature).max(0.0);
        let heat = (temperature - 21.0).max(0.0);
        let saved = if self.refurbished.is_some_and(|since| day >= since) { 0.86 } else { 1.0 };
        let creep = 1.0 + 0.02 * f64::from(days_between(FIRST, day)) / 365.0;
        (1.0 + self.heating * cold + self.cooling * heat) * weekly(&self.week, day) * saved * creep
    }
}

fn tenths(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}
