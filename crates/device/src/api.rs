//! What device and house say to each other (docs/API.md, "Devices").

use domain::package::{ClaimToken, ScriptResult, SignedKeys, SignedPackage};
use domain::{Fault, Holders, Kind};
use policy::script::Grants;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;
use ureq::Agent;
use ureq::tls::{RootCerts, TlsConfig};

/// For one request, all of it.
const PATIENCE: Duration = Duration::from_secs(30);
/// More than any answer is long.
const MAX_ANSWER: u64 = 2 * 1024 * 1024;

#[derive(Serialize)]
pub struct EnrolRequest<'a> {
    pub code: &'a str,
    pub grants: &'a Grants,
    pub sandbox_tier: String,
    pub cells: Holders,
    pub version: &'a str,
}

#[derive(Deserialize)]
pub struct Enrolled {
    pub device_id: String,
    pub token: String,
    pub trusted_keys: Vec<String>,
    #[serde(default)]
    pub keys_serial: u64,
}

#[derive(Deserialize)]
pub struct Claimed {
    pub claim_token: ClaimToken,
    pub package: SignedPackage,
    /// Every list of keys that the house has made, oldest first.
    #[serde(default)]
    pub keys: Vec<SignedKeys>,
}

#[derive(Serialize)]
pub struct ResultRequest<'a> {
    pub claim_token: &'a ClaimToken,
    pub result: &'a ScriptResult,
}

#[derive(Serialize)]
pub struct LogRequest<'a> {
    pub claim_token: &'a ClaimToken,
    pub package_id: &'a str,
    /// Where in the whole log this begins: a piece that comes twice is kept once.
    pub offset: usize,
    pub text: &'a str,
}

/// The house as this device reaches it.
pub struct House {
    agent: Agent,
    url: String,
    token: Option<String>,
}

impl House {
    pub fn new(url: &str, token: Option<String>) -> Self {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = TlsConfig::builder()
            .root_certs(RootCerts::PlatformVerifier)
            .unversioned_rustls_crypto_provider(provider)
            .build();
        let config = Agent::config_builder().timeout_global(Some(PATIENCE)).tls_config(tls);
        let config = config.http_status_as_error(false).max_redirects(0);
        Self { agent: config.build().into(), url: url.trim_end_matches('/').to_owned(), token }
    }

    pub fn enrol(&self, request: &EnrolRequest<'_>) -> Result<Enrolled, Fault> {
        self.post("enrol", request)?.ok_or_else(|| unreachable("the house enrolled nobody"))
    }

    /// `None` when there is nothing to do.
    pub fn claim(&self) -> Result<Option<Claimed>, Fault> {
        self.post("claim", &serde_json::json!({}))
    }

    pub fn log(&self, request: &LogRequest<'_>) -> Result<(), Fault> {
        self.post::<serde_json::Value>("logs", request).map(|_| ())
    }

    pub fn result(&self, request: &ResultRequest<'_>) -> Result<(), Fault> {
        self.post::<serde_json::Value>("result", request).map(|_| ())
    }

    fn post<T: DeserializeOwned>(&self, path: &str, body: &impl Serialize) -> Result<Option<T>, Fault> {
        let url = format!("{}/api/v1/devices/{path}", self.url);
        let mut request = self.agent.post(&url);
        if let Some(token) = &self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let mut response = request.send_json(body).map_err(unreachable)?;
        let status = response.status().as_u16();
        let bytes = response.body_mut().with_config().limit(MAX_ANSWER).read_to_vec().map_err(unreachable)?;
        match status {
            204 => Ok(None),
            200..=299 if bytes.is_empty() => Ok(None),
            200..=299 => serde_json::from_slice(&bytes).map(Some).map_err(unreachable),
            _ => Err(told(status, &bytes)),
        }
    }
}

fn unreachable(error: impl std::fmt::Display) -> Fault {
    Fault::new(Kind::Unavailable, "device.house_unreachable", format!("the house can't be reached: {error}"))
}

/// `{error: {code, message}}` of the Ops door.
fn told(status: u16, bytes: &[u8]) -> Fault {
    let body: serde_json::Value = serde_json::from_slice(bytes).unwrap_or_default();
    let text =
        |key: &str| body.get("error").and_then(|e| e.get(key)).and_then(|v| v.as_str()).unwrap_or_default().to_owned();
    let kind = match status {
        401 => Kind::Unauthenticated,
        403 => Kind::Forbidden,
        404 => Kind::NotFound,
        409 | 410 => Kind::Conflict,
        // Too much at once: later it is heard.
        408 | 429 => Kind::Unavailable,
        400..=499 => Kind::Invalid,
        _ => Kind::Unavailable,
    };
    let code = text("code");
    let code = if code.is_empty() { format!("http.{status}") } else { code };
    Fault::new(kind, code, format!("the house refused: {}", text("message")))
}
