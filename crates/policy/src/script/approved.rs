//! The only thing that a device runs.

use domain::{Manifest, Risk};

/// A script that policy has accepted, with its manifest and rollback.
///
/// It can only be had from [`super::ScriptPolicy::check`] and [`super::ScriptPolicy::open`]: its fields are private, and
/// it is neither constructible, cloneable nor deserialisable elsewhere. What waits for an approval is the proposal, by
/// its digest; when it runs, it is checked again.
#[derive(Debug)]
pub struct ApprovedScript {
    pub(super) script: String,
    pub(super) manifest: Manifest,
    pub(super) rollback: Option<String>,
    pub(super) intent: String,
    pub(super) digest: String,
    pub(super) risk: Risk,
}

impl ApprovedScript {
    pub fn script(&self) -> &str {
        &self.script
    }
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }
    pub fn rollback(&self) -> Option<&str> {
        self.rollback.as_deref()
    }
    pub fn intent(&self) -> &str {
        &self.intent
    }
    /// What people approve: see `ScriptProposal::digest`.
    pub fn digest(&self) -> &str {
        &self.digest
    }
    pub fn risk(&self) -> Risk {
        self.risk
    }
}
