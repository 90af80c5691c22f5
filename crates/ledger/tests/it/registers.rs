//! Tokens, sessions, scripts and approvals that were changed by hand differ from their entries.

use crate::place::Place;
use crate::tamper::every_case_is_found;
use domain::{Caller, Manifest, Risk, ScriptProposal};
use jiff::{SignedDuration, Timestamp};
use ledger::ops::{Draft, KeptProposal, Verdict};
use ledger::{Ledger, NewToken};
use serde_json::json;
use std::collections::BTreeMap;

on_both! {
    every_change_by_hand_is_found,
    sessions_of_manipulated_sign_in_codes_are_found,
    entries_of_earlier_versions_are_compared_as_far_as_they_go,
}

/// Tokens of ann (an analyst with a claim), bob (an admin, for a day) and cyn (revoked); a session of dan, and one of his
/// that has ended; a sign-in code of kim; scripts `low` (approved by bea), `high` (waiting), `no` (rejected), `old` (withdrawn), `new` (edited).
async fn registers(place: &Place) {
    let ledger = place.open();
    let day = Timestamp::now() + SignedDuration::from_hours(24);
    token(&ledger, "ann", "analyst", None).await;
    token(&ledger, "bob", "admin", Some(day)).await;
    let cyn = token(&ledger, "cyn", "admin", None).await;
    assert!(ledger.revoke_token(&cyn).await.unwrap());
    for ends in [true, false] {
        let code = ledger.create_login("dan", "analyst").await.unwrap();
        let session = ledger.redeem_login(code.expose()).await.unwrap().unwrap();
        if ends {
            assert!(ledger.end_session(session.expose()).await.unwrap());
        }
    }
    ledger.create_login("kim", "analyst").await.unwrap();
    let low = propose(&ledger, "low", Risk::Low).await;
    ledger.approve_script(&Caller::new("bea", "approver"), verdict(&low)).await.unwrap().unwrap();
    propose(&ledger, "high", Risk::High).await;
    let no = propose(&ledger, "no", Risk::Medium).await;
    ledger.reject_script(&Caller::new("bea", "approver"), verdict(&no)).await.unwrap().unwrap();
    propose(&ledger, "old", Risk::Medium).await;
    ledger.withdraw_script(&engineer(), "old").await.unwrap().unwrap();
    propose(&ledger, "new", Risk::Low).await;
    ledger.edit_script(&engineer(), "new", draft("echo newer", Risk::Medium)).await.unwrap().unwrap();
    ledger.sign_head().await.unwrap();
    drop(ledger);
    place.keep_older();
}

async fn token(ledger: &Ledger, actor: &str, role: &str, expires_at: Option<Timestamp>) -> String {
    let claims = BTreeMap::from([("tenant".to_owned(), "a".to_owned())]);
    let token = NewToken { actor: domain::Actor::token(actor), role: role.to_owned(), claims, expires_at };
    ledger.create_token(token).await.unwrap().0.id
}

fn engineer() -> Caller {
    Caller::new("eva", "engineer")
}

fn draft(script: &str, risk: Risk) -> Draft {
    let now = Timestamp::now();
    Draft {
        proposal: ScriptProposal {
            script: script.to_owned(),
            manifest: Manifest::default(),
            rollback: None,
            intent: "a test".to_owned(),
        },
        report: json!({ "violations": [] }),
        risk,
        accepted: true,
        now,
        expires_at: now + SignedDuration::from_hours(1),
    }
}

async fn propose(ledger: &Ledger, id: &str, risk: Risk) -> KeptProposal {
    ledger.propose_script(&engineer(), id, ("d-1", None), draft(&format!("echo {id}"), risk)).await.unwrap()
}

fn verdict(kept: &KeptProposal) -> Verdict {
    let (proposal_id, digest) = (kept.proposal_id.clone(), kept.digest.clone());
    Verdict { proposal_id, digest, comment: "looks good".to_owned(), now: Timestamp::now() }
}

async fn every_change_by_hand_is_found(place: Place) {
    registers(&place).await;
    let id = |actor: &str| place.one(&format!("SELECT id FROM tokens WHERE actor = '{actor}'"));
    let said = |seq: i64, word: &str| {
        let entry = place.one(&format!("SELECT entry_json FROM audit WHERE seq = {seq}"));
        let entry: serde_json::Value = serde_json::from_str(&entry).unwrap();
        entry["detail"][word].as_str().unwrap().to_owned()
    };
    let (ended, used) = (said(7, "session"), said(8, "login"));
    let names = [(id("ann"), "ANN"), (id("bob"), "BOB"), (id("cyn"), "CYN"), (ended, "ENDED"), (used, "USED")];
    let what = "manipulations of tokens, sessions and approvals";
    every_case_is_found(&place, include_str!("registers.sql"), what, &names).await;
}

/// Manipulations of a sign-in code of kim, an analyst; `HASH` is that of a secret that is made up. Then the role of the
/// session that it is changed for, and the flaw of that code.
const CODES: [(&str, &str, Option<&str>); 6] = [
    ("", "analyst", None),
    ("UPDATE sign_ins SET role = 'admin'", "admin", Some("had been changed")),
    ("UPDATE sign_ins SET expires_at = '2999-01-01T00:00:00.000000000Z'", "analyst", Some("had been changed")),
    ("UPDATE sign_ins SET hash = 'HASH'", "analyst", Some("had been changed")),
    ("UPDATE sign_ins SET id = 'abcdef0123456789', hash = 'HASH'", "analyst", Some("no entry says was created")),
    (
        "INSERT INTO sign_ins VALUES ('abcdef0123456789', 'login', 'HASH', 'kim', 'admin', '2999-01-01T00:00:00.000000000Z')",
        "admin",
        Some("no entry says was created"),
    ),
];

/// A code is gone once it is used: its session's entry shows what it was.
async fn sessions_of_manipulated_sign_in_codes_are_found(place: Place) {
    let told =
        |role: &str, what: &str| format!("a session of `kim` as `{role}` was started with a sign-in code that {what}");
    for (change, role, what) in CODES {
        let place = if place.is_sqlite() { Place::sqlite() } else { Place::postgres() };
        let ledger = place.open();
        let code = ledger.create_login("kim", "analyst").await.unwrap();
        let known = code.expose().split('_').nth(1).unwrap();
        let id = if change.contains("abcdef0123456789") { "abcdef0123456789" } else { known };
        let made_up = format!("ghl_{id}_{}", "0".repeat(64));
        place.tamper(&change.replace("HASH", &domain::sha256_hex(made_up.as_bytes())));
        let presented = if change.contains("HASH") { &made_up } else { code.expose() };
        assert!(ledger.redeem_login(presented).await.unwrap().is_some(), "{change}");
        place.tamper("DELETE FROM sign_ins");
        let flaw = ledger.verify().await.unwrap().flaw;
        assert_eq!(flaw.map(|flaw| flaw.message), what.map(|what| told(role, what)), "{change}");
    }
    // A code that is put in again after its use.
    let ledger = place.open();
    let code = ledger.create_login("kim", "analyst").await.unwrap();
    place.tamper("CREATE TABLE aside AS SELECT * FROM sign_ins");
    assert!(ledger.redeem_login(code.expose()).await.unwrap().is_some());
    place.tamper("INSERT INTO sign_ins SELECT * FROM aside");
    assert!(ledger.redeem_login(code.expose()).await.unwrap().is_some());
    let flaw = ledger.verify().await.unwrap().flaw.unwrap();
    assert_eq!((flaw.seq, flaw.message), (Some(3), told("analyst", "was used before")));
}

/// They name neither the digest of a row nor a session, a state or an end, and tell of no sign-in codes, which a start of
/// this version ends.
async fn entries_of_earlier_versions_are_compared_as_far_as_they_go(place: Place) {
    registers(&place).await;
    let last: i64 = place.one("SELECT max(seq) FROM audit").parse().unwrap();
    for seq in 1..=last {
        let entry = place.one(&format!("SELECT entry_json FROM audit WHERE seq = {seq}"));
        let mut entry: serde_json::Value = serde_json::from_str(&entry).unwrap();
        let kind = entry["kind"].as_str().unwrap().to_owned();
        if let Some(detail) = entry.get_mut("detail").and_then(serde_json::Value::as_object_mut) {
            detail.remove("record");
            detail.remove("session");
            detail.remove("state");
            detail.remove("login");
            detail.remove("login_record");
            if kind.starts_with("script.") || kind.starts_with("session.") {
                detail.remove("expires_at");
            }
        }
        if kind == "login.created" {
            entry["kind"] = json!("contracts.reloaded");
        }
        place.tamper(&format!("UPDATE audit SET entry_json = '{entry}' WHERE seq = {seq}"));
    }
    place.tamper("UPDATE sign_ins SET expires_at = '2026-01-01T00:00:00.000000000Z' WHERE kind = 'login'");
    crate::tamper::rehash(&place, 1);
    place.tamper("DELETE FROM audit_heads");
    std::fs::remove_file(place.heads()).unwrap();
    let ledger = place.open();
    assert_eq!(ledger.verify().await.unwrap().flaw, None);
    place.tamper("UPDATE tokens SET role = 'admin' WHERE actor = 'ann'");
    assert!(ledger.verify().await.unwrap().flaw.is_some());
}
