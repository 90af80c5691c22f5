//! `kind = "flight"`.

use super::postgres::{is_here, names};
use super::{Given, Section};
use domain::Dialect;
use engines::{Dsn, FlightSource};
use toml::Table;

const CONNECTIONS: usize = 8;
const DIALECTS: [(&str, Dialect); 2] = [("spark", Dialect::Spark), ("datafusion", Dialect::DataFusion)];

impl Section<'_> {
    pub(super) fn flight(&mut self, table: &Table) -> Option<FlightSource> {
        self.require(table, "url");
        let url = self.read(table, "url", |given: &Given| given.words().map(str::to_owned));
        let trusted = self.read(table, "trusted_network", Given::switch).unwrap_or(false);
        let secret = table.contains_key("token_env") || table.contains_key("token_file");
        let token = if secret { self.secret(table, "token").map(Dsn::new) } else { None };
        let data = self.data;
        let ca = self.read(table, "ca", |given| given.path(data));
        let dialect = self.read(table, "dialect", |given| given.one_of(&DIALECTS)).unwrap_or(Dialect::Spark);
        let usual = if dialect == Dialect::DataFusion { "public" } else { "default" };
        let databases = self.read(table, "databases", names).unwrap_or_else(|| vec![usual.to_owned()]);
        let connections = self.read(table, "connections", |given| given.number(1..=100)).unwrap_or(CONNECTIONS);
        let url = url?;
        let Some((scheme, host)) = place(&url) else {
            self.problem("url", "must be an address, as in `https://host:port`, and nothing more".to_owned());
            return None;
        };
        if scheme == "http" && !is_here(host) && !trusted {
            let message = "`http` is for this machine only: rows would cross the network in clear. Use `https`, or say \
                           `trusted_network = true`";
            self.problem("url", message.to_owned());
        }
        if scheme == "http" && ca.is_some() {
            self.problem("ca", "is of no use without `https`".to_owned());
        }
        Some(FlightSource { url, token, ca, dialect, databases, connections })
    }
}

/// Scheme and host of an address that names nothing else but a port.
fn place(url: &str) -> Option<(&str, &str)> {
    let (scheme, authority) = url.split_once("://")?;
    let (host, port) = authority.trim_end_matches('/').rsplit_once(':')?;
    let plain = !host.is_empty() && !host.contains(['/', '@', '?', '#']);
    (matches!(scheme, "http" | "https") && plain && port.parse::<u16>().is_ok()).then_some((scheme, host))
}
