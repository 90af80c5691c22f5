//! What this machine has to offer, before anything is tried.

use crate::account::Account;
use crate::container::Container;
use crate::error::Unavailable;
use std::fs;
use std::path::PathBuf;

/// The parts of the machine that a sandbox is made of. [`Host::detect`] finds them; change a field
/// to see what follows from a machine that lacks it.
#[derive(Debug, Clone)]
pub struct Host {
    /// The bubblewrap program.
    pub bwrap: PathBuf,
    /// The kernel's Landlock ABI; 0 where Landlock is absent or off.
    pub landlock_abi: u32,
    /// Where workers are to run instead, if an image was named: there and nowhere else.
    pub container: Option<Container>,
    pub(crate) account: Account,
    /// Whether workers must first drop to that account.
    pub(crate) root: bool,
}

impl Host {
    /// Looks at this machine. `user` is whom a root server's workers run as; without it `gatehouse`
    /// if there is such a user, else `nobody`. A server that is not root keeps its own user.
    pub fn detect(user: Option<&str>) -> Result<Self, Unavailable> {
        let root = rustix::process::geteuid().is_root();
        let account = if root {
            Account::for_workers(user).map_err(|missing| Unavailable { missing: vec![missing] })?
        } else {
            Account::current()
        };
        Ok(Self { bwrap: find_bwrap(), landlock_abi: landlock_abi(), container: None, account, root })
    }
}

/// A setting of this kernel that keeps ordinary users from namespaces, for whoever may change it.
pub(crate) fn setting_against_namespaces() -> Option<String> {
    let settings = [
        ("kernel.apparmor_restrict_unprivileged_userns", "1"),
        ("kernel.unprivileged_userns_clone", "0"),
        ("user.max_user_namespaces", "0"),
    ];
    settings.into_iter().find_map(|(name, closed)| {
        let value = fs::read_to_string(format!("/proc/sys/{}", name.replace('.', "/"))).ok()?;
        (value.trim() == closed)
            .then(|| format!("`sysctl {name}` is {closed}, which forbids namespaces to ordinary users"))
    })
}

/// From fixed places and not from PATH: whoever sets PATH must not choose what runs as a sandbox.
fn find_bwrap() -> PathBuf {
    let places = ["/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"].map(PathBuf::from);
    let [usual, ..] = places.clone();
    places.into_iter().find(|p| p.is_file()).unwrap_or(usual)
}

pub(crate) fn landlock_abi() -> u32 {
    const VERSION: libc::c_uint = 1;
    // SAFETY: with a null attribute of size 0 and this flag the call only returns the ABI number.
    let abi = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<u8>(), 0_usize, VERSION) };
    u32::try_from(abi).unwrap_or(0)
}
