//! From an instruction to a plan of Records.

use super::surfaces::surface;
use super::{Mind, Planned};
use crate::config::Config;
use crate::house::House;
use domain::{Caller, Fault, Proposal, sha256_hex};
use jiff::Timestamp;
use planner::records::{self, Cache, Decided, Index, Now, Routed, Settings};
use planner::{Agent, Spent};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Indexes kept at a time. Beyond it all are dropped, and those in use are built again.
const MOST_INDEXES: usize = 64;

/// What planning of instructions keeps between requests.
pub struct Instructions {
    settings: Settings,
    cache: Cache,
    /// The small model that is asked where the rules are not sure.
    router: Option<Agent>,
    indexes: Mutex<HashMap<String, Arc<Index>>>,
}

/// An instruction that was routed and planned.
pub struct Instructed {
    pub routed: Routed,
    pub planned: Result<Planned, Fault>,
    /// The plan is that of an instruction before.
    pub cached: bool,
    /// What a model has used, where one was asked.
    pub spent: Option<Spent>,
}

impl Instructions {
    pub fn new(config: &Config) -> Self {
        let records = &config.records;
        Self {
            settings: Settings {
                resources: records.router_resources,
                resources_joined: records.router_resources_joined.max(records.router_resources),
                write_threshold: records.write_confidence,
            },
            cache: Cache::new(records.intent_cache),
            router: Mind::router(config),
            indexes: Mutex::default(),
        }
    }
}

impl House {
    /// Finds the resource that an instruction is about, and writes the plan for it. The proposal names the source.
    pub async fn instruct(
        self: &Arc<Self>,
        caller: &Caller,
        text: &str,
        hints: &[String],
    ) -> Result<Instructed, Fault> {
        self.instruct_at(caller, text, hints, Timestamp::now()).await
    }

    /// The same at another time: "today" is that day.
    pub async fn instruct_at(
        self: &Arc<Self>,
        caller: &Caller,
        text: &str,
        hints: &[String],
        at: Timestamp,
    ) -> Result<Instructed, Fault> {
        let instructed = self.routed_and_planned(caller, text, hints, Now(at)).await?;
        let Routed { resources, confidence, reason, intent } = &instructed.routed;
        let cached = instructed.cached;
        tracing::debug!(?resources, confidence, reason, ?intent, cached, "an instruction was routed");
        Ok(instructed)
    }

    async fn routed_and_planned(
        self: &Arc<Self>,
        caller: &Caller,
        text: &str,
        hints: &[String],
        now: Now,
    ) -> Result<Instructed, Fault> {
        let index = self.records_index(caller);
        let Instructions { settings, cache, router, .. } = &self.planning.instructions;
        // Only a model plans on the network; the agent CLI has no structured output, and leaves this to the rules.
        let Mind::Model { agent, .. } = self.planning.mind() else {
            let (decided, cached) = cache.decide(&index, text, hints, settings, now);
            return Ok(told(decided, cached, None));
        };
        if let Some(decided) = cache.find(&index, text, hints, settings, now) {
            return Ok(told(decided, true, None));
        }
        let asked = records::model::ask(agent, router.as_ref(), &index, (text, hints), settings, now).await;
        let decided = asked.decided?;
        cache.keep_unproven(&index, text, hints, settings, now, &decided);
        Ok(told(decided, false, Some(asked.spent)))
    }

    /// The index over the contracts that this caller sees, built on first use.
    fn records_index(&self, caller: &Caller) -> Arc<Index> {
        let policy = self.policy();
        let granted = policy.contracts().any(|contract| contract.grants.contains_key(&caller.actor));
        let actor = if granted { caller.actor.as_str() } else { "" };
        let key = sha256_hex(format!("{}\0{}\0{actor}", policy.fingerprint(), caller.role).as_bytes());
        let lock = || self.planning.instructions.indexes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(index) = lock().get(&key) {
            return index.clone();
        }
        let index = Arc::new(Index::new(surface(&policy, caller)));
        let mut indexes = lock();
        if indexes.len() >= MOST_INDEXES {
            indexes.clear();
        }
        indexes.insert(key, index.clone());
        index
    }
}

fn told(decided: Decided, cached: bool, spent: Option<Spent>) -> Instructed {
    let planned = match decided.planned {
        records::Planned::Plan { source, plan, reading } => {
            Ok(Planned::Proposal { proposal: Proposal::Change { source, plan }, reading: Some(reading) })
        }
        records::Planned::Clarify(question) => Ok(Planned::Clarify(question)),
        records::Planned::Refuse(fault) => Err(fault),
    };
    Instructed { routed: decided.routed, planned, cached, spent }
}
