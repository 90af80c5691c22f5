//! `gatehouse tokens …`: works on the ledger, also while a server is running.

use super::load_without_sources;
use crate::cli::{Data, Tokens};
use crate::print::{self, Problem};
use domain::Actor;
use jiff::{Span, Timestamp, Zoned};
use ledger::{Ledger, NewToken, TokenInfo};
use std::process::ExitCode;

pub async fn run(tokens: Tokens) -> Result<ExitCode, Problem> {
    match tokens {
        Tokens::Create { data, actor, role, expires, claims } => {
            let token = NewToken {
                actor: Actor::token(plain("actor", actor)?),
                role: plain("role", role)?,
                claims: claims.iter().map(|c| claim(c)).collect::<Result<_, _>>()?,
                expires_at: expires.as_deref().map(expiry).transpose()?,
            };
            let (info, secret) = open(&data)?.create_token(token).await?;
            print::line(secret.expose());
            eprintln!("token {} for {} as {}; it is not shown again", info.id, info.actor, info.role);
            warn_of_unknown_role(&data, &info.role);
        }
        Tokens::List { data, json } => list(&open(&data)?.tokens().await?, json),
        Tokens::Revoke { data, id } => {
            if !open(&data)?.revoke_token(&id).await? {
                let mut problem =
                    Problem::usage(format!("there is no valid token `{id}`"), "`gatehouse tokens list` shows ids");
                problem.code = 5;
                return Err(problem);
            }
            eprintln!("token {id} is revoked");
        }
        Tokens::Link { data, actor, role } => {
            let config = load_without_sources(&data)?;
            let code = open(&data)?.create_login(&plain("actor", actor)?, &plain("role", role)?).await?;
            let scheme = if config.tls.is_some() { "https" } else { "http" };
            print::line(format!("{scheme}://{}/login?code={}", config.server.listen, code.expose()));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn open(data: &Data) -> Result<Ledger, Problem> {
    gateway::data_dir::create(&data.data)?;
    Ok(load_without_sources(data)?.open_ledger()?)
}

/// A misspelt role is not wrong, it just sees nothing.
fn warn_of_unknown_role(data: &Data, role: &str) {
    let Ok(config) = load_without_sources(data) else { return };
    let Ok(contracts) = gateway::contracts::Contracts::open(&config.contracts_dir) else { return };
    let policy = contracts.policy();
    let known = |c: &policy::Contract| c.public || c.roles.contains_key(role) || c.grants.values().any(|r| r == role);
    if role != domain::Caller::ADMIN && policy.contracts().count() > 0 && !policy.contracts().any(known) {
        eprintln!("warning: no contract names the role `{role}`: it sees nothing");
    }
}

fn list(tokens: &[TokenInfo], json: bool) {
    if json {
        return print::json(&tokens);
    }
    let now = Timestamp::now();
    let rows: Vec<Vec<String>> = tokens
        .iter()
        .map(|t| {
            let expires = t.expires_at.map_or("never".into(), |at| at.to_string());
            let state = if t.is_valid(now) { "valid" } else { "ended" };
            vec![t.id.clone(), t.actor.clone(), t.role.clone(), t.created_at.to_string(), expires, state.into()]
        })
        .collect();
    print::table(&["ID", "ACTOR", "ROLE", "CREATED", "EXPIRES", "STATE"], &rows);
}

fn plain(what: &str, text: String) -> Result<String, Problem> {
    let fine = !text.trim().is_empty() && text.len() <= 128 && !text.chars().any(char::is_control);
    if fine {
        Ok(text)
    } else {
        Err(Problem::usage(format!("`{text}` is not a good {what}"), "1 to 128 plain characters"))
    }
}

fn claim(text: &str) -> Result<(String, String), Problem> {
    text.split_once('=')
        .filter(|(name, _)| !["", "actor", "role"].contains(name))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .ok_or_else(|| {
            let hint = "write it as NAME=VALUE; `actor` and `role` are flags of their own";
            Problem::usage(format!("`{text}` is not a claim"), hint)
        })
}

fn expiry(text: &str) -> Result<Timestamp, Problem> {
    let bad =
        || Problem::usage(format!("`{text}` is not a span of time to come"), "write it like `30d`, `12h` or `1y`");
    let span: Span = text.parse().map_err(|_| bad())?;
    let at = Zoned::now().checked_add(span).map_err(|_| bad())?.timestamp();
    if at > Timestamp::now() { Ok(at) } else { Err(bad()) }
}
