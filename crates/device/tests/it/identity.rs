//! People who come with tokens of an identity service, as Supabase signs them (HS256); and who is a device.

use crate::scene::Scene;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use std::io::Write;
use std::process::{Command, Stdio};
use testkit::Client;

const SECRET: &str = "a-secret-of-supabase-that-is-long-enough";

/// Signed by `openssl`, not by ourselves.
fn signed(secret: &str, claims: &Value) -> String {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let text = format!("{}.{}", part(&json!({ "alg": "HS256", "typ": "JWT" })), part(claims));
    let key = format!("key:{secret}");
    let args = ["dgst", "-sha256", "-mac", "HMAC", "-macopt", &key, "-binary"];
    let mut openssl =
        Command::new("openssl").args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("openssl");
    openssl.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let tag = openssl.wait_with_output().unwrap().stdout;
    format!("{text}.{}", URL_SAFE_NO_PAD.encode(tag))
}

/// As Supabase writes them: everybody is `authenticated`, and what they are to us is in `app_metadata`.
fn claims(actor: &str, role: &str) -> Value {
    json!({
        "sub": actor, "role": "authenticated", "aud": "authenticated", "exp": 4_000_000_000_u64,
        "app_metadata": { "role": role, "provider": "email" }, "device": "pump-1",
    })
}

fn scene() -> Scene {
    Scene::with(|server| {
        server.env("SUPABASE_JWT_SECRET", SECRET).env("GATEHOUSE_AUTH_ROLE_CLAIM", "app_metadata.role")
    })
}

fn person(scene: &Scene, actor: &str, role: &str) -> Client {
    scene.server.stranger().bearer(&signed(SECRET, &claims(actor, role)))
}

#[test]
fn people_of_an_identity_service_propose_and_approve() {
    let mut scene = scene();
    (scene.eva, scene.bea) = (person(&scene, "eva@plant", "engineer"), person(&scene, "bea@plant", "approver"));
    let kept = scene.remove_lock();
    assert_eq!(kept["requester"], "jwt:eva@plant", "{kept}");
    let own = person(&scene, "eva@plant", "approver");
    assert_eq!(scene.say(&own, "approve", &kept).code(), "approval.own", "whatever role they have now");
    let guest = person(&scene, "gus@plant", "authenticated");
    assert_eq!(scene.say(&guest, "approve", &kept).code(), "auth.role");
    let forged =
        scene.server.stranger().bearer(&signed("another-secret-that-is-long-enough", &claims("x", "approver")));
    assert_eq!(scene.say(&forged, "approve", &kept).status, 401);
    let said = scene.say(&scene.bea, "approve", &kept);
    assert_eq!(said.json()["approvals"][0]["actor"], "jwt:bea@plant", "{}", said.text());
    scene.device.once();
    assert_eq!(scene.package(&kept)["result"]["exit_code"], 0);
}

/// Role and claim of a device are words that others can write too; the token that it enrolled with is not.
#[test]
fn only_the_token_that_it_enrolled_with_makes_a_device() {
    let scene = scene();
    let kept = scene.remove_lock();
    assert_eq!(scene.say(&scene.bea, "approve", &kept).status, 200);
    let made = scene.server.command(&[
        "tokens",
        "create",
        "--actor",
        "mallory",
        "--role",
        "device",
        "--claim",
        "device=pump-1",
    ]);
    assert!(made.status.success(), "{made:?}");
    let made = String::from_utf8(made.stdout).unwrap();
    let token = made.split_whitespace().find(|word| word.starts_with("gh_")).unwrap();
    let impostors = [scene.server.stranger().bearer(token), person(&scene, "mallory", "device")];
    for impostor in impostors {
        let seen = json!({ "device_id": "pump-1", "outputs": [] });
        let tried = [
            ("devices/claim", json!({})),
            ("devices/logs", said()),
            ("devices/result", json!({})),
            ("ai/diagnostics", seen),
        ];
        for (path, body) in tried {
            let reply = impostor.post(&format!("/api/v1/{path}"), &body);
            assert_eq!((reply.status, reply.code().as_str()), (403, "auth.role"), "{path}: {}", reply.text());
        }
    }
    assert!(scene.has_told("ops.refused", "auth.role"));
    assert_eq!(scene.package(&kept)["state"], "queued", "nobody has had it");
    let seen = json!({ "device_id": "pump-1", "outputs": [{ "command": "uptime", "text": "up 3 days" }] });
    assert_eq!(scene.as_device().post("/api/v1/ai/diagnostics", &seen).status, 201, "a device speaks for itself");
    let reply = scene.as_device().post("/api/v1/devices/logs", &said());
    assert_eq!((reply.status, reply.code().as_str()), (403, "claim.unknown"), "{}", reply.text());
    assert!(scene.has_told("script.log_refused", "claim.unknown"));
    scene.device.once();
    assert_eq!(scene.package(&kept)["state"], "done");
}

/// A piece of a log under a claim that nobody has.
fn said() -> Value {
    let nobodys = domain::package::ClaimToken::from_random(&[3; 32]);
    json!({ "claim_token": nobodys, "package_id": "pk-1", "offset": 0, "text": "x" })
}
