//! `kind = "bigquery"`.

use super::postgres::names;
use super::rest::address;
use super::{Given, Section};
use engines::{BigQuerySource, Credential, Identity};
use toml::Table;

const CONNECTIONS: usize = 8;
/// What one statement may read where nothing is said: some cents' worth.
const MAX_BYTES_BILLED: u64 = 10 * 1024 * 1024 * 1024;
const URL: &str = "https://bigquery.googleapis.com";
const STORAGE_URL: &str = "https://bigquerystorage.googleapis.com";
/// The hosts that a machine of Google's knows itself by. They speak plain HTTP, and are reached from that machine alone.
const MACHINES: [&str; 2] = ["http://metadata.google.internal", "http://169.254.169.254"];

impl Section<'_> {
    pub(super) fn bigquery(&mut self, table: &Table) -> Option<BigQuerySource> {
        self.require(table, "project");
        self.require(table, "datasets");
        let project = self.read(table, "project", |given: &Given| given.words().and_then(project));
        let datasets = self.read(table, "datasets", datasets);
        let location = self.read(table, "location", |given: &Given| given.words().and_then(location));
        let at = |given: &Given| given.words().and_then(address);
        let url = self.read(table, "url", at).unwrap_or_else(|| URL.to_owned());
        let storage_url = self.read(table, "storage_url", at).unwrap_or_else(|| STORAGE_URL.to_owned());
        let most = |given: &Given| given.number(1..=i64::MAX);
        let max_bytes_billed = self.read(table, "max_bytes_billed", most).unwrap_or(MAX_BYTES_BILLED);
        let connections = self.read(table, "connections", |given| given.number(1..=100)).unwrap_or(CONNECTIONS);
        let identity = self.identity(table, url.starts_with("http:"))?;
        Some(BigQuerySource {
            project: project?,
            datasets: datasets?,
            location,
            url,
            storage_url,
            identity,
            max_bytes_billed,
            connections,
        })
    }

    /// Exactly one way to say who asks; none at all only of an emulator on this machine.
    fn identity(&mut self, table: &Table, here: bool) -> Option<Identity> {
        let ways = ["credentials_file", "metadata_url", "token_env", "token_file"];
        let named: Vec<&str> = ways.into_iter().filter(|key| table.contains_key(*key)).collect();
        let data = self.data;
        match named.as_slice() {
            [] if here => Some(Identity::Nobody),
            [] => {
                let message =
                    "missing: name a key file, or say who asks by `metadata_url`, `token_env` or `token_file`";
                self.problem("credentials_file", message.to_owned());
                None
            }
            ["credentials_file"] => {
                self.read(table, "credentials_file", |given| given.path(data)).map(Identity::ServiceAccount)
            }
            ["metadata_url"] => {
                self.read(table, "metadata_url", |given: &Given| given.words().and_then(machine)).map(Identity::Machine)
            }
            ["token_env" | "token_file"] => self.secret(table, "token").map(Credential::new).map(Identity::Token),
            [first, ..] => {
                self.problem(first, format!("say who asks in one way only, not by {}", named.join(" and ")));
                None
            }
        }
    }
}

fn machine(text: &str) -> Result<String, String> {
    let text = text.trim_end_matches('/');
    if MACHINES.contains(&text) { Ok(text.to_owned()) } else { address(text) }
}

fn project(text: &str) -> Result<String, String> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | ':' | '.');
    let fits = !text.is_empty() && text.len() <= 100 && text.chars().all(plain);
    if fits { Ok(text.to_owned()) } else { Err(format!("`{text}` is not the id of a project")) }
}

fn location(text: &str) -> Result<String, String> {
    let fits = !text.is_empty() && text.len() <= 64 && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    if fits { Ok(text.to_owned()) } else { Err(format!("`{text}` is not a location, such as `EU`")) }
}

fn datasets(given: &Given) -> Result<Vec<String>, String> {
    let names = names(given)?;
    match names.iter().find(|name| !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')) {
        Some(name) => Err(format!("`{name}` is not the name of a dataset")),
        None => Ok(names),
    }
}
