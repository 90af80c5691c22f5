//! Every kind of source does the same: one suite, written once, run against each.
//!
//! A kind of source is one file here: how the data of [`data`] gets into it, how a server finds it, and what troubles it
//! can have. DuckDB over files is what the others are compared with.

mod ballista;
mod bigquery;
mod cluster;
mod cut;
mod data;
mod estimates;
mod fence;
mod files;
mod functions;
mod guard;
mod left;
mod postgres;
mod sail;
mod sqlite;
mod suite;
mod tenants;
mod tls;
mod tokens;
mod troubles;
mod warehouse;

use std::path::Path;
use testkit::ServerBuilder;

/// A kind of source, with the data of the suite in it.
pub trait Source: Send + Sync {
    /// What cases and the table of `make test` call it.
    fn kind(&self) -> &'static str;
    /// Its section of `gatehouse.toml`, below `[sources.firm]`.
    fn section(&self) -> String;
    /// Variables that the section names.
    fn variables(&self) -> Vec<(String, String)> {
        Vec::new()
    }
    /// Whether it has a type for such values.
    fn has(&self, _: &data::Kind) -> bool {
        true
    }
    /// Such values as a scan of it gives them in JSON.
    fn json(&self, kind: &data::Kind) -> [&'static str; 2] {
        kind.json
    }
    /// A predicate of the suite in the flavour of its tables; none where that has no words for it.
    fn filter(&self, filter: &'static str) -> Option<&'static str> {
        Some(filter)
    }
    /// Whether the predicates that it refuses are written down. Where they are not, one in five may be.
    fn is_known(&self) -> bool {
        true
    }
    /// A scan of the suite likewise.
    fn shape(&self, shape: &str) -> String {
        shape.to_owned()
    }
    /// How long a statement may take, in seconds: all but one are well below.
    fn seconds(&self) -> u32 {
        4
    }
    /// The code of what a caller is told of a trouble.
    fn code(&self, trouble: Trouble) -> &'static str {
        match trouble {
            Trouble::Lost => "source.unreachable",
            Trouble::Credentials => "source.credentials",
            Trouble::TableGone => "source.table_gone",
            Trouble::ColumnGone | Trouble::TypeChanged => "source.schema_changed",
        }
    }
    /// Brings trouble over it. What is mended again is mended by [`Source::mend`].
    fn trouble(&mut self, trouble: Trouble) -> Had;
    fn mend(&mut self) {}
    /// Whether it can be told to stop a statement that it works on. What cannot is made to by [`Source::mend`].
    fn stops(&self) -> bool {
        true
    }
    /// Whether it takes the next statement while it works on one that nobody waits for any more.
    fn works_beside(&self) -> bool {
        true
    }
    /// Whether no statement of ours is at work there, soon after it was cancelled.
    fn is_idle(&self) -> bool {
        true
    }
}

/// What can happen to a source while a server stands over it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// The server over there goes away.
    Lost,
    /// It does not know us any more.
    Credentials,
    /// The table `doomed` is dropped.
    TableGone,
    /// The column `word` of the table `doomed` holds the number 7 from now on, in every row.
    TypeChanged,
    /// The column `word` of the table `doomed` is dropped.
    ColumnGone,
}

/// Whether such a source can have such a trouble.
#[derive(Debug, PartialEq, Eq)]
pub enum Had {
    Yes,
    /// It is no server, or nothing is dropped under a reader there.
    CannotBe,
}

/// A server over a source, which is called `firm` there.
pub fn server(source: &dyn Source, dir: &Path) -> ServerBuilder {
    let toml = format!("[sources.firm]\n{}\n", source.section());
    let server = crate::support::server().data(dir).file("gatehouse.toml", &toml);
    source.variables().iter().fold(server, |server, (name, value)| server.env(name, value))
}

#[test]
fn files() {
    suite::conform(|dir| Box::new(files::Files::new(dir)));
}

#[test]
fn sqlite() {
    suite::conform(|dir| Box::new(sqlite::Sqlite::new(dir)));
}

#[test]
fn postgres() {
    suite::conform(|_| Box::new(postgres::Postgres::new()));
}

#[test]
fn bigquery() {
    suite::conform(|dir| Box::new(bigquery::BigQuery::new(dir)));
}

#[test]
fn sail() {
    suite::conform(|dir| Box::new(sail::Sail::new(testkit::Mode::Local, dir)));
}

#[test]
fn sail_in_a_cluster() {
    suite::conform(|dir| Box::new(sail::Sail::new(testkit::Mode::Cluster, dir)));
}
