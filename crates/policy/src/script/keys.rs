//! Which of the house's keys a device believes, and how it comes to believe others.

use super::open::no;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use domain::Fault;
use domain::package::{KeyList, SignedKeys, key_id, signed_key_bytes};
use ed25519_dalek::{Signature, VerifyingKey};
use std::collections::BTreeMap;

/// The house's public keys that a device believes, by their ids. More than one while keys are being replaced.
#[derive(Debug, Clone, Default)]
pub struct TrustedKeys(BTreeMap<String, VerifyingKey>);

impl TrustedKeys {
    /// From keys in hex.
    pub fn parse<'a>(keys: impl IntoIterator<Item = &'a str>) -> Result<Self, Fault> {
        keys.into_iter().map(parse_key).collect::<Result<_, _>>().map(Self)
    }

    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Whether a key that is believed has signed these bytes; none where the key is not believed.
    pub(super) fn verify(&self, key_id: &str, signature: &str, bytes: &[u8]) -> Option<bool> {
        let key = self.0.get(key_id)?;
        let mut raw = [0; 64];
        let is_hex = hex::decode_to_slice(signature, &mut raw).is_ok();
        Some(is_hex && key.verify_strict(bytes, &Signature::from_bytes(&raw)).is_ok())
    }

    /// The keys to believe from now on, if one that is believed now has signed them. `None` where they are no younger
    /// than what was heard before: old word brings no retired key back.
    pub fn hear(&self, signed: &SignedKeys, heard: u64) -> Result<Option<KeyList>, Fault> {
        let bad = || no("keys.bad_signature", "the list of keys is not signed by the house", "enrol the device anew");
        let payload = STANDARD.decode(&signed.payload).map_err(|_| bad())?;
        match self.verify(&signed.key_id, &signed.signature, &signed_key_bytes(&payload)) {
            Some(true) => {}
            // Word of a time before or after ours: what is between them comes first.
            None => return Ok(None),
            Some(false) => return Err(bad()),
        }
        let list: KeyList = serde_json::from_slice(&payload).map_err(|_| bad())?;
        if list.keys.is_empty() || list.keys.len() > KeyList::MOST {
            return Err(bad());
        }
        Self::parse(list.keys.iter().map(String::as_str))?;
        Ok((list.serial > heard).then_some(list))
    }
}

fn parse_key(text: &str) -> Result<(String, VerifyingKey), Fault> {
    let wrong = || no("package.bad_key", "a trusted key is no ed25519 key", "give 64 hex digits");
    let mut bytes = [0; 32];
    hex::decode_to_slice(text.trim(), &mut bytes).map_err(|_| wrong())?;
    let key = VerifyingKey::from_bytes(&bytes).map_err(|_| wrong())?;
    if key.is_weak() {
        return Err(wrong());
    }
    Ok((key_id(&bytes), key))
}
