//! What a token says, and whether it still holds.

use crate::config::Jwt;
use domain::Caller;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Names and claims that are longer are nobody's.
const MAX_CHARS: usize = 256;
const MAX_CLAIMS: usize = 64;
/// Claims are looked for so deep.
const MAX_DEPTH: usize = 4;

/// Whose token it is.
#[derive(Debug, PartialEq, Eq)]
pub struct Person {
    /// As whoever signed the token names them.
    pub subject: String,
    pub role: String,
    /// Every scalar by its path: `tenant`, `app_metadata.team`.
    pub claims: BTreeMap<String, String>,
}

pub fn check(config: &Jwt, payload: &Map<String, Value>, now: Timestamp) -> Result<Person, &'static str> {
    let leeway = SignedDuration::try_from(config.leeway).unwrap_or_default();
    let expires = moment(payload, "exp")?.ok_or("it does not say when it expires")?;
    if now >= expires.saturating_add(leeway).unwrap_or(Timestamp::MAX) {
        return Err("it has expired");
    }
    if let Some(from) = moment(payload, "nbf")?
        && now < from.saturating_sub(leeway).unwrap_or(Timestamp::MIN)
    {
        return Err("it does not hold yet");
    }
    if let Some(issuer) = &config.issuer
        && payload.get("iss").and_then(Value::as_str) != Some(issuer)
    {
        return Err("another issuer");
    }
    if let Some(audience) = &config.audience
        && !is_for(payload.get("aud"), audience)
    {
        return Err("another audience");
    }
    let subject = name(payload, &config.actor_claim).ok_or("no actor")?;
    let role = name(payload, &config.role_claim).ok_or("no role")?;
    if role == Caller::ADMIN {
        return Err("admins sign in with tokens of this house");
    }
    let mut claims = BTreeMap::new();
    flatten("", payload, 0, &mut claims)?;
    Ok(Person { subject, role, claims })
}

/// A whole or broken number of seconds since 1970, as the standard has it.
fn moment(payload: &Map<String, Value>, claim: &str) -> Result<Option<Timestamp>, &'static str> {
    let Some(value) = payload.get(claim) else { return Ok(None) };
    #[allow(clippy::cast_possible_truncation, reason = "times beyond an i64 are no times")]
    let seconds = value.as_i64().or_else(|| value.as_f64().filter(|s| s.is_finite()).map(|s| s.floor() as i64));
    let seconds = seconds.ok_or("a time that is none")?;
    // Beyond the calendar is for ever, or never.
    let edge = if seconds > 0 { Timestamp::MAX } else { Timestamp::MIN };
    Ok(Some(Timestamp::from_second(seconds).unwrap_or(edge)))
}

fn is_for(audience: Option<&Value>, wanted: &str) -> bool {
    match audience {
        Some(Value::String(one)) => one == wanted,
        Some(Value::Array(several)) => several.iter().any(|one| one == wanted),
        _ => false,
    }
}

/// The text at a path: `sub`, `app_metadata.role`. It is taken to the letter: one with spaces at its ends is no name.
fn name(payload: &Map<String, Value>, path: &str) -> Option<String> {
    // A claim may have a dot, or a whole address, in its own name.
    let found = payload.get(path).or_else(|| {
        let mut steps = path.split('.');
        let first = payload.get(steps.next()?)?;
        steps.try_fold(first, |value, step| value.get(step))
    })?;
    let text = found.as_str()?;
    let plain = !text.is_empty()
        && text.trim() == text
        && text.chars().count() <= MAX_CHARS
        && !text.chars().any(char::is_control);
    plain.then(|| text.to_owned())
}

fn flatten(
    prefix: &str,
    object: &Map<String, Value>,
    depth: usize,
    claims: &mut BTreeMap<String, String>,
) -> Result<(), &'static str> {
    for (key, value) in object {
        let path = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            Value::Bool(truth) => truth.to_string(),
            Value::Object(inner) if depth < MAX_DEPTH => {
                flatten(&path, inner, depth + 1, claims)?;
                continue;
            }
            Value::Object(_) | Value::Array(_) | Value::Null => continue,
        };
        if claims.len() >= MAX_CLAIMS {
            return Err("too many claims");
        }
        claims.insert(path, text);
    }
    Ok(())
}
