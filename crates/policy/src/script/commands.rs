//! The table of commands.

use domain::Risk;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// What the words after a command's name are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    Any,
    None,
    Read,
    Pattern,
    Write,
    Copy,
    Move,
    Mode,
    Test,
    Cd,
    Declare,
    Awk,
    Sed,
    Find,
    Curl,
    Fetch,
    Knock,
    Sysctl,
    Sleep,
    Wrap,
    Lookup,
}

/// One line of `commands.txt`.
#[derive(Debug)]
pub struct Command {
    pub risk: Risk,
    pub meaning: Meaning,
    pub network: bool,
    pub refuse: Vec<&'static str>,
    pub only: Option<Vec<&'static str>>,
    pub sub: Option<Vec<&'static str>>,
    pub exact: Option<Vec<&'static str>>,
    /// Options with a value of their own in the next word.
    pub valued: Vec<&'static str>,
    /// Whether every word must be known before it runs.
    pub known_words: bool,
    /// Whether its words may be looked up by other machines.
    pub spoken: bool,
    pub args: Option<usize>,
}

static TABLE: LazyLock<BTreeMap<&'static str, Command>> = LazyLock::new(|| {
    let lines = include_str!("commands.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.flat_map(|line| parse(line).unwrap_or_default()).collect()
});

pub fn find(name: &str) -> Option<&'static Command> {
    TABLE.get(name)
}

/// All names, in the order of the alphabet.
pub fn names() -> impl Iterator<Item = &'static str> {
    TABLE.keys().copied()
}

pub fn is_known(name: &str) -> bool {
    TABLE.contains_key(name)
}

fn parse(line: &'static str) -> Option<Vec<(&'static str, Command)>> {
    let words: Vec<&'static str> = line.split_whitespace().collect();
    let at = words.iter().position(|word| matches!(*word, "low" | "medium" | "high"))?;
    let (names, rest) = words.split_at(at);
    let (risk, meaning, options) = match rest {
        [risk, meaning, options @ ..] => (risk_of(risk)?, meaning_of(meaning)?, options),
        _ => return None,
    };
    let value = |key: &str| options.iter().find_map(|option| option.strip_prefix(key)?.strip_prefix('='));
    let list = |key: &str| value(key).map(|list: &'static str| list.split(',').collect::<Vec<_>>());
    let command = || Command {
        risk,
        meaning,
        network: value("needs") == Some("network"),
        refuse: list("refuse").unwrap_or_default(),
        only: list("only"),
        sub: list("sub"),
        exact: list("exact"),
        valued: list("valued").unwrap_or_default(),
        known_words: value("words") == Some("known"),
        spoken: value("needs") == Some("network") || value("words") == Some("spoken"),
        args: value("args").and_then(|n| n.parse().ok()),
    };
    Some(names.iter().map(|name| (*name, command())).collect())
}

fn risk_of(word: &str) -> Option<Risk> {
    [Risk::Low, Risk::Medium, Risk::High].into_iter().find(|risk| risk.as_str() == word)
}

fn meaning_of(word: &str) -> Option<Meaning> {
    Some(match word {
        "any" => Meaning::Any,
        "none" => Meaning::None,
        "read" => Meaning::Read,
        "pattern" => Meaning::Pattern,
        "write" => Meaning::Write,
        "copy" => Meaning::Copy,
        "move" => Meaning::Move,
        "mode" => Meaning::Mode,
        "test" => Meaning::Test,
        "cd" => Meaning::Cd,
        "declare" => Meaning::Declare,
        "awk" => Meaning::Awk,
        "sed" => Meaning::Sed,
        "find" => Meaning::Find,
        "curl" => Meaning::Curl,
        "fetch" => Meaning::Fetch,
        "knock" => Meaning::Knock,
        "sysctl" => Meaning::Sysctl,
        "sleep" => Meaning::Sleep,
        "wrap" => Meaning::Wrap,
        "lookup" => Meaning::Lookup,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_read_and_no_command_stands_twice() {
        let lines: Vec<&str> =
            include_str!("commands.txt").lines().filter(|l| !l.is_empty() && !l.starts_with('#')).collect();
        let read: Vec<_> = lines.iter().map(|line| parse(line).unwrap_or_else(|| panic!("{line}")).len()).collect();
        assert!(read.iter().all(|names| *names > 0));
        assert_eq!(read.iter().sum::<usize>(), TABLE.len());
    }

    #[test]
    fn nothing_that_runs_code_is_in_the_table() {
        for name in [
            "bash",
            "sh",
            "dash",
            "zsh",
            "python3",
            "perl",
            "ruby",
            "node",
            "php",
            "eval",
            "source",
            ".",
            "exec",
            "trap",
            "alias",
            "builtin",
            "enable",
            "sudo",
            "su",
            "ssh",
            "scp",
            "rsync",
            "dd",
            "mkfs",
            "mount",
            "umount",
            "insmod",
            "modprobe",
            "reboot",
            "shutdown",
            "kill",
            "pkill",
            "crontab",
            "at",
            "systemd-run",
            "nsenter",
            "unshare",
            "chroot",
            "busybox",
            "vi",
            "ed",
            "less",
            "more",
            "man",
            "git",
            "make",
            "tar",
            "zip",
            "nohup",
            "setsid",
            "script",
            "expect",
            "socat",
            "telnet",
            "ftp",
            "useradd",
            "usermod",
            "passwd",
            "iptables",
            "nft",
            "let",
            "mapfile",
            "readarray",
            "compgen",
            "complete",
            "history",
            "fc",
            "coproc",
            "time",
            "watch",
            "parallel",
        ] {
            assert!(!is_known(name), "{name}");
        }
    }
}
