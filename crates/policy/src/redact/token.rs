//! Where a token ends, and what stands in the place of one and is none.

use std::ops::Range;

/// Without the signs that end what stands around it: `(token=a1b2c3)`, `password is a1b2c3.`
pub(super) fn trimmed(text: &str, it: Range<usize>) -> Option<Range<usize>> {
    let value = text.get(it.clone())?;
    // A password in a URL ends where its sign says; a hash may end with a dot.
    let whole = text.get(it.end..)?.starts_with('@') || value.starts_with('$');
    let own = if whole { value } else { value.get(..next_setting(value))? };
    let kept = if whole { own } else { own.trim_end_matches([',', ';', ')', ']', '}', '.', ':', '\\', '|']) };
    Some(it.start..it.start + kept.len())
}

/// Where another setting follows: `a1b2c3&user=ann`, `a1b2c3,ttl=60`, or an escaped quote: `a1b2c3\\",`.
fn next_setting(value: &str) -> usize {
    let ends = |at: usize, sign: char| {
        let rest = value.get(at + 1..).unwrap_or_default();
        let name = rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'));
        match sign {
            '&' | ',' | ';' | '|' => name.len() < rest.len() && name.starts_with('='),
            '\\' => rest.is_empty() || rest.starts_with(['"', '\'']),
            _ => false,
        }
    };
    value.char_indices().find(|(at, sign)| *at > 0 && ends(*at, *sign)).map_or(value.len(), |(at, _)| at)
}

/// `Acct-Session-Id=0000A4F1`: what a service counts sessions by opens none.
fn is_accounting(before: &str) -> bool {
    const LONGEST: usize = 24;
    let start = before.char_indices().rev().take(LONGEST).last().map_or(0, |(at, _)| at);
    let near = before.get(start..).unwrap_or_default().to_ascii_lowercase();
    near.contains("acct-") || near.contains("accounting session")
}

/// Not a word that says that there is a token, or how it fared.
pub(super) fn holds(value: &str, before: &str) -> bool {
    const NONE: [&str; 43] = [
        "null",
        "none",
        "true",
        "false",
        "required",
        "optional",
        "failed",
        "failure",
        "expired",
        "invalid",
        "incorrect",
        "missing",
        "changed",
        "disabled",
        "enabled",
        "unset",
        "empty",
        "hidden",
        "redacted",
        "prompt",
        "unknown",
        "undefined",
        "rejected",
        "accepted",
        "authentication",
        "file",
        "yescrypt",
        "sha512",
        "default",
        "unlimited",
        "token",
        "bearer",
        "basic",
        "digest",
        "negotiate",
        "string",
        "name",
        "names",
        "support",
        "list",
        "sha256",
        "sha1",
        "md5",
    ];
    let lower = value.to_ascii_lowercase();
    let same = |c: char| value.chars().all(|other| other == c);
    // `$1$…` is a hash, `$HOME` is not.
    let hash = value.starts_with('$') && value.get(1..).is_some_and(|rest| rest.contains('$'));
    let refers = value.starts_with(['$', '%', '/', '<', '{']) && !hash;
    let number = value.len() < 6 && value.bytes().all(|b| b.is_ascii_digit());
    // A number of the kernel's, or a pin of a board.
    let number = number || (value.len() <= 18 && value.starts_with("0x")) || lower.starts_with("gpio");
    !NONE.contains(&lower.as_str())
        && !same('*')
        && !same('x')
        && !same('.')
        && !refers
        && !number
        && !is_accounting(before)
}
