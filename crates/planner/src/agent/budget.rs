//! What a call may cost, reckoned before it is made.

use super::{Caps, Spent};
use crate::Prices;
use domain::{Fault, Kind};

/// A reply shorter than this is not worth its prompt.
const SHORTEST_REPLY: u64 = 512;
/// Fewer bytes to a token than texts and JSON have: a prompt is rather thought too long than too short.
const BYTES_PER_TOKEN: u64 = 2;

/// What is known of the size of prompts, from the last call.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Measured {
    pub bytes: u64,
    pub tokens: u64,
}

impl Measured {
    /// Tokens of a prompt of so many bytes that begins like the last one.
    pub fn estimate(&self, bytes: u64) -> u64 {
        self.tokens + bytes.saturating_sub(self.bytes).div_ceil(BYTES_PER_TOKEN)
    }
}

/// What the next call may do.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Allowance {
    pub max_tokens: u64,
    /// There will not be enough for another one.
    pub is_last: bool,
}

/// The longest reply that the rest of the budget pays for, the prompt at its dearest rate.
pub(super) fn allow(
    prices: &Prices,
    model: &str,
    caps: &Caps,
    spent: &Spent,
    prompt_tokens: u64,
) -> Result<Allowance, Fault> {
    let Some(rates) = prices.of(model, prompt_tokens) else {
        return Ok(Allowance { max_tokens: caps.max_tokens, is_last: false });
    };
    let rest = caps.max_budget_usd - spent.cost_usd.unwrap_or_default();
    let prompt = prompt_tokens as f64 * rates.input.max(rates.cache_write) / 1e6;
    let per_token = rates.output / 1e6;
    let affordable = if per_token > 0.0 { ((rest - prompt) / per_token).max(0.0) as u64 } else { u64::MAX };
    let max_tokens = caps.max_tokens.min(affordable);
    if rest < prompt || max_tokens < SHORTEST_REPLY.min(caps.max_tokens) {
        let budget = caps.max_budget_usd;
        return Err(Fault::new(
            Kind::ResourceExceeded,
            "model.budget",
            format!("the budget of US$ {budget:.2} for one request does not pay for another call of the model"),
        ));
    }
    let dearest = prompt + max_tokens as f64 * per_token;
    Ok(Allowance { max_tokens, is_last: rest - dearest < dearest })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_allowed_as_far_as_the_budget_goes() {
        // claude-sonnet-5-5: US$ 2.50 a million to write the prompt, 10 for the reply.
        let cases = [
            ("claude-sonnet-5-5", 0.50, 0.0, 10_000, Ok((8_192, false))),
            ("claude-sonnet-5-5", 0.15, 0.0, 10_000, Ok((8_192, true))),
            // 2,500, rounded down from what floating point makes of it.
            ("claude-sonnet-5-5", 0.50, 0.45, 10_000, Ok((2_499, true))),
            ("claude-sonnet-5-5", 0.50, 0.474, 10_000, Err("model.budget")),
            ("claude-sonnet-5-5", 0.50, 0.60, 10, Err("model.budget")),
            ("claude-sonnet-5-5", 0.01, 0.0, 10_000, Err("model.budget")),
            ("a model without a price", 0.01, 0.0, 10_000, Ok((8_192, false))),
        ];
        for (model, budget, cost, prompt, expected) in cases {
            let caps = Caps { max_budget_usd: budget, ..Caps::default() };
            let spent = Spent { cost_usd: Some(cost), ..Spent::default() };
            let allowed = allow(&Prices::default(), model, &caps, &spent, prompt);
            let seen = allowed.map(|a| (a.max_tokens, a.is_last)).map_err(|fault| fault.code);
            assert_eq!(seen, expected.map_err(str::to_owned), "{model} {budget} {cost} {prompt}");
        }
    }
}
