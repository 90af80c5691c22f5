//! The device's side: from a signed package to what may run here and now.

use super::approved::ApprovedScript;
use super::keys::TrustedKeys;
use super::review::{Grants, ScriptPolicy};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use domain::package::{Package, SignedPackage, proposal_of, signed_bytes};
use domain::{Fault, Kind, sha256_hex};
use jiff::Timestamp;

/// Larger than any package that the house makes.
const MAX_PAYLOAD: usize = 512 * 1024;
/// How far the clocks of house and device may be apart.
const SKEW_SECONDS: i64 = 300;

/// What a package is checked against.
pub struct Opening<'a> {
    pub keys: &'a TrustedKeys,
    pub device_id: &'a str,
    pub grants: &'a Grants,
    pub now: Timestamp,
}

impl ScriptPolicy {
    /// Signature, digest, target and time, then the same check as before the approval, under the device's own settings.
    pub fn open(&self, signed: &SignedPackage, opening: &Opening<'_>) -> Result<(Package, ApprovedScript), Fault> {
        let payload = verified(signed, opening.keys)?;
        let package: Package = serde_json::from_slice(&payload)
            .map_err(|_| no("package.malformed", "the signed payload is no package", "update the device's program"))?;
        in_time_and_place(&package, opening)?;
        let script = decode(&package.script)?;
        let rollback = package.rollback.as_deref().map(decode).transpose()?;
        let proposal = proposal_of(&package, script, rollback);
        if proposal.digest() != package.digest {
            return Err(no(
                "package.digest_mismatch",
                "the package is not what was approved",
                "have it approved again",
            ));
        }
        let approved = self.check(&proposal, opening.grants)?;
        if approved.risk() > package.risk {
            return Err(no(
                "package.risk_understated",
                "the script is riskier than its approval says",
                "have it approved again",
            ));
        }
        Ok((package, approved))
    }
}

fn verified(signed: &SignedPackage, keys: &TrustedKeys) -> Result<Vec<u8>, Fault> {
    if signed.payload.len() > MAX_PAYLOAD {
        return Err(no("package.too_large", "the package is too large", "do less in one script"));
    }
    let bad =
        || no("package.bad_signature", "the package is not signed by the house", "check the device's trusted keys");
    let payload = STANDARD.decode(&signed.payload).map_err(|_| bad())?;
    if sha256_hex(&payload) != signed.sha256 {
        return Err(no("package.checksum_mismatch", "the package was damaged on its way", "claim it again"));
    }
    match keys.verify(&signed.key_id, &signed.signature, &signed_bytes(&payload)) {
        Some(true) => Ok(payload),
        Some(false) => Err(bad()),
        None => {
            let message = "the package is signed with a key that this device does not trust";
            Err(no("package.unknown_key", message, "enrol the device anew"))
        }
    }
}

fn in_time_and_place(package: &Package, opening: &Opening<'_>) -> Result<(), Fault> {
    if package.version != Package::VERSION {
        return Err(no("package.version", "the package is of another version", "update the device's program"));
    }
    if package.device_id != opening.device_id {
        return Err(no(
            "package.wrong_device",
            "the package is for another device",
            "claim with this device's own token",
        ));
    }
    let now = opening.now.as_second();
    if now >= package.expires_at.as_second() {
        return Err(no("package.expired", "the package has expired", "have it approved again"));
    }
    if now + SKEW_SECONDS < package.created_at.as_second() {
        return Err(no("package.from_the_future", "the package is younger than this device's clock", "set the clock"));
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if package.package_id.is_empty() || package.package_id.len() > 64 || !package.package_id.chars().all(plain) {
        return Err(no("package.malformed", "the package's id is not plain", "update the house"));
    }
    Ok(())
}

fn decode(text: &str) -> Result<String, Fault> {
    let bytes = STANDARD.decode(text).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    bytes.ok_or_else(|| no("package.malformed", "the script is not text in base64", "update the house"))
}

pub(super) fn no(code: &str, message: &str, hint: &str) -> Fault {
    Fault::new(Kind::Forbidden, code, message).hint(hint)
}
