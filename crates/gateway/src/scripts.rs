//! Scripts on the path: checked for their device, matched to what people approved, signed, and noted before any device can
//! have them. How they end, devices tell; the run is recorded then.

use crate::House;
use crate::config::Config;
use crate::device_room::DeviceRoom;
use crate::keyring::Keyring;
use crate::path::milliseconds;
use crate::planning::Recall;
use domain::{Ask, Caller, Door, Fault, Kind, Proposal, Purpose, Run, ScriptProposal, SessionId, Wish};
use jiff::{SignedDuration, Timestamp};
use ledger::ops::{KeptProposal, Sending};
use ops::{Library, Order, RuleBase};
use policy::redact::Redactor;
use policy::script::{ApprovedScript, Grants, Report, ScriptPolicy};
use std::sync::Arc;
use std::time::Instant;

/// What the house needs to judge scripts and to sign them.
pub struct Ops {
    pub policy: ScriptPolicy,
    pub redactor: Arc<Redactor>,
    pub rules: Arc<RuleBase>,
    pub library: Library,
    pub keyring: Keyring,
    /// What a model wrote lately, if that is kept.
    pub recall: Option<Recall>,
}

impl Ops {
    pub fn open(config: &Config) -> Result<Self, String> {
        Ok(Self {
            policy: ScriptPolicy::new(config.ops.scripts.clone()),
            redactor: Arc::new(Redactor::new(config.ops.keep).map_err(|e| e.to_string())?),
            rules: Arc::new(RuleBase::built_in()?),
            library: Library::built_in()?,
            keyring: Keyring::open(&config.keys()).map_err(|fault| fault.to_string())?,
            recall: config.ops.redis.as_ref().map(Recall::at).transpose()?,
        })
    }
}

impl House {
    /// All that policy has to say about a script, for one device.
    pub(crate) async fn review_script(&self, device: &str, script: &ScriptProposal) -> Result<Report, Fault> {
        let room = self.room(device).await?;
        let (policy, script) = (self.ops.policy.clone(), script.clone());
        crate::aside::aside(move || room.review(&policy, &script)).await
    }

    /// Reads the key files where nobody else waits for the disk.
    pub(crate) async fn keys<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Keyring) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let keyring = self.ops.keyring.clone();
        tokio::task::spawn_blocking(move || read(&keyring)).await.map_err(|_| Fault::internal("keys.task"))?
    }

    /// What the device's owner lets scripts have, as it said when it enrolled.
    pub(crate) async fn grants(&self, device: &str) -> Result<Grants, Fault> {
        Ok(self.room(device).await?.grants)
    }

    async fn room(&self, device: &str) -> Result<DeviceRoom, Fault> {
        let known = self.ledger.device(device).await.map_err(Fault::from)?;
        let known = known.and_then(|device| Some((device.grants?, device.cells)));
        let (grants, holders) = known.ok_or_else(|| {
            Fault::new(Kind::NotFound, "device.unknown", format!("no device `{device}` has enrolled"))
        })?;
        let grants = serde_json::from_value(grants).map_err(|_| Fault::internal("device.grants"))?;
        Ok(DeviceRoom { grants, holders })
    }

    /// Sends an approved proposal down the path.
    pub(crate) async fn start_script(self: &Arc<Self>, caller: Caller, kept: &KeptProposal) -> Result<(), Fault> {
        let proposal = Proposal::Script { device: kept.device_id.clone(), script: Box::new(kept.proposal.clone()) };
        let ask = Ask {
            door: Door::Ops,
            purpose: Purpose::Answer,
            source: kept.device_id.clone(),
            wish: Wish::Proposal(proposal),
            session: SessionId::new(),
            thread: None,
        };
        let reply = self.start(caller, ask).reply().await?;
        reply.run.error_json.clone().map_or(Ok(()), Err)
    }

    /// Check, approve, note: the only line of the house that puts a script into a device's queue.
    pub(crate) async fn send_script(
        &self,
        caller: &Caller,
        device: &str,
        script: &ScriptProposal,
        run: &mut Run,
    ) -> Result<(), Fault> {
        let start = Instant::now();
        let approved = self.check_script(device, script).await?;
        run.timings.check_ms = milliseconds(start);
        let ready = self.ledger.approved_script(device, approved.digest()).await.map_err(Fault::from)?;
        let ready = ready.ok_or_else(|| {
            let message = "nobody has approved exactly this script for this device";
            Fault::new(Kind::Forbidden, "script.not_approved", message).hint("propose it, and have it approved")
        })?;
        if approved.risk() > ready.proposal.risk {
            let message = "the script is riskier than those who approved it were told";
            return Err(Fault::new(Kind::Conflict, "script.risk_understated", message).hint("propose it again"));
        }
        let order = Order {
            package_id: format!("pk-{}", run.run_id),
            device_id: device.to_owned(),
            approved_by: ready.approved_by.clone(),
            now: Timestamp::now(),
            lifetime: SignedDuration::try_from(self.config.ops.package).unwrap_or(SignedDuration::ZERO),
        };
        let (package_id, now) = (order.package_id.clone(), order.now);
        let expires_at = now.saturating_add(order.lifetime).unwrap_or(now);
        let signed = self.keys(move |keys| keys.signer()?.seal(&approved, &order)).await?;
        let sending = Sending { ready, package_id, signed, run: run.clone(), now, expires_at };
        self.ledger.send_script(caller, sending).await.map_err(Fault::from)?
    }

    async fn check_script(&self, device: &str, script: &ScriptProposal) -> Result<ApprovedScript, Fault> {
        let room = self.room(device).await?;
        let (policy, script) = (self.ops.policy.clone(), script.clone());
        crate::aside::aside(move || room.check(&policy, &script)).await?
    }

    /// What has waited too long for people or for its device runs nowhere any more.
    pub(crate) async fn expire_scripts(&self) {
        if let Err(error) = self.ledger.expire_scripts(Timestamp::now()).await {
            tracing::error!(%error, "scripts that have waited too long can't be closed");
        }
    }

    /// At start: what was approved, and was not on its way yet when a server was killed.
    pub async fn resume_scripts(self: &Arc<Self>) -> Result<(), Fault> {
        let mut after = String::new();
        loop {
            let waiting = self.ledger.waiting_scripts(&after).await.map_err(Fault::from)?;
            let Some(last) = waiting.last() else { return Ok(()) };
            after.clone_from(&last.proposal_id);
            for kept in waiting.iter().filter(|kept| Timestamp::now() < kept.expires_at) {
                self.resume_script(kept).await?;
            }
        }
    }

    async fn resume_script(self: &Arc<Self>, kept: &KeptProposal) -> Result<(), Fault> {
        let ready = self.ledger.approved_script(&kept.device_id, &kept.digest).await.map_err(Fault::from)?;
        let Some(approver) = ready.and_then(|ready| ready.approved_by.last().cloned()) else { return Ok(()) };
        if let Err(fault) = self.start_script(Caller::new(approver, "approver"), kept).await {
            // Its message may quote the script.
            tracing::warn!(code = fault.code, proposal = kept.proposal_id, "an approved script can't be sent");
        }
        Ok(())
    }
}
