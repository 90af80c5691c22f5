//! JSON Schemas of all that goes in and out, for clients and for models that must answer in shape.

use crate::diagnostics::{Diagnostics, Submission};
use crate::finding::Finding;
use crate::model::Hint;
use crate::runbook::Runbook;
use domain::ScriptProposal;
use domain::package::{KeyList, Package, ScriptResult, SignedKeys, SignedPackage};
use schemars::{Schema, schema_for};

/// By name, in the order of the alphabet.
pub fn all() -> Vec<(&'static str, Schema)> {
    vec![
        ("diagnostics", schema_for!(Diagnostics)),
        ("finding", schema_for!(Finding)),
        ("hint", schema_for!(Hint)),
        ("key_list", schema_for!(KeyList)),
        ("package", schema_for!(Package)),
        ("runbook", schema_for!(Runbook)),
        ("script_proposal", schema_for!(ScriptProposal)),
        ("script_result", schema_for!(ScriptResult)),
        ("signed_keys", schema_for!(SignedKeys)),
        ("signed_package", schema_for!(SignedPackage)),
        ("submission", schema_for!(Submission)),
    ]
}
