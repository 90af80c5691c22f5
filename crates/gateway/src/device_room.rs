//! What one device gives to scripts, and what policy says of a script that is meant for it.

use domain::{Fault, Holders, Kind, Manifest, Risk, ScriptProposal};
use policy::script::{ApprovedScript, Grants, Reason, Report, ScriptPolicy, ScriptSettings};

/// As the device said when it enrolled.
pub struct DeviceRoom {
    pub grants: Grants,
    /// What holds its scripts; none where it did not say.
    pub holders: Option<Holders>,
}

impl DeviceRoom {
    pub fn review(&self, policy: &ScriptPolicy, script: &ScriptProposal) -> Report {
        let mut report = policy.review(script, &self.grants);
        report.violations.extend(self.cannot_grant(report.risk, &script.manifest));
        if report.violations.is_empty() && *policy.settings() != ScriptSettings::default() {
            report.reasons.extend(self.device_may_refuse(script));
        }
        report
    }

    pub fn check(&self, policy: &ScriptPolicy, script: &ScriptProposal) -> Result<ApprovedScript, Fault> {
        let approved = policy.check(script, &self.grants)?;
        self.cannot_grant(approved.risk(), approved.manifest()).map_or(Ok(approved), Err)
    }

    /// What holds scripts of this class can't give every right that the owner would: nobody is asked to approve what would
    /// be refused at the device.
    fn cannot_grant(&self, risk: Risk, manifest: &Manifest) -> Option<Fault> {
        let holder = self.holders.as_ref()?.of(risk);
        let granted_but_impossible =
            |asked: &&String| self.grants.capabilities.contains(asked) && !holder.capabilities.contains(asked);
        let missing = manifest.capabilities.iter().find(granted_but_impossible)?;
        let (risk, cell) = (risk.as_str(), &holder.cell);
        let message = format!("`{missing}` can't be granted: {cell} holds scripts of {risk} risk on this device");
        Some(
            Fault::new(Kind::Invalid, "script.not_grantable", message)
                .hint("do without it, or see the device's `cells`"),
        )
    }

    /// A house may allow more than devices do by themselves. Whoever approves should know that it may come to nothing.
    fn device_may_refuse(&self, script: &ScriptProposal) -> Vec<Reason> {
        let refusals = ScriptPolicy::default().review(script, &self.grants).violations;
        let reason = |fault: Fault| Reason {
            risk: Risk::Low,
            code: "device_may_refuse".to_owned(),
            message: format!("the device refuses it unless its own `scripts` settings allow it: {}", fault.message),
            line: 0,
        };
        refusals.into_iter().map(reason).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::{Holder, Timeout};

    fn script(capabilities: &[&str], timeout: u64) -> ScriptProposal {
        ScriptProposal {
            script: "df -h\n".to_owned(),
            manifest: Manifest {
                capabilities: capabilities.iter().map(|name| (*name).to_owned()).collect(),
                timeout_seconds: Timeout(timeout),
                ..Manifest::default()
            },
            rollback: None,
            intent: "a test".to_owned(),
        }
    }

    fn room(low: &[&str]) -> DeviceRoom {
        let holder = |names: &[&str]| Holder {
            cell: "podman".to_owned(),
            capabilities: names.iter().map(|name| (*name).to_owned()).collect(),
        };
        DeviceRoom {
            grants: Grants { capabilities: vec!["NET_RAW".to_owned()], ..Grants::default() },
            holders: Some(Holders { low: holder(low), medium: holder(&[]), high: holder(&[]) }),
        }
    }

    #[test]
    fn a_capability_is_granted_by_what_holds_scripts_of_its_class() {
        let (policy, asked) = (ScriptPolicy::default(), script(&["NET_RAW"], 60));
        let violations = |room: &DeviceRoom| -> Vec<String> {
            room.review(&policy, &asked).violations.into_iter().map(|fault| fault.code).collect()
        };
        assert!(violations(&room(&["NET_RAW"])).is_empty());
        assert_eq!(violations(&room(&[])), ["script.not_grantable"]);
        assert_eq!(room(&[]).check(&policy, &asked).unwrap_err().code, "script.not_grantable");
        assert!(violations(&DeviceRoom { holders: None, ..room(&[]) }).is_empty(), "it did not say");
        let none = DeviceRoom { grants: Grants::default(), ..room(&[]) };
        assert_eq!(violations(&none), ["script.not_grantable"], "said once");
        assert!(room(&[]).review(&policy, &script(&[], 60)).violations.is_empty());
    }

    #[test]
    fn approvers_are_told_what_a_device_by_itself_would_refuse() {
        let settings = ScriptSettings { max_timeout_seconds: 900, ..ScriptSettings::default() };
        let report = |timeout| room(&[]).review(&ScriptPolicy::new(settings.clone()), &script(&[], timeout));
        assert!(report(300).reasons.is_empty());
        let long = report(600);
        assert!(long.violations.is_empty() && long.risk == Risk::Low);
        let [told] = long.reasons.as_slice() else { panic!("{:?}", long.reasons) };
        assert_eq!(told.code, "device_may_refuse");
        assert!(told.message.contains("`timeout_seconds` is 600"), "{}", told.message);
    }
}
