//! Tokens that are good, and tricks that are none. The keys here were made for these tests.

use super::keys::read;
use super::*;
use crate::config::{Jwks, Jwt};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair, RSA_PKCS1_SHA256, RsaKeyPair};
use ring::{hmac, rsa};
use serde_json::{Value, json};

const SECRET: &str = "a-secret-that-is-long-enough-for-hs256";
const NOW: i64 = 1_800_000_000;

struct Signers {
    rsa: RsaKeyPair,
    ec: EcdsaKeyPair,
    random: SystemRandom,
    verifier: Verifier,
    dir: tempfile::TempDir,
}

fn b64(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

fn signers() -> Signers {
    let random = SystemRandom::new();
    let rsa = RsaKeyPair::from_der(include_bytes!("fixture/only_for_tests_rsa.der")).unwrap();
    let pkcs8 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
    let ec = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8.as_ref(), &random).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("jwks.json");
    std::fs::write(&file, json!({ "keys": [rsa_jwk(&rsa, "rsa-1"), ec_jwk(&ec, "ec-1")] }).to_string()).unwrap();
    let config = Jwt {
        secret: Some(crate::config::Secret::new(SECRET)),
        jwks: Some(Jwks::File(file)),
        issuer: Some("https://id.example".into()),
        audience: Some("gatehouse".into()),
        role_claim: "app_metadata.role".into(),
        ..Jwt::default()
    };
    let verifier = Verifier::new(&config, Names::default()).unwrap();
    Signers { rsa, ec, random, verifier, dir }
}

fn rsa_jwk(key: &RsaKeyPair, kid: &str) -> Value {
    let public: rsa::PublicKeyComponents<Vec<u8>> = key.public().into();
    json!({ "kty": "RSA", "kid": kid, "use": "sig", "alg": "RS256", "n": b64(&public.n), "e": b64(&public.e) })
}

fn ec_jwk(key: &EcdsaKeyPair, kid: &str) -> Value {
    let point = key.public_key().as_ref();
    json!({ "kty": "EC", "kid": kid, "crv": "P-256", "x": b64(&point[1..33]), "y": b64(&point[33..65]) })
}

/// Claims that hold.
fn claims() -> Value {
    json!({ "sub": "ann@example.com", "iss": "https://id.example", "aud": ["other", "gatehouse"], "exp": NOW + 60,
            "nbf": NOW - 60, "tenant": "acme", "app_metadata": { "role": "agent" }, "contract": { "cases": "1" } })
}

fn with(changes: &[(&str, Value)]) -> Value {
    let mut claims = claims();
    for (name, value) in changes {
        match value {
            Value::Null => drop(claims.as_object_mut().unwrap().remove(*name)),
            value => claims[*name] = value.clone(),
        }
    }
    claims
}

fn unsigned(header: &Value, claims: &Value) -> String {
    format!("{}.{}", b64(header.to_string()), b64(claims.to_string()))
}

fn hs256(secret: &[u8], header: &Value, claims: &Value) -> String {
    let text = unsigned(header, claims);
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret), text.as_bytes());
    format!("{text}.{}", b64(tag))
}

impl Signers {
    fn rs256(&self, header: &Value, claims: &Value) -> String {
        let text = unsigned(header, claims);
        let mut signature = vec![0; self.rsa.public().modulus_len()];
        self.rsa.sign(&RSA_PKCS1_SHA256, &self.random, text.as_bytes(), &mut signature).unwrap();
        format!("{text}.{}", b64(signature))
    }

    fn es256(&self, header: &Value, claims: &Value) -> String {
        let text = unsigned(header, claims);
        format!("{text}.{}", b64(self.ec.sign(&self.random, text.as_bytes()).unwrap()))
    }

    async fn person(&self, token: &str) -> Result<claims::Person, &'static str> {
        self.verifier.person(token, Timestamp::from_second(NOW).unwrap()).await
    }
}

#[tokio::test]
async fn good_tokens_are_taken() {
    let signers = signers();
    let hs = hs256(SECRET.as_bytes(), &json!({ "alg": "HS256", "typ": "JWT" }), &claims());
    let rs = signers.rs256(&json!({ "alg": "RS256", "kid": "rsa-1" }), &claims());
    let es = signers.es256(&json!({ "alg": "ES256" }), &with(&[("aud", json!("gatehouse")), ("nbf", Value::Null)]));
    for token in [hs, rs, es] {
        let person = signers.person(&token).await.unwrap();
        assert_eq!((person.subject.as_str(), person.role.as_str()), ("ann@example.com", "agent"));
        assert_eq!(person.claims.get("tenant").map(String::as_str), Some("acme"));
        assert_eq!(person.claims.get("contract.cases").map(String::as_str), Some("1"));
    }
}

#[tokio::test]
async fn tricks_are_refused() {
    let signers = signers();
    let header = json!({ "alg": "HS256" });
    let signed = |claims: &Value| hs256(SECRET.as_bytes(), &header, claims);
    let public = std::fs::read(signers.dir.path().join("jwks.json")).unwrap();
    let modulus: rsa::PublicKeyComponents<Vec<u8>> = signers.rsa.public().into();
    let (rs, es) = (json!({ "alg": "RS256", "kid": "rsa-1" }), json!({ "alg": "ES256", "kid": "ec-1" }));
    let good = signed(&claims());
    let (text, tag) = good.rsplit_once('.').unwrap();
    let other_rsa = json!({ "alg": "RS256", "jwk": rsa_jwk(&signers.rsa, "mine"), "jku": "https://evil.example/jwks" });
    let tricks: Vec<(&str, String)> = vec![
        ("no algorithm", format!("{}.", unsigned(&json!({ "alg": "none" }), &claims()))),
        ("no algorithm, in other letters", format!("{}.", unsigned(&json!({ "alg": "nOnE" }), &claims()))),
        ("no algorithm and a signature", format!("{}.{tag}", unsigned(&json!({ "alg": "none" }), &claims()))),
        ("an algorithm in small letters", hs256(SECRET.as_bytes(), &json!({ "alg": "hs256" }), &claims())),
        ("another algorithm", hs256(SECRET.as_bytes(), &json!({ "alg": "HS512" }), &claims())),
        ("an algorithm that is a list", hs256(SECRET.as_bytes(), &json!({ "alg": ["HS256"] }), &claims())),
        ("no header", hs256(SECRET.as_bytes(), &json!({}), &claims())),
        ("the public keys as a secret", hs256(&public, &header, &claims())),
        ("the modulus as a secret", hs256(&modulus.n, &json!({ "alg": "HS256", "kid": "rsa-1" }), &claims())),
        ("an empty secret", hs256(b"", &header, &claims())),
        ("a secret and the name of a public key's algorithm", hs256(SECRET.as_bytes(), &rs, &claims())),
        ("an RSA signature as HS256", signers.rs256(&header, &claims())),
        (
            "an RSA signature under the id of the other key",
            signers.rs256(&json!({ "alg": "RS256", "kid": "ec-1" }), &claims()),
        ),
        ("an EC signature as RS256", signers.es256(&rs, &claims())),
        ("a signature of an unknown id", signers.rs256(&json!({ "alg": "RS256", "kid": "../rsa-1" }), &claims())),
        ("a key that the token brings", hs256(b"x", &other_rsa, &claims())),
        ("extensions", hs256(SECRET.as_bytes(), &json!({ "alg": "HS256", "crit": ["exp"] }), &claims())),
        (
            "extensions of b64",
            hs256(SECRET.as_bytes(), &json!({ "alg": "HS256", "crit": ["b64"], "b64": false }), &claims()),
        ),
        ("no signature", format!("{text}.")),
        ("half a signature", format!("{text}.{}", &tag[..20])),
        ("a signature with padding", format!("{text}.{tag}=")),
        (
            "a signature in another alphabet",
            format!("{text}.{}", STANDARD.encode(URL_SAFE_NO_PAD.decode(tag).unwrap())),
        ),
        ("a signature of other claims", format!("{}.{tag}", unsigned(&header, &with(&[("sub", json!("root"))])))),
        ("four parts", format!("{good}.x")),
        ("two parts", text.to_owned()),
        ("nothing", "..".to_owned()),
        ("claims that are a list", hs256(SECRET.as_bytes(), &header, &json!([1]))),
        ("claims that are text", hs256(SECRET.as_bytes(), &header, &json!("x"))),
        ("expired", signed(&with(&[("exp", json!(NOW - 31))]))),
        ("expired long ago", signed(&with(&[("exp", json!(0))]))),
        ("without an end", signed(&with(&[("exp", Value::Null)]))),
        ("an end that is text", signed(&with(&[("exp", json!("9999999999"))]))),
        ("an end that is true", signed(&with(&[("exp", json!(true))]))),
        ("not yet", signed(&with(&[("nbf", json!(NOW + 31))]))),
        ("a beginning that is text", signed(&with(&[("nbf", json!("0"))]))),
        ("another issuer", signed(&with(&[("iss", json!("https://evil.example"))]))),
        ("an issuer that begins alike", signed(&with(&[("iss", json!("https://id.example.evil.example"))]))),
        ("no issuer", signed(&with(&[("iss", Value::Null)]))),
        ("another audience", signed(&with(&[("aud", json!("elsewhere"))]))),
        ("no audience", signed(&with(&[("aud", Value::Null)]))),
        ("an audience within another", signed(&with(&[("aud", json!([["gatehouse"]]))]))),
        ("nobody", signed(&with(&[("sub", Value::Null)]))),
        ("an empty name", signed(&with(&[("sub", json!("  "))]))),
        ("a name that is a number", signed(&with(&[("sub", json!(1))]))),
        ("a name with a line in it", signed(&with(&[("sub", json!("ann\nrole=admin"))]))),
        ("no role", signed(&with(&[("app_metadata", json!({}))]))),
        ("a role elsewhere", signed(&with(&[("app_metadata", json!({})), ("role", json!("admin"))]))),
        ("an admin", signed(&with(&[("app_metadata", json!({ "role": "admin" }))]))),
        ("an admin with a space", signed(&with(&[("app_metadata", json!({ "role": " admin " }))]))),
        ("an admin by a public key", signers.rs256(&rs, &with(&[("app_metadata", json!({ "role": "admin" }))]))),
        ("several roles", signed(&with(&[("app_metadata", json!({ "role": ["admin", "agent"] }))]))),
        ("an EC signature of the other form", {
            let text = unsigned(&es, &claims());
            format!("{text}.{}", b64([&[0x30, 0x44][..], &[0; 68]].concat()))
        }),
        ("a token without end", signed(&with(&[("x", json!("x".repeat(20_000)))]))),
        (
            "claims without end",
            signed(&with(&[(
                "x",
                json!((0..100).map(|i| (i.to_string(), i)).collect::<std::collections::BTreeMap<_, _>>()),
            )])),
        ),
    ];
    let mut taken = Vec::new();
    for (name, token) in &tricks {
        if signers.person(token).await.is_ok() {
            taken.push(*name);
        }
    }
    assert!(tricks.len() >= 50, "{}", tricks.len());
    assert!(taken.is_empty(), "{taken:?}");
}

/// A key that comes in is taken up, one that goes is good no longer, and a broken file changes nothing.
#[tokio::test]
async fn keys_rotate() {
    let signers = signers();
    let file = signers.dir.path().join("jwks.json");
    let token = signers.rs256(&json!({ "alg": "RS256", "kid": "rsa-2" }), &claims());
    let old = signers.es256(&json!({ "alg": "ES256", "kid": "ec-1" }), &claims());
    assert!(signers.person(&token).await.is_err() && signers.person(&old).await.is_ok());
    let put = |text: String, at: u64| {
        std::fs::write(&file, text).unwrap();
        let time = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(at);
        std::fs::File::options().write(true).open(&file).unwrap().set_modified(time).unwrap();
    };
    put(json!({ "keys": [rsa_jwk(&signers.rsa, "rsa-2")] }).to_string(), 1);
    assert!(signers.person(&token).await.is_ok() && signers.person(&old).await.is_err());
    put("{ broken".to_owned(), 2);
    assert!(signers.person(&token).await.is_ok());
}

/// While the server of the keys does not answer, whoever's key is known is not kept waiting; and it is asked once, however
/// many tokens have keys that are not known.
#[tokio::test]
async fn a_slow_server_of_keys_keeps_nobody_waiting() {
    let signers = signers();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/jwks", listener.local_addr().unwrap());
    let set = json!({ "keys": [rsa_jwk(&signers.rsa, "rsa-1")] }).to_string();
    let asked = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let counted = asked.clone();
    tokio::spawn(async move {
        let mut held = Vec::new();
        while let Ok((mut stream, _)) = listener.accept().await {
            // The first is answered; the others never.
            if counted.fetch_add(1, std::sync::atomic::Ordering::SeqCst) == 0 {
                tokio::io::AsyncReadExt::read(&mut stream, &mut [0; 4096]).await.unwrap();
                let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", set.len());
                tokio::io::AsyncWriteExt::write_all(&mut stream, format!("{head}{set}").as_bytes()).await.unwrap();
            }
            held.push(stream);
        }
    });
    let secret = Some(crate::config::Secret::new(SECRET));
    let config = Jwt { secret, jwks: Some(Jwks::Url(url)), role_claim: "app_metadata.role".into(), ..Jwt::default() };
    let pace = keys::Pace { good_for: std::time::Duration::ZERO, ask_again: std::time::Duration::ZERO };
    let verifier =
        std::sync::Arc::new(Verifier { keys: keys::Keys::at(&config, pace).unwrap(), names: Names::default(), config });
    let now = Timestamp::from_second(NOW).unwrap();
    let known = signers.rs256(&json!({ "alg": "RS256", "kid": "rsa-1" }), &claims());
    let unknown = signers.rs256(&json!({ "alg": "RS256", "kid": "rsa-9" }), &claims());
    assert!(verifier.person(&known, now).await.is_ok());
    let waiting: Vec<_> = (0..5)
        .map(|_| {
            let (verifier, token) = (verifier.clone(), unknown.clone());
            tokio::spawn(async move { verifier.person(&token, now).await.is_ok() })
        })
        .collect();
    while asked.load(std::sync::atomic::Ordering::SeqCst) < 2 {
        tokio::task::yield_now().await;
    }
    for _ in 0..100 {
        assert!(verifier.person(&known, now).await.is_ok());
    }
    let by_secret = hs256(SECRET.as_bytes(), &json!({ "alg": "HS256", "kid": "theirs" }), &claims());
    assert!(verifier.person(&by_secret, now).await.is_ok());
    assert!(waiting.iter().all(|task| !task.is_finished()), "they wait, and the others do not wait for them");
    assert_eq!(asked.load(std::sync::atomic::Ordering::SeqCst), 2);
    waiting.iter().for_each(tokio::task::JoinHandle::abort);
}

/// Keys that are not for this are left out.
#[test]
fn a_set_gives_the_keys_that_fit() {
    let signers = signers();
    let mut encryption = rsa_jwk(&signers.rsa, "enc");
    encryption["use"] = json!("enc");
    let mut other = rsa_jwk(&signers.rsa, "ps");
    other["alg"] = json!("PS256");
    let secret = json!({ "kty": "oct", "k": b64(SECRET), "alg": "HS256" });
    let keys = read(json!({ "keys": [encryption, other, secret, ec_jwk(&signers.ec, "ec")] }).to_string().as_bytes());
    assert_eq!(keys.unwrap().iter().filter_map(|key| key.kid.clone()).collect::<Vec<_>>(), ["ec"]);
}
