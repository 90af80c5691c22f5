//! What hardly anything around it says to be a value: its own look must.

use super::Sensitive;
use super::words::{is_common, is_device, is_technical};

/// Whether a value that a weak rule found is one. `before` and `after` are the text around it.
pub(super) fn holds(kind: Sensitive, value: &str, before: &str, after: &str) -> bool {
    match kind {
        Sensitive::Host => host(value, after),
        Sensitive::User => user(value),
        Sensitive::Token => is_random(value),
        Sensitive::Phone => stands_alone(before, after),
        Sensitive::Email | Sensitive::Ip | Sensitive::Mac => true,
    }
}

/// A name that somebody gave: no word of the language, no device, no name in code.
fn host(value: &str, after: &str) -> bool {
    // `web-1  | started`: a container, in what its composer prints.
    let composed = after.trim_start_matches(' ').starts_with("| ");
    let words = value.split('-').all(|part| is_common(part) || part.len() < 2);
    let form = ["ing", "ed", "tion", "able"].iter().any(|end| value.ends_with(end));
    // `UPS`, `SSID`: a short form.
    let short = value.len() <= 5 && value.bytes().all(|b| b.is_ascii_uppercase());
    !(composed || words || form || short || is_mixed(value) || is_technical(value))
}

fn user(value: &str) -> bool {
    let words = value.split(['-', '_', '.']).all(is_common);
    let form = ["ing", "tion", "able"].iter().any(|end| value.ends_with(end));
    !(value.len() < 2 || words || form || is_mixed(value) || is_device(value) || is_technical(value))
}

/// `NodeReady`, `K7x2b`: capitals elsewhere than at its beginning, but not everywhere.
fn is_mixed(value: &str) -> bool {
    let capital = value.bytes().skip(1).any(|b| b.is_ascii_uppercase());
    let small = value.bytes().any(|b| b.is_ascii_lowercase());
    let odd = matches!(value.as_bytes(), [first, second, ..] if first.is_ascii_uppercase() && second.is_ascii_digit());
    small && (capital || odd)
}

/// Letters and digits in disorder, as a program makes them.
fn is_random(value: &str) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let letters = value.bytes().filter(u8::is_ascii_alphabetic).count();
    let turns = value.as_bytes().windows(2).filter(|pair| kind_of(pair.first()) != kind_of(pair.last())).count();
    let words = value.split(['-', '_', '.', '/', ':']).any(|part| part.len() > 4 && is_common(part));
    let method = value.split(['-', '_', '.', '/', ':']).any(is_method);
    value.len() >= 8 && !method && digits >= 2 && letters >= 2 && turns >= 3 && !words
}

/// `ecdsa-sha2-nistp256`: how something is signed or kept secret, which is none.
fn is_method(part: &str) -> bool {
    const METHODS: [&str; 17] = [
        "sha", "aes", "rsa", "dsa", "ecdsa", "ed", "nistp", "hmac", "chacha", "poly", "curve", "x", "md", "pbkdf",
        "argon", "mlkem", "secp",
    ];
    let lower = part.to_ascii_lowercase();
    let word = lower.trim_end_matches(|c: char| c.is_ascii_digit());
    word.len() < lower.len() && METHODS.contains(&word)
}

fn kind_of(byte: Option<&u8>) -> u8 {
    match byte {
        Some(b) if b.is_ascii_digit() => 0,
        Some(b) if b.is_ascii_lowercase() => 1,
        Some(b) if b.is_ascii_uppercase() => 2,
        _ => 3,
    }
}

/// No number stands beside it: it is none of a row of them.
fn stands_alone(before: &str, after: &str) -> bool {
    let last = before.trim_end_matches([' ', '\t']);
    let next = after.trim_start_matches([' ', '\t']);
    let follows = last.len() < before.len() && last.ends_with(|c: char| c.is_ascii_digit());
    let leads = next.len() < after.len() && next.starts_with(|c: char| c.is_ascii_digit());
    !(follows || leads)
}
