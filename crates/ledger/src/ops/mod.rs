//! What Ops remembers: devices, what they said, what was found, scripts that wait for people, and packages on their way.
//!
//! Every step is one transaction with its entry in the chain, refusals too. Entries name ids, digests and codes, never a
//! line of a diagnosis or of a script.

mod approvals;
mod devices;
mod diagnostics;
mod logs;
mod packages;
mod proposals;
mod results;
mod unheard;

pub use approvals::{Approval, Ready, Standing, Verdict};
pub use devices::{DEVICE_CLAIM, DEVICE_ROLE, Device, Enrolled, Enrolment};
pub use diagnostics::{Analysis, DiagnosticsLine, KeptDiagnostics};
pub use packages::{KeptPackage, LogPiece, PackageState, Sending};
pub use proposals::{Draft, KeptProposal, ProposalState};

use crate::LedgerError;
use crate::audit::{self, AuditEvent};
use crate::store::Conn;
use domain::{Caller, Door, Fault, Kind};
use serde_json::Value;

/// What was done, or why it was not. Either is on record.
pub type Answer<T> = Result<Result<T, Fault>, LedgerError>;

/// An entry about what a caller of this door did.
fn note(conn: &dyn Conn, kind: &str, caller: &Caller, detail: Value) -> Result<(), LedgerError> {
    audit::append(conn, &AuditEvent::new(kind).by(caller).through(Door::Ops).detail(detail)).map(drop)
}

/// Says no, on record: `detail` names what it was about.
fn refuse<T>(conn: &dyn Conn, kind: &str, caller: &Caller, mut detail: Value, fault: Fault) -> Answer<T> {
    if let Some(object) = detail.as_object_mut() {
        object.insert("code".to_owned(), fault.code.clone().into());
    }
    note(conn, kind, caller, detail)?;
    Ok(Err(fault))
}

fn unknown(what: &str, id: &str) -> Fault {
    let shown: String = id.chars().take(64).collect();
    Fault::new(Kind::NotFound, format!("{what}.unknown"), format!("there is no {what} `{shown}`"))
}
