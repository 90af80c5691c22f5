//! Tokens, each with the server that it is for. A token is never sent anywhere else.

use crate::config::{Config, Origin};
use crate::files;
use crate::problem::{Exit, Problem, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Credentials {
    /// Of the last login.
    pub server: Option<String>,
    /// By server.
    tokens: BTreeMap<String, String>,
}

/// A secret that does not show.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    pub fn new(text: &str) -> Result<Self> {
        let text = text.trim();
        if text.is_empty() || text.chars().any(|c| c.is_whitespace() || c.is_control()) {
            let hint = "a token is one word: `gatehouse tokens create` prints one";
            return Err(Problem::new(Exit::Auth, "bad_token", "this is no token", hint));
        }
        Ok(Self(text.to_owned()))
    }

    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(…)")
    }
}

fn path(directory: &Path) -> PathBuf {
    directory.join("credentials.json")
}

impl Credentials {
    pub fn read(directory: &Path) -> Result<Self> {
        let path = path(directory);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) => {
                return Ok(Self::default());
            }
            Err(error) => return Err(Problem::file("the credentials cannot be read", &error)),
        };
        serde_json::from_str(&text).map_err(|_| {
            let message = format!("`{}` is not what `da login` writes", path.display());
            Problem::new(Exit::Auth, "bad_credentials", message, "remove it and `da login` again")
        })
    }

    pub fn keep(directory: &Path, server: &str, token: &Token) -> Result<()> {
        let mut all = Self::read(directory).unwrap_or_default();
        all.tokens.insert(server.to_owned(), token.expose().to_owned());
        all.server = Some(server.to_owned());
        all.write(directory)
    }

    /// Whether there was a token of that server.
    pub fn forget(directory: &Path, server: &str) -> Result<bool> {
        let mut all = Self::read(directory)?;
        let known = all.tokens.remove(server).is_some();
        if all.server.as_deref() == Some(server) {
            all.server = None;
        }
        all.write(directory)?;
        Ok(known)
    }

    fn write(&self, directory: &Path) -> Result<()> {
        let failed = |error: std::io::Error| Problem::file("the credentials cannot be kept", &error);
        std::fs::create_dir_all(directory).map_err(failed)?;
        let text = serde_json::to_string_pretty(self).unwrap_or_default();
        files::write_private(&path(directory), text.as_bytes()).map_err(failed)
    }

    /// The token for the server in use, and where it is from.
    pub fn token(config: &Config) -> Result<(Token, &'static str)> {
        let server = config.server()?;
        if let Ok(text) = std::env::var("DA_TOKEN") {
            // A file that came with a checkout must not be able to send the token somewhere else.
            if matches!(config.server.origin, Origin::Project(_)) {
                let message = format!("DA_TOKEN is not sent to `{server}`, which a project file names");
                let hint = "set DA_SERVER as well, or `da login` to that server";
                return Err(Problem::new(Exit::Auth, "token_not_sent", message, hint));
            }
            return Ok((Token::new(&text)?, "environment DA_TOKEN"));
        }
        match Self::read(&config.directory)?.tokens.get(server) {
            Some(token) => Ok((Token::new(token)?, "da login")),
            None => {
                let message = format!("there is no token for `{server}`");
                let hint = format!("`da login --server {server} --token-stdin`, or set DA_TOKEN");
                Err(Problem::new(Exit::Auth, "no_token", message, hint))
            }
        }
    }
}
