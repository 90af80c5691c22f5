//! Tokens, sign-in codes and sessions.

use crate::place::Place;
use domain::{Actor, Names, Origin};
use jiff::{SignedDuration, Timestamp};
use ledger::{Ledger, NewToken};

on_both! {
    a_token_opens_until_it_is_revoked,
    an_expired_token_opens_nothing,
    only_the_whole_secret_opens,
    secrets_are_neither_kept_nor_shown,
    a_sign_in_code_works_once,
    one_of_many_who_race_with_a_code_gets_in,
    codes_and_sessions_end_with_their_time,
    a_name_that_looks_like_another_is_refused,
    a_token_names_its_actor_with_where_it_comes_from,
}

fn ann() -> NewToken {
    let claims = [("region".to_owned(), "north".to_owned())].into();
    NewToken { actor: Actor::token("ann"), role: "analyst".into(), claims, expires_at: None }
}

async fn kinds(ledger: &Ledger) -> Vec<String> {
    let state = serde_json::to_value(ledger.audit_state(100).await.unwrap()).unwrap();
    let told = |entry: &serde_json::Value| {
        ["kind", "actor", "role"].map(|field| entry[field].as_str().unwrap().to_owned()).join(" ")
    };
    state["recent"].as_array().unwrap().iter().rev().map(told).collect()
}

async fn a_token_opens_until_it_is_revoked(place: Place) {
    let (ledger, cli) = (place.open(), place.open());
    let (info, secret) = cli.create_token(ann()).await.unwrap();
    assert_eq!(ledger.authenticate(secret.expose()).await.unwrap().unwrap(), info);
    assert_eq!(ledger.tokens().await.unwrap(), std::slice::from_ref(&info));
    assert!(cli.revoke_token(&info.id).await.unwrap());
    assert!(!cli.revoke_token(&info.id).await.unwrap());
    assert!(!cli.revoke_token("nobody").await.unwrap());
    assert_eq!(ledger.authenticate(secret.expose()).await.unwrap(), None);
    assert!(ledger.tokens().await.unwrap().first().unwrap().revoked_at.is_some());
    assert_eq!(kinds(&ledger).await, ["token.created ann analyst", "token.revoked ann analyst"]);
}

async fn an_expired_token_opens_nothing(place: Place) {
    let ledger = place.open();
    for (hours, opens) in [(-1, false), (1, true)] {
        let expires_at = Some(Timestamp::now() + SignedDuration::from_hours(hours));
        let (_, secret) = ledger.create_token(NewToken { expires_at, ..ann() }).await.unwrap();
        assert_eq!(ledger.authenticate(secret.expose()).await.unwrap().is_some(), opens);
    }
}

async fn only_the_whole_secret_opens(place: Place) {
    let ledger = place.open();
    let (info, secret) = ledger.create_token(ann()).await.unwrap();
    let good = secret.expose();
    let (_, other) = ledger.create_token(ann()).await.unwrap();
    let swapped = format!("gh_{}_{}", info.id, other.expose().rsplit('_').next().unwrap());
    let unknown = format!("gh_{}_{}", "0".repeat(16), "0".repeat(64));
    let cases = [
        "",
        "gh",
        "gh_",
        "gh__",
        "Bearer x",
        &info.id,
        &good[..good.len() - 1],
        &format!("{good}0"),
        &swapped,
        &unknown,
        &good.to_uppercase(),
        &good.replace("gh_", "ghs_"),
        &good.replace("gh_", "ghl_"),
        &"_".repeat(100_000),
    ];
    for text in cases {
        assert_eq!(ledger.authenticate(text).await.unwrap(), None, "{text}");
        assert_eq!(ledger.session(text).await.unwrap(), None, "{text}");
        assert_eq!(ledger.redeem_login(text).await.unwrap(), None, "{text}");
    }
}

async fn secrets_are_neither_kept_nor_shown(place: Place) {
    let ledger = place.open();
    let (info, token) = ledger.create_token(ann()).await.unwrap();
    let login = ledger.create_login("ann", "admin").await.unwrap();
    let session = ledger.redeem_login(login.expose()).await.unwrap().unwrap();
    assert_eq!(token.expose().len(), 3 + info.id.len() + 1 + 64);
    let kept = place.dump();
    for secret in [token, login, session] {
        let random = secret.expose().rsplit('_').next().unwrap().to_owned();
        assert!(!kept.windows(64).any(|part| part == random.as_bytes()));
        assert!(!format!("{secret:?}").contains(&random));
    }
}

async fn a_sign_in_code_works_once(place: Place) {
    let ledger = place.open();
    let code = ledger.create_login("ann", "admin").await.unwrap();
    assert_eq!(ledger.session(code.expose()).await.unwrap(), None, "a code is no session");
    let session = ledger.redeem_login(code.expose()).await.unwrap().unwrap();
    assert_eq!(ledger.redeem_login(code.expose()).await.unwrap(), None);
    let who = ledger.session(session.expose()).await.unwrap().unwrap();
    assert_eq!((who.actor.as_str(), who.role.as_str()), ("ann", "admin"));
    assert!(ledger.end_session(session.expose()).await.unwrap());
    assert!(!ledger.end_session(session.expose()).await.unwrap());
    assert_eq!(ledger.session(session.expose()).await.unwrap(), None);
    let told = ["login.created ann admin", "session.started ann admin", "session.ended ann admin"];
    assert_eq!(kinds(&ledger).await, told);
}

async fn one_of_many_who_race_with_a_code_gets_in(place: Place) {
    let code = place.open().create_login("ann", "admin").await.unwrap();
    let try_it = |ledger: Ledger| {
        let code = code.clone();
        tokio::spawn(async move { ledger.redeem_login(code.expose()).await.unwrap().is_some() })
    };
    let tries: Vec<_> = (0..8).map(|_| try_it(place.open())).collect();
    let mut got_in = 0;
    for attempt in tries {
        got_in += usize::from(attempt.await.unwrap());
    }
    assert_eq!(got_in, 1);
}

async fn codes_and_sessions_end_with_their_time(place: Place) {
    let ledger = place.open();
    let code = ledger.create_login("ann", "admin").await.unwrap();
    let used = ledger.create_login("ann", "admin").await.unwrap();
    let session = ledger.redeem_login(used.expose()).await.unwrap().unwrap();
    let expires = |kind: &str| {
        let text = place.one(&format!("SELECT expires_at FROM sign_ins WHERE kind = '{kind}'"));
        text.parse::<Timestamp>().unwrap().duration_since(Timestamp::now()).as_secs_f64() / 60.0
    };
    assert!((9.0..=10.0).contains(&expires("login")));
    assert!((719.0..=720.0).contains(&expires("session")));
    place.tamper("UPDATE sign_ins SET expires_at = '2020-01-01T00:00:00.000000000Z';");
    assert_eq!(ledger.redeem_login(code.expose()).await.unwrap(), None);
    assert_eq!(ledger.session(session.expose()).await.unwrap(), None);
}

fn token(actor: &str) -> NewToken {
    NewToken { actor: Actor::token(actor), ..ann() }
}

async fn a_name_that_looks_like_another_is_refused(place: Place) {
    let ledger = place.open();
    for known in ["ann", "Straße", "bea "] {
        let (info, _) = ledger.create_token(token(known)).await.unwrap();
        ledger.revoke_token(&info.id).await.unwrap();
        ledger.create_token(token(known)).await.unwrap();
    }
    ledger.create_login("kim", "analyst").await.unwrap();
    let taken = [
        ("Ann", "ann"),
        ("ann ", "ann"),
        ("\u{a0}ANN", "ann"),
        ("ann\u{200b}", "ann"),
        ("STRASSE", "Straße"),
        ("straẞe\u{3000}", "Straße"),
        ("bea", "bea "),
        ("\u{212a}im", "kim"),
        ("Owner", "owner"),
        (" owner", "owner"),
    ];
    for (name, like) in taken {
        let by_token = ledger.create_token(token(name)).await.map(drop);
        let by_link = ledger.create_login(name, "admin").await.map(drop);
        for refused in [by_token, by_link] {
            let fault = domain::Fault::from(refused.unwrap_err());
            assert_eq!((fault.code.as_str(), fault.kind), ("token.name_taken", domain::Kind::Conflict), "{name:?}");
            assert!(fault.message.contains(&format!("`{like}`")), "{}", fault.message);
        }
    }
    for name in ["jwt:ann", "token:ann", "device:ann", "JWT:ann", " jwt:ann"] {
        let refused = ledger.create_token(token(name)).await.unwrap_err();
        assert_eq!(domain::Fault::from(refused).code, "token.name", "{name:?}");
        ledger.create_login(name, "admin").await.unwrap_err();
    }
    let names = ["anne", "ann lee", "owner2", "owner"];
    for name in names {
        ledger.create_token(token(name)).await.unwrap();
    }
    assert_eq!(ledger.tokens().await.unwrap().len(), 6 + names.len(), "what was refused is not there");
}

/// A token acts as its actor, and as nobody with a JWT of the same name.
async fn a_token_names_its_actor_with_where_it_comes_from(place: Place) {
    for (bare, own) in [(Origin::Token, "ann"), (Origin::Jwt, "token:ann")] {
        let ledger = place.open().with_names(Names::bare(bare));
        let (info, secret) = ledger.create_token(token("ann")).await.unwrap();
        assert_eq!(
            (info.actor.as_str(), ledger.authenticate(secret.expose()).await.unwrap()),
            (own, Some(info.clone()))
        );
        let code = ledger.create_login("ann", "admin").await.unwrap();
        let session = ledger.redeem_login(code.expose()).await.unwrap().unwrap();
        assert_eq!(ledger.session(session.expose()).await.unwrap().unwrap().actor, own);
        let told = kinds(&ledger).await;
        let last: Vec<&str> = told.iter().rev().take(3).rev().map(String::as_str).collect();
        let expected = [
            format!("token.created {own} analyst"),
            format!("login.created {own} admin"),
            format!("session.started {own} admin"),
        ];
        assert_eq!(last, expected);
        // Whoever is bare by another setting is nobody else by this one.
        let other = if bare == Origin::Token { Origin::Jwt } else { Origin::Token };
        let again = place.open().with_names(Names::bare(other)).authenticate(secret.expose()).await.unwrap().unwrap();
        assert_eq!(Names::bare(other).read(&again.actor), Actor::new(Origin::Token, "ann"));
    }
}
