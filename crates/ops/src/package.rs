//! Approved scripts, signed for one device.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use domain::package::{KeyList, Package, SignedKeys, SignedPackage, key_id, signed_bytes, signed_key_bytes};
use domain::{Fault, sha256_hex};
use ed25519_dalek::{Signer as _, SigningKey};
use jiff::{SignedDuration, Timestamp};
use policy::script::ApprovedScript;
use std::fmt;

/// The house's key for packages. While keys are replaced, devices trust the old and the new one.
pub struct Signer {
    key: SigningKey,
}

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Signer({})", self.key_id())
    }
}

/// Who gets a package, by whose word, and for how long.
#[derive(Debug, Clone)]
pub struct Order {
    pub package_id: String,
    pub device_id: String,
    pub approved_by: Vec<String>,
    pub now: Timestamp,
    pub lifetime: SignedDuration,
}

impl Signer {
    pub fn from_seed(seed: &[u8; 32]) -> Self {
        Self { key: SigningKey::from_bytes(seed) }
    }

    /// For devices to trust, in hex.
    pub fn public_key(&self) -> String {
        hex::encode(self.key.verifying_key().as_bytes())
    }

    pub fn key_id(&self) -> String {
        key_id(self.key.verifying_key().as_bytes())
    }

    /// The keys that devices are to trust from now on, for those that trust this one.
    pub fn sign_keys(&self, list: &KeyList) -> Result<SignedKeys, Fault> {
        let payload = serde_json::to_vec(list).map_err(|_| Fault::internal("keys.json"))?;
        let signature = self.key.sign(&signed_key_bytes(&payload));
        Ok(SignedKeys {
            key_id: self.key_id(),
            signature: hex::encode(signature.to_bytes()),
            payload: STANDARD.encode(payload),
        })
    }

    /// Only what policy has approved can be sealed. That enough people have said yes is the ledger's to know.
    pub fn seal(&self, approved: &ApprovedScript, order: &Order) -> Result<SignedPackage, Fault> {
        let package = Package {
            version: Package::VERSION,
            package_id: order.package_id.clone(),
            device_id: order.device_id.clone(),
            digest: approved.digest().to_owned(),
            script: STANDARD.encode(approved.script()),
            rollback: approved.rollback().map(|rollback| STANDARD.encode(rollback)),
            manifest: approved.manifest().clone(),
            intent: approved.intent().to_owned(),
            risk: approved.risk(),
            approved_by: order.approved_by.clone(),
            created_at: order.now,
            expires_at: order.now.checked_add(order.lifetime).map_err(|_| Fault::internal("package.lifetime"))?,
        };
        let payload = serde_json::to_vec(&package).map_err(|_| Fault::internal("package.json"))?;
        let signature = self.key.sign(&signed_bytes(&payload));
        Ok(SignedPackage {
            sha256: sha256_hex(&payload),
            key_id: self.key_id(),
            signature: hex::encode(signature.to_bytes()),
            payload: STANDARD.encode(payload),
        })
    }
}
