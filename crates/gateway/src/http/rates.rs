//! How often one actor may ask.

use super::HttpFault;
use crate::House;
use crate::config::Rate;
use domain::Kind;
use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};

pub struct Rates {
    limiter: DefaultKeyedRateLimiter<String>,
}

impl Rates {
    pub fn new(rate: &Rate) -> Self {
        let quota = Quota::per_second(rate.per_second).allow_burst(rate.burst);
        Self { limiter: RateLimiter::keyed(quota) }
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

    /// Forgets actors that have been quiet, so that the table does not grow for ever.
    pub fn forget_quiet(&self) {
        self.limiter.retain_recent();
    }
}
