//! A throw-away Postgres cluster: a real server with a data directory of its own, on a port of the system's choice.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{LazyLock, Mutex, mpsc};
use std::thread;

/// Starts the server, does what it is told, and leaves nothing behind when the tests are gone: their end of its stdin
/// closes however they end.
const KEEPER: &str = r#"
dir=$1; shift
start() { "$@" & pid=$!; }
start "$@"
while read -r word; do
  case $word in
    crash) kill -QUIT $pid; wait $pid; echo "keeper: crashed" ;;
    start) start "$@" ;;
  esac
done
kill -QUIT $pid; wait $pid; rm -rf "$dir"
"#;

/// The superuser of every cluster.
const OWNER: &str = "postgres";
const PASSWORD: &str = "owner's secret";
/// Settings of a server whose data nobody will miss once the machine is off. It must outlive a crash of its own, though:
/// `synchronous_commit` stays on, as without it the last commits are still in the memory that dies. The time zone is none
/// that a careless client would use.
const SETTINGS: &[&str] = &["fsync=off", "full_page_writes=off", "shared_buffers=64MB", "timezone=America/New_York"];

/// A running cluster. It ends, with its data, when this is dropped or when the tests die.
pub struct Postgres {
    keeper: Child,
    orders: Option<ChildStdin>,
    heard: Mutex<mpsc::Receiver<String>>,
    dir: PathBuf,
    bin: PathBuf,
    port: u16,
    tls: bool,
    databases: AtomicU32,
}

/// What a test wants its cluster to be.
#[derive(Default)]
pub struct PostgresBuilder {
    tls: bool,
    settings: Vec<String>,
}

impl PostgresBuilder {
    /// Speaks TLS, with a certificate for `localhost` by an authority of its own: [`Postgres::authority`].
    pub fn tls(mut self) -> Self {
        self.tls = true;
        self
    }

    /// A setting of `postgresql.conf`: `max_connections=10`.
    pub fn setting(mut self, setting: &str) -> Self {
        self.settings.push(setting.into());
        self
    }

    pub fn start(self) -> Postgres {
        // Between the choice of a port and its use another process may take it: then everything is tried again.
        (0..5).find_map(|_| self.try_start()).expect("a cluster that starts: TESTKIT_LOG=1 shows its log")
    }

    fn try_start(&self) -> Option<Postgres> {
        let (bin, port) = (binaries(), free_port());
        let dir = tempfile::Builder::new().prefix("gatehouse-pg-").tempdir().expect("a temporary directory").keep();
        initialise(&bin, &dir, self.tls);
        let (mut keeper, heard) = keep(&self.server(&bin, &dir, port), &dir);
        let (orders, heard) = (keeper.stdin.take(), Mutex::new(heard));
        let postgres = Postgres { keeper, orders, heard, dir, bin, port, tls: self.tls, databases: AtomicU32::new(0) };
        postgres.listen_for(&["ready to accept connections"], &["FATAL"]).then_some(postgres)
    }

    fn server(&self, bin: &Path, dir: &Path, port: u16) -> Vec<String> {
        let path = |p: PathBuf| p.to_string_lossy().into_owned();
        let mut server = vec![path(bin.join("postgres")), "-D".into(), path(dir.join("data"))];
        let mut set = |setting: String| server.extend(["-c".to_owned(), setting]);
        set(format!("port={port}"));
        set("listen_addresses=127.0.0.1".into());
        set(format!("unix_socket_directories={}", path(dir.into())));
        SETTINGS.iter().for_each(|s| set((*s).into()));
        if self.tls {
            set("ssl=on".into());
            set(format!("ssl_cert_file={}", path(dir.join("server.crt"))));
            set(format!("ssl_key_file={}", path(dir.join("server.key"))));
        }
        self.settings.iter().for_each(|s| set(s.clone()));
        server
    }
}

impl Postgres {
    pub fn start() -> Self {
        PostgresBuilder::default().start()
    }

    pub fn builder() -> PostgresBuilder {
        PostgresBuilder::default()
    }

    /// The cluster that the tests of one binary share, each with a database of its own.
    pub fn shared() -> &'static Self {
        static SHARED: LazyLock<Postgres> = LazyLock::new(Postgres::start);
        &SHARED
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Where the superuser finds a database. `postgres` is always there.
    pub fn url(&self, database: &str) -> String {
        self.url_as(OWNER, PASSWORD, database)
    }

    /// Where a user finds a database.
    pub fn url_as(&self, user: &str, password: &str, database: &str) -> String {
        let password = password.replace('%', "%25").replace(' ', "%20").replace('\'', "%27").replace('@', "%40");
        let host = if self.tls { "localhost" } else { "127.0.0.1" };
        format!("postgres://{user}:{password}@{host}:{}/{database}", self.port)
    }

    /// The certificate of the authority that a cluster with TLS is known by.
    pub fn authority(&self) -> PathBuf {
        self.dir.join("ca.crt")
    }

    /// A new, empty database; its name.
    pub fn database(&self) -> String {
        let name = format!("test_{}", self.databases.fetch_add(1, Ordering::Relaxed));
        self.sql("postgres", &format!("CREATE DATABASE {name}"));
        name
    }

    /// Runs statements as the superuser, and gives back what they print: a line a row, fields parted by `|`.
    pub fn sql(&self, database: &str, sql: &str) -> String {
        let output = self.psql(database, sql);
        assert!(output.status.success(), "{sql}\n{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
    }

    fn psql(&self, database: &str, sql: &str) -> Output {
        let mut psql = Command::new(self.bin.join("psql"));
        psql.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-f", "-"]).env("PGPASSWORD", PASSWORD);
        psql.arg("-h").arg(&self.dir).args(["-p", &self.port.to_string(), "-U", OWNER, database]);
        let mut child =
            psql.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("psql to start");
        let (mut stdin, sql) = (child.stdin.take().expect("stdin"), sql.to_owned());
        // While it is written, what it answers must be read: a long script fills both pipes otherwise.
        let writer = thread::spawn(move || drop(stdin.write_all(sql.as_bytes())));
        let output = child.wait_with_output().expect("psql to end");
        writer.join().expect("the statements to be written");
        output
    }

    /// Ends the server at once, its connections with it. Its data stay.
    pub fn crash(&mut self) {
        self.order("crash");
        assert!(self.listen_for(&["keeper: crashed"], &[]), "the cluster did not end");
    }

    /// Starts it again, on the same port, after a crash.
    pub fn restart(&mut self) {
        self.order("start");
        assert!(self.listen_for(&["ready to accept connections"], &["could not bind"]), "the cluster did not start");
    }

    fn order(&mut self, word: &str) {
        let orders = self.orders.as_mut().expect("a keeper that listens");
        writeln!(orders, "{word}").expect("a keeper that listens");
    }

    /// Reads the server's log until one of these is said.
    fn listen_for(&self, good: &[&str], bad: &[&str]) -> bool {
        for line in self.heard.lock().expect("no listener panics").iter() {
            if std::env::var_os("TESTKIT_LOG").is_some() {
                eprintln!("{line}");
            }
            if good.iter().any(|word| line.contains(word)) {
                return true;
            }
            if bad.iter().any(|word| line.contains(word)) {
                return false;
            }
        }
        false
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        drop(self.orders.take());
        let _ = self.keeper.wait();
    }
}

/// Where Debian keeps the programs, the newest version that has a server; otherwise wherever `initdb` is found.
fn binaries() -> PathBuf {
    let has_server = |bin: &PathBuf| bin.join("initdb").exists();
    let version = |bin: &PathBuf| bin.parent()?.file_name()?.to_str()?.parse::<u32>().ok();
    let debian = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let newest = debian.map(|e| e.path().join("bin")).filter(has_server).max_by_key(version);
    let on_path = || std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).find(has_server);
    newest.or_else(on_path).expect("Postgres: run scripts/deps")
}

fn initialise(bin: &Path, dir: &Path, tls: bool) {
    std::fs::write(dir.join("password"), PASSWORD).expect("a file");
    if tls {
        crate::certificates::make(dir);
    }
    if is_root() {
        run(Command::new("chown").args(["-R", OWNER]).arg(dir));
    }
    let mut initdb = unprivileged(bin.join("initdb"));
    initdb.args(["--no-sync", "--no-instructions", "--auth=scram-sha-256", "-E", "UTF8", "--locale=C.UTF-8"]);
    initdb.args(["-U", OWNER]).arg("--pwfile").arg(dir.join("password")).arg("-D").arg(dir.join("data"));
    run(initdb.current_dir(dir));
}

/// A command as a user that may run Postgres: root may not.
fn unprivileged(program: impl AsRef<OsStr>) -> Command {
    if !is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid", OWNER, "--regid", OWNER, "--clear-groups"]).arg(program);
    command
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|of| std::os::unix::fs::MetadataExt::uid(&of) == 0)
}

fn keep(server: &[String], dir: &Path) -> (Child, mpsc::Receiver<String>) {
    let mut keeper = unprivileged("sh");
    keeper.args(["-c", &format!("exec 2>&1\n{KEEPER}"), "keeper"]).arg(dir).args(server).current_dir(dir);
    let mut keeper = keeper.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("sh to start");
    let log = BufReader::new(keeper.stdout.take().expect("stdout"));
    let (said, heard) = mpsc::channel();
    // Nobody may be listening; the pipe is emptied all the same, so that the server never waits for it.
    thread::spawn(move || log.lines().map_while(Result::ok).for_each(|line| drop(said.send(line))));
    (keeper, heard)
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).expect("a free port").port()
}

fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}
