//! Which files a script may read and write.

use super::settings::ScriptSettings;
use domain::Manifest;

/// Read by everybody on a device, and needed to find out what ails it.
const READABLE: [&str; 16] = [
    "/etc",
    "/var/log",
    "/var/lib",
    "/var/cache",
    "/var/spool",
    "/var/tmp",
    "/var/run",
    "/var/backups",
    "/proc",
    "/sys",
    "/run",
    "/usr",
    "/opt",
    "/srv",
    "/tmp",
    "/boot",
];
/// Of directories, themselves: to list, not to go into.
const LISTABLE: [&str; 6] = ["/", "/var", "/home", "/mnt", "/media", "/dev"];
const DEVICES: [&str; 6] = ["/dev/null", "/dev/zero", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/fd"];
/// Nobody's business, whatever a manifest or a setting says. `*` stands for anything.
const NEVER: [&str; 35] = [
    "/etc/shadow*",
    "/etc/gshadow*",
    "/etc/sudoers*",
    "/etc/ssh/ssh_host_*key",
    "/etc/ssl/private*",
    "/etc/krb5.keytab",
    "/etc/wireguard*",
    "/etc/openvpn/*key*",
    "/etc/NetworkManager/system-connections*",
    "/etc/wpa_supplicant*",
    "/etc/security/opasswd",
    "/etc/gatehouse*",
    "/var/lib/gatehouse*",
    "/root*",
    "*/.ssh*",
    "*/.gnupg*",
    "*/.aws*",
    "*/.netrc",
    "*/.pgpass",
    "*/.bash_history",
    "*.pem",
    "*.key",
    "*id_rsa*",
    "*id_ed25519*",
    "*.kdbx",
    "*/.env",
    "/proc/*/environ",
    "/proc/*/mem",
    "/proc/*/root*",
    "/proc/*/cwd*",
    "/proc/*/fd*",
    "/proc/kcore",
    "/proc/sysrq-trigger",
    "/run/secrets*",
    "/run/user*",
];
/// Where a manifest must not ask to write.
const NEVER_WRITTEN: [&str; 22] = [
    "/",
    "/proc*",
    "/sys*",
    "/dev*",
    "/boot*",
    "/usr*",
    "/bin*",
    "/sbin*",
    "/lib*",
    "/root*",
    "/run*",
    "/var/run*",
    "/etc",
    "/etc/passwd",
    "/etc/group",
    "/etc/pam.d*",
    "/etc/cron*",
    "/etc/profile*",
    "/etc/ld.so*",
    "/etc/systemd*",
    "/etc/init.d*",
    "/var/spool/cron*",
];
/// Written paths that make the risk high.
const DELICATE: [&str; 3] = ["/etc", "/opt", "/home"];

/// Why a path is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum No {
    Denied,
    /// Something below it is.
    Covers,
    NotReadable,
    NotWritable,
    /// It has `..` in it.
    Climbs,
    /// A socket in the guise of a file.
    Network,
}

pub struct Paths<'a> {
    pub settings: &'a ScriptSettings,
    pub manifest: &'a Manifest,
}

impl Paths<'_> {
    /// `path` may be a pattern, or the beginning of a path.
    pub fn read(&self, path: &str) -> Result<(), No> {
        let path = self.known(path)?;
        let Some(path) = path else { return Ok(()) };
        let extra = self.settings.read_paths.iter().chain(&self.manifest.writable_paths);
        let inside =
            READABLE.iter().any(|root| within(&path, root)) || extra.into_iter().any(|root| within(&path, root));
        let listed = LISTABLE.contains(&path.as_str()) || DEVICES.iter().any(|device| within(&path, device));
        if inside || listed { Ok(()) } else { Err(No::NotReadable) }
    }

    pub fn write(&self, path: &str) -> Result<(), No> {
        let path = self.known(path)?;
        let Some(path) = path else { return Ok(()) };
        let temporary = within(&path, "/tmp") && path != "/tmp";
        let device = matches!(path.as_str(), "/dev/null" | "/dev/stdout" | "/dev/stderr");
        let granted = self.manifest.writable_paths.iter().any(|root| within(&path, root));
        if temporary || device || granted { Ok(()) } else { Err(No::NotWritable) }
    }

    /// The path without doubled slashes, if it is not one below the work directory.
    fn known(&self, path: &str) -> Result<Option<String>, No> {
        let path = normal(path);
        if path.split('/').any(|part| part == "..") {
            return Err(No::Climbs);
        }
        if within(&path, "/dev/tcp") || within(&path, "/dev/udp") {
            return Err(No::Network);
        }
        let own = || self.settings.deny_paths.iter().map(String::as_str);
        // A pattern may mean what is denied, also where it does not say so.
        let denied = |rule: &str| {
            is_denied_by(rule, &path) || (has_pattern(&path) && may_meet(rule, &path)) || within(&path, rule)
        };
        if NEVER.into_iter().chain(own()).any(denied) {
            return Err(No::Denied);
        }
        if has_pattern(&path) && own().any(|rule| reaches(rule, &path)) {
            return Err(No::Covers);
        }
        Ok(path.starts_with('/').then_some(path))
    }

    /// Whether what is denied by setting lies at `path` or below it, so many levels down.
    pub fn below(&self, path: &str, depth: Option<usize>) -> Result<(), No> {
        let path = normal(path);
        let covers = |rule: &String| {
            let levels: Vec<&str> = rule.split('/').filter(|part| !part.is_empty()).collect();
            (0..=levels.len()).any(|level| {
                let above = format!("/{}", levels.get(..level).unwrap_or_default().join("/"));
                depth.is_none_or(|depth| levels.len() - level <= depth) && meets(above.as_bytes(), &path)
            })
        };
        // Rules about names anywhere are no place that could be gone round.
        let mut own = self.settings.deny_paths.iter().filter(|rule| rule.starts_with('/'));
        if own.any(covers) { Err(No::Covers) } else { Ok(()) }
    }

    /// Why a manifest must not ask to write there.
    pub fn grantable(&self, path: &str) -> Result<(), No> {
        let Some(path) = self.known(path)? else { return Err(No::NotWritable) };
        let roots = &self.settings.writable_roots;
        let rooted = roots.is_empty() || roots.iter().any(|root| within(&path, root));
        let short = path.split('/').filter(|part| !part.is_empty()).count() < 2;
        let never = NEVER_WRITTEN.iter().any(|rule| is_denied_by(rule, &path));
        if rooted && !short && !never && !has_pattern(&path) { Ok(()) } else { Err(No::NotWritable) }
    }
}

pub fn is_delicate(path: &str) -> bool {
    DELICATE.iter().any(|root| within(&normal(path), root))
}

fn has_pattern(path: &str) -> bool {
    path.contains(['*', '?', '[', '{'])
}

/// One slash between parts, no `.` among them.
fn normal(path: &str) -> String {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    let joined = parts.join("/");
    // One is a link to the other on every system.
    let joined = joined.strip_prefix("var/run").map_or(joined.clone(), |rest| format!("run{rest}"));
    if path.starts_with('/') { format!("/{joined}") } else { joined }
}

fn within(path: &str, root: &str) -> bool {
    path.strip_prefix(root.trim_end_matches('/')).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// A rule with `*` in it, against a path: by parts between the stars, from left to right. `*` is anything, slashes too.
pub fn is_denied_by(rule: &str, path: &str) -> bool {
    let Some((first, rest)) = rule.split_once('*') else { return rule == path };
    let Some(mut left) = path.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        match left.find(part) {
            Some(at) => left = left.get(at + part.len()..).unwrap_or_default(),
            None => return false,
        }
    }
    left.ends_with(last)
}

/// Whether a pattern of a script, or a part of it, finds what whoever runs the house has denied. The user that scripts run
/// as may well be allowed to read that: nothing but this and the jail keeps it.
fn reaches(rule: &str, path: &str) -> bool {
    let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
    let rule = rule.trim_end_matches('/');
    rule.starts_with('/') && ends.filter_map(|end| path.get(..end)).any(|part| meets(rule.as_bytes(), part))
}

/// Whether a pattern of a script is meant to reach what a rule forbids. `/etc/*` takes what is there: what no script may
/// ever read is closed to the user that scripts run as. `/etc/sh*` and `/etc/?hadow` are meant.
fn may_meet(rule: &str, path: &str) -> bool {
    // Rules about names anywhere (`*.key`) hold for names that are written out, and in the jail for all others.
    let named = rule.trim_end_matches('*');
    !rule.starts_with('*') && is_meant(path) && meets(named.as_bytes(), path)
}

/// Whether a part of the pattern says more than that there is something.
fn is_meant(path: &str) -> bool {
    path.split('/').any(|part| has_pattern(part) && part != "*")
}

/// Whether there is a path that both describe: for each pair of their ends, from the last to the first. In a rule `*` is
/// anything; in a pattern it stays within one directory.
pub fn meets(rule: &[u8], pattern: &str) -> bool {
    let tokens = tokens(pattern);
    // For what is left of the rule: whether it meets what is left of the pattern, by how much is left of that.
    let mut later: Vec<bool> = Vec::new();
    for at in (0..=rule.len()).rev() {
        let (first, mut now) = (rule.get(at).copied(), vec![false; tokens.len() + 1]);
        for left in (0..=tokens.len()).rev() {
            let after = |row: &[bool], at: usize| row.get(at).copied().unwrap_or(false);
            let holds = match (first, tokens.get(left)) {
                (None, None) => true,
                (Some(b'*'), _) => after(&later, left) || after(&now, left + 1),
                (_, Some(Token::Many)) => {
                    after(&now, left + 1) || (first.is_some_and(|b| b != b'/') && after(&later, left))
                }
                (Some(b), Some(Token::One)) => b != b'/' && after(&later, left + 1),
                (Some(b), Some(Token::Byte(same))) => b == *same && after(&later, left + 1),
                _ => false,
            };
            if let Some(place) = now.get_mut(left) {
                *place = holds;
            }
        }
        later = now;
    }
    later.first().copied().unwrap_or(false)
}

enum Token {
    Byte(u8),
    One,
    Many,
}

/// `[…]` is taken for any byte.
fn tokens(pattern: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut bytes = pattern.bytes();
    while let Some(byte) = bytes.next() {
        tokens.push(match byte {
            b'*' => Token::Many,
            b'?' => Token::One,
            b'[' => {
                let _ = bytes.by_ref().find(|b| *b == b']');
                Token::One
            }
            other => Token::Byte(other),
        });
    }
    tokens
}
