//! What is wrong with the demo's device, and what its programs say about it.

use super::Disk;
use jiff::Timestamp;
use std::fs;
use std::io;
use std::path::Path;

/// Of the program that runs the pump; its process is gone.
const LOCK: &str = "run/pump.lock";
/// Of the program that keeps what the pump measures.
const LOG: &str = "log/telemetry.log";
/// Of the program that speaks to the pump.
const BRIDGE: &str = "etc/bridge.conf";

const LOG_LIMIT: u64 = 1_000_000;
const GOOD_BRIDGE: &str = "port /dev/ttyS1\nbaud 19200\nparity even\n";
const BAD_BRIDGE: &str = "port /dev/ttyS1\nbauds 19200\nparity even\n";
/// All that a line of its configuration may begin with.
const WORDS: [&str; 3] = ["port", "baud", "parity"];

pub fn make(disk: &Disk) -> io::Result<()> {
    fs::write(disk.path(LOCK), format!("{}\n", u32::MAX))?;
    let line = |n: u64| format!("2026-11-16T03:{:02}:{:02}Z flow={} l/min\n", n / 60 % 60, n % 60, 40 + n % 7);
    fs::write(disk.path(LOG), (0..40_000).map(line).collect::<String>())?;
    fs::write(disk.path(BRIDGE), BAD_BRIDGE)?;
    fs::write(disk.path(BRIDGE).with_extension("conf.good"), GOOD_BRIDGE)
}

impl Disk {
    /// The last words of its programs, as they would be in its journal.
    pub fn journal(&self) -> String {
        let said = [("pumpd", self.lock()), ("telemetryd", self.log()), ("bridged", self.bridge())];
        let time = Timestamp::now().strftime("%b %e %H:%M:%S").to_string();
        said.iter().map(|(program, said)| format!("{time} pump-hall4 {program}[311]: {said}\n")).collect()
    }

    /// What is said, without the time: whether there is something new to tell.
    pub fn symptoms(&self) -> [String; 3] {
        [self.lock(), self.log(), self.bridge()]
    }

    fn lock(&self) -> String {
        let path = self.path(LOCK);
        match fs::read_to_string(&path) {
            Ok(process) if !Path::new("/proc").join(process.trim()).exists() => {
                format!("stale lock {}: process {} is gone, not starting", path.display(), process.trim())
            }
            _ => "the pump runs".to_owned(),
        }
    }

    fn log(&self) -> String {
        let path = self.path(LOG);
        match fs::metadata(&path) {
            Ok(log) if log.len() > LOG_LIMIT => {
                format!("log {} is over its limit of {LOG_LIMIT} bytes, nothing is written", path.display())
            }
            _ => "measurements are written".to_owned(),
        }
    }

    fn bridge(&self) -> String {
        let path = self.path(BRIDGE);
        let text = fs::read_to_string(&path).unwrap_or_default();
        let word = |line: &str| line.split(' ').next().unwrap_or_default().to_owned();
        let wrong = text.lines().map(word).enumerate().find(|(_, word)| !WORDS.contains(&word.as_str()));
        match wrong {
            Some((line, word)) => {
                format!("invalid configuration {}: `{word}` in line {}, not starting", path.display(), line + 1)
            }
            None => "the pump answers".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ops::{Output, RuleBase, Submission};

    fn found(disk: &Disk) -> Vec<String> {
        let outputs = vec![Output { command: "journalctl".to_owned(), text: disk.journal() }];
        let findings =
            RuleBase::built_in().unwrap().analyse(&Submission { outputs, ..Submission::default() }.normalise());
        findings.into_iter().map(|finding| finding.id).collect()
    }

    #[test]
    fn three_faults_are_found_and_gone_once_they_are_repaired() {
        let data = tempfile::tempdir().unwrap();
        let disk = Disk::broken(data.path(), None).unwrap();
        assert_eq!(found(&disk), ["disk.log_limit", "service.config_error", "service.stale_lock"]);
        for dir in ["", "run", "log", "etc"].map(|name| disk.path(name)) {
            let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&dir).unwrap().permissions());
            assert_eq!(mode & 0o777, 0o700, "{}", dir.display());
            if let Some((uid, _)) = sandbox::worker_owner(None) {
                assert_eq!(std::os::unix::fs::MetadataExt::uid(&fs::metadata(&dir).unwrap()), uid, "{}", dir.display());
            }
        }
        let disk = Disk::broken(data.path(), None).expect("one that was left behind is made anew");
        fs::remove_file(disk.path(LOCK)).unwrap();
        fs::write(disk.path(LOG), "").unwrap();
        fs::write(disk.path(BRIDGE), GOOD_BRIDGE).unwrap();
        assert_eq!(found(&disk), [""; 0]);
        let root = disk.root().to_owned();
        drop(disk);
        assert!(!root.exists(), "it leaves nothing behind");
    }
}
