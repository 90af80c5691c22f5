//! Packages changed behind the house's back: in its database, and with its own key.

use crate::scene::Scene;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use domain::package::{Package, SignedPackage, key_id, signed_bytes};
use domain::sha256_hex;
use ed25519_dalek::{Signer, SigningKey};
use serde_json::Value;
use std::fs;
use std::path::Path;

pub enum Forged {
    /// Another payload with a checksum that fits; the signature can't.
    Payload(fn(&mut Value)),
    Signed(fn(&mut SignedPackage)),
    /// Signed with a key of their own.
    ByAStranger,
    /// Signed with the house's own key.
    WithTheKey(Box<dyn Fn(&mut Package)>),
    Another(Box<SignedPackage>),
}

/// As if its device had fetched the package of a proposal two days ago and had said nothing since.
pub fn age(data: &Path, kept: &Value) {
    let sql = "UPDATE packages SET lease_until = ?2, expires_at = ?2, heard_at = ?2 WHERE proposal_id = ?1";
    let long_ago = jiff::Timestamp::now() - jiff::SignedDuration::from_hours(48);
    let values = [kept["proposal_id"].as_str().unwrap(), &format!("{long_ago:.9}")];
    assert_eq!(ledger(data).execute(sql, values).unwrap(), 1);
}

/// The package of a proposal, as it lies in the queue.
pub fn signed(scene: &Scene, kept: &Value) -> SignedPackage {
    let sql = "SELECT signed_json FROM packages WHERE proposal_id = ?1";
    let text: String =
        ledger(scene.server.data()).query_row(sql, [kept["proposal_id"].as_str().unwrap()], |row| row.get(0)).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Puts another one in its place.
pub fn put(scene: &Scene, kept: &Value, package: &SignedPackage) {
    let sql = "UPDATE packages SET signed_json = ?2 WHERE proposal_id = ?1";
    let values = [kept["proposal_id"].as_str().unwrap(), &serde_json::to_string(package).unwrap()];
    assert_eq!(ledger(scene.server.data()).execute(sql, values).unwrap(), 1);
}

fn ledger(data: &Path) -> rusqlite::Connection {
    let ledger = rusqlite::Connection::open(data.join("ledger.sqlite")).unwrap();
    ledger.busy_timeout(std::time::Duration::from_secs(10)).unwrap();
    ledger
}

pub fn made(scene: &Scene, kept: &Value, forged: Forged) -> SignedPackage {
    let mut original = signed(scene, kept);
    let payload = STANDARD.decode(&original.payload).unwrap();
    match forged {
        Forged::Payload(change) => {
            let mut package: Value = serde_json::from_slice(&payload).unwrap();
            change(&mut package);
            let payload = serde_json::to_vec(&package).unwrap();
            SignedPackage { sha256: sha256_hex(&payload), payload: STANDARD.encode(payload), ..original }
        }
        Forged::Signed(change) => {
            change(&mut original);
            original
        }
        Forged::ByAStranger => seal(&SigningKey::from_bytes(&[9; 32]), &payload),
        Forged::WithTheKey(change) => {
            let mut package: Package = serde_json::from_slice(&payload).unwrap();
            change(&mut package);
            let seed = fs::read_to_string(scene.server.data().join("keys/packages.ed25519")).unwrap();
            let mut bytes = [0; 32];
            hex::decode_to_slice(seed.trim(), &mut bytes).unwrap();
            seal(&SigningKey::from_bytes(&bytes), &serde_json::to_vec(&package).unwrap())
        }
        Forged::Another(package) => *package,
    }
}

/// What a package says.
pub fn opened(signed: &SignedPackage) -> Package {
    serde_json::from_slice(&STANDARD.decode(&signed.payload).unwrap()).unwrap()
}

/// A package, signed with the key of this seed.
pub fn sealed(seed: &[u8; 32], package: &Package) -> SignedPackage {
    seal(&SigningKey::from_bytes(seed), &serde_json::to_vec(package).unwrap())
}

fn seal(key: &SigningKey, payload: &[u8]) -> SignedPackage {
    SignedPackage {
        payload: STANDARD.encode(payload),
        sha256: sha256_hex(payload),
        key_id: key_id(key.verifying_key().as_bytes()),
        signature: hex::encode(key.sign(&signed_bytes(payload)).to_bytes()),
    }
}
