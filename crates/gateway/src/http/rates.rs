//! How often one actor may ask, and how often all actors of a role together.

use super::HttpFault;
use crate::House;
use crate::config::{Config, Rate};
use domain::{Caller, Fault, Kind};
use governor::clock::{Clock, DefaultClock};
use governor::{DefaultDirectRateLimiter, DefaultKeyedRateLimiter, Quota, RateLimiter};
use ledger::Pace;
use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::time::Duration;

pub struct Rates {
    actors: DefaultKeyedRateLimiter<String>,
    /// The same rate, counted over all servers.
    pace: Pace,
    /// Roles that have a rate of their own.
    roles: BTreeMap<String, Shared>,
    refusals: DefaultDirectRateLimiter,
}

/// One rate that several actors share.
struct Shared {
    limiter: DefaultDirectRateLimiter,
    pace: Pace,
}

/// Refused tokens that are recorded each second.
const REFUSALS: NonZeroU32 = NonZeroU32::MIN.saturating_add(4);

impl Rates {
    pub fn new(config: &Config) -> Self {
        let shared = |rate: &Rate| Shared { limiter: RateLimiter::direct(quota(rate)), pace: pace(rate) };
        Self {
            actors: RateLimiter::keyed(quota(&config.requests)),
            pace: pace(&config.requests),
            roles: config.role_requests.iter().map(|(role, rate)| (role.clone(), shared(rate))).collect(),
            refusals: RateLimiter::direct(Quota::per_second(REFUSALS)),
        }
    }

    /// Counts a request. What one server refuses by itself costs the ledger nothing, however many they are; what an actor
    /// sends beyond its own rate costs the others of its role nothing.
    pub async fn admit(&self, house: &House, caller: &Caller) -> Result<(), HttpFault> {
        let Caller { actor, role, .. } = caller;
        let mine = |wait| too_many(house, &format!("`{actor}` sends more requests than it may"), wait);
        self.actors.check_key(actor).map_err(|until| mine(until.wait_time_from(DefaultClock::default().now())))?;
        house.ledger.admit(&format!("actor:{actor}"), self.pace).await.map_err(Fault::from)?.map_err(mine)?;

        let Some(shared) = self.roles.get(role) else { return Ok(()) };
        let ours =
            |wait| too_many(house, &format!("callers with the role `{role}` send more requests than they may"), wait);
        shared.limiter.check().map_err(|until| ours(until.wait_time_from(DefaultClock::default().now())))?;
        house.ledger.admit(&format!("role:{role}"), shared.pace).await.map_err(Fault::from)?.map_err(ours)
    }

    /// Whether a refused token is still to be recorded this second.
    pub fn note_refusal(&self) -> bool {
        self.refusals.check().is_ok()
    }

    /// Forgets actors that have been quiet, so that the table does not grow for ever.
    pub fn forget_quiet(&self) {
        self.actors.retain_recent();
    }
}

fn quota(rate: &Rate) -> Quota {
    Quota::per_second(rate.per_second).allow_burst(rate.burst)
}

fn pace(rate: &Rate) -> Pace {
    Pace { burst: rate.burst.get(), interval: Duration::from_secs(1) / rate.per_second.get() }
}

fn too_many(house: &House, message: &str, wait: Duration) -> HttpFault {
    house.metrics.rate_limited.inc();
    let seconds = wait.as_secs() + 1;
    let mut fault = HttpFault::new(Kind::RateLimited, "request.rate_limited", message);
    fault.fault.hint = format!("wait {seconds} s, then send fewer at a time");
    fault.retry_after = Some(seconds);
    fault
}
