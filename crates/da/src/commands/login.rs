//! `da login`, `logout` and `whoami`.

use super::Context;
use crate::cache;
use crate::cli::Login;
use crate::client::Client;
use crate::config::Origin;
use crate::credentials::{Credentials, Token};
use crate::print;
use crate::problem::{Exit, Problem, Result};
use serde_json::json;
use std::io::Read;

/// Longer than any token.
const MOST: u64 = 16 * 1024;

pub fn login(context: &Context, args: &Login) -> Result<()> {
    let server = context.config.server()?;
    if matches!(context.config.server.origin, Origin::Project(_)) {
        // Whoever wrote a checkout must not choose who is sent a token.
        let message = format!("`{server}` is named by a project's file");
        return Err(Problem::new(Exit::Auth, "server_of_project", message, "say it yourself: `da login --server URL`"));
    }
    let token = match args.token_stdin {
        true => {
            let mut text = String::new();
            let read = std::io::stdin().take(MOST).read_to_string(&mut text);
            read.map_err(|error| Problem::file("stdin cannot be read", &error))?;
            Token::new(&text)?
        }
        false => {
            let text = std::env::var("DA_TOKEN").map_err(|_| {
                let hint = "pipe it in with --token-stdin, or set DA_TOKEN; secrets are no arguments";
                Problem::new(Exit::Auth, "no_token", "there is no token to log in with", hint)
            })?;
            Token::new(&text)?
        }
    };
    let seen = Client::with(server, token.clone())?.whoami()?;
    Credentials::keep(&context.config.directory, server, &token)?;
    cache::clear(&context.place);
    if context.all.json {
        return print::json(&json!({ "server": server, "actor": seen.actor, "role": seen.role }));
    }
    print::line(format!("Logged in to {server} as {} ({})", seen.actor, seen.role))
}

pub fn logout(context: &Context) -> Result<()> {
    let server = context.config.server()?;
    let known = Credentials::forget(&context.config.directory, server)?;
    cache::clear(&context.place);
    if context.all.json {
        return print::json(&json!({ "server": server, "forgotten": known }));
    }
    print::line(if known { format!("Logged out of {server}") } else { format!("There was no token for {server}") })
}

pub fn whoami(context: &Context) -> Result<()> {
    let (_, origin) = Credentials::token(&context.config)?;
    let seen = context.client()?.whoami()?;
    let server = context.config.server()?;
    if context.all.json {
        return print::json(&json!({ "server": server, "actor": seen.actor, "role": seen.role, "token_from": origin }));
    }
    print::line(format!("{} ({}) at {server}, token from {origin}", seen.actor, seen.role))
}
