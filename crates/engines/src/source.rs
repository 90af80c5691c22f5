//! Where data is: files that DuckDB reads, a SQLite database, or a database on another machine.

use domain::{Dialect, Fault, Kind};
use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio_postgres::config::Host;

/// A source of the configuration, or a dataset of the registry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    pub name: String,
    pub kind: SourceKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceKind {
    /// CSV, Parquet and JSON files, one table each.
    Files(Vec<FileTable>),
    /// A database that nobody changes while it is read.
    Sqlite(PathBuf),
    /// A database that Records writes to. It has a directory to itself, since its journal stands beside it.
    SqliteWritable(PathBuf),
    Postgres(Box<PostgresSource>),
    /// An engine that works on many machines, reached by Arrow Flight SQL.
    Flight(Box<FlightSource>),
    /// Google's warehouse.
    BigQuery(Box<BigQuerySource>),
    /// Files, and results that one caller was given, for one statement.
    Joined {
        local: Vec<FileTable>,
        parts: Vec<FileTable>,
    },
    /// An internal service, which Records reads and writes.
    Rest(Box<RestSource>),
}

/// An engine behind Arrow Flight SQL, and how it is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlightSource {
    /// `http://host:port`, or `https://` where its certificate is verified.
    pub url: String,
    /// Sent with every call.
    pub token: Option<Dsn>,
    /// PEM file of the authority that its certificate comes from; without it, the authorities of this machine.
    pub ca: Option<PathBuf>,
    /// [`Dialect::Spark`] or [`Dialect::DataFusion`].
    pub dialect: Dialect,
    /// The databases whose tables are shown. Those of its usual one are called by their plain names.
    pub databases: Vec<String>,
    /// Statements at a time; others wait.
    pub connections: usize,
}

/// Datasets of BigQuery's, and how they are reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BigQuerySource {
    /// Whose the datasets are, and who pays for statements.
    pub project: String,
    /// The datasets whose tables are shown. Those of the first are called by their plain names.
    pub datasets: Vec<String>,
    /// Where the datasets are, as in `EU`.
    pub location: Option<String>,
    /// The address of its REST interface.
    pub url: String,
    /// The address of its Storage Read interface.
    pub storage_url: String,
    pub identity: Identity,
    /// What one statement may read, and cost, at most.
    pub max_bytes_billed: u64,
    /// Statements at a time; others wait.
    pub connections: usize,
}

/// Whom Google takes us for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Identity {
    /// The key file of a service account.
    ServiceAccount(PathBuf),
    /// The service account of this machine, from the address of its metadata server.
    Machine(String),
    /// Whoever a token was given to.
    Token(Credential),
    /// An emulator asks nobody.
    Nobody,
}

/// An internal service, and how it is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestSource {
    /// What the paths of contracts are added to.
    pub url: String,
    pub token: Option<Credential>,
    /// How long one request may take.
    pub timeout: Duration,
    pub writable: bool,
}

/// What a service knows the house by: never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Credential(String);

impl Credential {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credential(…)")
    }
}

/// A Postgres database, and how it is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostgresSource {
    pub url: Dsn,
    /// How its server is verified; none where nothing is encrypted.
    pub tls: Option<Tls>,
    /// The schemas whose tables are shown. Those of `public` are called by their plain names.
    pub schemas: Vec<String>,
    /// Role of a caller → role of the database that its transactions take. Empty: the role that signs in.
    pub roles: BTreeMap<String, String>,
    /// Connections at a time; statements beyond it wait.
    pub connections: usize,
    /// Whether Records may write to it. Everything else reads in READ ONLY transactions all the same.
    pub writable: bool,
}

/// Whom the certificate of a server must come from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tls {
    /// A PEM file; without it, the authorities of this machine.
    pub ca: Option<PathBuf>,
}

/// An address with a password in it: never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Dsn(String);

impl Dsn {
    pub fn new(url: impl Into<String>) -> Self {
        Self(url.into())
    }

    /// The hosts that an address names; nothing of it is told if it is none.
    pub fn hosts(url: &str) -> Option<Vec<String>> {
        let config: tokio_postgres::Config = url.parse().ok()?;
        let name = |host: &Host| match host {
            Host::Tcp(name) => name.clone(),
            Host::Unix(path) => path.display().to_string(),
        };
        let addresses = config.get_hostaddrs().iter().map(ToString::to_string);
        let hosts: Vec<String> = config.get_hosts().iter().map(name).chain(addresses).collect();
        (!hosts.is_empty()).then_some(hosts)
    }

    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Dsn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Dsn(…)")
    }
}

/// Nobody tells when data on another machine changes: what was learnt of it holds for so many seconds.
const HOLDS: u64 = 300;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileTable {
    pub table: String,
    pub path: PathBuf,
    /// Whether a copy in DuckDB's own format is kept and read instead.
    pub hot: bool,
}

impl FileTable {
    /// A table that is read from its file.
    pub fn new(table: impl Into<String>, path: impl Into<PathBuf>) -> Self {
        Self { table: table.into(), path: path.into(), hot: false }
    }
}

impl Source {
    /// The files that a worker for this source may read, and no others.
    pub fn paths(&self) -> Vec<&Path> {
        match &self.kind {
            SourceKind::Files(tables) => tables.iter().map(|t| t.path.as_path()).collect(),
            SourceKind::Sqlite(path) | SourceKind::SqliteWritable(path) => vec![path],
            SourceKind::Joined { local, parts } => local.iter().chain(parts).map(|t| t.path.as_path()).collect(),
            SourceKind::Postgres(_) | SourceKind::Flight(_) | SourceKind::BigQuery(_) | SourceKind::Rest(_) => {
                Vec::new()
            }
        }
    }

    /// Whether changes may be made to it, where contracts allow them.
    pub fn is_writable(&self) -> bool {
        match &self.kind {
            SourceKind::Files(_) | SourceKind::Sqlite(_) => false,
            SourceKind::Flight(_) | SourceKind::BigQuery(_) | SourceKind::Joined { .. } => false,
            SourceKind::SqliteWritable(_) => true,
            SourceKind::Postgres(settings) => settings.writable,
            SourceKind::Rest(service) => service.writable,
        }
    }

    /// Values are bound to its statements. Where they are not, a statement holds its caller's values as literals.
    pub fn binds_values(&self) -> bool {
        match self.kind {
            SourceKind::Files(_)
            | SourceKind::Sqlite(_)
            | SourceKind::SqliteWritable(_)
            | SourceKind::Joined { .. }
            | SourceKind::Postgres(_)
            | SourceKind::BigQuery(_)
            | SourceKind::Rest(_) => true,
            SourceKind::Flight(_) => false,
        }
    }

    /// Whether it is a service, which only Records knows.
    pub fn is_service(&self) -> bool {
        matches!(self.kind, SourceKind::Rest(_))
    }

    /// Changes whenever its tables may have changed, other than in their rows.
    pub fn schema_version(&self) -> Result<String, Fault> {
        match &self.kind {
            SourceKind::SqliteWritable(path) => schema_cookie(path).map_err(|e| self.unreadable(path, &e)),
            _ => self.data_version(),
        }
    }

    /// Whether it is on another machine, and no worker reads it.
    pub fn is_remote(&self) -> bool {
        match self.kind {
            SourceKind::Files(_)
            | SourceKind::Sqlite(_)
            | SourceKind::SqliteWritable(_)
            | SourceKind::Joined { .. } => false,
            SourceKind::Postgres(_) | SourceKind::Flight(_) | SourceKind::BigQuery(_) | SourceKind::Rest(_) => true,
        }
    }

    /// Changes whenever the data may have changed: names, sizes and times of change of its files; of what is on another
    /// machine, as time goes on.
    pub fn data_version(&self) -> Result<String, Fault> {
        if self.is_remote() {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
            return Ok(domain::sha256_hex(format!("{}\0{}", self.name, now / HOLDS).as_bytes()));
        }
        let mut seen = String::new();
        for path in self.paths() {
            let (size, changed) = stamp(path).map_err(|e| self.unreadable(path, &e))?;
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            seen.push_str(&format!("{name}\0{size}\0{changed}\n"));
        }
        self.refuse_unmerged_wal()?;
        Ok(domain::sha256_hex(seen.as_bytes()))
    }

    /// A worker opens SQLite as immutable and would not see what still stands in a write-ahead log.
    fn refuse_unmerged_wal(&self) -> Result<(), Fault> {
        let SourceKind::Sqlite(path) = &self.kind else { return Ok(()) };
        let mut wal = path.as_os_str().to_owned();
        wal.push("-wal");
        match std::fs::metadata(PathBuf::from(wal)) {
            Ok(meta) if meta.len() > 0 => Err(Fault::new(
                Kind::Unavailable,
                "source.unmerged_wal",
                format!("source `{}` has changes in a write-ahead log that are not in its file yet", self.name),
            )
            .hint("close its writers, or run `PRAGMA wal_checkpoint(TRUNCATE)` on it")),
            _ => Ok(()),
        }
    }

    fn unreadable(&self, path: &Path, error: &io::Error) -> Fault {
        tracing::warn!(source = self.name, path = %path.display(), %error, "source cannot be read");
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        Fault::new(
            Kind::Unavailable,
            "source.unreadable",
            format!("source `{}` cannot be read: file `{file}`", self.name),
        )
        .hint("see the server's log, or run `gatehouse doctor`")
    }
}

/// Where SQLite counts the changes of a database's schema, in its file format.
const SCHEMA_COOKIE: u64 = 40;

fn schema_cookie(path: &Path) -> io::Result<String> {
    let mut cookie = [0; 4];
    let file = std::fs::File::open(path)?;
    std::os::unix::fs::FileExt::read_exact_at(&file, &mut cookie, SCHEMA_COOKIE)?;
    Ok(format!("{}\0{}", path.display(), u32::from_be_bytes(cookie)))
}

/// Size and time of change: what tells one state of a file from another.
pub(crate) fn stamp(path: &Path) -> io::Result<(u64, u128)> {
    let meta = std::fs::metadata(path)?;
    let changed = meta.modified()?.duration_since(UNIX_EPOCH).map(|d| d.as_nanos()).unwrap_or_default();
    Ok((meta.len(), changed))
}
