//! Lists of words, and what a word alone tells.

use std::collections::HashSet;
use std::sync::LazyLock;

type Words = LazyLock<HashSet<&'static str>>;

pub(super) static TLDS: Words = LazyLock::new(|| words(include_str!("words/tlds.txt")));
pub(super) static WEAK_TLDS: Words = LazyLock::new(|| words(include_str!("words/weak_tlds.txt")));
pub(super) static NOT_HOSTS: Words = LazyLock::new(|| words(include_str!("words/not_hosts.txt")));
pub(super) static SYSTEM_USERS: Words = LazyLock::new(|| words(include_str!("words/system_users.txt")));
static NOT_HOST_PARTS: Words = LazyLock::new(|| words(include_str!("words/not_host_parts.txt")));
static COMMON: Words = LazyLock::new(|| words(include_str!("words/common.txt")));

/// First labels of names of packages in code, which are a machine's written backwards: `org.freedesktop.home`.
pub(super) const PACKAGES: [&str; 14] =
    ["com", "org", "net", "io", "edu", "gov", "java", "javax", "jdk", "sun", "android", "androidx", "kotlin", "scala"];
/// Where syslog tells from what part of a system a line comes: `daemon.info`.
pub(super) const FACILITIES: [&str; 14] = [
    "kern", "user", "mail", "daemon", "auth", "syslog", "lpr", "news", "uucp", "cron", "authpriv", "ftp", "security",
    "console",
];
/// Ends of files' names that look like the end of a machine's: `logo@2x.png`.
pub(super) const EXTENSIONS: [&str; 14] =
    ["png", "jpg", "jpeg", "gif", "svg", "webp", "js", "ts", "css", "json", "html", "gz", "zip", "conf"];

/// Beginnings of names of devices that a number or a letter follows: `sda1`, `ttyUSB0`.
const DEVICES: [&str; 44] = [
    "sd", "hd", "vd", "xvd", "nvme", "mmcblk", "mtd", "loop", "ram", "zram", "md", "dm-", "tty", "pts", "hidraw",
    "input", "event", "video", "card", "i2c-", "spi", "usb", "hci", "phy", "mmc", "ata", "scsi", "sr", "cpu", "gpu",
    "gpio", "can", "ppp", "wg", "cdc-wdm", "virbr", "vmbr", "vnet", "radio", "modem", "slot", "rtc", "watchdog", "uio",
];

fn words(text: &'static str) -> HashSet<&'static str> {
    text.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace).collect()
}

/// A word of manuals and logs, in any of its forms.
pub(super) fn is_common(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    let stems = ["s", "es", "ed", "d", "ing", "er", "ly"].into_iter().filter_map(|end| lower.strip_suffix(end));
    COMMON.contains(lower.as_str()) || stems.filter(|stem| stem.len() > 2).any(|stem| COMMON.contains(stem))
}

/// `sda1`, `ttyUSB0`, `mmcblk0p2`, `dm-0`.
pub(super) fn is_device(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    DEVICES.iter().filter_map(|device| lower.strip_prefix(device)).any(|rest| {
        // A disk has a letter, a terminal what it is: `sdb1`, `ttyAMA0`.
        let lettered = ["sd", "hd", "vd", "xvd", "tty"].iter().any(|device| lower.starts_with(device));
        let letters = if lettered { rest.trim_start_matches(|c: char| c.is_ascii_lowercase()) } else { rest };
        let numbers = letters.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, 'p' | 'n' | '-'));
        !rest.is_empty() && rest.len() <= 8 && numbers.is_empty() && rest.len() - letters.len() <= 3
    })
}

/// `pool-3-thread-12`, `CVE-2026-1`, `eu-west-1`: words with hyphens and numbers that logs are full of.
pub(super) fn is_technical(value: &str) -> bool {
    const REGIONS: [&str; 8] = ["eu", "us", "ap", "sa", "ca", "me", "af", "il"];
    let lower = value.to_ascii_lowercase();
    let parts: Vec<&str> = lower.split('-').collect();
    let region = matches!(parts.as_slice(), [first, _, last] if REGIONS.contains(first) && last.len() <= 2);
    // `nginx-6d4cf56db6-x7k2p`: made by a program, for a while.
    let made = parts.iter().any(|part| part.len() >= 8 && part.bytes().filter(u8::is_ascii_digit).count() >= 3);
    // `kube-api-access-x7k2p`: its last part is of the letters that Kubernetes draws from, which have no vowels.
    let drawn = parts.len() > 2
        && parts.last().is_some_and(|last| {
            let drawn = last.bytes().all(|b| b"bcdfghjklmnpqrstvwxz2456789".contains(&b));
            let digits = last.bytes().filter(u8::is_ascii_digit).count();
            last.len() == 5 && drawn && (1..5).contains(&digits)
        });
    // `WD40EFRX-68N32N0`: a product.
    let first = value.split('-').next().unwrap_or_default();
    let product =
        parts.len() > 1 && first.bytes().any(|b| b.is_ascii_digit()) && !value.bytes().any(|b| b.is_ascii_lowercase());
    region || made || drawn || product || is_device(value) || parts.iter().any(|part| NOT_HOST_PARTS.contains(part))
}
