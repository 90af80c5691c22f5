//! Tokens of somebody else's: JWTs, signed with a shared secret (HS256) or with a key of a JWKS (RS256, ES256).
//!
//! Which algorithm a token must have follows from the key, never from the token: a public key is no secret for HS256,
//! and `none` is no algorithm. Everything that a token says of how it is to be checked (`jku`, `jwk`, `x5u`) is unread.

mod claims;
mod keys;
#[cfg(test)]
mod tests;
mod verify;

use crate::config::Jwt;
use claims::Person;
use domain::{Actor, Caller, Names, Origin, RequestId};
use jiff::Timestamp;
use keys::Keys;

/// The longest token that is looked at.
const MAX_BYTES: usize = 16 * 1024;

/// Checks tokens by what configuration says of them.
pub struct Verifier {
    config: Jwt,
    names: Names,
    keys: Keys,
}

impl Verifier {
    /// None where no key is configured: then no JWT is taken.
    pub fn new(config: &Jwt, names: Names) -> Option<Self> {
        let keys = Keys::new(config)?;
        Some(Self { config: config.clone(), names, keys })
    }

    /// Whether it looks like a JWT at all: our own tokens have no dots.
    pub fn is_jwt(secret: &str) -> bool {
        secret.bytes().filter(|byte| *byte == b'.').count() == 2
    }

    /// Whose token it is. Why it is none goes to the log: whoever sends a wrong one learns nothing.
    pub async fn caller(&self, token: &str, request_id: RequestId) -> Option<Caller> {
        match self.person(token, Timestamp::now()).await {
            Ok(Person { subject, role, claims }) => {
                let actor = self.names.write(&Actor::new(Origin::Jwt, subject));
                Some(Caller { actor, role, claims, request_id, end_user: None })
            }
            Err(reason) => {
                tracing::info!(reason, "a JWT was refused");
                None
            }
        }
    }

    async fn person(&self, token: &str, now: Timestamp) -> Result<Person, &'static str> {
        let token = verify::Token::parse(token)?;
        let keys = self.keys.current(token.algorithm()?, token.kid()).await;
        let payload = token.verified(&keys)?;
        claims::check(&self.config, &payload, now)
    }
}
