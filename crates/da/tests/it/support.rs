//! A server with known tables, and a home directory of its own for each `da`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use tempfile::TempDir;
use testkit::{Server, ServerBuilder};

pub const DA: &str = env!("CARGO_BIN_EXE_da");

/// The server's program: what `GATEHOUSE` names, or what lies beside ours. `cargo test --workspace` has made it; alone, we do.
pub fn gatehouse() -> &'static Path {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| {
        if let Some(path) = std::env::var_os("GATEHOUSE") {
            return path.into();
        }
        let path = Path::new(DA).with_file_name("gatehouse");
        if !path.exists() {
            let built = Command::new(env!("CARGO")).args(["build", "--quiet", "-p", "gatehouse"]).status().unwrap();
            assert!(built.success(), "gatehouse does not build");
        }
        path
    })
}

/// Tables of the tests: `orders` is copied whole, `events` and `numbers` are fetched, `secrets` is for admins only.
pub struct House {
    pub dir: TempDir,
    pub server: Server,
}

impl House {
    pub fn new(numbers: u64) -> Self {
        Self::with(numbers, |server| server)
    }

    /// One that asks its engine each time: of a result that it kept, a server says at the start how long it is.
    pub fn forgetful(numbers: u64) -> Self {
        Self::with(numbers, |server| server.env("GATEHOUSE_API_SCAN_RESULT_CACHE_MB", "0"))
    }

    pub fn with(numbers: u64, settings: impl Fn(ServerBuilder) -> ServerBuilder) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let contracts = dir.path().join("contracts");
        std::fs::create_dir(&contracts).unwrap();
        for (name, source, mode, fields) in [
            ("orders", "shop", "local", "id: integer, region: string, amount: decimal, ordered_on: date"),
            ("events", "web", "remote", "event_date: date, country_code: string, session_id: string, clicks: integer"),
            ("numbers", "maths", "remote", "n: integer, name: string, share: number"),
        ] {
            let fields: String = fields
                .split(", ")
                .map(|field| field.split_once(": ").unwrap())
                .map(|(name, kind)| format!("  - {{name: {name}, type: {kind}}}\n"))
                .collect();
            let text = format!(
                "version: \"1\"\nresource: {name}\nsource: {source}\ntable: {name}\ndescribe: All the {name}\n\
                 fields:\n{fields}roles:\n  analyst: {{ops: [READ]}}\nquery_mode: {mode}\n"
            );
            std::fs::write(contracts.join(format!("{name}.yaml")), text).unwrap();
        }
        let toml = "[sources.shop]\nkind = \"files\"\ntables = { orders = \"orders.parquet\" }\n\
                    [sources.web]\nkind = \"files\"\ntables = { events = \"events.parquet\" }\n\
                    [sources.maths]\nkind = \"files\"\ntables = { numbers = \"numbers.parquet\" }\n\
                    [sources.vault]\nkind = \"files\"\ntables = { secrets = \"secrets.parquet\" }\n";
        std::fs::write(dir.path().join("gatehouse.toml"), toml).unwrap();
        data(dir.path(), "orders", &orders(6));
        data(dir.path(), "events", &events(120));
        data(dir.path(), "secrets", "SELECT 1 AS secret");
        let numbers =
            format!("SELECT range AS n, 'row ' || range AS name, range % 97 / 7.0 AS share FROM range({numbers})");
        data(dir.path(), "numbers", &numbers);
        let server = settings(ServerBuilder::new(gatehouse()).data(dir.path())).start();
        Self { dir, server }
    }

    /// Replaces the data of a table.
    pub fn change(&self, table: &str, sql: &str) {
        data(self.dir.path(), table, sql);
    }

    pub fn da(&self) -> Da {
        self.da_as("ann", "analyst")
    }

    pub fn da_as(&self, actor: &str, role: &str) -> Da {
        Da::new(&self.server.url, &self.server.token(actor, role))
    }
}

pub fn orders(rows: u64) -> String {
    format!(
        "SELECT range AS id, ['EMEA', 'APAC', 'AMER'][1 + range % 3] AS region, \
         CAST(range * 10.5 AS DECIMAL(12,2)) AS amount, DATE '2026-01-01' + CAST(range AS INTEGER) AS ordered_on FROM range({rows})"
    )
}

pub fn events(rows: u64) -> String {
    format!(
        "SELECT DATE '2026-01-01' + CAST(range % 30 AS INTEGER) AS event_date, \
         CASE WHEN range % 10 = 0 THEN NULL ELSE ['CZ', 'DE', 'FR'][1 + range % 3] END AS country_code, \
         'session ' || range AS session_id, CAST(range % 20 AS INTEGER) AS clicks FROM range({rows})"
    )
}

/// At once, so that the server sees the old file or the new one.
fn data(dir: &Path, table: &str, sql: &str) {
    let (path, beside) = (dir.join(format!("{table}.parquet")), dir.join(format!("{table}.new")));
    let duck = duckdb::Connection::open_in_memory().unwrap();
    duck.execute_batch(&format!("COPY ({sql}) TO '{}' (FORMAT parquet, ROW_GROUP_SIZE 65536)", beside.display()))
        .unwrap();
    std::fs::rename(beside, path).unwrap();
}

/// A user with a home directory.
pub struct Da {
    pub home: TempDir,
    pub env: Vec<(String, String)>,
}

/// What a command said.
#[derive(Debug, Clone, PartialEq)]
pub struct Said {
    pub out: String,
    pub err: String,
    pub code: i32,
}

impl Da {
    pub fn new(url: &str, token: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        let env = [("DA_SERVER", url), ("DA_TOKEN", token)].map(|(k, v)| (k.to_owned(), v.to_owned()));
        Self { home, env: env.into() }
    }

    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.env.retain(|(known, _)| known != name);
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn without(mut self, name: &str) -> Self {
        self.env.retain(|(known, _)| known != name);
        self
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(DA);
        command.args(args).env_clear().env("HOME", self.home.path()).current_dir(self.home.path());
        command.envs(self.env.iter().map(|(k, v)| (k, v)));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub fn start(&self, args: &[&str]) -> Child {
        self.command(args).spawn().unwrap()
    }

    pub fn run(&self, args: &[&str]) -> Said {
        said(self.start(args))
    }

    pub fn run_with(&self, args: &[&str], input: &str) -> Said {
        let mut child = self.command(args).stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        said(child)
    }

    /// The output of a command that must work.
    pub fn ok(&self, args: &[&str]) -> String {
        let said = self.run(args);
        assert_eq!(said.code, 0, "da {args:?}: {}", said.err);
        said.out
    }

    pub fn json(&self, args: &[&str]) -> serde_json::Value {
        let out = self.ok(&[args, &["--json"]].concat());
        serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {out}"))
    }

    /// One number that SQL gives.
    pub fn number(&self, sql: &str) -> i64 {
        let rows = self.json(&["query", sql]);
        rows[0].as_object().unwrap().values().next().unwrap().as_i64().unwrap_or_else(|| panic!("{rows}"))
    }

    pub fn root(&self) -> PathBuf {
        self.home.path().join("agnes-data/user")
    }

    /// Files below the snapshots, hidden ones too, without the lock.
    pub fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.root().join("snapshots")).unwrap();
        let mut names: Vec<String> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.retain(|name| name != ".lock");
        names.sort();
        names
    }

    /// A command as a transcript shows it, without what differs from run to run.
    pub fn shown(&self, args: &[&str]) -> String {
        self.told(args, self.run(args))
    }

    pub fn told(&self, args: &[&str], said: Said) -> String {
        let quoted = |arg: &&str| if arg.contains([' ', '\'', '*']) { format!("\"{arg}\"") } else { (*arg).to_owned() };
        let line = args.iter().map(quoted).collect::<Vec<_>>().join(" ");
        let mut text = format!("$ da {line}\n{}", said.out);
        for line in said.err.lines() {
            text.push_str(&format!("! {line}\n"));
        }
        if said.code != 0 {
            text.push_str(&format!("exit {}\n", said.code));
        }
        self.tidy(&text)
    }

    fn tidy(&self, text: &str) -> String {
        let server =
            self.env.iter().find(|(name, _)| name == "DA_SERVER").map(|(_, url)| url.clone()).unwrap_or_default();
        let home = self.home.path().display().to_string();
        let mut text = text.replace(&home, "~");
        if !server.is_empty() {
            text = text.replace(&server, "http://SERVER");
        }
        moments(&text)
    }
}

/// Instants and sizes of disks differ from run to run.
fn moments(text: &str) -> String {
    text.lines()
        .map(|line| {
            let line = match line.strip_prefix("Free disk:") {
                Some(_) => "Free disk:      FREE".to_owned(),
                None => line.to_owned(),
            };
            let words: Vec<&str> = line.split(' ').collect();
            let is_day = |word: &str| {
                word.len() == 10
                    && word
                        .bytes()
                        .enumerate()
                        .all(|(i, b)| if i == 4 || i == 7 { b == b'-' } else { b.is_ascii_digit() })
            };
            let mut out = Vec::new();
            let mut skip = 0;
            for (i, word) in words.iter().enumerate() {
                if skip > 0 {
                    skip -= 1;
                    continue;
                }
                if is_day(word) && words.get(i + 2) == Some(&"UTC") {
                    out.push("NOW");
                    skip = 2;
                } else {
                    out.push(word);
                }
            }
            out.join(" ") + "\n"
        })
        .collect()
}

pub fn said(child: Child) -> Said {
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    // A signal has no code.
    Said { out: text(output.stdout), err: text(output.stderr), code: output.status.code().unwrap_or(-1) }
}
