//! Numbers as people write them: `1,000`, `$5k`, `10 %`, `3rd`.

use super::english::number_word;
use super::text::{Shape, Token};
use domain::Value;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Number {
    pub value: f64,
    pub money: bool,
    pub percent: bool,
    /// Cut short, as people do with amounts: `50k`.
    pub short: bool,
}

impl Number {
    pub fn plain(value: f64) -> Self {
        Self { value, money: false, percent: false, short: false }
    }

    /// A whole number small enough to be a count of rows.
    pub fn count(&self) -> Option<u64> {
        let whole = self.value.fract() == 0.0 && !self.money && !self.percent;
        (whole && (1.0..=10_000.0).contains(&self.value)).then_some(self.value as u64)
    }

    pub fn to_value(self) -> Value {
        if self.value.fract() == 0.0 && self.value.abs() < 9e15 {
            Value::Int(self.value as i64)
        } else {
            Value::Float(self.value)
        }
    }
}

/// Reads the number that a question's words start with, and how many words it takes.
pub(crate) fn read(tokens: &[Token]) -> Option<(Number, usize)> {
    let first = tokens.first()?;
    let (mut number, mut taken) = match first.shape {
        Shape::Number => (parse(&first.lower)?, 1),
        Shape::Word => (Number::plain(number_word(&first.lower)? as f64), 1),
        _ => return None,
    };
    while let Some(next) = tokens.get(taken) {
        match next.lower.as_str() {
            "hundred" | "thousand" | "million" | "billion" => number.value *= scale(&next.lower),
            "percent" => number.percent = true,
            "dollars" | "dollar" | "usd" | "euros" | "euro" | "eur" | "pounds" => number.money = true,
            _ => break,
        }
        taken += 1;
    }
    Some((number, taken))
}

/// What a unit measures, by the words that columns have for it.
pub(crate) fn measured_in(unit: &str) -> Option<&'static [&'static str]> {
    match unit {
        "m2" | "sqm" | "hectares" | "acres" => Some(&["area", "size"]),
        "degrees" | "degree" | "celsius" | "fahrenheit" | "°c" | "°f" => Some(&["temperature"]),
        "kg" | "kilograms" | "kilos" | "grams" | "tons" | "tonnes" | "lbs" => Some(&["weight", "mass"]),
        "km" | "kilometers" | "kilometres" | "miles" => Some(&["distance", "length", "range"]),
        "meters" | "metres" | "feet" | "cm" | "inches" => Some(&["height", "length", "depth", "width"]),
        "seconds" | "minutes" | "hours" => Some(&["duration", "time", "length"]),
        "mph" | "kmh" => Some(&["speed"]),
        _ => None,
    }
}

fn scale(word: &str) -> f64 {
    match word {
        "hundred" => 1e2,
        "thousand" | "k" => 1e3,
        "million" | "m" | "mn" | "mio" => 1e6,
        "billion" | "b" | "bn" => 1e9,
        _ => 1.0,
    }
}

fn parse(lower: &str) -> Option<Number> {
    let (unsigned, sign) = lower.strip_prefix('-').map_or((lower, 1.0), |rest| (rest, -1.0));
    let bare = unsigned.trim_start_matches(['$', '€', '£']);
    let money = bare.len() < unsigned.len();
    let (bare, percent) = bare.strip_suffix('%').map_or((bare, false), |b| (b, true));
    let digits_end = bare.find(|c: char| c.is_alphabetic()).unwrap_or(bare.len());
    let (digits, suffix) = bare.split_at_checked(digits_end)?;
    let known = ["", "k", "m", "mn", "mio", "b", "bn", "st", "nd", "rd", "th"];
    if !known.contains(&suffix) || !grouped_right(digits) {
        return None;
    }
    let value: f64 = digits.replace(',', "").parse().ok()?;
    let short = scale(suffix) > 1.0;
    Some(Number { value: sign * value * scale(suffix), money, percent, short })
}

/// `1,000` is a thousand; `1,0` is not a number that we know how to read.
fn grouped_right(digits: &str) -> bool {
    let whole = digits.split('.').next().unwrap_or_default();
    let mut groups = whole.split(',');
    let first = groups.next().is_some_and(|g| !g.is_empty());
    first && groups.all(|g| g.len() == 3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::offline::text::tokenise;

    #[test]
    fn numbers_are_read_with_their_units() {
        let value = |text: &str| read(&tokenise(text)).map(|(n, _)| n.value);
        for (text, expected) in [
            ("1,000", Some(1000.0)),
            ("$5k", Some(5000.0)),
            ("10%", Some(10.0)),
            ("2.5 million", Some(2_500_000.0)),
            ("twenty", Some(20.0)),
            ("3rd", Some(3.0)),
            ("-50", Some(-50.0)),
            ("1,0", None),
            ("2024-03-01", None),
            ("many", None),
        ] {
            assert_eq!(value(text), expected, "{text}");
        }
    }
}
