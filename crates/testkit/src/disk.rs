//! A disk of its own for a server: one that can be filled up and that can fail.

use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Mounted in a namespace of its own, which is gone with this: nothing is left on the machine.
pub struct Disk {
    /// Keeps the namespace; ends when its input does.
    keeper: Child,
    /// Holds the `image`, and the directory over which it is mounted.
    place: tempfile::TempDir,
}

const IMAGE: &str = "image";
const POINT: &str = "disk";
const BALLAST: &str = "ballast";

impl Disk {
    /// An ext4 of so many MiB, or why it cannot be had: mounting is for root.
    pub fn mount(megabytes: u32) -> Result<Self, String> {
        let place = tempfile::tempdir().expect("a temporary directory");
        fs::create_dir(place.path().join(POINT)).expect("a directory");
        let file = place.path().join(IMAGE);
        run(Command::new("truncate").args(["-s", &format!("{megabytes}M")]).arg(&file))?;
        run(Command::new("mkfs.ext4").args(["-q", "-m", "0"]).arg(&file))?;
        Self::keep(place)
    }

    fn keep(place: tempfile::TempDir) -> Result<Self, String> {
        let script = "mount -o loop,errors=remount-ro \"$0\" \"$1\" && echo mounted && read _";
        let mut command = Command::new("unshare");
        command.args(["--mount", "sh", "-c", script]).arg(place.path().join(IMAGE)).arg(place.path().join(POINT));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut keeper = command.spawn().map_err(|error| format!("unshare: {error}"))?;
        let mut said = String::new();
        BufReader::new(keeper.stdout.take().expect("stdout")).read_line(&mut said).expect("a line");
        if said.trim() == "mounted" {
            return Ok(Self { keeper, place });
        }
        let output = keeper.wait_with_output().expect("an end");
        Err(String::from_utf8_lossy(&output.stderr).trim().to_owned())
    }

    /// The namespace in which it is mounted, for `nsenter`.
    pub(crate) fn namespace(&self) -> PathBuf {
        format!("/proc/{}/ns/mnt", self.keeper.id()).into()
    }

    /// Its root, for those in its namespace.
    pub(crate) fn inside(&self) -> PathBuf {
        self.place.path().join(POINT)
    }

    /// Its root, as it is seen from here.
    pub fn path(&self) -> PathBuf {
        format!("/proc/{}/root{}", self.keeper.id(), self.inside().display()).into()
    }

    /// Takes all the space that is left.
    pub fn fill(&self) {
        let path = self.path().join(BALLAST);
        let mut file = OpenOptions::new().append(true).create(true).open(path).expect("a file");
        // Ever smaller pieces, down to the last bytes of a block.
        for piece in [vec![0; 65536], vec![0; 4096], vec![0; 512]] {
            while file.write(&piece).is_ok_and(|written| written > 0) {}
        }
        file.sync_all().expect("written");
    }

    /// Takes space until less than so much is left.
    pub fn fill_up_to(&self, left: u64) {
        let path = self.path().join(BALLAST);
        let mut file = OpenOptions::new().append(true).create(true).open(path).expect("a file");
        while self.space() >= left {
            file.write_all(&[0; 65536]).expect("space");
            file.sync_all().expect("written");
        }
    }

    /// What is left of it, in bytes.
    pub fn space(&self) -> u64 {
        // `df` looks for the mount, which is not there in this namespace.
        let output = Command::new("stat").args(["-f", "-c", "%a %S"]).arg(self.path()).output().expect("stat");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.split_whitespace().map(|number| number.parse::<u64>().expect("a number")).product()
    }

    /// Gives the space back.
    pub fn free(&self) {
        fs::remove_file(self.path().join(BALLAST)).expect("there is ballast");
    }

    /// Read-only from now on, or not any more. While somebody has a file open for writing, it cannot be done.
    pub fn set_read_only(&self, read_only: bool) {
        let option = if read_only { "remount,ro" } else { "remount,rw" };
        let namespace = format!("--mount={}", self.namespace().display());
        let mut command = Command::new("nsenter");
        run(command.args([&namespace, "mount", "-o", option]).arg(self.inside())).expect("a remount");
    }

    /// As when the kernel finds the disk broken: from now on it is read-only, also for those who
    /// have files open. No other way of making it so works while somebody writes.
    pub fn fail(&self) {
        let mounts = fs::read_to_string(format!("/proc/{}/mounts", self.keeper.id())).expect("mounts");
        let point = format!(" {} ", self.inside().display());
        let mount = mounts.lines().find(|line| line.contains(&point)).expect("its mount");
        let device = mount.split(' ').next().and_then(|device| device.strip_prefix("/dev/")).expect("its device");
        fs::write(format!("/sys/fs/ext4/{device}/trigger_fs_error"), "1").expect("a disk that fails");
    }

    /// Checked and mounted again, after everybody who used it has ended.
    pub fn repair(mut self) -> Self {
        self.unmount();
        let place = std::mem::replace(&mut self.place, tempfile::tempdir().expect("a temporary directory"));
        // Workers of a server that was killed may still be ending in namespaces of their own. While one holds the mount, a
        // second one would be the same, read-only as it is.
        while is_held(&place.path().join(IMAGE)) {}
        // 1 says that there was something to correct.
        let checked = Command::new("e2fsck").args(["-p", "-f"]).arg(place.path().join(IMAGE)).output();
        let code = checked.expect("e2fsck to run").status.code();
        assert!(matches!(code, Some(0 | 1)), "e2fsck: {code:?}");
        Self::keep(place).expect("a disk that can be mounted again")
    }

    fn unmount(&mut self) {
        drop(self.keeper.stdin.take());
        let _ = self.keeper.wait();
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        self.unmount();
    }
}

/// Does a loop device still have this image?
fn is_held(image: &Path) -> bool {
    let output = Command::new("losetup").arg("--associated").arg(image).output().expect("losetup to run");
    !output.stdout.is_empty()
}

fn run(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| format!("{:?}: {error}", command.get_program()))?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()) }
}
