//! What a model, a log or the audit must not see, taken out of text.
//!
//! [`Redactor::redact`] replaces e-mail and network addresses, telephone numbers, names of machines and users, tokens and
//! keys by placeholders such as `<HOST_1>`. Within one request the same value always gets the same placeholder, so that
//! an analysis still sees which lines speak of the same machine. Which placeholder stands for what is kept apart, in
//! [`Masks`], for people who may see it; a model gets the text only.
//!
//! How values are recognised is data: `rules.txt` and `words/`. Every rule is a regular expression without backtracking,
//! so the time taken is linear in the length of the text.

mod accept;
mod find;
mod masks;
mod patterns;
mod token;
mod weak;
mod words;

pub use find::{Found, Redactor};
pub use masks::Masks;

use serde::{Deserialize, Serialize};

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sensitive {
    Email,
    Phone,
    Ip,
    Mac,
    Host,
    Token,
    User,
}

impl Sensitive {
    pub const ALL: [Self; 7] = [Self::Email, Self::Phone, Self::Ip, Self::Mac, Self::Host, Self::Token, Self::User];

    /// As the rules call it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Email => "email",
            Self::Phone => "phone",
            Self::Ip => "ip",
            Self::Mac => "mac",
            Self::Host => "host",
            Self::Token => "token",
            Self::User => "user",
        }
    }

    /// As its placeholders call it.
    fn label(self) -> &'static str {
        match self {
            Self::Email => "EMAIL",
            Self::Phone => "PHONE",
            Self::Ip => "IP",
            Self::Mac => "MAC",
            Self::Host => "HOST",
            Self::Token => "TOKEN",
            Self::User => "USER",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// Which network addresses stay. Loopback, netmasks, multicast and the like tell nothing and always do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Keep {
    /// Addresses of private networks: a fault in a route or a lease can hardly be found without them.
    pub private_ips: bool,
    pub public_ips: bool,
}

impl Default for Keep {
    fn default() -> Self {
        Self { private_ips: true, public_ips: false }
    }
}
