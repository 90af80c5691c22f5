//! Could the workers' user write to a file, if no jail held it?

use crate::probe::Sandbox;
use crate::stage::drop_privileges;
use rustix::fs::OFlags;
use std::fs::OpenOptions;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::{io, thread};

impl Sandbox {
    /// Tries to open the file itself for writing, as the user that workers run as: no mount, no Landlock and no engine
    /// stands between. What fails here fails because the file's own mode says so: the directories above it are no matter,
    /// since a worker is brought its files past them.
    pub fn user_can_write(&self, path: &Path) -> io::Result<bool> {
        let account = self.host.root.then_some(&self.host.account);
        // On Linux each thread has its own user: this one gives up root, tries, and ends.
        let tried = thread::scope(|scope| scope.spawn(|| try_as(account, path)).join());
        tried.map_err(|_| io::Error::other("the thread that tried to write panicked"))?
    }
}

fn try_as(account: Option<&crate::account::Account>, path: &Path) -> io::Result<bool> {
    // Found as whoever runs this, tried as the workers' user.
    let found = OpenOptions::new().read(true).custom_flags(OFlags::PATH.bits().cast_signed()).open(path)?;
    if let Some(account) = account {
        drop_privileges::to(account)?;
    }
    let itself = format!("/proc/self/fd/{}", found.as_raw_fd());
    Ok(OpenOptions::new().append(true).open(itself).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::Account;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    /// As root (in a container, say) the workers' user is tried, else whoever runs this.
    #[test]
    fn what_the_mode_forbids_cannot_be_written_and_root_stays_root() {
        let root = rustix::process::geteuid().is_root();
        let account = root.then(|| Account::for_workers(None).unwrap());
        let dir = tempfile::tempdir().unwrap();
        fs::set_permissions(dir.path(), Permissions::from_mode(0o755)).unwrap();
        let file = dir.path().join("shop.sqlite");
        fs::write(&file, "data").unwrap();
        for (above, mode, writable) in
            [(0o755, 0o444, false), (0o755, 0o666, true), (0o700, 0o444, false), (0o700, 0o666, true)]
        {
            fs::set_permissions(dir.path(), Permissions::from_mode(above)).unwrap();
            fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
            let tried = thread::scope(|scope| scope.spawn(|| try_as(account.as_ref(), &file)).join());
            assert_eq!(tried.unwrap().unwrap(), writable, "mode {mode:o}");
        }
        assert_eq!(rustix::process::geteuid().is_root(), root, "the other threads keep their user");
        assert_eq!(fs::read_to_string(&file).unwrap(), "data");
    }
}
