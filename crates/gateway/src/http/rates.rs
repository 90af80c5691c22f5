//! How often one actor may ask.

use super::HttpFault;
use crate::House;
use crate::config::Rate;
use domain::Kind;
use governor::clock::{Clock, DefaultClock};
use governor::{DefaultDirectRateLimiter, DefaultKeyedRateLimiter, Quota, RateLimiter};
use std::num::NonZeroU32;

pub struct Rates {
    limiter: DefaultKeyedRateLimiter<String>,
    refusals: DefaultDirectRateLimiter,
}

/// Refused tokens that are recorded each second.
const REFUSALS: NonZeroU32 = NonZeroU32::MIN.saturating_add(4);

impl Rates {
    pub fn new(rate: &Rate) -> Self {
        let quota = Quota::per_second(rate.per_second).allow_burst(rate.burst);
        Self { limiter: RateLimiter::keyed(quota), refusals: RateLimiter::direct(Quota::per_second(REFUSALS)) }
    }

    pub fn admit(&self, house: &House, actor: &str) -> Result<(), HttpFault> {
        self.limiter.check_key(&actor.to_owned()).map_err(|not_until| {
            house.metrics.rate_limited.inc();
            let wait = not_until.wait_time_from(DefaultClock::default().now());
            let seconds = wait.as_secs() + 1;
            let mut fault = HttpFault::new(
                Kind::RateLimited,
                "request.rate_limited",
                format!("`{actor}` sends more requests than it may"),
            );
            fault.fault.hint = format!("wait {seconds} s, then send fewer at a time");
            fault.retry_after = Some(seconds);
            fault
        })
    }

    /// Whether a refused token is still to be recorded this second.
    pub fn note_refusal(&self) -> bool {
        self.refusals.check().is_ok()
    }

    /// Forgets actors that have been quiet, so that the table does not grow for ever.
    pub fn forget_quiet(&self) {
        self.limiter.retain_recent();
    }
}
