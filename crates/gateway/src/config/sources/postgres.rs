//! `kind = "postgres"`.

use super::{Given, Section};
use engines::{Dsn, PostgresSource, Tls};
use std::collections::BTreeMap;
use toml::Table;

const CONNECTIONS: usize = 8;

impl Section<'_> {
    pub(super) fn postgres(&mut self, table: &Table) -> Option<PostgresSource> {
        let url = self.secret(table, "url");
        let data = self.data;
        let ca = self.read(table, "ca", |given| given.path(data));
        let verified = self.read(table, "sslmode", |given| given.one_of(&[("verify-full", true), ("disable", false)]));
        let verified = verified.unwrap_or(true);
        let schemas = self.read(table, "schemas", names).unwrap_or_else(|| vec!["public".to_owned()]);
        let connections = self.read(table, "connections", |given| given.number(1..=100)).unwrap_or(CONNECTIONS);
        let roles = self.roles(table);
        let writable = self.read(table, "writable", Given::switch).unwrap_or(false);
        let url = url?;
        let hosts = match Dsn::hosts(&url) {
            Some(hosts) => hosts,
            None => {
                let message = "the address is not one: write postgres://user:password@host:5432/database";
                self.problem(if table.contains_key("url_file") { "url_file" } else { "url_env" }, message.to_owned());
                return None;
            }
        };
        if !verified && !hosts.iter().all(|host| is_here(host)) {
            let message =
                "`disable` is for this machine only: the password and the rows would cross the network in clear";
            self.problem("sslmode", message.to_owned());
        }
        if !verified && ca.is_some() {
            self.problem("ca", "is of no use with `sslmode = \"disable\"`".to_owned());
        }
        let tls = verified.then_some(Tls { ca });
        Some(PostgresSource { url: Dsn::new(url), tls, schemas, roles, connections, writable })
    }

    fn roles(&mut self, table: &Table) -> BTreeMap<String, String> {
        let Some(value) = table.get("roles") else { return BTreeMap::new() };
        let said = value.as_table().map(|roles| {
            roles.iter().map(|(role, theirs)| Some((role.clone(), theirs.as_str()?.to_owned()))).collect::<Option<_>>()
        });
        said.flatten().unwrap_or_else(|| {
            let message =
                "must name a role of the database for each role here, as in `{analyst = \"gatehouse_analyst\"}`";
            self.problem("roles", message.to_owned());
            BTreeMap::new()
        })
    }
}

/// Names that can be quoted as they are.
pub(super) fn names(given: &Given) -> Result<Vec<String>, String> {
    let names = given.list()?;
    let odd = |name: &&String| name.is_empty() || name.contains(['"', '.', '\\']) || name.chars().any(char::is_control);
    match names.iter().find(odd) {
        Some(name) => Err(format!("`{name}` is not a name that can be shown")),
        None if names.is_empty() => Err("names none".to_owned()),
        None => Ok(names),
    }
}

/// A socket's directory, or an address of this machine.
pub(super) fn is_here(host: &str) -> bool {
    let by_address = host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
    host.starts_with('/') || host == "localhost" || by_address
}
