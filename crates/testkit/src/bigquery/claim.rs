//! Claims to be a service account, looked at as closely as Google does (RFC 7523).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

/// Whose key file the gate makes.
pub const ACCOUNT: &str = "gatehouse@local.iam.gserviceaccount.com";
pub const GRANT: &str = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer";
const SCOPE: &str = "https://www.googleapis.com/auth/bigquery";
/// No claim holds for longer, in seconds.
const LONGEST: u64 = 3_600;

/// Whether a claim is the account's, signed with its key, meant for this giver of tokens, for this scope, and now.
pub fn holds(assertion: &str, public_key: &Path, giver: &str) -> bool {
    let Some((said, signature)) = assertion.rsplit_once('.') else { return false };
    let Some((header, claims)) = said.split_once('.') else { return false };
    let json = |part: &str| -> Option<Value> { serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).ok()?).ok() };
    let (Some(header), Some(claims)) = (json(header), json(claims)) else { return false };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (from, until) = (claims["iat"].as_u64().unwrap_or(u64::MAX), claims["exp"].as_u64().unwrap_or(0));
    header["alg"] == "RS256"
        && claims["iss"] == ACCOUNT
        && claims["aud"] == giver
        && claims["scope"] == SCOPE
        && from <= now + 1
        && now < until
        && until <= from + LONGEST
        && URL_SAFE_NO_PAD.decode(signature).is_ok_and(|signature| is_signed(said, &signature, public_key))
}

fn is_signed(said: &str, signature: &[u8], public_key: &Path) -> bool {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = |name: &str, bytes: &[u8]| {
        let path = dir.path().join(name);
        std::fs::write(&path, bytes).expect("a file");
        path
    };
    let (signature, said) = (file("signature", signature), file("said", said.as_bytes()));
    let openssl = Command::new("openssl")
        .args(["dgst", "-sha256", "-verify"])
        .arg(public_key)
        .arg("-signature")
        .arg(signature)
        .arg(said)
        .output();
    openssl.expect("openssl to run").status.success()
}
