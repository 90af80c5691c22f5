//! The device at work: asks, checks, notes, runs, tells.

use crate::api::{Claimed, EnrolRequest, House, LogRequest, ResultRequest};
use crate::arguments::{Arguments, Wish};
use crate::config::{self, Config};
use crate::journal::{Entry, Journal};
use crate::pause::{self, Pause};
use crate::run::{self, Ran};
use domain::package::{Ending, Package, ScriptResult, Usage};
use domain::{Fault, Kind};
use jiff::Timestamp;
use policy::redact::{Masks, Redactor};
use policy::script::{ApprovedScript, Grants, Opening, ScriptPolicy, TrustedKeys};
use sandbox::Sandbox;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Of a log, sent at a time.
const CHUNK: usize = 64 * 1024;

/// What a rollback's entry ends with, after the id of its package.
const ROLLBACK: &str = ".rollback";

pub fn serve(arguments: &Arguments) -> Result<(), Fault> {
    config::prepare(&arguments.state)?;
    let jail = || run::jail(arguments.user.as_deref());
    match &arguments.wish {
        Wish::Help => Ok(()),
        Wish::Doctor => {
            let report =
                serde_json::to_string_pretty(jail()?.report()).map_err(|_| Fault::internal("device.report"))?;
            let _ = writeln!(std::io::stdout(), "{report}");
            Ok(())
        }
        Wish::Enrol { url, code } => enrol(arguments, url, code, &jail()?),
        Wish::Run { once } => Agent::new(&arguments.state, jail()?)?.work(*once),
        Wish::Rollback(id) => Agent::new(&arguments.state, jail()?)?.roll_back(id),
    }
}

/// The code is good once. Grants of an earlier enrolment stay, unless new ones are given: they are the owner's.
fn enrol(arguments: &Arguments, url: &str, code: &str, sandbox: &Sandbox) -> Result<(), Fault> {
    let state = &arguments.state;
    let known = Config::load(state).ok();
    let mut grants =
        known.as_ref().map_or_else(|| Grants { network: true, ..Grants::default() }, |config| config.grants.clone());
    if !arguments.writable.is_empty() {
        grants.writable_roots.clone_from(&arguments.writable);
    }
    let sandbox_tier = sandbox.report().tier.to_string();
    let request = EnrolRequest { code, grants: &grants, sandbox_tier, version: env!("CARGO_PKG_VERSION") };
    let enrolled = House::new(url, None).enrol(&request)?;
    TrustedKeys::parse(enrolled.trusted_keys.iter().map(String::as_str))?;
    let config = Config {
        url: url.to_owned(),
        device_id: enrolled.device_id,
        token: enrolled.token,
        trusted_keys: enrolled.trusted_keys,
        grants,
        scripts: known.as_ref().map(|config| config.scripts.clone()).unwrap_or_default(),
        keep: known.map(|config| config.keep).unwrap_or_default(),
    };
    config.save(state)?;
    let _ = writeln!(std::io::stdout(), "enrolled as {}", config.device_id);
    Ok(())
}

struct Agent {
    config: Config,
    keys: TrustedKeys,
    policy: ScriptPolicy,
    redactor: Redactor,
    journal: Journal,
    house: House,
    sandbox: Sandbox,
    state: PathBuf,
}

impl Agent {
    fn new(state: &Path, sandbox: Sandbox) -> Result<Self, Fault> {
        let config = Config::load(state)?;
        Ok(Self {
            keys: TrustedKeys::parse(config.trusted_keys.iter().map(String::as_str))?,
            policy: ScriptPolicy::new(config.scripts.clone()),
            redactor: Redactor::new(config.keep).map_err(|_| Fault::internal("device.redactor"))?,
            journal: Journal::open(state)?,
            house: House::new(&config.url, Some(config.token.clone())),
            state: state.to_owned(),
            sandbox,
            config,
        })
    }

    /// Until stopped. What was interrupted by a stop before is told first; a house that is away is asked again later.
    fn work(&self, once: bool) -> Result<(), Fault> {
        self.close_interrupted()?;
        let mut pause = Pause::default();
        loop {
            let step = self.report_all().and_then(|()| self.house.claim());
            match step {
                Ok(Some(claimed)) => {
                    pause.succeeded();
                    self.handle(claimed)?;
                    if !once {
                        continue;
                    }
                }
                Ok(None) => pause.succeeded(),
                // A device that the house no longer knows has nothing to wait for.
                Err(fault) if once || fault.kind == Kind::Unauthenticated => return Err(fault),
                Err(fault) => {
                    pause.failed();
                    let _ = writeln!(std::io::stderr(), "{fault}");
                }
            }
            if once {
                return self.report_all();
            }
            std::thread::sleep(pause.next(pause::random()));
        }
    }

    /// Checks, notes durably, runs, notes the result. Nothing runs that is not noted; nothing noted runs again.
    fn handle(&self, claimed: Claimed) -> Result<(), Fault> {
        let opened = self.open(&claimed);
        let (package_id, digest) = match &opened {
            Ok((package, _)) => (package.package_id.clone(), package.digest.clone()),
            // What can't be opened has no id that could be believed.
            Err(_) => (claimed.package.sha256.clone(), String::new()),
        };
        let mut entry = Entry {
            package_id,
            digest,
            claim_token: claimed.claim_token,
            signed: claimed.package,
            result: None,
            log: String::new(),
            reported: false,
        };
        if !self.journal.begin(&entry)? {
            let replayed = Fault::new(Kind::Conflict, "package.replayed", "the package has run here before");
            let _ = writeln!(std::io::stderr(), "{replayed}");
            return self.house.result(&ResultRequest {
                claim_token: &entry.claim_token,
                result: &refusal(&entry.package_id, &replayed),
            });
        }
        let ran = opened
            .and_then(|(package, approved)| Ok((run::run(&self.sandbox, &approved, false, &self.state)?, package)));
        entry.result = Some(match ran {
            Ok((ran, package)) => {
                entry.log = self.redacted(&ran.said);
                self.result(&package, false, ran)
            }
            Err(fault) => refusal(&entry.package_id, &fault),
        });
        self.journal.update(&entry)
    }

    fn open(&self, claimed: &Claimed) -> Result<(Package, ApprovedScript), Fault> {
        let (device_id, grants) = (self.config.device_id.as_str(), &self.config.grants);
        self.policy.open(&claimed.package, &Opening { keys: &self.keys, device_id, grants, now: Timestamp::now() })
    }

    /// By whoever sits at the device. The package must have run here; that it has expired since does not matter.
    fn roll_back(&self, package_id: &str) -> Result<(), Fault> {
        let entry = self.journal.find(package_id).ok_or_else(|| {
            Fault::new(Kind::NotFound, "device.unknown_package", format!("no package `{package_id}` ran here"))
        })?;
        let (device_id, grants) = (self.config.device_id.as_str(), &self.config.grants);
        let then = entry.result.as_ref().map_or_else(Timestamp::now, |result| result.started_at);
        let (package, approved) =
            self.policy.open(&entry.signed, &Opening { keys: &self.keys, device_id, grants, now: then })?;
        if approved.rollback().is_none() {
            return Err(Fault::new(Kind::NotFound, "device.no_rollback", "the package has no rollback"));
        }
        let mut undo = Entry {
            package_id: format!("{package_id}{ROLLBACK}"),
            result: None,
            log: String::new(),
            reported: false,
            ..entry
        };
        if !self.journal.begin(&undo)? {
            return Err(Fault::new(Kind::Conflict, "package.replayed", "the rollback has run here before"));
        }
        let ran = run::run(&self.sandbox, &approved, true, &self.state)?;
        let code = ran.exit_code;
        undo.log = self.redacted(&ran.said);
        undo.result = Some(self.result(&package, true, ran));
        self.journal.update(&undo)?;
        let _ = write!(std::io::stdout(), "{}", undo.log);
        // The house may be away; it is told at the next poll.
        let _ = self.report_all();
        match code {
            Some(0) => Ok(()),
            _ => Err(Fault::new(Kind::Execution, "device.rollback_failed", "the rollback did not succeed")),
        }
    }

    fn redacted(&self, said: &[u8]) -> String {
        self.redactor.redact(&String::from_utf8_lossy(said), &mut Masks::default())
    }

    fn result(&self, package: &Package, rollback: bool, ran: Ran) -> ScriptResult {
        let report = self.sandbox.report();
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
            sandbox_tier: Some(report.tier.to_string()),
            unenforced: report.unenforced.clone(),
            truncated: ran.truncated,
        }
    }

    /// What has begun and has no result was running when this device went down.
    fn close_interrupted(&self) -> Result<(), Fault> {
        for mut entry in self.journal.unreported().into_iter().filter(|entry| entry.result.is_none()) {
            let fault = Fault::new(Kind::Unavailable, "device.interrupted", "the device went down while it ran");
            let package_id = entry.package_id.strip_suffix(ROLLBACK);
            entry.result = Some(ScriptResult {
                ending: Ending::Interrupted,
                rollback: package_id.is_some(),
                digest: entry.digest.clone(),
                ..refusal(package_id.unwrap_or(&entry.package_id), &fault)
            });
            self.journal.update(&entry)?;
        }
        Ok(())
    }

    /// Logs, then the result; noted as told once the house has both.
    fn report_all(&self) -> Result<(), Fault> {
        for mut entry in self.journal.unreported() {
            let Some(result) = &entry.result else { continue };
            let claim_token = &entry.claim_token;
            let told = self.send_log(&entry).and_then(|()| self.house.result(&ResultRequest { claim_token, result }));
            match told {
                // It has heard of it, or will not: a claim that has lapsed is not told again.
                Ok(()) => {}
                Err(fault)
                    if matches!(fault.kind, Kind::Conflict | Kind::NotFound | Kind::Invalid | Kind::Forbidden) =>
                {
                    let _ = writeln!(std::io::stderr(), "{fault}");
                }
                Err(fault) => return Err(fault),
            }
            entry.reported = true;
            self.journal.update(&entry)?;
        }
        Ok(())
    }

    fn send_log(&self, entry: &Entry) -> Result<(), Fault> {
        let mut offset = 0;
        while offset < entry.log.len() {
            let mut end = (offset + CHUNK).min(entry.log.len());
            while !entry.log.is_char_boundary(end) {
                end -= 1;
            }
            let text = entry.log.get(offset..end).unwrap_or_default();
            self.house.log(&LogRequest {
                claim_token: &entry.claim_token,
                package_id: &entry.package_id,
                offset,
                text,
            })?;
            offset = end;
        }
        Ok(())
    }
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
