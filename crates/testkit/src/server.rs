//! A `gatehouse serve` of its own, with a data directory of its own.

use crate::{Client, Disk};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc;
use std::thread;

/// What a test wants its server to be.
pub struct ServerBuilder {
    program: PathBuf,
    demo: bool,
    settings: Vec<(String, String)>,
    files: Vec<(String, String)>,
    data: Option<PathBuf>,
    namespace: Option<PathBuf>,
}

/// A running server. It is killed when this is dropped, or when the tests die.
pub struct Server {
    program: PathBuf,
    /// Its variables: other commands need those that its configuration names.
    settings: Vec<(String, String)>,
    pub url: String,
    /// What it printed after `ready`.
    pub welcome: Vec<String>,
    child: Child,
    /// What it says on stderr, when it has ended.
    said: Option<thread::JoinHandle<String>>,
    data: PathBuf,
    namespace: Option<PathBuf>,
    // Removed last of all, after the server has ended.
    _temporary: Option<tempfile::TempDir>,
}

impl ServerBuilder {
    /// `program` is the binary under test: `env!("CARGO_BIN_EXE_gatehouse")`.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        let (settings, files) = (Vec::new(), Vec::new());
        Self { program: program.into(), demo: false, settings, files, data: None, namespace: None }
    }

    /// Another copy of the binary.
    pub fn program(mut self, program: impl Into<PathBuf>) -> Self {
        self.program = program.into();
        self
    }

    pub fn demo(mut self) -> Self {
        self.demo = true;
        self
    }

    /// A setting, by its environment variable.
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.settings.push((name.into(), value.into()));
        self
    }

    /// A file of the data directory, written before the start.
    pub fn file(mut self, path: &str, text: &str) -> Self {
        self.files.push((path.into(), text.into()));
        self
    }

    /// A directory that outlives the server, to start another one on it.
    pub fn data(mut self, dir: &Path) -> Self {
        self.data = Some(dir.into());
        self
    }

    /// Puts the data directory on a disk. What it needs there must be there already.
    pub fn on(mut self, disk: &Disk) -> Self {
        self.namespace = Some(disk.namespace());
        self.data(&disk.inside())
    }

    pub fn start(self) -> Server {
        self.try_start().unwrap_or_else(|output| panic!("the server did not start: {output}"))
    }

    /// The server, or what it said instead of `ready`.
    pub fn try_start(self) -> Result<Server, String> {
        let temporary = self.data.is_none().then(|| tempfile::tempdir().expect("a temporary directory"));
        let data = self.data.clone().or(temporary.as_ref().map(|t| t.path().into())).expect("a data directory");
        for (path, text) in &self.files {
            let path = data.join(path);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
            std::fs::write(path, text).expect("a file");
        }
        let mut child = start_process(self.command(&data));
        let stdout = child.stdout.take().expect("stdout");
        let stderr = child.stderr.take().expect("stderr");
        let said = drain(stderr);
        let mut lines = BufReader::new(stdout).lines().map_while(Result::ok);
        let Some(url) = lines.next().and_then(|l| l.strip_prefix("ready ").map(str::to_owned)) else {
            let _ = child.wait();
            return Err(said.join().unwrap_or_default());
        };
        let welcome = lines.by_ref().take(if self.demo { 2 } else { 1 }).collect();
        thread::spawn(move || lines.for_each(drop));
        let Self { program, settings, namespace, .. } = self;
        let said = Some(said);
        Ok(Server { program, url, welcome, child, said, data, settings, namespace, _temporary: temporary })
    }

    fn command(&self, data: &Path) -> Command {
        // It goes when this process goes.
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL"]).args(entered(self.namespace.as_deref())).arg(&self.program);
        command.args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(data);
        if self.demo {
            command.arg("--demo");
        }
        // Whatever keys this machine has, no test asks a real model.
        command.env("GATEHOUSE_PLANNER", "offline").env_remove("ANTHROPIC_API_KEY").env_remove("OPENAI_API_KEY");
        command.env("LOG_LEVEL", "warn").envs(self.settings.iter().map(|(k, v)| (k, v)));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}

/// What a command begins with that is to see the mounts of a namespace.
fn entered(namespace: Option<&Path>) -> Vec<String> {
    namespace.map(|of| vec!["nsenter".into(), format!("--mount={}", of.display())]).unwrap_or_default()
}

/// Starts a process from a thread that never ends: the signal of a parent's death is the death of
/// the thread that started it, and the threads of tests come and go.
fn start_process(mut command: Command) -> Child {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        sender.send(command.spawn()).expect("a waiting test");
        loop {
            thread::park();
        }
    });
    receiver.recv().expect("a process").expect("setpriv and the program to start")
}

fn drain(mut pipe: impl Read + Send + 'static) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut text = String::new();
        let _ = pipe.read_to_string(&mut text);
        if std::env::var_os("TESTKIT_LOG").is_some() {
            eprintln!("{text}");
        }
        text
    })
}

impl Server {
    pub fn data(&self) -> &Path {
        &self.data
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Runs another command of the program on this server's data, with its settings.
    pub fn command(&self, args: &[&str]) -> Output {
        let mut command = Command::new("env");
        command.args(entered(self.namespace.as_deref())).arg(&self.program);
        command.envs(self.settings.iter().map(|(name, value)| (name, value)));
        command.args(args).arg("--data").arg(&self.data).output().expect("the program to run")
    }

    /// A new token for a role.
    pub fn token(&self, actor: &str, role: &str) -> String {
        let output = self.command(&["tokens", "create", "--actor", actor, "--role", role]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// A client that is known to the server.
    pub fn client(&self, actor: &str, role: &str) -> Client {
        Client::new(&self.url).bearer(&self.token(actor, role))
    }

    /// A client that nobody knows.
    pub fn stranger(&self) -> Client {
        Client::new(&self.url)
    }

    /// Asks it to stop and waits until it has.
    pub fn terminate(&mut self) -> ExitStatus {
        let pid = self.child.id().to_string();
        Command::new("kill").args(["-TERM", &pid]).status().expect("kill to run");
        self.child.wait().expect("the server to end")
    }

    /// Asks it to stop, and gives its log: of as much as `LOG_LEVEL` says.
    pub fn stop(mut self) -> String {
        self.terminate();
        self.said.take().and_then(|said| said.join().ok()).unwrap_or_default()
    }

    /// Ends it at once, as a power cut would.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}
