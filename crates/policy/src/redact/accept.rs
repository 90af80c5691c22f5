//! Whether what a rule found is what it looks like.

use super::words::{EXTENSIONS, FACILITIES, NOT_HOSTS, PACKAGES, SYSTEM_USERS, TLDS, WEAK_TLDS, is_device};
use super::{Keep, Sensitive, token};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ops::Range;

/// Ends of names that belong to systemd.
const UNITS: [&str; 11] = [
    ".service",
    ".socket",
    ".timer",
    ".mount",
    ".target",
    ".slice",
    ".scope",
    ".device",
    ".path",
    ".swap",
    ".automount",
];
/// Beginnings of names of network interfaces, which stand where machines stand: `eth0.10@eth0`.
const INTERFACES: [&str; 16] = [
    "eth", "ens", "enp", "eno", "wlan", "wlp", "wwan", "br", "docker", "veth", "bond", "if", "tun", "tap", "usb", "lo",
];
/// Words before numbers that look like an address and are none.
const VERSIONS: [&str; 13] = [
    "version",
    "ver",
    "v",
    "firmware",
    "fw",
    "release",
    "driver",
    "bios",
    "build",
    "rev",
    "revision",
    "upgrade",
    "controller",
];

/// The part of `it` to take out, if it is one of `kind`. `whole` is all that the rule matched.
pub(super) fn accept(
    kind: Sensitive,
    text: &str,
    it: Range<usize>,
    whole: Range<usize>,
    keep: Keep,
) -> Option<Range<usize>> {
    let it = if kind == Sensitive::Token { token::trimmed(text, it)? } else { it };
    let value = text.get(it.clone())?;
    let (before, after) = (text.get(..it.start)?, text.get(it.end..)?);
    let holds = match kind {
        Sensitive::Token => token::holds(value, before),
        Sensitive::Email => email(value, after),
        Sensitive::Ip => ip(value, before, after, keep),
        Sensitive::Mac => mac(value, before, after),
        Sensitive::Phone => phone(value, before, after, text.get(whole.start..it.start)?),
        Sensitive::User => user(value, after) && (!text.get(whole)?.contains('@') || may_be_login(text.get(it.end..)?)),
        Sensitive::Host => host(value, before, after, text.get(whole)? == value),
    };
    holds.then_some(it)
}

/// Not a unit, a picture or a place in a repository: `getty@tty1.service`, `logo@2x.png`, `git@example.org:a/b`.
fn email(value: &str, after: &str) -> bool {
    let end = value.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    let repository = value.starts_with("git@") && after.starts_with([':', '/']);
    // `chacha20-poly1305@openssh.com`: a name that its maker gave.
    let maker = value.rsplit('@').next().is_some_and(|host| NOT_HOSTS.contains(host));
    !is_unit(value) && !repository && !maker && !EXTENSIONS.contains(&end.as_str())
}

fn is_unit(value: &str) -> bool {
    UNITS.iter().any(|unit| value.ends_with(unit))
}

fn ip(value: &str, before: &str, after: &str, keep: Keep) -> bool {
    let address = match value.contains(':') {
        true => v6(value, before, after).map(IpAddr::V6),
        false => v4(value, before, after).map(IpAddr::V4),
    };
    address.is_some_and(|address| {
        !(tells_nothing(address)
            || is_private_network(address, after)
            || if is_private(address) { keep.private_ips } else { keep.public_ips })
    })
}

fn v4(value: &str, before: &str, after: &str) -> Option<Ipv4Addr> {
    let address = value.parse().ok()?;
    let last = before.chars().next_back().unwrap_or(' ');
    let one_before = before.chars().rev().nth(1).unwrap_or(' ');
    let joined = match last {
        '-' => !one_before.is_ascii_digit(),
        // `Chrome/119.0.0.0`, but `ann/203.0.113.9:1194` and `db.example.org/203.0.113.9`.
        '/' => one_before.is_ascii_alphanumeric() && !after.starts_with(':') && !after_host(before),
        '.' | '_' => true,
        _ => false,
    };
    let mut next = after.chars();
    let goes_on = match (next.next(), next.next()) {
        (Some('.'), Some(c)) => c.is_ascii_digit() && !is_captured(before, after),
        (Some('-' | '+' | '~' | '_'), Some(c)) => !(c.is_ascii_digit() && after.bytes().take(5).any(|b| b == b'.')),
        _ => false,
    };
    let word = before.trim_end_matches([' ', ':', '=', '"', '(']).rsplit(|c: char| !c.is_ascii_alphanumeric()).next();
    let version = word.is_some_and(|word| VERSIONS.contains(&word.to_ascii_lowercase().as_str()));
    (!joined && !goes_on && !version).then_some(address)
}

/// `IP 203.0.113.9.443 > 203.0.113.10.51122: Flags`: a port behind a dot, as a capture of packets prints it.
fn is_captured(before: &str, after: &str) -> bool {
    let rest = after.trim_start_matches('.').trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = after.len() - rest.len();
    let within = before.ends_with("IP ") || before.ends_with("> ");
    within && digits <= 6 && (rest.starts_with(" >") || rest.starts_with(": ") || rest.starts_with(':'))
}

/// Whether what stands before a slash may be a machine's name, or a transport: `IPV4/UDP/203.0.113.9/5060`.
fn after_host(before: &str) -> bool {
    const LONGEST: usize = 64;
    let apart = |c: &char| c.is_whitespace() || *c == '(';
    let backwards: String = before.chars().rev().skip(1).take(LONGEST).take_while(|c| !apart(c)).collect();
    let transport = ["PDU/", "PCT/", "SLT/", "TCERID", "TNERAP_"].iter().any(|end| backwards.starts_with(end));
    transport || backwards.starts_with(">1_") || backwards.contains(['.', '-']) || backwards == "tsohlacol"
}

fn v6(value: &str, before: &str, after: &str) -> Option<Ipv6Addr> {
    let address = value.parse().ok()?;
    let joins = |c: char| c.is_ascii_alphanumeric() || c == ':' || c == '_';
    // `::ffff:203.0.113.9:21` has a port behind it.
    let port = value.contains('.') && after.starts_with(':');
    let apart = !before.ends_with(joins) && (port || !after.starts_with(joins)) && !after.starts_with(".0");
    let digits = value.bytes().any(|b| b.is_ascii_digit());
    // Eight pairs of digits are the address of an interface with eight bytes.
    let pairs = value.split(':').count() == 8 && value.split(':').all(|group| group.len() == 2);
    (apart && digits && !pairs).then_some(address)
}

/// Loopback, netmasks, groups and the address of nobody.
fn tells_nothing(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => v4.is_loopback() || v4.is_multicast() || matches!(v4.octets(), [0 | 255, ..]),
        IpAddr::V6(v6) => v6.is_loopback() || v6.is_unspecified() || v6.is_multicast(),
    }
}

/// `10.0.0.0/8`: a private network as a whole.
fn is_private_network(address: IpAddr, after: &str) -> bool {
    let IpAddr::V4(v4) = address else { return false };
    let digits: String = after.strip_prefix('/').unwrap_or_default().chars().take_while(char::is_ascii_digit).collect();
    let Some(length) = digits.parse::<u32>().ok().filter(|length| (1..32).contains(length)) else { return false };
    is_private(address) && v4.to_bits() << length == 0
}

fn is_private(address: IpAddr) -> bool {
    match address {
        // 100.64.0.0/10 is what providers put between themselves and their customers.
        IpAddr::V4(v4) => v4.is_private() || v4.is_link_local() || matches!(v4.octets(), [100, 64..=127, ..]),
        IpAddr::V6(v6) => v6.is_unique_local() || v6.is_unicast_link_local(),
    }
}

fn mac(value: &str, before: &str, after: &str) -> bool {
    let digits: Vec<char> = value.chars().filter(char::is_ascii_hexdigit).collect();
    let same = |c: char| digits.iter().all(|d| d.eq_ignore_ascii_case(&c));
    let joined = before.ends_with([':', '-', '.', '_']) || (after.starts_with('-') && value.contains('-'));
    // Sixteen pairs are the fingerprint of a key; its rule comes before.
    !same('0') && !same('f') && !joined && digits.len() <= 40
}

/// What is counted is no number to call.
const UNITS_OF_NUMBERS: [&str; 12] =
    ["bytes", "byte", "ms", "us", "ns", "KB", "kB", "MB", "GB", "packets", "blocks", "sectors"];

/// `context` is what says that it is one, if anything does.
fn phone(value: &str, before: &str, after: &str, context: &str) -> bool {
    // `call id`, `sms size`: a number of another kind.
    const OTHERS: [&str; 22] = [
        "id",
        "ids",
        "pid",
        "time",
        "times",
        "duration",
        "bytes",
        "size",
        "seq",
        "code",
        "error",
        "count",
        "port",
        "line",
        "imei",
        "imsi",
        "iccid",
        "serial",
        "version",
        "timestamp",
        "trace",
        "after",
    ];
    let alone = context.is_empty();
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let international = value.starts_with('+');
    let joined = alone
        && before.ends_with(|c: char| {
            c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '+' | '#') || (c == '/' && !international)
        });
    let mut next = after.chars();
    // `SIP/5551234567-0000001a`: what follows is the number of a channel.
    let channel = context.ends_with('/') && !international;
    let goes_on = match (next.next(), next.next()) {
        (Some('-'), Some(c)) => c.is_ascii_alphanumeric() && !channel,
        // `Dial(SIP/trunk/004989123456,30)`: what follows is how long it rings.
        (Some('.' | ':' | '/' | ','), Some(c)) => c.is_ascii_digit() && !context.ends_with('/'),
        (Some(c), _) => c.is_ascii_alphanumeric() || c == '_' || c == '%',
        _ => false,
    };
    let enough = if international { (8..=15).contains(&digits) } else { (7..=15).contains(&digits) };
    let other = context
        .split(|c: char| !c.is_ascii_alphanumeric())
        .skip(1)
        .any(|word| OTHERS.contains(&word.to_ascii_lowercase().as_str()));
    let other = other || context.to_ascii_lowercase().starts_with("callid");
    let other = other && !context.get(..6).is_some_and(|start| start.eq_ignore_ascii_case("caller"));
    let other = other && !international;
    let unit = after.trim_start().split(|c: char| !c.is_ascii_alphabetic()).next();
    let other = other || unit.is_some_and(|unit| UNITS_OF_NUMBERS.contains(&unit));
    enough && !other && !joined && !goes_on && value.parse::<Ipv4Addr>().is_err() && !looks_like_date(value)
}

/// `2025-11-12`, `12.11.2025 10`.
fn looks_like_date(value: &str) -> bool {
    let parts: Vec<&str> = value.split(['-', '/', '.', ' ']).collect();
    match parts.as_slice() {
        [year, month, day, ..] => {
            let year_first = year.len() == 4 && (year.starts_with("19") || year.starts_with("20"));
            let year_last = day.len() == 4 && (day.starts_with("19") || day.starts_with("20"));
            (year_first && month.len() == 2 && day.len() == 2) || (year_last && year.len() <= 2 && month.len() <= 2)
        }
        _ => false,
    }
}

fn user(value: &str, after: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    // A part of a longer name is none.
    let mut next = after.chars();
    let goes_on = next.next() == Some('.') && next.next().is_some_and(|c| c.is_ascii_alphanumeric());
    let machine = lower.split('.').count() > 2 && lower.rsplit('.').next().is_some_and(|tld| TLDS.contains(tld));
    // `WERK\\ann`: the domain that a user is of.
    let domain = after.starts_with('\\') && !value.bytes().any(|b| b.is_ascii_lowercase());
    // `curl/8.5`: a program.
    let version = after.strip_prefix('/').map(|rest| rest.chars().take_while(|c| c.is_ascii_digit() || *c == '.'));
    let version = version
        .map(Iterator::collect::<String>)
        .is_some_and(|v| !v.starts_with('.') && (1..3).contains(&v.matches('.').count()));
    !goes_on
        && !version
        && !domain
        && !machine
        && !lower.starts_with("pam_")
        && !SYSTEM_USERS.contains(lower.as_str())
        && !lower.starts_with("systemd-")
        && !is_unit(&lower)
}

/// Whether `@…` after a name is a machine, not a unit, an interface, a version or a digest.
fn may_be_login(after: &str) -> bool {
    let Some(rest) = after.strip_prefix('@') else { return true };
    let host: String = rest.chars().take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_')).collect();
    let lower = host.to_ascii_lowercase();
    let version = host.starts_with(|c: char| c.is_ascii_digit()) && host.parse::<Ipv4Addr>().is_err();
    // `[s@from-pstn:1]` is a step of a dialling plan.
    let tail: String = rest.chars().skip(host.len()).take(8).collect();
    let step = tail.strip_prefix(':').map(|tail| tail.trim_start_matches(|c: char| c.is_ascii_digit()));
    let is_step = step.is_some_and(|end| end.starts_with(']') && !tail.starts_with(":]"));
    let inside = rest.starts_with("<HOST_") || rest.starts_with("<IP_");
    inside
        || !(host.is_empty()
            || version
            || is_step
            || is_unit(&lower)
            || is_interface(&lower)
            || NOT_HOSTS.contains(lower.as_str()))
}

fn is_interface(name: &str) -> bool {
    INTERFACES.iter().any(|prefix| {
        let rest = name.strip_prefix(prefix);
        rest.is_some_and(|rest| {
            rest.starts_with(|c: char| c.is_ascii_digit()) && rest.len() <= 8 && !rest.contains('-')
        })
    })
}

/// `alone` where nothing around it says that it is one.
fn host(value: &str, before: &str, after: &str, alone: bool) -> bool {
    let lower = value.to_ascii_lowercase();
    let number = lower.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let labels: Vec<&str> = lower.split('.').collect();
    let facility = matches!(labels.as_slice(), [first, _] if FACILITIES.contains(first) || first.starts_with("local"));
    let none = NOT_HOSTS.contains(lower.as_str()) || is_unit(&lower) || is_interface(&lower) || is_device(&lower);
    if number || none || is_uuid(&lower) || (facility && !TLDS.contains(labels.last().unwrap_or(&""))) {
        return false;
    }
    let package = matches!(labels.as_slice(), ["com" | "org" | "java" | "javax", _, _, ..]);
    let cipher = ["-aes", "-sha", "chacha20"].iter().any(|part| lower.contains(part));
    let escaped_unit = before.ends_with('@') && after.starts_with('\\');
    if cipher || package || escaped_unit {
        return false;
    }
    // A name with a dot in it that goes on is not the end of a name.
    let joined = before.ends_with(['_', '$', '%']) || after.starts_with(['_', '(']);
    if !alone {
        let next: String = after.chars().take(8).collect();
        let after_at = before.ends_with('@') && !may_be_login(&format!("@{value}{next}"));
        return !joined && !after_at && !is_version(&lower);
    }
    let tld = labels.last().copied().unwrap_or_default();
    let known = TLDS.contains(tld)
        || (WEAK_TLDS.contains(tld) && labels.len() >= 3 && labels.iter().all(|label| label.len() >= 2));
    let package = labels.first().is_some_and(|first| PACKAGES.contains(first));
    // `System.Net`, not `SRV1.CORP.LOCAL`.
    let capital = value.rsplit('.').next().is_some_and(|tld| {
        tld.starts_with(|c: char| c.is_ascii_uppercase()) && tld.ends_with(|c: char| c.is_ascii_lowercase())
    });
    let name_in_code = package || capital || after.starts_with('=') || before.ends_with(['.', '-']);
    known && !joined && !name_in_code && !after.starts_with(|c: char| c.is_ascii_alphanumeric())
}

fn is_uuid(lower: &str) -> bool {
    let lengths: Vec<usize> = lower.split('-').map(str::len).collect();
    lengths == [8, 4, 4, 4, 12] && lower.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-')
}

/// `v18`, `x86-64`, `python3`, `tls1.3`.
fn is_version(lower: &str) -> bool {
    const KNOWN: [&str; 21] = [
        "v", "x86", "x86-64", "amd64", "arm64", "armv", "aarch64", "python", "tls", "tlsv", "ssl", "http", "ipv",
        "utf", "iso", "sha", "md", "usb", "cpu", "core", "port",
    ];
    let word = lower.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    KNOWN.contains(&word) || KNOWN.contains(&lower)
}
