//! How often one actor may ask.

use super::HttpFault;
use crate::House;
use crate::config::Rate;
use domain::{Fault, Kind};
use governor::clock::{Clock, DefaultClock};
use governor::{DefaultDirectRateLimiter, DefaultKeyedRateLimiter, Quota, RateLimiter};
use ledger::Pace;
use std::num::NonZeroU32;
use std::time::Duration;

pub struct Rates {
    limiter: DefaultKeyedRateLimiter<String>,
    refusals: DefaultDirectRateLimiter,
    /// The same rate, counted over all servers.
    pace: Pace,
}

/// Refused tokens that are recorded each second.
const REFUSALS: NonZeroU32 = NonZeroU32::MIN.saturating_add(4);

impl Rates {
    pub fn new(rate: &Rate) -> Self {
        let quota = Quota::per_second(rate.per_second).allow_burst(rate.burst);
        let pace = Pace { burst: rate.burst.get(), interval: Duration::from_secs(1) / rate.per_second.get() };
        Self { limiter: RateLimiter::keyed(quota), refusals: RateLimiter::direct(Quota::per_second(REFUSALS)), pace }
    }

    /// Counts a request. What one server refuses by itself costs the ledger nothing, however many they are.
    pub async fn admit(&self, house: &House, actor: &str) -> Result<(), HttpFault> {
        let here = self.limiter.check_key(&actor.to_owned());
        here.map_err(|not_until| too_many(house, actor, not_until.wait_time_from(DefaultClock::default().now())))?;
        let everywhere = house.ledger.admit(actor, self.pace).await.map_err(Fault::from)?;
        everywhere.map_err(|wait| too_many(house, actor, wait))
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

fn too_many(house: &House, actor: &str, wait: Duration) -> HttpFault {
    house.metrics.rate_limited.inc();
    let seconds = wait.as_secs() + 1;
    let message = format!("`{actor}` sends more requests than it may");
    let mut fault = HttpFault::new(Kind::RateLimited, "request.rate_limited", message);
    fault.fault.hint = format!("wait {seconds} s, then send fewer at a time");
    fault.retry_after = Some(seconds);
    fault
}
