//! The device at work: asks, checks, notes, runs, tells.

use crate::api::{Claimed, House, ResultRequest};
use crate::cells::{Cell, Cells};
use crate::config::Config;
use crate::journal::{self, Entry, Journal, Told};
use crate::log::{self, Log};
use crate::pause::{self, Pause};
use crate::run::{self, Ran};
use domain::package::{Ending, Package, ScriptResult, SignedPackage, Usage};
use domain::{Fault, Kind};
use jiff::Timestamp;
use policy::redact::Redactor;
use policy::script::{ApprovedScript, Opening, ScriptPolicy, TrustedKeys};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a rollback's entry ends with, after the id of its package.
const ROLLBACK: &str = ".rollback";

pub struct Agent {
    config: Config,
    keys: TrustedKeys,
    policy: ScriptPolicy,
    redactor: Redactor,
    journal: Journal,
    house: Arc<House>,
    cells: Cells,
    state: PathBuf,
}

impl Agent {
    pub fn new(state: &Path, cells: Cells) -> Result<Self, Fault> {
        let config = Config::load(state)?;
        Ok(Self {
            keys: trusted(&config)?,
            policy: ScriptPolicy::new(config.scripts.clone()),
            redactor: Redactor::new(config.keep).map_err(|_| Fault::internal("device.redactor"))?,
            journal: Journal::open(state)?,
            house: Arc::new(House::new(&config.url, Some(config.token.clone()))),
            state: state.to_owned(),
            cells: cells.denying(&config.scripts.deny_paths),
            config,
        })
    }

    /// Until stopped. What was interrupted by a stop before is told first; a house that is away is asked again later.
    pub fn work(&mut self, once: bool) -> Result<(), Fault> {
        self.close_interrupted()?;
        let mut pause = Pause::of(self.config.poll_ms);
        loop {
            match self.step() {
                Ok(had_work) => {
                    pause.succeeded();
                    if once {
                        return self.tell_all();
                    }
                    if had_work {
                        continue;
                    }
                }
                Err(fault) if once || ends_all(&fault) => return Err(fault),
                Err(fault) => {
                    pause.failed();
                    let _ = writeln!(std::io::stderr(), "{fault}");
                }
            }
            std::thread::sleep(pause.next(pause::random()));
        }
    }

    /// Tells what there is to tell, then asks for a package. Never the other way round: a new claim would end the one that
    /// a result is told under.
    fn step(&mut self) -> Result<bool, Fault> {
        self.tell_all()?;
        let Some(claimed) = self.house.claim()? else { return Ok(false) };
        self.learn_keys(&claimed)?;
        self.handle(claimed)?;
        Ok(true)
    }

    /// Checks, notes durably, runs, notes the result. Nothing runs that is not noted; nothing noted runs again.
    fn handle(&self, claimed: Claimed) -> Result<(), Fault> {
        let _alone = self.journal.alone()?;
        let begun_at = Timestamp::now();
        let opened = self.open(&claimed.package, &self.keys, begun_at);
        let (package_id, digest) = match &opened {
            Ok((package, _)) => (package.package_id.clone(), package.digest.clone()),
            // What can't be opened has no id that could be believed.
            Err(_) => (claimed.package.sha256.clone(), String::new()),
        };
        let entry = Entry {
            package_id,
            digest,
            claim_token: claimed.claim_token,
            begun_at: Some(begun_at),
            signed_with: self.public_key(&claimed.package.key_id),
            signed: claimed.package,
            result: None,
            log: Vec::new(),
            log_sent: 0,
            told: Told::NotYet,
        };
        if !self.journal.begin(&entry)? {
            return self.met_before(entry);
        }
        let live = Log::live(&self.redactor, self.house.clone(), &entry.package_id, &entry.claim_token);
        self.finish(entry, opened, false, live).map(drop)
    }

    /// It has begun here before, and does not run again. A house that has not heard its end is told now.
    fn met_before(&self, entry: Entry) -> Result<(), Fault> {
        if let Some(known) = self.journal.find(&entry.package_id)
            && known.told != Told::Heard
            && known.result.is_some()
        {
            return self.journal.update(&Entry { claim_token: entry.claim_token, told: Told::NotYet, ..known });
        }
        let replayed = Fault::new(Kind::Conflict, "package.replayed", "the package has run here before");
        let _ = writeln!(std::io::stderr(), "{replayed}");
        let result = &refusal(&entry.package_id, &replayed);
        self.house.result(&ResultRequest { claim_token: &entry.claim_token, result })
    }

    /// Runs what was opened, and notes how it ended.
    fn finish(
        &self,
        mut entry: Entry,
        opened: Result<(Package, ApprovedScript), Fault>,
        rollback: bool,
        mut log: Log<'_>,
    ) -> Result<Entry, Fault> {
        let ran = opened.and_then(|(package, approved)| {
            // As risky as either side thinks that it is.
            let cell = self.config.cells.of(approved.risk().max(package.risk))?;
            let ran = run::run((&self.cells, cell), &approved, rollback, &mut |said| log.hear(said))?;
            Ok((ran, package, cell))
        });
        (entry.log, entry.log_sent) = log.end();
        entry.result = Some(match ran {
            Ok((ran, package, cell)) => self.result(&package, (rollback, cell), ran),
            Err(fault) => ScriptResult { rollback, ..refusal(&entry.package_id, &fault) },
        });
        self.journal.update(&entry)?;
        Ok(entry)
    }

    fn open(
        &self,
        signed: &SignedPackage,
        keys: &TrustedKeys,
        now: Timestamp,
    ) -> Result<(Package, ApprovedScript), Fault> {
        let (device_id, grants) = (self.config.device_id.as_str(), &self.config.grants);
        self.policy.open(signed, &Opening { keys, device_id, grants, now })
    }

    /// The trusted key of this id, to be kept with what it has signed: it may be retired before that is taken back.
    fn public_key(&self, key_id: &str) -> Option<String> {
        let named = |key: &&String| {
            TrustedKeys::parse([key.as_str()]).is_ok_and(|parsed| parsed.ids().any(|known| known == key_id))
        };
        self.config.trusted_keys.iter().find(named).cloned()
    }

    /// The house's word on its keys, as far as it is younger than what this device has heard.
    fn learn_keys(&mut self, claimed: &Claimed) -> Result<(), Fault> {
        for signed in &claimed.keys {
            if let Some(list) = self.keys.hear(signed, self.config.keys_serial)? {
                (self.config.trusted_keys, self.config.keys_serial) = (list.keys, list.serial);
                self.config.save(&self.state)?;
                self.keys = trusted(&self.config)?;
            }
        }
        Ok(())
    }

    /// By whoever sits at the device. The package must have run here; that it has expired since, or that its key was
    /// retired, does not matter: it is opened as it was when it ran.
    pub fn roll_back(&self, package_id: &str) -> Result<(), Fault> {
        // The house hears of a rollback only after the end of what it takes back.
        self.close_interrupted()?;
        let _alone = self.journal.alone()?;
        let ran = |entry: &Entry| entry.result.as_ref().is_none_or(|result| result.ending != Ending::Refused);
        let entry = self.journal.find(package_id).filter(ran).ok_or_else(|| {
            Fault::new(Kind::NotFound, "device.unknown_package", format!("no package `{package_id}` ran here"))
        })?;
        let started_at = || entry.result.as_ref().map(|result| result.started_at);
        let then = entry.begun_at.or_else(started_at).unwrap_or_else(Timestamp::now);
        let key = entry.signed_with.as_ref().map(|key| TrustedKeys::parse([key.as_str()])).transpose()?;
        let (package, approved) = self.open(&entry.signed, key.as_ref().unwrap_or(&self.keys), then)?;
        if approved.rollback().is_none() {
            return Err(Fault::new(Kind::NotFound, "device.no_rollback", "the package has no rollback"));
        }
        let undo = Entry {
            package_id: format!("{package_id}{ROLLBACK}"),
            begun_at: Some(Timestamp::now()),
            result: None,
            log: Vec::new(),
            log_sent: 0,
            told: Told::NotYet,
            ..entry
        };
        if !self.journal.begin(&undo)? {
            return Err(Fault::new(Kind::Conflict, "package.replayed", "the rollback has run here before"));
        }
        let undone = self.finish(undo, Ok((package, approved)), true, Log::new(&self.redactor))?;
        let _ = write!(std::io::stdout(), "{}", undone.log.concat());
        // The house may be away; it is told at the next poll.
        let _ = self.tell_all();
        match undone.result.and_then(|result| result.exit_code) {
            Some(0) => Ok(()),
            _ => Err(Fault::new(Kind::Execution, "device.rollback_failed", "the rollback did not succeed")),
        }
    }

    fn result(&self, package: &Package, (rollback, cell): (bool, Cell), ran: Ran) -> ScriptResult {
        ScriptResult {
            package_id: package.package_id.clone(),
            digest: package.digest.clone(),
            rollback,
            ending: ran.ending,
            code: None,
            exit_code: ran.exit_code,
            started_at: ran.started_at,
            duration_ms: u64::try_from(ran.duration.as_millis()).unwrap_or(u64::MAX),
            usage: ran.usage,
            sandbox_tier: Some(self.cells.tier(cell)),
            unenforced: self.cells.unenforced(cell),
            truncated: ran.truncated,
        }
    }

    /// What has begun and has no result was running when this device went down.
    fn close_interrupted(&self) -> Result<(), Fault> {
        let _alone = self.journal.alone()?;
        self.cells.sweep(&self.config.cells);
        for mut entry in self.journal.untold().into_iter().filter(|entry| entry.result.is_none()) {
            let fault = Fault::new(Kind::Unavailable, "device.interrupted", "the device went down while it ran");
            let package_id = entry.package_id.strip_suffix(ROLLBACK);
            entry.result = Some(ScriptResult {
                ending: Ending::Interrupted,
                rollback: package_id.is_some(),
                digest: entry.digest.clone(),
                started_at: entry.begun_at.unwrap_or_else(Timestamp::now),
                ..refusal(package_id.unwrap_or(&entry.package_id), &fault)
            });
            self.journal.update(&entry)?;
        }
        Ok(())
    }

    /// Logs, then the result; noted as told once the house has answered.
    fn tell_all(&self) -> Result<(), Fault> {
        for mut entry in self.journal.untold() {
            let Some(result) = &entry.result else { continue };
            match log::send_rest(&self.house, &entry) {
                Err(fault) if !is_final(&fault) => return Err(fault),
                // A log that is not wanted must not keep back how it ended.
                Ok(()) | Err(_) => entry.log_sent = entry.log.len(),
            }
            entry.told = match self.house.result(&ResultRequest { claim_token: &entry.claim_token, result }) {
                Ok(()) => Told::Heard,
                Err(fault) if is_final(&fault) => {
                    let _ = writeln!(std::io::stderr(), "{fault}");
                    Told::Refused
                }
                Err(fault) => return Err(fault),
            };
            self.journal.update(&entry)?;
        }
        Ok(())
    }
}

fn trusted(config: &Config) -> Result<TrustedKeys, Fault> {
    TrustedKeys::parse(config.trusted_keys.iter().map(String::as_str))
}

/// The house itself has understood, and says no: asking again would not help. What a proxy or a wrong address says is not
/// its word: a result is kept until it is heard.
fn is_final(fault: &Fault) -> bool {
    fault.code.starts_with("claim.") || ["result.invalid", "log.too_large"].contains(&fault.code.as_str())
}

/// A device that the house no longer knows has nothing to wait for, and one that can't write its journal runs nothing.
fn ends_all(fault: &Fault) -> bool {
    fault.kind == Kind::Unauthenticated || fault.code == journal::FAILED
}

/// Nothing ran.
fn refusal(package_id: &str, fault: &Fault) -> ScriptResult {
    ScriptResult {
        package_id: package_id.to_owned(),
        digest: String::new(),
        rollback: false,
        ending: Ending::Refused,
        code: Some(fault.code.clone()),
        exit_code: None,
        started_at: Timestamp::now(),
        duration_ms: 0,
        usage: Usage::default(),
        sandbox_tier: None,
        unenforced: Vec::new(),
        truncated: false,
    }
}
