//! What tokens cost: one data file, which an operator can override. A model that is not in it has no price, never a
//! guessed one.

use crate::Usage;
use domain::{Fault, Kind};
use serde::Deserialize;

const DEFAULT: &str = include_str!("prices.toml");

/// Prices by model.
#[derive(Debug, Clone)]
pub struct Prices {
    rows: Vec<Row>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    #[serde(default)]
    price: Vec<Row>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    model: String,
    /// The longest prompt, in tokens, that this row is for.
    prompt_up_to: Option<u64>,
    input: f64,
    output: f64,
    cache_write: f64,
    cache_read: f64,
}

/// US$ for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rates {
    pub input: f64,
    pub output: f64,
    pub cache_write: f64,
    pub cache_read: f64,
}

impl Default for Prices {
    fn default() -> Self {
        Self { rows: read(DEFAULT).unwrap_or_default() }
    }
}

impl Prices {
    /// The prices that come with the house, where `text` (in the form of `prices.toml`) does not say otherwise: a model
    /// that it names has the rows that it gives, and no others.
    pub fn overridden_by(text: &str) -> Result<Self, Fault> {
        let mut rows = read(text)?;
        let named: Vec<String> = rows.iter().map(|row| row.model.clone()).collect();
        rows.extend(Self::default().rows.into_iter().filter(|row| !named.contains(&row.model)));
        Ok(Self { rows })
    }

    /// Whether a model's price is known, so that its cost can be told and its budget kept.
    pub fn know(&self, model: &str) -> bool {
        self.of(model, 0).is_some()
    }

    pub(crate) fn of(&self, model: &str, prompt_tokens: u64) -> Option<Rates> {
        let known = |name: &str| self.rows.iter().any(|row| row.model == name);
        let name = if known(model) { model } else { undated(model) };
        let row = self
            .rows
            .iter()
            .find(|row| row.model == name && row.prompt_up_to.is_none_or(|most| prompt_tokens <= most))?;
        let Row { input, output, cache_write, cache_read, .. } = *row;
        Some(Rates { input, output, cache_write, cache_read })
    }

    /// US$ for one call.
    pub(crate) fn cost(&self, model: &str, usage: &Usage) -> Option<f64> {
        let rates = self.of(model, usage.prompt())?;
        let priced = [
            (usage.input, rates.input),
            (usage.output, rates.output),
            (usage.cache_write, rates.cache_write),
            (usage.cache_read, rates.cache_read),
        ];
        Some(priced.iter().map(|(tokens, rate)| *tokens as f64 * rate / 1e6).sum())
    }
}

fn read(text: &str) -> Result<Vec<Row>, Fault> {
    let invalid = |message: String| {
        Fault::new(Kind::Invalid, "prices.invalid", message).hint("write it like the `prices.toml` of the house")
    };
    let table: Table =
        toml::from_str(text).map_err(|e| invalid(format!("the prices cannot be read: {}", e.message())))?;
    for row in &table.price {
        let rates = [row.input, row.output, row.cache_write, row.cache_read];
        if !rates.iter().all(|rate| rate.is_finite() && *rate >= 0.0) {
            return Err(invalid(format!("a price of `{}` is not a number from 0 up", row.model)));
        }
    }
    Ok(table.price)
}

/// `claude-sonnet-4-5-20250929` costs what `claude-sonnet-4-5` costs.
fn undated(model: &str) -> &str {
    match model.rsplit_once('-') {
        Some((name, date)) if date.len() == 8 && date.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => model,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_of_the_house_can_be_read() {
        assert_eq!(read(DEFAULT).map(|rows| rows.len()), Ok(9));
    }

    #[test]
    fn a_million_of_each_kind_costs_its_four_rates() {
        let usage = |n| Usage { input: n, output: n, cache_write: n, cache_read: n };
        let cases = [
            ("claude-sonnet-5-5", 1_000_000, Some(2.0 + 10.0 + 2.5 + 0.1)),
            ("claude-sonnet-4-5-20250929", 1_000_000, Some(3.0 + 15.0 + 3.75 + 0.3)),
            ("claude-haiku-5-5", 10_000, Some((0.1 + 0.5 + 0.125 + 0.01) / 100.0)),
            ("claude-haiku-5-5", 1_000_000, Some(0.5 + 2.5 + 0.625 + 0.05)),
            ("llama", 1_000_000, None),
        ];
        for (model, tokens, cost) in cases {
            let seen = Prices::default().cost(model, &usage(tokens));
            assert_eq!(seen.map(|c| (c * 1e9).round()), cost.map(|c: f64| (c * 1e9).round()), "{model}");
        }
    }

    #[test]
    fn an_operator_has_the_last_word() {
        let row = "[[price]]\nmodel = \"claude-haiku-5-5\"\ninput = 1\noutput = 2\ncache_write = 3\ncache_read = 4";
        let prices = Prices::overridden_by(row).unwrap();
        let rates = Rates { input: 1.0, output: 2.0, cache_write: 3.0, cache_read: 4.0 };
        assert_eq!(prices.of("claude-haiku-5-5", 200_000), Some(rates));
        assert!(prices.know("claude-opus-5"));
        for bad in ["[[price]]\nmodel = \"x\"", &row.replace("= 1", "= -1"), &format!("{row}\ntypo = 1"), "["] {
            assert_eq!(Prices::overridden_by(bad).unwrap_err().code, "prices.invalid", "{bad}");
        }
    }
}
