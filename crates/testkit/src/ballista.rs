//! A throw-away Ballista: a scheduler that speaks Arrow Flight SQL, and two executors that do the work, on free ports.

use std::fs::File;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use tempfile::TempDir;

const EXECUTORS: usize = 2;
/// A free port may be taken by somebody else before it is bound.
const TRIES: usize = 5;

/// A running cluster. It ends, with its tables, when this is dropped.
pub struct Ballista {
    programs: PathBuf,
    port: u16,
    /// The scheduler first.
    processes: Mutex<Vec<Child>>,
    dir: TempDir,
}

impl Ballista {
    /// Fails where Ballista is not built and cannot be (`scripts/ballista`).
    pub fn start() -> Self {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let mut cluster = Self { programs: programs(), port: 0, processes: Mutex::default(), dir };
        for _ in 0..TRIES {
            cluster.port = free_port();
            if let Some(scheduler) = cluster.scheduler() {
                cluster.fill(scheduler);
                return cluster;
            }
        }
        panic!("no port for the scheduler: {}", cluster.log("scheduler"));
    }

    /// Starts it again after [`Ballista::kill`], where it was, without the tables that it had.
    pub fn restart(&self) {
        let scheduler = self.scheduler().unwrap_or_else(|| panic!("the scheduler: {}", self.log("scheduler")));
        self.fill(scheduler);
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Has it run a statement, of those that prepare a test. Gives the rows.
    pub fn sql(&self, sql: &str) -> Vec<arrow_array::RecordBatch> {
        crate::flight::run(&self.url(), sql)
    }

    /// Whether an executor has files of a statement that it works on, or worked on.
    pub fn has_worked(&self, executor: usize) -> bool {
        std::fs::read_dir(self.work_dir(executor)).is_ok_and(|mut jobs| jobs.next().is_some())
    }

    /// Ends an executor as a crash would.
    pub fn kill_executor(&self, executor: usize) {
        let mut processes = self.processes.lock().expect("the processes");
        end(&mut processes[1 + executor]);
    }

    /// Ends everything as a crash would, if it still runs.
    pub fn kill(&self) {
        self.processes.lock().expect("the processes").drain(..).for_each(|mut process| end(&mut process));
    }

    fn fill(&self, scheduler: Child) {
        let mut processes = vec![scheduler];
        processes.extend((0..EXECUTORS).map(|number| self.executor(number)));
        *self.processes.lock().expect("the processes") = processes;
    }

    /// None where its port was taken meanwhile.
    fn scheduler(&self) -> Option<Child> {
        let mut child = self.spawn(
            "scheduler",
            "ballista-scheduler",
            &[
                "--bind-port",
                &self.port.to_string(),
                "--external-host",
                "127.0.0.1",
                "--flight-sql",
                "--executor-timeout-seconds",
                "5",
                "--expire-dead-executor-interval-seconds",
                "1",
            ],
        );
        wait_for(&mut child, || TcpStream::connect(("127.0.0.1", self.port)).is_ok()).then_some(child)
    }

    fn executor(&self, number: usize) -> Child {
        let (name, dir) = (format!("executor-{number}"), self.work_dir(number));
        drop(std::fs::remove_dir_all(&dir));
        std::fs::create_dir_all(&dir).expect("its directory");
        for _ in 0..TRIES {
            let [rows, tasks, health] = [(); 3].map(|()| free_port());
            let mut child = self.spawn(
                &name,
                "ballista-executor",
                &[
                    "--bind-port",
                    &rows.to_string(),
                    "--bind-grpc-port",
                    &tasks.to_string(),
                    "--bind-health-port",
                    &health.to_string(),
                    "--external-host",
                    "127.0.0.1",
                    "--scheduler-host",
                    "127.0.0.1",
                    "--scheduler-port",
                    &self.port.to_string(),
                    "--executor-heartbeat-interval-seconds",
                    "1",
                    "--vcores",
                    "1",
                    "--work-dir",
                    &dir.display().to_string(),
                ],
            );
            let ready = format!("http://127.0.0.1:{health}/readyz");
            if wait_for(&mut child, || ureq::get(&ready).call().is_ok()) {
                return child;
            }
        }
        panic!("{name}: {}", self.log(&name));
    }

    fn spawn(&self, name: &str, program: &str, args: &[&str]) -> Child {
        let log = File::create(self.dir.path().join(name)).expect("its log");
        Command::new(self.programs.join(program))
            .args(["--bind-host", "127.0.0.1"])
            .args(args)
            .stderr(log.try_clone().expect("its log"))
            .stdout(log)
            .stdin(Stdio::null())
            .spawn()
            .unwrap_or_else(|e| panic!("{program} to start: {e}"))
    }

    fn work_dir(&self, executor: usize) -> PathBuf {
        self.dir.path().join(format!("work-{executor}"))
    }

    fn log(&self, name: &str) -> String {
        std::fs::read_to_string(self.dir.path().join(name)).unwrap_or_default()
    }
}

impl Drop for Ballista {
    fn drop(&mut self) {
        if let Ok(mut processes) = self.processes.lock() {
            processes.drain(..).for_each(|mut process| end(&mut process));
        }
    }
}

fn end(process: &mut Child) {
    drop(process.kill());
    drop(process.wait());
}

/// Until it is so; false where the process ended before.
fn wait_for(child: &mut Child, is_so: impl Fn() -> bool) -> bool {
    while !is_so() {
        if child.try_wait().expect("its state").is_some() {
            return false;
        }
        std::thread::yield_now();
    }
    true
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("its address").port()
}

/// Where its programs are, built on first use.
fn programs() -> PathBuf {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/ballista");
    let output = Command::new(script).output().expect("scripts/ballista to run");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().into()
}
