//! A place with data that was given to an engine, and secrets that were not.

use engines::{FileTable, Source, SourceKind};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::{env, fs, io};
use tempfile::TempDir;

/// Stands in every file that no engine may read.
const SECRET: &str = "hunter2-is-not-for-you";

pub struct Place {
    dir: TempDir,
    /// Files that were not given to anybody.
    closed: TempDir,
    /// Nobody may call here.
    listener: TcpListener,
}

impl Place {
    pub fn new() -> Self {
        let [dir, closed] = [(), ()].map(|()| tempfile::tempdir().unwrap());
        for dir in [&dir, &closed] {
            // Workers without namespaces go in as another user: what stops them must not be these bits.
            fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o777)).unwrap();
        }
        fs::write(closed.path().join("secret.csv"), format!("word\n{SECRET}\n")).unwrap();
        fs::write(closed.path().join("secret.json"), format!("[{{\"word\": \"{SECRET}\"}}]")).unwrap();
        let database = rusqlite::Connection::open(closed.path().join("secret.sqlite")).unwrap();
        database.execute_batch(&format!("CREATE TABLE t (word); INSERT INTO t VALUES ('{SECRET}')")).unwrap();
        let parquet = closed.path().join("secret.parquet");
        let duckdb = duckdb::Connection::open_in_memory().unwrap();
        duckdb.execute_batch(&format!("COPY (SELECT '{SECRET}' AS word) TO '{}'", parquet.display())).unwrap();
        for file in fs::read_dir(closed.path()).unwrap() {
            fs::set_permissions(file.unwrap().path(), fs::Permissions::from_mode(0o666)).unwrap();
        }
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        Self { dir, closed, listener }
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// A statement with the names of this place in it; `inside` is where the engine finds its data.
    pub fn fill(&self, text: &str, inside: &Path) -> String {
        let text = text.replace("$INSIDE", &inside.display().to_string());
        let address = self.listener.local_addr().unwrap().to_string();
        let data = self.dir.path().display().to_string();
        text.replace("$CLOSED", &self.closed.path().display().to_string())
            .replace("$DATA", &data)
            .replace("$NET", &address)
    }

    pub fn shows_a_secret(&self, bytes: &[u8]) -> bool {
        let path = env::var("PATH").unwrap_or_default();
        let secrets = [SECRET, "root:x:0:0", path.as_str()];
        secrets.iter().filter(|s| !s.is_empty()).any(|s| bytes.windows(s.len()).any(|window| window == s.as_bytes()))
    }

    /// All files here, beside it and where this process stands, by name and content.
    pub fn fingerprint(&self) -> BTreeMap<PathBuf, String> {
        let mut files = BTreeMap::new();
        let here = env::current_dir().unwrap();
        for dir in [self.dir.path(), self.closed.path(), &here] {
            for entry in fs::read_dir(dir).unwrap() {
                let path = entry.unwrap().path();
                let content = if path.is_dir() { String::new() } else { domain::sha256_hex(&fs::read(&path).unwrap()) };
                files.insert(path, content);
            }
        }
        files
    }

    pub fn was_called(&self) -> bool {
        !matches!(self.listener.accept(), Err(e) if e.kind() == io::ErrorKind::WouldBlock)
    }
}

/// What a worker is told to open; `inside` says where it finds a file.
pub fn engine(source: &Source, inside: impl Fn(&Path) -> PathBuf) -> Value {
    let engine = match &source.kind {
        SourceKind::Files(tables) => {
            let open = |t: &FileTable| json!({ "name": t.table, "path": inside(&t.path), "copy": null });
            json!({ "Files": tables.iter().map(open).collect::<Vec<_>>() })
        }
        SourceKind::Sqlite(path) => json!({"Sqlite": inside(path)}),
        other => panic!("no worker opens {other:?}"),
    };
    json!({"engine": engine, "memory_bytes": 512 * 1024 * 1024})
}
