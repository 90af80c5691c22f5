//! Ops: from diagnostics to an approved, signed, sandboxed run on a device. Spec 003.
//!
//! ```text
//! diagnostics ─► analyses ─► proposals ─► verdicts ─► (path: check, note) ─► packages ─► devices ─► (path: record)
//! ```
//!
//! People with the role `engineer` submit, analyse and propose; others with the role `approver` say yes or no; a `device`
//! fetches what is its own and tells how it ended; an `admin` may do what both kinds of people may, but nobody approves
//! what they have asked for. What is not allowed is on record like everything else.

mod analyses;
mod devices;
mod diagnostics;
mod drafts;
pub mod envelope;
pub(crate) mod masks;
pub mod metrics;
mod of_device;
mod packages;
mod proposals;
mod schemas;
mod verdicts;

pub use analyses::{analyse, show as show_analysis};
pub use devices::{claim, enrol, expect, list as list_devices, log, result};
pub use diagnostics::{list as list_diagnostics, show as show_diagnostics, submit};
pub use packages::show as show_package;
pub use proposals::{edit, list as list_proposals, propose, runbooks, show as show_proposal, validate, withdraw};
pub use schemas::schemas;
pub use verdicts::{approve, reject};

use crate::House;
use domain::{Caller, Door, Fault, Kind};
use ledger::AuditEvent;
use ledger::ops::Device;
use serde_json::json;

const ENGINEER: &str = "engineer";
const APPROVER: &str = "approver";

/// People who look and propose.
const ENGINEERS: &[&str] = &[ENGINEER, Caller::ADMIN];
/// People who say yes or no.
const APPROVERS: &[&str] = &[APPROVER, Caller::ADMIN];
/// Whoever may read what is going on.
const PEOPLE: &[&str] = &[ENGINEER, APPROVER, Caller::ADMIN];

/// Lets a caller in by role; who is not let in is on record.
async fn allow(house: &House, caller: &Caller, roles: &[&str]) -> Result<(), Fault> {
    if roles.contains(&caller.role.as_str()) {
        return Ok(());
    }
    let message = format!("this is for the roles {}", roles.join(", "));
    Err(refuse(house, caller, Fault::new(Kind::Forbidden, "auth.role", message)).await)
}

/// What does not come as far as a step of its own is on record all the same.
async fn refuse(house: &House, caller: &Caller, fault: Fault) -> Fault {
    let event = AuditEvent::new("ops.refused").by(caller).through(Door::Ops).detail(json!({ "code": fault.code }));
    house.metrics.ops.refused(&fault);
    match house.ledger.append(event).await {
        Ok(_) => fault,
        Err(error) => Fault::from(error),
    }
}

/// A device that has enrolled.
async fn enrolled(house: &House, id: &str) -> Result<Device, Fault> {
    let device = house.ledger.device(id).await.map_err(Fault::from)?;
    let device = device.ok_or_else(|| unknown("device", id))?;
    match device.enrolled_at {
        Some(_) => Ok(device),
        None => {
            Err(Fault::new(Kind::Conflict, "device.not_enrolled", format!("the device `{id}` has not enrolled yet"))
                .hint("give its code to `gatehouse-device enrol`"))
        }
    }
}

fn unknown(what: &str, id: &str) -> Fault {
    let shown: String = id.chars().take(64).collect();
    Fault::new(Kind::NotFound, format!("{what}.unknown"), format!("there is no {what} `{shown}`"))
}

/// `dg-0197…`: says what it is of, sorts by time, and may stand in an address.
fn new_id(kind: &str) -> String {
    format!("{kind}-{}", domain::RunId::new())
}
