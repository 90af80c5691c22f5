//! Output of the usual Linux tools → [`Diagnostics`]. What a line does not say is left out; nothing fails.

mod machine;
mod network;

use crate::diagnostics::{Diagnostics, LogLine, Output};

/// More lines of a log than anybody looks at.
const MAX_LOG: usize = 5_000;

/// By the command that printed it.
pub fn output(output: &Output, into: &mut Diagnostics) {
    let words: Vec<&str> = output.command.split_whitespace().collect();
    let is = |name: &str| words.iter().any(|word| word.rsplit('/').next() == Some(name));
    let text = output.text.as_str();
    match () {
        () if is("ip") && (is("route") || is("r")) => into.routes.get_or_insert_default().extend(network::routes(text)),
        () if is("route") => into.routes.get_or_insert_default().extend(network::old_routes(text)),
        () if is("ip") || is("ifconfig") => into.interfaces.extend(network::interfaces(text)),
        () if is("resolv.conf") || is("resolvectl") => network::dns(text, into.dns.get_or_insert_default()),
        () if is("df") => into.disks.extend(machine::disks(text, is("-i") || is("-ih") || is("-hi"))),
        () if is("free") || is("meminfo") => into.memory = machine::memory(text).or(into.memory.take()),
        () if is("systemctl") => into.services.extend(machine::services(text)),
        () if is("ss") || is("netstat") => into.sockets.extend(network::sockets(text)),
        () if is("ping") || is("ping6") => into.pings.extend(network::pings(text)),
        () => into.logs.extend(machine::logs(text)),
    }
    into.logs.truncate(MAX_LOG);
}

/// A line of a log, with the unit that wrote it: `Nov 12 03:14:07 host nginx[811]: …`.
fn log_line(line: &str) -> LogLine {
    let head = line.split(": ").next().unwrap_or_default();
    let unit = head.rsplit(' ').next().unwrap_or_default().split('[').next().unwrap_or_default();
    LogLine { unit: unit.trim_end_matches(':').to_owned(), line: line.to_owned() }
}

/// The number at the beginning of a word: `97%`, `12.3ms`.
fn number(word: &str) -> Option<f64> {
    let digits: String = word.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
    digits.parse().ok()
}

/// A whole number, or 0.
fn whole(word: &str) -> u64 {
    number(word).map_or(0, |n| n as u64)
}

/// The word after another one.
fn after<'a>(words: &[&'a str], key: &str) -> Option<&'a str> {
    let at = words.iter().position(|word| *word == key)?;
    words.get(at + 1).copied()
}
