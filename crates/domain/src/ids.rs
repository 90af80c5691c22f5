//! Identifiers. Each is its own type, so that a run is never looked up by a thread's id.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use uuid::Uuid;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $new:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Uuid);

        impl $name {
            /// A fresh identifier.
            #[allow(clippy::new_without_default, reason = "an id is never a default value")]
            pub fn new() -> Self {
                Self(Uuid::$new())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = uuid::Error;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Uuid::parse_str(text).map(Self)
            }
        }
    };
}

id!(
    /// One executed (or refused) proposal. Version 7, so that runs sort by time.
    RunId, now_v7
);
id!(
    /// The runs of one request share a session. Version 4, as spec 000 asks.
    SessionId, new_v4
);
id!(
    /// A conversation whose later questions may lean on earlier ones.
    ThreadId, new_v4
);

/// The id on every reply and in every log line: taken from `X-Request-ID` or made here.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RequestId(String);

impl RequestId {
    const MAX: usize = 128;

    /// A fresh request id.
    #[allow(clippy::new_without_default, reason = "an id is never a default value")]
    pub fn new() -> Self {
        Self(Uuid::new_v4().to_string())
    }

    /// A caller's own id, if it is short and plain enough to be put into headers and logs.
    pub fn from_caller(text: &str) -> Option<Self> {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.:".contains(c);
        (!text.is_empty() && text.len() <= Self::MAX && text.chars().all(plain)).then(|| Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
