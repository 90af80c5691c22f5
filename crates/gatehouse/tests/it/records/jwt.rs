//! Tokens that somebody else signs, as a server takes them: signed here by `openssl`, not by ourselves.

use crate::records_support::{step, update};
use crate::support::server;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use testkit::{Client, Server};

pub const SECRET: &str = "a-secret-that-is-long-enough-for-hs256";

/// What a program makes of its input.
fn through(args: &[&str], input: &[u8]) -> Vec<u8> {
    let mut child =
        Command::new("openssl").args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("openssl");
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{args:?}");
    output.stdout
}

fn b64(bytes: &[u8]) -> String {
    let text = String::from_utf8(through(&["base64", "-A"], bytes)).unwrap();
    text.trim().trim_end_matches('=').replace('+', "-").replace('/', "_")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unsigned(algorithm: &str, claims: &Value) -> String {
    format!(
        "{}.{}",
        b64(json!({ "alg": algorithm, "kid": "k" }).to_string().as_bytes()),
        b64(claims.to_string().as_bytes())
    )
}

pub fn hs256(secret: &[u8], claims: &Value) -> String {
    let text = unsigned("HS256", claims);
    let key = format!("hexkey:{}", hex(secret));
    let tag = through(&["dgst", "-sha256", "-mac", "HMAC", "-macopt", &key, "-binary"], text.as_bytes());
    format!("{text}.{}", b64(&tag))
}

fn rs256(key: &Path, claims: &Value) -> String {
    let text = unsigned("RS256", claims);
    let tag = through(&["dgst", "-sha256", "-sign", key.to_str().unwrap(), "-binary"], text.as_bytes());
    format!("{text}.{}", b64(&tag))
}

fn claims(role: &str) -> Value {
    json!({ "sub": "ann", "role": role, "exp": 4_000_000_000_u64, "iss": "https://id.example", "aud": "gatehouse" })
}

/// The status of a write with this token.
fn write(server: &Server, token: &str) -> u16 {
    step(&Client::new(&server.url).bearer(token), &update("case_470", &json!({ "priority": "LOW" }))).status
}

/// An RSA key: its file, and the set of keys that names it.
fn key(dir: &Path) -> (PathBuf, Vec<u8>, String) {
    let key = dir.join("key.pem");
    let made = Command::new("openssl").args(["genrsa", "-out"]).arg(&key).arg("2048").output().unwrap();
    assert!(made.status.success());
    let modulus = through(&["rsa", "-in", key.to_str().unwrap(), "-noout", "-modulus"], b"");
    let modulus = String::from_utf8(modulus).unwrap().trim().trim_start_matches("Modulus=").to_owned();
    let modulus: Vec<u8> =
        (0..modulus.len()).step_by(2).map(|at| u8::from_str_radix(&modulus[at..at + 2], 16).unwrap()).collect();
    let jwks = json!({ "keys": [{ "kty": "RSA", "kid": "k", "n": b64(&modulus), "e": "AQAB" }] }).to_string();
    (key, modulus, jwks)
}

/// The keys may be somewhere else: they are fetched once, however many callers have tokens by them.
#[test]
fn keys_come_from_an_address() {
    let dir = tempfile::tempdir().unwrap();
    let (key, _, jwks) = key(dir.path());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/keys", listener.local_addr().unwrap());
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = asked.clone();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            counted.fetch_add(1, Ordering::SeqCst);
            let _ = stream.read(&mut [0; 4096]);
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", jwks.len());
            let _ = stream.write_all(format!("{head}{jwks}").as_bytes());
        }
    });
    let server = server().demo().env("GATEHOUSE_AUTH_JWKS", &address).start();
    let token = rs256(&key, &claims("agent"));
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let sent: Vec<_> = (0..8).map(|_| scope.spawn(|| write(&server, &token))).collect();
        sent.into_iter().map(|status| status.join().unwrap()).collect()
    });
    assert_eq!((statuses, asked.load(Ordering::SeqCst)), (vec![200; 8], 1));
}

#[test]
fn a_jwt_is_taken_for_what_its_key_has_signed() {
    let dir = tempfile::tempdir().unwrap();
    let (key, modulus, jwks) = key(dir.path());
    let public = through(&["rsa", "-in", key.to_str().unwrap(), "-pubout"], b"");
    let server = server()
        .demo()
        .file("jwks.json", &jwks)
        .env("GATEHOUSE_AUTH_JWKS", "jwks.json")
        .env("GATEHOUSE_AUTH_JWT_SECRET", SECRET)
        .env("GATEHOUSE_AUTH_JWT_ISSUER", "https://id.example")
        .env("GATEHOUSE_AUTH_JWT_AUDIENCE", "gatehouse")
        .start();
    assert_eq!(write(&server, &hs256(SECRET.as_bytes(), &claims("agent"))), 200);
    assert_eq!(write(&server, &rs256(&key, &claims("agent"))), 200);

    let mut elsewhere = claims("agent");
    elsewhere["aud"] = json!("elsewhere");
    let mut anyones = claims("agent");
    anyones.as_object_mut().unwrap().remove("iss");
    let refused = [
        ("the public key as a secret", hs256(&public, &claims("agent"))),
        ("the set of keys as a secret", hs256(jwks.as_bytes(), &claims("agent"))),
        ("the modulus as a secret", hs256(&modulus, &claims("agent"))),
        ("no algorithm", format!("{}.", unsigned("none", &claims("agent")))),
        ("another audience", rs256(&key, &elsewhere)),
        ("no issuer", rs256(&key, &anyones)),
        ("an admin, by the secret", hs256(SECRET.as_bytes(), &claims("admin"))),
        ("an admin, by the key", rs256(&key, &claims("admin"))),
    ];
    for (name, token) in &refused {
        assert_eq!(write(&server, token), 401, "{name}");
        let admin = Client::new(&server.url).bearer(token).get("/metrics").status;
        assert!(matches!(admin, 401 | 429), "{name}: {admin}");
    }
}
