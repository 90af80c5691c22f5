//! An approved script on its way to one device.
//!
//! What is signed are the bytes of the [`Package`] as they travel: nobody has to write JSON twice in the same way. The
//! house signs (`ops`), the device checks (`policy::script::open`).

use crate::{Manifest, Risk, ScriptProposal, sha256_hex};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What one device is to run, until when, and who said so.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Package {
    /// Of this format.
    pub version: u32,
    /// One of a kind: a device runs it at most once, whatever it is sent.
    pub package_id: String,
    /// The device that it is for.
    pub device_id: String,
    /// What was approved: [`ScriptProposal::digest`] of the parts below.
    pub digest: String,
    /// In base64, so that not one byte of it is touched on the way.
    pub script: String,
    /// In base64.
    pub rollback: Option<String>,
    pub manifest: Manifest,
    pub intent: String,
    pub risk: Risk,
    /// Who approved it.
    pub approved_by: Vec<String>,
    #[schemars(with = "String")]
    pub created_at: Timestamp,
    /// Afterwards no device runs it.
    #[schemars(with = "String")]
    pub expires_at: Timestamp,
}

impl Package {
    pub const VERSION: u32 = 1;
}

/// A package with a signature, as it is sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SignedPackage {
    /// The JSON of a [`Package`], in base64: these bytes are what is signed.
    pub payload: String,
    /// SHA-256 of these bytes, in hex.
    pub sha256: String,
    /// Which of the house's keys signed: keys are replaced from time to time.
    pub key_id: String,
    /// ed25519 over [`signed_bytes`], in hex.
    pub signature: String,
}

/// What the signature is over: the payload, and what kind of thing it is, so that a signature made for anything else of
/// the house is none of a package.
pub fn signed_bytes(payload: &[u8]) -> Vec<u8> {
    [b"gatehouse package v1\n", payload].concat()
}

/// The name of a public key: the first 16 digits of its SHA-256.
pub fn key_id(public_key: &[u8; 32]) -> String {
    sha256_hex(public_key).chars().take(16).collect()
}

/// Which keys devices are to trust from now on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KeyList {
    /// Counts up: a device never goes back.
    pub serial: u64,
    /// In hex; the one that signs first.
    pub keys: Vec<String>,
}

impl KeyList {
    /// Keys that are trusted at a time.
    pub const MOST: usize = 8;
}

/// A list of keys, signed with one that devices trusted before it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SignedKeys {
    /// The JSON of a [`KeyList`], in base64.
    pub payload: String,
    pub key_id: String,
    /// ed25519 over [`signed_key_bytes`], in hex.
    pub signature: String,
}

/// What the signature of a list of keys is over.
pub fn signed_key_bytes(payload: &[u8]) -> Vec<u8> {
    [b"gatehouse keys v1\n", payload].concat()
}

/// Says that its holder has claimed a package, and may tell what came of it. The house keeps its SHA-256 only.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct ClaimToken(String);

impl ClaimToken {
    /// From 32 random bytes.
    pub fn from_random(bytes: &[u8; 32]) -> Self {
        Self(format!("ghc_{}", hex::encode(bytes)))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn sha256(&self) -> String {
        sha256_hex(self.0.as_bytes())
    }
}

impl fmt::Debug for ClaimToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ClaimToken(…)")
    }
}

/// How a package ended on its device, as it is reported and recorded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScriptResult {
    pub package_id: String,
    pub digest: String,
    /// Whether its rollback ran, and not the script itself.
    pub rollback: bool,
    pub ending: Ending,
    /// Why it was refused, if it was: a code of [`crate::Fault`].
    pub code: Option<String>,
    pub exit_code: Option<i32>,
    #[schemars(with = "String")]
    pub started_at: Timestamp,
    pub duration_ms: u64,
    pub usage: Usage,
    /// What held it: `T1`.
    pub sandbox_tier: Option<String>,
    /// Limits that the device could not enforce.
    pub unenforced: Vec<String>,
    /// Whether output was cut.
    pub truncated: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// It ran to its end; the exit code says how it fared.
    Exited,
    TimedOut,
    OutOfMemory,
    OutputExceeded,
    Killed,
    /// The device did not run it.
    Refused,
    /// The device went down while it ran: nobody knows how far it came, and it is not run again.
    Interrupted,
}

/// What a run has used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    pub cpu_ms: u64,
    pub output_bytes: u64,
    /// The most memory that all of it had at a time, where the device can tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_peak_kb: Option<u64>,
}

/// The parts that were approved, put together again.
pub fn proposal_of(package: &Package, script: String, rollback: Option<String>) -> ScriptProposal {
    ScriptProposal { script, rollback, manifest: package.manifest.clone(), intent: package.intent.clone() }
}
