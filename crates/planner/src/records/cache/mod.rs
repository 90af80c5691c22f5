//! The intent cache: plans of instructions, kept without their literals (spec 002, phase 3).
//!
//! "cases of client 123" and "cases of client 456" share an entry. An entry belongs to one role and to the contracts as
//! that role sees them: the surface's fingerprint is part of its key, so a changed contract never finds it again. Before a
//! plan of the rules is kept, the same instruction is planned with other literals: only if the kept form gives that plan
//! as well is it kept. What depends on the day is kept for the day.

mod lift;
mod template;

use super::decide::{Decided, Planned, decide};
use super::literal::Now;
use super::router::{Routed, Settings};
use super::{Index, shown};
use domain::{ChangePlan, sha256_hex};
use jiff::SignedDuration;
use jiff::civil::Date;
use lift::{Level, Lifted, lift, probe};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use template::Template;

/// Plans by intent, for all roles; bounded.
#[derive(Debug)]
pub struct Cache {
    most: usize,
    entries: Mutex<Entries>,
    hits: AtomicU64,
    misses: AtomicU64,
}

#[derive(Debug, Default)]
struct Entries {
    by_key: HashMap<String, Entry>,
    clock: u64,
}

#[derive(Debug, Clone)]
struct Entry {
    kept: Arc<Kept>,
    used: u64,
}

#[derive(Debug)]
struct Kept {
    routed: Routed,
    source: String,
    template: Template,
    /// The day that it is for, where it depends on the day.
    day: Option<Date>,
}

impl Cache {
    pub fn new(most: usize) -> Self {
        Self { most: most.max(1), entries: Mutex::default(), hits: AtomicU64::new(0), misses: AtomicU64::new(0) }
    }

    /// Routes and plans by rules, or takes the plan of the same intent; and whether it was taken.
    pub fn decide(
        &self,
        index: &Index,
        text: &str,
        hints: &[String],
        settings: &Settings,
        now: Now,
    ) -> (Decided, bool) {
        if let Some(found) = self.find(index, text, hints, settings, now) {
            return (found, true);
        }
        let decided = decide(index, text, hints, settings, now);
        self.keep(index, text, hints, settings, now, &decided);
        (decided, false)
    }

    /// The plan of the same intent, with the literals of this instruction.
    pub fn find(&self, index: &Index, text: &str, hints: &[String], settings: &Settings, now: Now) -> Option<Decided> {
        for level in Level::ALL {
            let lifted = lift(index, text, level);
            let key = key(index, &lifted, hints, settings);
            let Some(kept) = self.lock().take(&key) else { continue };
            if kept.day.is_some_and(|day| day != now.today()) {
                continue;
            }
            if let Some(plan) = kept.template.fill(&lifted.literals) {
                self.hits.fetch_add(1, Relaxed);
                let (plan, source) = (Box::new(plan), kept.source.clone());
                let planned = Planned::Plan { reading: shown::in_words(&plan), source, plan };
                return Some(Decided { routed: kept.routed.clone(), planned });
            }
        }
        self.misses.fetch_add(1, Relaxed);
        None
    }

    /// Keeps a plan of the rules in the form that gives the right plan for other literals too.
    fn keep(&self, index: &Index, text: &str, hints: &[String], settings: &Settings, now: Now, decided: &Decided) {
        let Planned::Plan { source, plan, .. } = &decided.planned else { return };
        let again = |text: &str, at: Now| match decide(index, text, hints, settings, at).planned {
            Planned::Plan { plan, .. } => Some(*plan),
            _ => None,
        };
        let later = |by: SignedDuration| again(text, Now(now.0 + by)).as_ref() == Some(&**plan);
        let (next_second, next_year) =
            (later(SignedDuration::from_secs(1)), later(SignedDuration::from_hours(24 * 400)));
        if !next_second {
            return;
        }
        let day = (!next_year).then(|| now.today());
        for level in Level::ALL {
            let lifted = lift(index, text, level);
            let (probed, probes) = probe(text, &lifted.literals);
            let template = again(&probed, now).and_then(|plan| Template::of_probe(&plan, &lifted.literals, &probes));
            let Some(template) = template.filter(|t| t.fill(&lifted.literals).as_ref() == Some(&**plan)) else {
                continue;
            };
            // The probe must be the same intent, or it proves nothing.
            if lift(index, &probed, level).key != lifted.key {
                continue;
            }
            let kept = Kept { routed: decided.routed.clone(), source: source.clone(), template, day };
            self.lock().put(key(index, &lifted, hints, settings), kept, self.most);
            return;
        }
    }

    /// Keeps a plan of a model, which cannot be asked twice: for the day, and without those literals only that stand in it
    /// as they were written.
    pub fn keep_unproven(
        &self,
        index: &Index,
        text: &str,
        hints: &[String],
        settings: &Settings,
        now: Now,
        decided: &Decided,
    ) {
        let Planned::Plan { source, plan, .. } = &decided.planned else { return };
        // What somebody quoted may have moved the model to write more than the next one's words say.
        if !matches!(plan.step(), Some(domain::change::Step::Read(_))) {
            return;
        }
        for level in Level::ALL {
            let lifted = lift(index, text, level);
            let Some(template) = Template::by_value(plan, &lifted.literals) else { continue };
            let kept =
                Kept { routed: decided.routed.clone(), source: source.clone(), template, day: Some(now.today()) };
            self.lock().put(key(index, &lifted, hints, settings), kept, self.most);
            return;
        }
    }

    /// Instructions that were found, and that were not, so far.
    pub fn counts(&self) -> (u64, u64) {
        (self.hits.load(Relaxed), self.misses.load(Relaxed))
    }

    pub fn len(&self) -> usize {
        self.lock().by_key.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entries {
    fn take(&mut self, key: &str) -> Option<Arc<Kept>> {
        self.clock += 1;
        let entry = self.by_key.get_mut(key)?;
        entry.used = self.clock;
        Some(entry.kept.clone())
    }

    fn put(&mut self, key: String, kept: Kept, most: usize) {
        self.clock += 1;
        self.by_key.insert(key, Entry { kept: Arc::new(kept), used: self.clock });
        if self.by_key.len() > most {
            self.forget(most - most / 4);
        }
    }

    /// Forgets what was not used for longest, until so many are left.
    fn forget(&mut self, left: usize) {
        let mut used: Vec<u64> = self.by_key.values().map(|e| e.used).collect();
        used.sort_unstable_by(|a, b| b.cmp(a));
        let oldest = used.get(left.max(1) - 1).copied().unwrap_or(0);
        self.by_key.retain(|_, e| e.used >= oldest);
    }
}

/// The role with its contracts, the words, the hints and what the router was told.
fn key(index: &Index, lifted: &Lifted, hints: &[String], settings: &Settings) -> String {
    let mut hints: Vec<String> = hints.iter().map(|h| h.to_lowercase()).collect();
    hints.sort_unstable();
    sha256_hex(format!("{}\0{}\0{}\0{settings:?}", index.fingerprint, lifted.key, hints.join("\u{2}")).as_bytes())
}

/// A plan as it is kept and found: for the tests of other rooms.
impl Decided {
    pub fn plan(&self) -> Option<&ChangePlan> {
        match &self.planned {
            Planned::Plan { plan, .. } => Some(plan),
            _ => None,
        }
    }
}
