//! Certificates to be known by.

use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// A directory with an authority (`ca.crt`) and a certificate by it for `localhost` (`server.crt`, `server.key`).
pub fn certificates() -> TempDir {
    let dir = tempfile::tempdir().expect("a temporary directory");
    make(dir.path());
    dir
}

/// The same in a directory that is there.
pub(crate) fn make(dir: &Path) {
    let openssl = |args: &str| {
        let made = Command::new("openssl").args(args.split(' ')).current_dir(dir).output().expect("openssl to run");
        assert!(made.status.success(), "openssl {args}: {}", String::from_utf8_lossy(&made.stderr));
    };
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
    openssl(&format!("req -x509 {key} -days 2 -subj /CN=authority -keyout ca.key -out ca.crt"));
    openssl(&format!("req {key} -subj /CN=localhost -keyout server.key -out server.csr"));
    std::fs::write(dir.join("names"), "subjectAltName=DNS:localhost").expect("a file");
    openssl("x509 -req -in server.csr -CA ca.crt -CAkey ca.key -days 2 -extfile names -out server.crt");
}
