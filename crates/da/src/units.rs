//! Numbers as people read and write them.

use crate::problem::{Problem, Result};
use jiff::{SignedDuration, Timestamp};

/// `8.4 MB`, in powers of 1000, as disks are sold.
pub fn bytes(number: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KB", "MB", "GB", "TB"];
    #[allow(clippy::cast_precision_loss, reason = "a rough size")]
    let mut size = number as f64;
    let mut unit = 0;
    while size >= 999.5 && unit + 1 < UNITS.len() {
        size /= 1000.0;
        unit += 1;
    }
    let digits = if unit == 0 || size >= 99.95 { format!("{size:.0}") } else { format!("{size:.1}") };
    format!("{} {}", digits.strip_suffix(".0").unwrap_or(&digits), UNITS.get(unit).unwrap_or(&"TB"))
}

/// `245 832`: thin groups that no locale takes for a decimal point.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            grouped.push(' ');
        }
        grouped.push(digit);
    }
    grouped
}

/// `rows` or `row`.
pub fn plural(number: u64, word: &str) -> String {
    format!("{} {word}{}", count(number), if number == 1 { "" } else { "s" })
}

/// `2 days`, `3 hours`, `now`.
pub fn age(since: Timestamp, now: Timestamp) -> String {
    let seconds = u64::try_from(now.duration_since(since).as_secs()).unwrap_or(0);
    match seconds {
        0..60 => "now".to_owned(),
        60..3_600 => plural(seconds / 60, "minute"),
        3_600..86_400 => plural(seconds / 3_600, "hour"),
        _ => plural(seconds / 86_400, "day"),
    }
}

/// `2026-04-27 17:30 UTC`.
pub fn moment(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M UTC").to_string()
}

/// `7d`, `12h`, `30m`.
pub fn span(text: &str) -> Result<SignedDuration> {
    let wrong = || {
        let message = format!("`{text}` is no span of time");
        Problem::invalid("bad_span", message, "write a number and a unit: `7d`, `12h`, `30m`")
    };
    let (number, unit) = split(text).ok_or_else(wrong)?;
    let seconds = match unit {
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        "w" => 604_800,
        _ => return Err(wrong()),
    };
    number.checked_mul(seconds).and_then(|s| i64::try_from(s).ok()).map(SignedDuration::from_secs).ok_or_else(wrong)
}

/// `1g`, `500m`, `10k`.
pub fn size(text: &str) -> Result<u64> {
    let wrong = || {
        let message = format!("`{text}` is no size");
        Problem::invalid("bad_size", message, "write a number and a unit: `1g`, `500m`, `10k`")
    };
    let (number, unit) = split(text).ok_or_else(wrong)?;
    let unit = match unit.trim_end_matches('b') {
        "" => 1,
        "k" => 1_000,
        "m" => 1_000_000,
        "g" => 1_000_000_000,
        "t" => 1_000_000_000_000,
        _ => return Err(wrong()),
    };
    number.checked_mul(unit).ok_or_else(wrong)
}

fn split(text: &str) -> Option<(u64, &'static str)> {
    let text = text.trim().to_ascii_lowercase();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at_checked(digits)?;
    let known = ["m", "h", "d", "w", "", "b", "k", "kb", "mb", "g", "gb", "t", "tb"];
    Some((number.parse().ok()?, known.into_iter().find(|known| *known == unit.trim())?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_counts_are_short() {
        for (number, text) in [(0, "0 B"), (999, "999 B"), (8_400_000, "8.4 MB"), (2_400_000_000, "2.4 GB")] {
            assert_eq!(bytes(number), text);
        }
        assert_eq!([count(7), count(2_569), count(245_832)], ["7", "2 569", "245 832"]);
    }

    #[test]
    fn spans_and_sizes_are_read() {
        assert_eq!(span("7d").unwrap().as_secs(), 604_800);
        assert_eq!(size("1g").unwrap(), 1_000_000_000);
        assert_eq!(size("10 KB").unwrap(), 10_000);
        for wrong in ["", "d", "7", "7y", "-1d", "99999999999999999999d"] {
            assert_eq!(span(wrong).unwrap_err().exit, crate::problem::Exit::Invalid, "{wrong}");
        }
        assert!(size("1x").is_err() && size("lots").is_err());
    }
}
