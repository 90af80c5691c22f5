//! `kind = "rest"`.

use super::{Given, Section};
use engines::{Credential, RestSource};
use std::time::Duration;
use toml::Table;

const TIMEOUT: Duration = Duration::from_secs(10);

impl Section<'_> {
    pub(super) fn rest(&mut self, table: &Table) -> Option<RestSource> {
        self.require(table, "url");
        let url = self.read(table, "url", |given: &Given| given.words().and_then(address));
        let named = ["token_env", "token_file"].iter().any(|key| table.contains_key(*key));
        let token = named.then(|| self.secret(table, "token")).flatten();
        if token.as_ref().is_some_and(|token| token.is_empty() || !token.bytes().all(|b| b.is_ascii_graphic())) {
            self.problem(
                "token_env",
                "is no credential: it may hold letters, digits and signs, and no spaces".to_owned(),
            );
        }
        let timeout = self.read(table, "timeout_seconds", |given| given.seconds(1..=300)).unwrap_or(TIMEOUT);
        let writable = self.read(table, "writable", Given::switch).unwrap_or(false);
        // One whose credential cannot be read is not asked without it.
        let token = match (named, token) {
            (true, None) => return None,
            (_, token) => token.map(Credential::new),
        };
        Some(RestSource { url: url?, token, timeout, writable })
    }
}

/// Over plain HTTP only on this machine: the credential and the rows would cross the network in clear.
pub(super) fn address(text: &str) -> Result<String, String> {
    let host = |rest: &str| rest.split(['/', '?', '#']).next().unwrap_or_default().to_owned();
    let named =
        |host: &str, name: &str| host.strip_prefix(name).is_some_and(|port| port.is_empty() || port.starts_with(':'));
    let (rest, plain) = match (text.strip_prefix("https://"), text.strip_prefix("http://")) {
        (Some(rest), _) => (rest, false),
        (None, Some(rest)) => (rest, true),
        (None, None) => {
            return Err(format!("`{text}` is not the address of a service, such as `https://crm.example.com/api`"));
        }
    };
    let host = host(rest);
    if host.is_empty() || host.contains('@') || text.contains(['?', '#']) || !text.bytes().all(|b| b.is_ascii_graphic())
    {
        return Err(format!(
            "`{text}` is not the address of a service: no user, no query, such as `https://crm.example.com/api`"
        ));
    }
    if plain && !["127.0.0.1", "localhost", "[::1]"].iter().any(|name| named(&host, name)) {
        return Err(format!("`{text}` can be read and changed on its way: use `https`"));
    }
    Ok(text.trim_end_matches('/').to_owned())
}
