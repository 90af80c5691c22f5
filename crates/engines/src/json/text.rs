//! ISO 8601 and other text for what JSON has no literal for.

use arrow_schema::TimeUnit;

const DAY: i64 = 86_400;

/// `2024-01-31`; years outside 0–9999 carry a sign. The engine's largest day stands for infinity.
pub fn date(days: i64) -> String {
    const INFINITE: i64 = i32::MAX as i64;
    match days {
        INFINITE => "infinity".to_owned(),
        days if days == -INFINITE => "-infinity".to_owned(),
        days => {
            let (year, month, day) = civil(days);
            let year = if (0..=9999).contains(&year) { format!("{year:04}") } else { format!("{year:+05}") };
            format!("{year}-{month:02}-{day:02}")
        }
    }
}

/// `10:00:00`, and `24:00:00` where an engine means the end of the day.
pub fn time(ticks: i64, unit: TimeUnit) -> String {
    let (seconds, nanos) = split(ticks, unit);
    clock(seconds, nanos)
}

/// `2024-01-31T10:00:00`, with `Z` for an instant as opposed to a wall clock's reading.
pub fn timestamp(ticks: i64, unit: TimeUnit, instant: bool) -> String {
    match ticks {
        i64::MAX => return "infinity".to_owned(),
        ticks if ticks == -i64::MAX => return "-infinity".to_owned(),
        _ => {}
    }
    let (seconds, nanos) = split(ticks, unit);
    let (day, of_day) = (seconds.div_euclid(DAY), seconds.rem_euclid(DAY));
    let zone = if instant { "Z" } else { "" };
    format!("{}T{}{zone}", date(day), clock(of_day, nanos))
}

/// `P1Y2M3DT4H5M6.5S`. Each part has its own sign: a month is no fixed number of days.
pub fn interval(months: i32, days: i32, ticks: i64, unit: TimeUnit) -> String {
    let mut text = "P".to_owned();
    let part = |text: &mut String, amount: i64, letter: char| {
        if amount != 0 {
            text.push_str(&format!("{amount}{letter}"));
        }
    };
    part(&mut text, i64::from(months / 12), 'Y');
    part(&mut text, i64::from(months % 12), 'M');
    part(&mut text, i64::from(days), 'D');
    if ticks != 0 {
        // Towards zero, so that all parts of -90 s are negative.
        let per_second = per_second(unit);
        let (seconds, nanos) = (ticks / per_second, ticks % per_second * (NANOS / per_second));
        text.push('T');
        part(&mut text, seconds / 3600, 'H');
        part(&mut text, seconds / 60 % 60, 'M');
        let sign = if ticks < 0 { "-" } else { "" };
        if seconds % 60 != 0 || nanos != 0 {
            text.push_str(&format!("{sign}{}{}S", (seconds % 60).abs(), fraction(nanos.abs())));
        }
    }
    if text == "P" { "PT0S".to_owned() } else { text }
}

pub fn uuid(bytes: [u8; 16]) -> String {
    let n = u128::from_be_bytes(bytes);
    let group = |shift: u32, digits: u32| (n >> shift) & ((1 << (digits * 4)) - 1);
    let (a, b, c, d, e) = (group(96, 8), group(80, 4), group(64, 4), group(48, 4), group(0, 12));
    format!("{a:08x}-{b:04x}-{c:04x}-{d:04x}-{e:012x}")
}

const NANOS: i64 = 1_000_000_000;

fn per_second(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1_000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => NANOS,
    }
}

/// Whole seconds, and the nanoseconds after them.
fn split(ticks: i64, unit: TimeUnit) -> (i64, i64) {
    let per_second = per_second(unit);
    (ticks.div_euclid(per_second), ticks.rem_euclid(per_second) * (NANOS / per_second))
}

fn clock(seconds: i64, nanos: i64) -> String {
    format!("{:02}:{:02}:{:02}{}", seconds / 3600, seconds / 60 % 60, seconds % 60, fraction(nanos))
}

fn fraction(nanos: i64) -> String {
    if nanos == 0 { String::new() } else { format!(".{nanos:09}").trim_end_matches('0').to_owned() }
}

/// Days since 1970-01-01 as year, month and day of the proleptic Gregorian calendar.
///
/// Done by hand because engines hand out years far beyond what calendar libraries take. The year
/// is counted from March, so that the leap day comes last; an era is 400 years.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year_of_era + i64::from(month <= 2), month, day)
}
