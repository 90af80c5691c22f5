//! `ip`, `ifconfig`, `route`, `resolv.conf`, `resolvectl`, `ss`, `netstat`, `ping`.

use super::{after, number, whole};
use crate::diagnostics::{Dns, Interface, Ping, Route, Socket};

/// `ip addr`, `ip link` and `ifconfig`.
pub fn interfaces(text: &str) -> Vec<Interface> {
    let mut found: Vec<Interface> = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match (heading(line), found.last_mut()) {
            (Some(interface), _) => found.push(interface),
            (None, Some(last)) => {
                if let ["inet" | "inet6", address, ..] = words.as_slice() {
                    last.addresses.push(address.trim_start_matches("addr:").to_owned());
                }
            }
            (None, None) => {}
        }
    }
    found
}

/// `2: eth0: <BROADCAST,UP,LOWER_UP> mtu 1500 … state UP` or `eth0: flags=4163<UP,BROADCAST,RUNNING> mtu 1500`.
fn heading(line: &str) -> Option<Interface> {
    if line.starts_with(char::is_whitespace) {
        return None;
    }
    let flags = line.split_once('<')?.1.split_once('>')?.0;
    let has = |flag: &str| flags.split(',').any(|f| f == flag);
    let named = line.split_once('<')?.0.replace("flags=", " ");
    let name = named.split([':', ' ']).find(|part| part.starts_with(|c: char| c.is_ascii_alphabetic()))?;
    let words: Vec<&str> = line.split_whitespace().collect();
    let up = has("UP");
    let carrier = if has("NO-CARRIER") { false } else { has("LOWER_UP") || has("RUNNING") };
    let state = after(&words, "state").map_or_else(|| if up { "UP" } else { "DOWN" }.to_owned(), str::to_owned);
    Some(Interface {
        name: name.split('@').next().unwrap_or(name).to_owned(),
        state,
        carrier,
        mtu: after(&words, "mtu").map_or(0, whole),
        addresses: Vec::new(),
        line: line.to_owned(),
    })
}

/// `default via 10.0.0.1 dev eth0 metric 100`.
pub fn routes(text: &str) -> Vec<Route> {
    let lines = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with(char::is_whitespace));
    lines
        .filter_map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let to = words.iter().find(|word| !matches!(**word, "unreachable" | "blackhole" | "prohibit"))?;
            Some(Route {
                to: (*to).to_owned(),
                via: after(&words, "via").unwrap_or_default().to_owned(),
                interface: after(&words, "dev").unwrap_or_default().to_owned(),
                metric: after(&words, "metric").map_or(0, whole),
                line: line.to_owned(),
            })
        })
        .collect()
}

/// `route -n`: destination, gateway, mask, flags, metric, ref, use, interface.
pub fn old_routes(text: &str) -> Vec<Route> {
    let read = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [to, via, _, _, metric, _, _, interface] = words.as_slice() else { return None };
        let to = if matches!(*to, "0.0.0.0" | "default") { "default" } else { to };
        let (via, interface) = ((*via).to_owned(), (*interface).to_owned());
        Some(Route { to: to.to_owned(), via, interface, metric: whole(metric), line: line.to_owned() })
    };
    text.lines().filter(|line| !line.starts_with("Destination")).filter_map(read).collect()
}

/// `nameserver …`, `search …`; `DNS Servers: …` of resolvectl.
pub fn dns(text: &str, into: &mut Dns) {
    for line in text.lines() {
        let trimmed = line.trim();
        let (key, rest) = trimmed.split_once([' ', '\t']).unwrap_or((trimmed, ""));
        match key {
            "nameserver" => into.servers.extend(rest.split_whitespace().next().map(str::to_owned)),
            "search" | "domain" => into.search.extend(rest.split_whitespace().map(str::to_owned)),
            _ => {
                let listed = trimmed.split_once("DNS Servers:").map(|(_, servers)| servers);
                into.servers.extend(listed.into_iter().flat_map(str::split_whitespace).map(str::to_owned));
                let domains = trimmed.split_once("DNS Domain:").map(|(_, domains)| domains);
                into.search.extend(domains.into_iter().flat_map(str::split_whitespace).map(str::to_owned));
            }
        }
        if into.line.is_empty() && !trimmed.is_empty() && !trimmed.starts_with('#') {
            into.line = line.to_owned();
        }
    }
    into.servers.dedup();
}

/// `ss -tlnp` and `netstat -tlnp`.
pub fn sockets(text: &str) -> Vec<Socket> {
    let read = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let states = [
            "LISTEN",
            "ESTAB",
            "ESTABLISHED",
            "TIME-WAIT",
            "TIME_WAIT",
            "CLOSE-WAIT",
            "CLOSE_WAIT",
            "SYN-SENT",
            "SYN_SENT",
            "UNCONN",
            "FIN-WAIT-1",
            "FIN-WAIT-2",
        ];
        let state = words.iter().find(|word| states.contains(word))?;
        let local = words.iter().find(|word| {
            word.contains(':')
                && word.rsplit(':').next().is_some_and(|p| p.bytes().all(|b| b.is_ascii_digit()) && !p.is_empty())
        })?;
        let process =
            words.last().filter(|word| word.contains("((\"") || word.contains('/')).copied().unwrap_or_default();
        Some(Socket {
            state: state.replace('_', "-").replace("ESTABLISHED", "ESTAB"),
            port: local.rsplit(':').next().map_or(0, whole),
            local: (*local).to_owned(),
            process: process.split('"').nth(1).or_else(|| process.split('/').nth(1)).unwrap_or_default().to_owned(),
            line: line.to_owned(),
        })
    };
    text.lines().filter_map(read).collect()
}

/// Of one or more runs of ping.
pub fn pings(text: &str) -> Vec<Ping> {
    let mut found: Vec<Ping> = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let ["PING", target, ..] = words.as_slice() {
            found.push(Ping { target: (*target).to_owned(), line: line.to_owned(), ..Ping::default() });
        } else if let Some(rest) = line.strip_prefix("ping: ").or_else(|| line.strip_prefix("ping6: ")) {
            let target = rest.split(':').next().unwrap_or_default().to_owned();
            let unresolved = rest.contains("Name or service not known")
                || rest.contains("name resolution")
                || rest.contains("unknown host");
            found.push(Ping { target, unresolved, loss_percent: 100, line: line.to_owned(), ..Ping::default() });
        } else if let Some(last) = found.last_mut() {
            statistics(line, &words, last);
        }
    }
    found
}

/// `4 packets transmitted, 0 received, 100% packet loss, time 3004ms` and `rtt min/avg/max/mdev = 1/2/3/4 ms`.
fn statistics(line: &str, words: &[&str], ping: &mut Ping) {
    if line.contains("packets transmitted") {
        ping.sent = words.first().map_or(0, |word| whole(word));
        ping.received = words
            .iter()
            .zip(words.iter().skip(1))
            .find(|(_, next)| next.starts_with("received"))
            .map_or(0, |(n, _)| whole(n));
        ping.received = after(words, "transmitted,").map_or(ping.received, whole);
        ping.loss_percent = words.iter().find(|word| word.ends_with('%')).map_or(0, |word| whole(word));
        ping.line = line.to_owned();
    } else if let Some((_, times)) = line.split_once("min/avg/max").and_then(|(_, rest)| rest.split_once("= ")) {
        ping.average_ms = times.split('/').nth(1).and_then(number).unwrap_or_default();
    }
}
