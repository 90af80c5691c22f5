//! Guessing is slow: how many wrong secrets one address may send.
//!
//! Two limits, both counted in wrong tokens, sign-in codes and session cookies only. Guesses at *one* secret are used up
//! soon, and then not even the right one is looked at until the wait is over: that is what makes guessing hopeless.
//! Wrong secrets of *all* kinds together get "too many" instead of "unknown" after a while, but a good one still passes:
//! an agent with a stale token must not lock out all others behind the same address.

use super::jwt::Verifier;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// So many at once, and then one each `interval`.
struct Pace {
    burst: u32,
    interval: Duration,
}

const ONE_SECRET: Pace = Pace { burst: 10, interval: Duration::from_secs(6) };
const ONE_ADDRESS: Pace = Pace { burst: 60, interval: Duration::from_secs(1) };
/// Beyond this many, those whose wait is over are forgotten, then all: memory is not an attacker's to fill.
const MOST_REMEMBERED: usize = 50_000;
/// As much of a secret as tells which one it is: kind and id, never the random part.
const ID_CHARS: usize = 20;

#[derive(PartialEq, Eq, Hash)]
enum Guesser {
    Address(IpAddr),
    Secret(IpAddr, String),
}

/// Who has sent what is wrong, and until when that counts.
#[derive(Default)]
pub struct Attempts {
    paid_until: Mutex<HashMap<Guesser, Instant>>,
}

impl Attempts {
    /// Before a secret is looked at: how long to wait, if guesses at it are used up.
    pub fn admit(&self, from: IpAddr, secret: &str, now: Instant) -> Result<(), Duration> {
        let paid_until = self.paid_until.lock().unwrap_or_else(PoisonError::into_inner);
        if paid_until.is_empty() {
            return Ok(());
        }
        let until = paid_until.get(&Guesser::Secret(from, id_of(secret)));
        until.map_or(Ok(()), |until| ONE_SECRET.room(*until, now))
    }

    /// After it was found wrong: counts it. How long to wait, if this address has sent too many.
    pub fn failed(&self, from: IpAddr, secret: &str, now: Instant) -> Result<(), Duration> {
        let mut paid_until = self.paid_until.lock().unwrap_or_else(PoisonError::into_inner);
        if paid_until.len() >= MOST_REMEMBERED {
            paid_until.retain(|_, until| *until > now);
            if paid_until.len() >= MOST_REMEMBERED {
                paid_until.clear();
            }
        }
        let mut pay = |guesser, pace: &Pace| {
            let until = paid_until.entry(guesser).or_insert(now);
            let room = pace.room(*until, now);
            if room.is_ok() {
                *until = (*until).max(now) + pace.interval;
            }
            room
        };
        pay(Guesser::Address(from), &ONE_ADDRESS)?;
        let _ = pay(Guesser::Secret(from, id_of(secret)), &ONE_SECRET);
        Ok(())
    }

    /// Forgets those whose wait is over.
    pub fn forget_quiet(&self, now: Instant) {
        self.paid_until.lock().unwrap_or_else(PoisonError::into_inner).retain(|_, until| *until > now);
    }
}

impl Pace {
    fn room(&self, paid_until: Instant, now: Instant) -> Result<(), Duration> {
        let ahead = paid_until.saturating_duration_since(now);
        let most = self.interval * (self.burst - 1);
        if ahead <= most { Ok(()) } else { Err(ahead - most) }
    }
}

/// JWTs of one issuer begin alike, whoever's they are: each is a secret of its own, and nobody guesses a signature.
fn id_of(secret: &str) -> String {
    if Verifier::is_jwt(secret) {
        return domain::sha256_hex(secret.as_bytes());
    }
    secret.chars().take(ID_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOME: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);
    const AWAY: IpAddr = IpAddr::V4(std::net::Ipv4Addr::BROADCAST);
    const TOKEN: &str = "gh_0123456789abcdef_secret";

    #[test]
    fn after_ten_guesses_one_secret_is_not_looked_at_until_the_wait_is_over() {
        let (attempts, start) = (Attempts::default(), Instant::now());
        for _ in 0..10 {
            assert_eq!(attempts.admit(HOME, TOKEN, start), Ok(()));
            assert_eq!(attempts.failed(HOME, TOKEN, start), Ok(()));
        }
        let wait = attempts.admit(HOME, TOKEN, start).expect_err("guesses are used up");
        assert!(wait <= ONE_SECRET.interval && !wait.is_zero(), "{wait:?}");
        assert_eq!(attempts.admit(AWAY, TOKEN, start), Ok(()), "its owner elsewhere is served");
        assert_eq!(attempts.admit(HOME, "gh_fedcba9876543210_secret", start), Ok(()), "so are others here");

        let later = start + wait;
        assert_eq!(attempts.admit(HOME, TOKEN, later), Ok(()), "one more guess");
        assert_eq!(attempts.failed(HOME, TOKEN, later), Ok(()));
        assert!(attempts.admit(HOME, TOKEN, later).is_err(), "and no other");
    }

    #[test]
    fn jwts_of_one_issuer_are_not_one_secret() {
        let (attempts, start) = (Attempts::default(), Instant::now());
        let jwt = |who: &str| format!("eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.{who}.signature");
        (0..10).for_each(|_| assert_eq!(attempts.failed(HOME, &jwt("stale"), start), Ok(())));
        assert!(attempts.admit(HOME, &jwt("stale"), start).is_err());
        assert_eq!(attempts.admit(HOME, &jwt("good"), start), Ok(()), "somebody else's is looked at");
    }

    #[test]
    fn an_address_that_tries_many_secrets_is_told_to_wait() {
        let (attempts, start) = (Attempts::default(), Instant::now());
        let guess = |i: usize, now| attempts.failed(HOME, &format!("gh_{i:016x}_"), now);
        assert!((0..60).all(|i| guess(i, start).is_ok()));
        assert!(guess(60, start).is_err());
        assert_eq!(guess(61, start + ONE_ADDRESS.interval), Ok(()));
        assert_eq!(attempts.failed(AWAY, TOKEN, start), Ok(()));
    }

    #[test]
    fn what_is_over_is_forgotten_and_memory_is_bounded() {
        let (attempts, start) = (Attempts::default(), Instant::now());
        for i in 0..(MOST_REMEMBERED as u32 + 10) {
            let _ = attempts.failed(IpAddr::V4(i.into()), TOKEN, start);
        }
        assert!(attempts.paid_until.lock().unwrap().len() <= MOST_REMEMBERED + 1);
        attempts.forget_quiet(start + Duration::from_secs(600));
        assert!(attempts.paid_until.lock().unwrap().is_empty());
    }
}
