//! The keys that tokens may be signed with, and how new ones come in while the server runs.

use crate::config::{Jwks, Jwt};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;
use ring::signature::{ECDSA_P256_SHA256_FIXED, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey};
use serde::Deserialize;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// How long an address may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);
const MAX_BYTES: usize = 256 * 1024;
const MAX_KEYS: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    Hs256,
    Rs256,
    Es256,
}

impl Algorithm {
    /// By its exact name.
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "HS256" => Some(Self::Hs256),
            "RS256" => Some(Self::Rs256),
            "ES256" => Some(Self::Es256),
            _ => None,
        }
    }
}

/// One key. What it can verify is part of it.
pub struct Key {
    pub kid: Option<String>,
    material: Material,
}

enum Material {
    Secret(hmac::Key),
    Rsa {
        n: Vec<u8>,
        e: Vec<u8>,
    },
    /// An uncompressed point of P-256.
    Point(Vec<u8>),
}

impl Key {
    pub fn algorithm(&self) -> Algorithm {
        match self.material {
            Material::Secret(_) => Algorithm::Hs256,
            Material::Rsa { .. } => Algorithm::Rs256,
            Material::Point(_) => Algorithm::Es256,
        }
    }

    pub fn has_signed(&self, message: &[u8], signature: &[u8]) -> bool {
        match &self.material {
            Material::Secret(secret) => hmac::verify(secret, message, signature).is_ok(),
            Material::Rsa { n, e } => {
                RsaPublicKeyComponents { n, e }.verify(&RSA_PKCS1_2048_8192_SHA256, message, signature).is_ok()
            }
            Material::Point(point) => {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(message, signature).is_ok()
            }
        }
    }
}

/// A JWKS, as far as it concerns us. Keys of other kinds are left out.
#[derive(Deserialize)]
struct Set {
    keys: Vec<Jwk>,
}

#[derive(Deserialize)]
struct Jwk {
    kty: String,
    kid: Option<String>,
    alg: Option<String>,
    #[serde(rename = "use")]
    purpose: Option<String>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

/// The keys of a JWKS. A secret (`oct`) in one is left out: a set of public keys is no place for it.
pub fn read(text: &[u8]) -> Result<Vec<Key>, serde_json::Error> {
    let set: Set = serde_json::from_slice(text)?;
    Ok(set.keys.into_iter().take(MAX_KEYS).filter_map(key).collect())
}

fn key(jwk: Jwk) -> Option<Key> {
    let bytes = |part: &Option<String>| URL_SAFE_NO_PAD.decode(part.as_deref()?).ok();
    if jwk.purpose.as_deref().is_some_and(|purpose| purpose != "sig") {
        return None;
    }
    let material = match jwk.kty.as_str() {
        "RSA" => Material::Rsa { n: bytes(&jwk.n)?, e: bytes(&jwk.e)? },
        "EC" if jwk.crv.as_deref() == Some("P-256") => {
            let point: Vec<u8> = std::iter::once(4).chain(bytes(&jwk.x)?).chain(bytes(&jwk.y)?).collect();
            Material::Point(point)
        }
        _ => return None,
    };
    let key = Key { kid: jwk.kid, material };
    // A key that says what it is for is for nothing else.
    let meant = jwk.alg.as_deref().is_none_or(|alg| Algorithm::parse(alg) == Some(key.algorithm()));
    meant.then_some(key)
}

/// All keys of the configuration, kept up to date.
pub struct Keys {
    secret: Option<Key>,
    jwks: Option<Jwks>,
    fetched: Arc<Fetched>,
}

/// What a JWKS gave last.
#[derive(Default)]
struct Fetched {
    known: Mutex<Known>,
    /// Held by whoever asks for keys, and never together with `known`: a server that takes its time keeps nobody waiting
    /// whose key is here.
    asking: tokio::sync::Mutex<()>,
    pace: Pace,
}

#[derive(Default)]
struct Known {
    keys: Arc<Vec<Key>>,
    /// When an answer last came, or none in time; and the file's time of change then.
    asked: Option<Instant>,
    stamp: Option<SystemTime>,
}

/// How long keys from an address are good, and how soon a token with an unknown key makes us ask again.
#[derive(Clone, Copy)]
pub(super) struct Pace {
    pub good_for: Duration,
    pub ask_again: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self { good_for: Duration::from_secs(600), ask_again: Duration::from_secs(30) }
    }
}

/// Whether keys are to be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Due {
    No,
    /// They may have changed. Those that are here are good until new ones come.
    Soon,
    /// None that is here can be meant.
    Now,
}

impl Keys {
    pub fn new(config: &Jwt) -> Option<Self> {
        Self::at(config, Pace::default())
    }

    pub(super) fn at(config: &Jwt, pace: Pace) -> Option<Self> {
        let secret = config.secret.as_ref().map(|secret| {
            let material = Material::Secret(hmac::Key::new(hmac::HMAC_SHA256, secret.expose().as_bytes()));
            Key { kid: None, material }
        });
        let jwks = config.jwks.clone();
        let fetched = Arc::new(Fetched { pace, ..Fetched::default() });
        (secret.is_some() || jwks.is_some()).then_some(Self { secret, jwks, fetched })
    }

    /// The keys for a token that names this one. A key that is not known yet is asked for.
    pub async fn current(&self, algorithm: Algorithm, kid: Option<&str>) -> Vec<Key> {
        match &self.jwks {
            // No set of public keys has the one of a secret.
            _ if algorithm == Algorithm::Hs256 => {}
            None => {}
            Some(Jwks::File(path)) => self.fetched.lock().reread(path),
            Some(Jwks::Url(url)) => self.fetched.renew(url, kid).await,
        }
        let public = self.fetched.lock().keys.clone();
        self.secret.iter().chain(public.iter()).map(Key::copy).collect()
    }
}

impl Fetched {
    /// What the lock guards is replaced whole.
    fn lock(&self) -> std::sync::MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn renew(self: &Arc<Self>, url: &str, kid: Option<&str>) {
        match self.due(kid) {
            Due::No => {}
            Due::Soon => {
                let (fetched, url) = (self.clone(), url.to_owned());
                tokio::spawn(async move {
                    if let Ok(_alone) = fetched.asking.try_lock() {
                        fetched.ask(&url).await;
                    }
                });
            }
            Due::Now => {
                let _alone = self.asking.lock().await;
                // Whoever was here before may have brought it.
                if self.due(kid) == Due::Now {
                    self.ask(url).await;
                }
            }
        }
    }

    fn due(&self, kid: Option<&str>) -> Due {
        let known = self.lock();
        let Some(age) = known.asked.map(|asked| asked.elapsed()) else { return Due::Now };
        let unknown = known.keys.is_empty()
            || kid.is_some_and(|kid| !known.keys.iter().any(|key| key.kid.as_deref() == Some(kid)));
        match unknown {
            true if age > self.pace.ask_again => Due::Now,
            false if age > self.pace.good_for => Due::Soon,
            _ => Due::No,
        }
    }

    async fn ask(&self, url: &str) {
        let answer = tokio::time::timeout(PATIENCE, fetch(url)).await.unwrap_or_else(|_| Err("no answer".into()));
        let mut known = self.lock();
        known.asked = Some(Instant::now());
        known.take(answer);
    }
}

impl Key {
    fn copy(&self) -> Self {
        let material = match &self.material {
            Material::Secret(secret) => Material::Secret(secret.clone()),
            Material::Rsa { n, e } => Material::Rsa { n: n.clone(), e: e.clone() },
            Material::Point(point) => Material::Point(point.clone()),
        };
        Self { kid: self.kid.clone(), material }
    }
}

impl Known {
    /// A file that cannot be read, or is broken, leaves the keys that were there.
    fn reread(&mut self, path: &Path) {
        let stamp = std::fs::metadata(path).and_then(|meta| meta.modified()).ok();
        if self.asked.is_some() && stamp == self.stamp {
            return;
        }
        (self.asked, self.stamp) = (Some(Instant::now()), stamp);
        let text = std::fs::read(path).map_err(|e| e.to_string());
        self.take(text.and_then(|text| read(&text).map_err(|e| e.to_string())));
    }

    fn take(&mut self, read: Result<Vec<Key>, String>) {
        match read {
            Ok(keys) => self.keys = Arc::new(keys),
            Err(error) => tracing::error!(error, "the keys of tokens cannot be read: those that were known stay good"),
        }
    }
}

async fn fetch(url: &str) -> Result<Vec<Key>, String> {
    // Whoever comes first installs it for the process; it is the same everywhere.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build();
    let mut response = client.map_err(|e| e.to_string())?.get(url).send().await.map_err(|e| e.to_string())?;
    if !response.status().is_success() {
        return Err(format!("status {}", response.status()));
    }
    let mut text = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|e| e.to_string())? {
        text.extend_from_slice(&chunk);
        if text.len() > MAX_BYTES {
            return Err("too large".to_owned());
        }
    }
    read(&text).map_err(|e| e.to_string())
}
