//! The unprivileged user that workers of a root server run as.

use serde::{Deserialize, Serialize};
use std::fs;

/// A user of this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Account {
    pub name: String,
    pub uid: u32,
    pub gid: u32,
}

/// Tried in this order when the operator names no user.
const DEFAULTS: [&str; 2] = ["gatehouse", "nobody"];

impl Account {
    /// The account that a server started as root drops to; the error says why there is none.
    pub fn for_workers(wanted: Option<&str>) -> Result<Self, String> {
        let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
        let found = match wanted {
            Some(name) => find(&users, name).ok_or(format!("no user `{name}` in /etc/passwd"))?,
            None => DEFAULTS
                .iter()
                .find_map(|name| find(&users, name))
                .ok_or(format!("an unprivileged user: none of `{}` exists", DEFAULTS.join("`, `")))?,
        };
        if found.uid == 0 || found.gid == 0 {
            return Err(format!("an unprivileged user: `{}` is root", found.name));
        }
        Ok(found)
    }

    /// Whoever runs this process, for a server that is not root.
    pub fn current() -> Self {
        let (uid, gid) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
        let name = users.lines().filter_map(parse).find(|a| a.uid == uid).map(|a| a.name);
        Self { name: name.unwrap_or_else(|| uid.to_string()), uid, gid }
    }
}

/// Whom files must belong to that workers are to write, if not to whoever runs this process.
pub fn worker_owner(wanted: Option<&str>) -> Option<(u32, u32)> {
    let root = rustix::process::geteuid().is_root();
    let account = root.then(|| Account::for_workers(wanted).ok()).flatten()?;
    Some((account.uid, account.gid))
}

fn find(users: &str, name: &str) -> Option<Account> {
    users.lines().filter_map(parse).find(|a| a.name == name)
}

/// One line of /etc/passwd: `name:password:uid:gid:…`.
fn parse(line: &str) -> Option<Account> {
    let mut fields = line.split(':');
    let name = fields.next()?.to_owned();
    let uid = fields.nth(1)?.parse().ok()?;
    let gid = fields.next()?.parse().ok()?;
    Some(Account { name, uid, gid })
}

#[cfg(test)]
mod tests {
    use super::*;

    const USERS: &str = "root:x:0:0:root:/root:/bin/sh\nbroken\nnobody:x:65534:65533::/:/bin/false\n";

    #[test]
    fn reads_the_lines_that_are_whole() {
        assert_eq!(find(USERS, "nobody"), Some(Account { name: "nobody".into(), uid: 65534, gid: 65533 }));
        assert_eq!(find(USERS, "broken"), None);
    }

    #[test]
    fn root_is_no_account_for_workers() {
        let refused = Account::for_workers(Some("root")).unwrap_err();
        assert!(refused.contains("`root` is root"), "{refused}");
    }
}
