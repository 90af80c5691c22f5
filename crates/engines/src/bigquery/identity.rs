//! Who asks: tokens of Google's, fetched with a key, from the machine, or given.

use super::fault;
use crate::source::{Credential, Identity};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use domain::Fault;
use reqwest::header::{self, HeaderValue};
use ring::rand::SystemRandom;
use ring::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use serde::Deserialize;
use serde_json::json;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::sync::Mutex;

/// What a token lets its bearer do: ask BigQuery, as far as the account's own roles go.
const SCOPE: &str = "https://www.googleapis.com/auth/bigquery";
/// How long a token is asked for, in seconds: the longest there is.
const LIFE: u64 = 3_600;
/// A token is not used in its last moments.
const SLACK: Duration = Duration::from_secs(60);
/// Where a machine of Google's gives tokens of its service account.
const MACHINE: &str = "/computeMetadata/v1/instance/service-accounts/default/token";

/// The way to a token, and the one in use.
pub struct Passes {
    name: String,
    identity: Identity,
    client: reqwest::Client,
    kept: Mutex<Option<(Credential, Instant)>>,
}

/// What is used of a service account's key file.
#[derive(Deserialize)]
struct Key {
    client_email: String,
    private_key_id: Option<String>,
    private_key: String,
    token_uri: String,
}

#[derive(Deserialize)]
struct Granted {
    access_token: String,
    expires_in: u64,
}

impl Passes {
    pub fn new(name: &str, identity: Identity, client: reqwest::Client) -> Self {
        Self { name: name.to_owned(), identity, client, kept: Mutex::new(None) }
    }

    /// The header that says who we are, marked so that it is never shown; none where nobody asks.
    pub async fn bearer(&self) -> Result<Option<HeaderValue>, Fault> {
        let token = match &self.identity {
            Identity::Nobody => return Ok(None),
            Identity::Token(token) => token.clone(),
            Identity::ServiceAccount(_) | Identity::Machine(_) => self.fetched().await?,
        };
        let value = HeaderValue::from_str(&format!("Bearer {}", token.expose()));
        let mut value = value.map_err(|_| fault::credentials(&self.name))?;
        value.set_sensitive(true);
        Ok(Some(value))
    }

    /// A token that was not accepted is not used again.
    pub async fn forget(&self) {
        *self.kept.lock().await = None;
    }

    async fn fetched(&self) -> Result<Credential, Fault> {
        // Whoever comes meanwhile waits, and finds it.
        let mut kept = self.kept.lock().await;
        if let Some((token, until)) = kept.as_ref()
            && Instant::now() < *until
        {
            return Ok(token.clone());
        }
        let request = match &self.identity {
            Identity::ServiceAccount(file) => self.signed(file)?,
            Identity::Machine(url) => {
                self.client.get(format!("{}{MACHINE}", url.trim_end_matches('/'))).header("metadata-flavor", "Google")
            }
            Identity::Token(_) | Identity::Nobody => return Err(Fault::internal("engine.identity")),
        };
        let response = request.send().await.map_err(|error| {
            tracing::warn!(source = self.name, error = %error.without_url(), "no token of Google's: its giver cannot be reached");
            fault::unreachable(&self.name)
        })?;
        let status = response.status();
        let granted = response.bytes().await.ok().and_then(|body| serde_json::from_slice::<Granted>(&body).ok());
        let Some(granted) = granted.filter(|_| status.is_success()) else {
            tracing::warn!(source = self.name, status = status.as_u16(), "no token of Google's: it was refused");
            return Err(if status.is_server_error() {
                fault::unreachable(&self.name)
            } else {
                fault::credentials(&self.name)
            });
        };
        let token = Credential::new(granted.access_token);
        let life = Duration::from_secs(granted.expires_in.min(LIFE)).saturating_sub(SLACK);
        *kept = Some((token.clone(), Instant::now() + life));
        Ok(token)
    }

    /// The request that turns a key into a token: only over TLS, or on this machine.
    fn signed(&self, file: &Path) -> Result<reqwest::RequestBuilder, Fault> {
        let unusable = |why: &str| {
            tracing::warn!(source = self.name, file = %file.display(), why, "the key of a service account cannot be used");
            fault::credentials(&self.name)
        };
        let text = std::fs::read(file).map_err(|_| unusable("it cannot be read"))?;
        let key: Key = serde_json::from_slice(&text).map_err(|_| unusable("it is not a key file of Google's"))?;
        if !is_safe(&key.token_uri) {
            return Err(unusable("its token_uri is neither https nor on this machine"));
        }
        let assertion = assertion(&key).ok_or_else(|| unusable("its private key is none of RSA in PKCS#8"))?;
        let body = format!("grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion={assertion}");
        let form = HeaderValue::from_static("application/x-www-form-urlencoded");
        Ok(self.client.post(key.token_uri).header(header::CONTENT_TYPE, form).body(body))
    }
}

/// Whether nobody on the way could read what is sent there.
fn is_safe(url: &str) -> bool {
    let Ok(url) = reqwest::Url::parse(url) else { return false };
    let here = matches!(url.host_str(), Some("127.0.0.1" | "localhost" | "[::1]"));
    url.scheme() == "https" || url.scheme() == "http" && here
}

/// A claim to be the account, signed with its key (RFC 7523).
fn assertion(key: &Key) -> Option<String> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?.as_secs();
    let header = json!({ "alg": "RS256", "typ": "JWT", "kid": key.private_key_id });
    let claims = json!({
        "iss": key.client_email, "scope": SCOPE, "aud": key.token_uri, "iat": now, "exp": now + LIFE,
    });
    let [header, claims] = [header, claims].map(|json| URL_SAFE_NO_PAD.encode(json.to_string()));
    let said = format!("{header}.{claims}");
    let body = key.private_key.lines().filter(|line| !line.starts_with("-----")).collect::<String>();
    let pair = RsaKeyPair::from_pkcs8(&STANDARD.decode(body.trim()).ok()?).ok()?;
    let mut signature = vec![0; pair.public().modulus_len()];
    pair.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), said.as_bytes(), &mut signature).ok()?;
    Some(format!("{said}.{}", URL_SAFE_NO_PAD.encode(signature)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_go_over_tls_or_nowhere() {
        for url in ["https://oauth2.googleapis.com/token", "http://127.0.0.1:80/token", "http://localhost/t"] {
            assert!(is_safe(url), "{url}");
        }
        for url in ["http://oauth2.googleapis.com/token", "http://127.0.0.1.example.com/", "ftp://localhost/", "token"]
        {
            assert!(!is_safe(url), "{url}");
        }
    }
}
