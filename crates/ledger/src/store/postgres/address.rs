//! Where the database is, and how to prove that it is the right one.

use crate::LedgerError;
use rustls::ClientConfig;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};

/// A database to keep a ledger in. Neither `Debug` nor `Display` shows the password.
#[derive(Clone)]
pub struct Address {
    /// Large, and seldom looked at.
    config: Box<Config>,
    authority: Option<PathBuf>,
    /// How long a request waits for a database that is away.
    pub patience: Duration,
    /// How long a server gives no sign of life before it counts as dead.
    pub lease: Duration,
}

impl Address {
    /// Reads `postgres://user:password@host:port/database`. To another machine it is always TLS, unless the address says
    /// `sslmode=disable`. The certificate is checked against `authority`, a PEM file, or what the system trusts.
    pub fn parse(url: &str, authority: Option<PathBuf>) -> Result<Self, LedgerError> {
        if !["postgres://", "postgresql://"].iter().any(|scheme| url.starts_with(scheme)) {
            return Err(LedgerError::BadAddress("it does not begin with `postgres://`".into()));
        }
        // We check names always: what other clients call `verify-full` is our `require`.
        let plain =
            url.replace("sslmode=verify-full", "sslmode=require").replace("sslmode=verify-ca", "sslmode=require");
        let mut config: Config = plain.parse().map_err(|error| LedgerError::BadAddress(told(&error)))?;
        if config.get_hosts().is_empty() {
            return Err(LedgerError::BadAddress("it names no host".into()));
        }
        if config.get_ssl_mode() == SslMode::Prefer {
            let away = config.get_hosts().iter().any(|host| !is_near(host)) || authority.is_some();
            config.ssl_mode(if away { SslMode::Require } else { SslMode::Disable });
        }
        if config.get_application_name().is_none() {
            config.application_name("gatehouse");
        }
        config.keepalives_idle(Duration::from_secs(15)).keepalives_interval(Duration::from_secs(5));
        config.connect_timeout(Duration::from_secs(5));
        Ok(Self {
            config: Box::new(config),
            authority,
            patience: Duration::from_secs(10),
            lease: Duration::from_secs(15),
        })
    }

    /// Of several hosts, the one that takes writes, also for reading: a standby lags behind, and would know nothing of a
    /// token that was just withdrawn. A single host may be one that only reads: an auditor's copy, for example.
    pub(super) fn config(&self, writes: bool) -> Config {
        let mut config = Config::clone(&self.config);
        if writes || config.get_hosts().len() > 1 {
            config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        }
        config
    }

    pub(super) fn tls(&self) -> Result<ClientConfig, LedgerError> {
        let mut roots = rustls::RootCertStore::empty();
        match &self.authority {
            Some(path) => roots.add_parsable_certificates(certificates(path)?),
            None => roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs),
        };
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| LedgerError::Unreachable(error.to_string()))?;
        Ok(config.with_root_certificates(roots).with_no_client_auth())
    }
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, LedgerError> {
    let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    match read {
        Ok(certificates) if !certificates.is_empty() => Ok(certificates),
        Ok(_) => Err(LedgerError::BadAuthority { path: path.to_owned(), cause: "it holds none".into() }),
        Err(cause) => Err(LedgerError::BadAuthority { path: path.to_owned(), cause: cause.to_string() }),
    }
}

/// On this machine, where nobody listens in between.
fn is_near(host: &Host) -> bool {
    match host {
        Host::Unix(_) => true,
        Host::Tcp(name) => {
            name == "localhost" || name.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.to_canonical().is_loopback())
        }
    }
}

/// An error with its cause. The parser of addresses repeats names of parameters, never values.
fn told(error: &tokio_postgres::Error) -> String {
    match std::error::Error::source(error) {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = match self.config.get_hosts().first() {
            Some(Host::Tcp(name)) => name.clone(),
            Some(Host::Unix(path)) => path.display().to_string(),
            None => String::new(),
        };
        let port = self.config.get_ports().first().copied().unwrap_or(5432);
        write!(f, "Postgres at {host}:{port}, database `{}`", self.config.get_dbname().unwrap_or_default())
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(url: &str) -> SslMode {
        Address::parse(url, None).unwrap().config.get_ssl_mode()
    }

    #[test]
    fn another_machine_is_spoken_to_over_tls() {
        let cases = [
            ("postgres://u:p@db.example.com/l", SslMode::Require),
            ("postgres://u:p@db.example.com/l?sslmode=verify-full", SslMode::Require),
            ("postgres://u:p@db.example.com/l?sslmode=prefer", SslMode::Require),
            ("postgres://u:p@127.0.0.1,10.0.0.7/l", SslMode::Require),
            ("postgres://u:p@10.0.0.7/l?sslmode=disable", SslMode::Disable),
            ("postgres://u:p@127.0.0.1:5433/l", SslMode::Disable),
            ("postgres://u@%2Frun%2Fpostgresql/l", SslMode::Disable),
        ];
        for (url, expected) in cases {
            assert_eq!(mode(url), expected, "{url}");
        }
    }

    #[test]
    fn of_several_hosts_the_one_that_takes_writes_is_read() {
        let attributes =
            |url: &str, writes| Address::parse(url, None).unwrap().config(writes).get_target_session_attrs();
        let (one, two) = ("postgres://u@127.0.0.1/l", "postgres://u@127.0.0.1,10.0.0.7/l?sslmode=disable");
        assert_eq!(attributes(one, false), TargetSessionAttrs::Any);
        for (url, writes) in [(one, true), (two, true), (two, false)] {
            assert_eq!(attributes(url, writes), TargetSessionAttrs::ReadWrite, "{url} {writes}");
        }
    }

    #[test]
    fn a_wrong_address_is_told_without_the_secret_in_it() {
        for url in ["mysql://u:hunter2@h/l", "postgres://u:hunter2@/l", "postgres://u:hunter2@h/l?what=ever", ""] {
            let error = Address::parse(url, None).unwrap_err().to_string();
            assert!(!error.contains("hunter2"), "{error}");
        }
        let good = Address::parse("postgres://u:hunter2@h/l", None).unwrap();
        assert_eq!(
            format!("{good} {good:?}"),
            "Postgres at h:5432, database `l` Address(Postgres at h:5432, database `l`)"
        );
    }
}
