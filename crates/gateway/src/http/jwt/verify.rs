//! A JWT's form and its signature.

use super::MAX_BYTES;
use super::keys::{Algorithm, Key};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use serde_json::{Map, Value};

/// A token whose form is right and whose signature nobody has looked at yet.
pub struct Token<'t> {
    header: Header,
    /// What was signed: header and payload as they came.
    signed: &'t str,
    payload: &'t str,
    signature: Vec<u8>,
}

/// Of the header, only what helps to find a key. The rest is somebody's opinion of how to check their own token.
#[derive(Deserialize)]
struct Header {
    alg: String,
    kid: Option<String>,
    /// Extensions that must be understood: none is.
    crit: Option<Value>,
}

impl<'t> Token<'t> {
    pub fn parse(token: &'t str) -> Result<Self, &'static str> {
        if token.len() > MAX_BYTES {
            return Err("too long");
        }
        let (signed, signature) = token.rsplit_once('.').ok_or("not three parts")?;
        let (header, payload) = signed.split_once('.').ok_or("not three parts")?;
        let header: Header = serde_json::from_slice(&decode(header)?).map_err(|_| "no header")?;
        if header.crit.is_some() {
            return Err("extensions that are not understood");
        }
        Ok(Self { header, signed, payload, signature: decode(signature)? })
    }

    pub fn kid(&self) -> Option<&str> {
        self.header.kid.as_deref()
    }

    pub fn algorithm(&self) -> Result<Algorithm, &'static str> {
        Algorithm::parse(&self.header.alg).ok_or("an algorithm that is not taken")
    }

    /// The payload, if one of the keys that it may be signed with has signed it.
    pub fn verified(&self, keys: &[Key]) -> Result<Map<String, Value>, &'static str> {
        let algorithm = self.algorithm()?;
        // A key without an id may be meant by any token; a token without one may mean any key.
        let named = |key: &&Key| key.kid.is_none() || self.kid().is_none() || key.kid.as_deref() == self.kid();
        let mut fitting = keys.iter().filter(|key| key.algorithm() == algorithm).filter(named);
        if !fitting.any(|key| key.has_signed(self.signed.as_bytes(), &self.signature)) {
            return Err("no key has signed it");
        }
        serde_json::from_slice(&decode(self.payload)?).map_err(|_| "no claims")
    }
}

/// Strictly: no padding, no other alphabet, no stray bits.
fn decode(part: &str) -> Result<Vec<u8>, &'static str> {
    URL_SAFE_NO_PAD.decode(part).map_err(|_| "not base64url")
}
