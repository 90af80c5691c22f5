//! Who asks.

use crate::RequestId;
use std::collections::BTreeMap;

/// The identified sender of one request: the only identity that policy, engines and the ledger see.
#[derive(Debug, Clone)]
pub struct Caller {
    /// The person, agent or service, by its whole name ([`crate::Names`]): where it comes from is a part of it.
    pub actor: String,
    /// The role its token grants. Contracts may raise or lower it for one resource (`grants`).
    pub role: String,
    /// Further claims of the token, for `rows` predicates (`$claim`).
    pub claims: BTreeMap<String, String>,
    pub request_id: RequestId,
    /// Whom the caller says it asks for. Recorded and believed by nobody: it decides nothing.
    pub end_user: Option<String>,
}

impl Caller {
    /// The role that sees tables without a contract, and every caller's runs.
    pub const ADMIN: &str = "admin";

    pub fn new(actor: impl Into<String>, role: impl Into<String>) -> Self {
        Self {
            actor: actor.into(),
            role: role.into(),
            claims: BTreeMap::new(),
            request_id: RequestId::new(),
            end_user: None,
        }
    }

    pub fn is_admin(&self) -> bool {
        self.role == Self::ADMIN
    }

    /// The version of a resource's contract that the token is pinned to, by its claim `contract.RESOURCE`.
    pub fn pin(&self, resource: &str) -> Option<&str> {
        self.claims.get(&format!("contract.{resource}")).map(String::as_str)
    }

    /// What a `rows` predicate means by `$name`.
    pub fn claim(&self, name: &str) -> Option<&str> {
        match name {
            "actor" => Some(&self.actor),
            "role" => Some(&self.role),
            other => self.claims.get(other).map(String::as_str),
        }
    }
}
