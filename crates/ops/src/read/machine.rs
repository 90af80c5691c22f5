//! `df`, `free`, `/proc/meminfo`, `systemctl`, `journalctl`, `dmesg` and files of logs.

use super::{log_line, whole};
use crate::diagnostics::{Disk, LogLine, Memory, Service};

/// The last two columns are the share and the mount point.
pub fn disks(text: &str, inodes: bool) -> Vec<Disk> {
    let read = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let at = words
            .iter()
            .position(|word| word.ends_with('%') && word.len() > 1 && word.starts_with(|c: char| c.is_ascii_digit()))?;
        Some(Disk {
            device: (*words.first()?).to_owned(),
            mount: words.get(at + 1..)?.join(" "),
            used_percent: words.get(at).map_or(0, |word| whole(word)),
            inodes,
            line: line.to_owned(),
        })
    };
    text.lines().filter_map(read).collect()
}

pub fn memory(text: &str) -> Option<Memory> {
    let mut memory = Memory::default();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["Mem:", total, .., available] => {
                (memory.total_mb, memory.available_mb) = (megabytes(total), megabytes(available));
                memory.line = line.to_owned();
            }
            ["Swap:", total, used, ..] => {
                (memory.swap_total_mb, memory.swap_used_mb) = (megabytes(total), megabytes(used))
            }
            ["MemTotal:", total, "kB"] => {
                memory.total_mb = whole(total) / 1024;
                memory.line = line.to_owned();
            }
            ["MemAvailable:", available, "kB"] => memory.available_mb = whole(available) / 1024,
            ["SwapTotal:", total, "kB"] => memory.swap_total_mb = whole(total) / 1024,
            ["SwapFree:", free, "kB"] => memory.swap_used_mb = memory.swap_total_mb.saturating_sub(whole(free) / 1024),
            _ => {}
        }
    }
    (memory.total_mb > 0).then_some(memory)
}

/// `3.8Gi`, `101Mi`, `812` (of `free -m`), `3981234` (of plain `free`, in kilobytes).
fn megabytes(word: &str) -> u64 {
    let value = super::number(word).unwrap_or_default();
    let unit = word.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    (match unit.chars().next() {
        Some('T') => value * 1024.0 * 1024.0,
        Some('G') => value * 1024.0,
        Some('M') => value,
        Some('K') => value / 1024.0,
        Some('B') => value / 1024.0 / 1024.0,
        // More than a terabyte of megabytes is kilobytes.
        _ if value > 1_000_000.0 => value / 1024.0,
        _ => value,
    }) as u64
}

/// `systemctl list-units` (with or without its dot) and `systemctl status`.
pub fn services(text: &str) -> Vec<Service> {
    let mut found: Vec<Service> = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().filter(|word| !matches!(*word, "●" | "*" | "×" | "○")).collect();
        match words.as_slice() {
            [name, "loaded" | "not-found" | "masked" | "error", active, sub, ..] if name.contains('.') => {
                found.push(service(name, active, sub, line));
            }
            // `× nginx.service - A web server`, then `Active: failed (Result: exit-code) since …`.
            [name, "-", ..] if name.ends_with(".service") => found.push(service(name, "", "", line)),
            ["Active:", active, sub, ..] => {
                if let Some(last) = found.last_mut().filter(|last| last.active.is_empty()) {
                    last.active = (*active).to_owned();
                    last.sub = sub.trim_matches(['(', ')', ':']).to_owned();
                    last.line = line.to_owned();
                }
            }
            _ => {}
        }
    }
    found
}

fn service(name: &str, active: &str, sub: &str, line: &str) -> Service {
    Service { name: name.to_owned(), active: active.to_owned(), sub: sub.to_owned(), line: line.to_owned() }
}

pub fn logs(text: &str) -> Vec<LogLine> {
    text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with("-- ")).map(log_line).collect()
}
