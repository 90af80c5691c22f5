//! Container engines for the tests: a real one where it runs, and a stand-in.

use super::{Workplace, install};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// A client whose engine answers, with an image of the abusive program made for it.
pub struct Engine {
    pub client: PathBuf,
    pub image: String,
    dir: TempDir,
}

impl Engine {
    /// The first that answers, if it can run anything.
    pub fn running() -> Option<Self> {
        let clients = ["/usr/bin/docker", "/usr/local/bin/docker", "/usr/bin/podman"].map(PathBuf::from);
        let answers = |client: &PathBuf| {
            let info = Command::new(client).arg("info").stdout(Stdio::null()).stderr(Stdio::null()).status();
            info.is_ok_and(|status| status.success())
        };
        let client = clients.into_iter().find(answers)?;
        let image = format!("localhost/gatehouse-abuse:{}", std::process::id());
        let engine = Self { client, image, dir: tempfile::tempdir().unwrap() };
        // Podman wants higher limits than some machines give; Docker has no such file.
        fs::write(engine.settings(), "[containers]\ndefault_ulimits = [\"nofile=1024:1024\", \"nproc=4096:4096\"]\n")
            .unwrap();
        engine.import();
        engine.runs().then_some(engine)
    }

    /// Some engines answer and can start nothing, as Podman without its init program. Ours ends with 2 without words.
    fn runs(&self) -> bool {
        let mut plain = Command::new(&self.client);
        plain.args(["run", "--rm", "--init", "--network", "none", &self.image]).env("CONTAINERS_CONF", self.settings());
        let output = plain.output().unwrap();
        let runs = output.status.code() == Some(2);
        if !runs {
            eprintln!("{}: {}", self.client.display(), String::from_utf8_lossy(&output.stderr).trim());
        }
        runs
    }

    pub fn settings(&self) -> PathBuf {
        self.dir.path().join("containers.conf")
    }

    /// The program with the libraries that it names, and a /tmp.
    fn import(&self) {
        let root = self.dir.path().join("root");
        let program = env!("CARGO_BIN_EXE_sandbox-abuse");
        let libraries = Command::new("ldd").arg(program).output().unwrap();
        let libraries = String::from_utf8(libraries.stdout).unwrap();
        let libraries = libraries.split_whitespace().filter(|word| word.starts_with('/'));
        for (from, to) in libraries.map(|l| (l, l)).chain([(program, "/program")]) {
            let to = root.join(to.trim_start_matches('/'));
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            fs::copy(from, to).unwrap();
        }
        fs::create_dir_all(root.join("usr/lib")).unwrap();
        fs::create_dir(root.join("tmp")).unwrap();
        fs::set_permissions(root.join("tmp"), fs::Permissions::from_mode(0o1777)).unwrap();
        let mut tar =
            Command::new("tar").arg("-C").arg(&root).args(["-c", "."]).stdout(Stdio::piped()).spawn().unwrap();
        let imported = Command::new(&self.client)
            .args(["import", "--change", "ENTRYPOINT [\"/program\"]", "-", &self.image])
            .stdin(tar.stdout.take().unwrap())
            .stderr(Stdio::null())
            .output();
        assert!(tar.wait().unwrap().success() && imported.unwrap().status.success());
    }

    /// Names of the containers of workers that this engine has now.
    pub fn workers(&self) -> String {
        self.ask(&["ps", "--all", "--filter", "label=gatehouse.worker", "--format", "{{.Names}}"])
    }

    pub fn ask(&self, arguments: &[&str]) -> String {
        let output =
            Command::new(&self.client).args(arguments).env("CONTAINERS_CONF", self.settings()).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        let _ = Command::new(&self.client).args(["rmi", "--force", &self.image]).output();
    }
}

/// `docker-stand-in.sh` in a directory of its own, with the files that it reads and writes.
pub struct StandIn(TempDir);

impl StandIn {
    pub fn new(place: &Workplace) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/docker-stand-in.sh");
        install(&script, &dir.path().join("docker"));
        fs::hard_link(place.program(), dir.path().join("program")).unwrap();
        Self(dir)
    }

    pub fn client(&self) -> PathBuf {
        self.0.path().join("docker")
    }

    pub fn write(&self, file: &str, text: &str) {
        fs::write(self.0.path().join(file), text).unwrap();
    }

    /// What it was asked, one line each.
    pub fn asked(&self) -> Vec<String> {
        let asked = fs::read_to_string(self.0.path().join("asked")).unwrap_or_default();
        asked.lines().map(str::to_owned).collect()
    }
}
