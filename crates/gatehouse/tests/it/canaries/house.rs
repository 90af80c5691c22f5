//! A house with values in it that say where they must not be seen.

use crate::support::server;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use tempfile::TempDir;
use testkit::ServerBuilder;

/// Of hidden fields, of rows of others, of columns and tables without a contract.
const HIDDEN: [&str; 6] = ["qx7canary", "918273645", "918,273", "9.18273", "globex", "2999-12"];
/// Names of fields that are hidden and of a table that has no contract: to their callers they do not exist.
const NAMES: &str = "zq4hidden";
/// Values of people, in rows of one's own.
const PERSONAL: &str = "qx7person";

/// Whose rows the callers may see.
pub const TENANT: &str = "acme";
pub const ROLES: [&str; 4] = ["lead", "clerk", "reader", "nobody"];

/// Who looks at a text.
#[derive(Clone, Copy)]
pub enum Reader<'a> {
    Role(&'a str),
    /// A model: it sees nothing of people, whoever asks it.
    Model,
    /// Whoever reads the log: names are no secret to them.
    Operator,
}

impl Reader<'_> {
    /// What of it they must not see; nothing, if all is well.
    pub fn finds(self, text: &[u8]) -> Option<&'static str> {
        let text = String::from_utf8_lossy(text).to_lowercase();
        let names = (!matches!(self, Self::Operator)).then_some(NAMES);
        let personal = (!matches!(self, Self::Role("lead"))).then_some(PERSONAL);
        let packed = String::from_utf8_lossy(&918_273_645_i64.to_le_bytes()).to_lowercase();
        let number = text.contains(&packed).then_some("918273645");
        HIDDEN.into_iter().chain(names).chain(personal).find(|word| text.contains(word)).or(number)
    }
}

/// A data directory with all of them.
pub fn plant() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for folder in ["datasets", "contracts", "datasets/vault"] {
        std::fs::create_dir(dir.path().join(folder)).unwrap();
    }
    let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
    write("datasets/registry.json", include_str!("../cases/canaries/registry.json"));
    write("datasets/visits.csv", include_str!("../cases/canaries/visits.csv"));
    write("contracts/cases.yaml", include_str!("../cases/canaries/cases.yaml"));
    write("contracts/parties.yaml", include_str!("../cases/canaries/parties.yaml"));
    write("contracts/notes.yaml", include_str!("../cases/canaries/notes.yaml"));
    write("contracts/visits.yaml", include_str!("../cases/canaries/visits.yaml"));
    for (name, sql) in [
        ("vault/vault", include_str!("../cases/canaries/vault.sql")),
        ("desk", include_str!("../cases/canaries/desk.sql")),
    ] {
        let path = dir.path().join(format!("datasets/{name}.sqlite"));
        rusqlite::Connection::open(path).unwrap().execute_batch(sql).unwrap();
    }
    // Workers write as another user.
    for (path, mode) in [("datasets/vault", 0o777), ("datasets/vault/vault.sqlite", 0o666)] {
        std::fs::set_permissions(dir.path().join(path), std::fs::Permissions::from_mode(mode)).unwrap();
    }
    dir
}

/// A server over it that logs at INFO, and whose audit lines go to a file.
pub fn over(dir: &Path) -> ServerBuilder {
    let desk = dir.join("datasets/desk.sqlite");
    server()
        .data(dir)
        .env("LOG_LEVEL", "info")
        .env("CLAUDE_DA_LOG_OUTPUT", "file")
        .env("CLAUDE_DA_DB_PATH", desk.to_str().unwrap())
}
