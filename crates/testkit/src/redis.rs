//! A throw-away Redis: a real server on a socket of its own, with nothing on disk.

use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Ends the server when the tests are gone, however they end: their end of its stdin closes.
const KEEPER: &str = r#""$@" & pid=$!; read -r _; kill -9 $pid; wait $pid"#;

/// It ends, with all that it holds, when this is dropped or when the tests die.
pub struct Redis {
    keeper: Child,
    dir: TempDir,
}

impl Redis {
    pub fn start() -> Self {
        let dir = tempfile::Builder::new().prefix("gatehouse-redis-").tempdir().expect("a temporary directory");
        let mut keeper = Command::new("sh");
        keeper.args(["-c", KEEPER, "keeper", "redis-server", "--port", "0", "--save", "", "--appendonly", "no"]);
        keeper.arg("--unixsocket").arg(dir.path().join("socket")).arg("--dir").arg(dir.path());
        let keeper = keeper.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("a shell");
        let redis = Self { keeper, dir };
        let deadline = Instant::now() + Duration::from_secs(30);
        while UnixStream::connect(redis.dir.path().join("socket")).is_err() {
            assert!(Instant::now() < deadline, "redis-server does not start (hint: scripts/deps)");
            thread::sleep(Duration::from_millis(10));
        }
        redis
    }

    pub fn url(&self) -> String {
        format!("redis+unix://{}", self.dir.path().join("socket").display())
    }

    /// What a command prints.
    pub fn command(&self, words: &[&str]) -> String {
        let output = Command::new("redis-cli").arg("-s").arg(self.dir.path().join("socket")).args(words).output();
        String::from_utf8(output.expect("redis-cli").stdout).expect("text").trim().to_owned()
    }

    pub fn kill(&mut self) {
        drop(self.keeper.stdin.take());
        let _ = self.keeper.wait();
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        self.kill();
    }
}
