//! JSON → ChangePlan, with the exact place of what is wrong.

use super::invalid;
use crate::json::{bracket_depth, value_depth};
use crate::sql::refuse::clip;
use domain::{ChangePlan, Fault};
use serde_json::Value;

const MAX_BYTES: usize = 256 * 1024;
/// Steps, predicates, values, and JSON of moderate depth inside those.
const MAX_BRACKETS: usize = 32;

/// Reads a plan from JSON text.
pub fn parse_change(json: &str) -> Result<ChangePlan, Fault> {
    if json.len() > MAX_BYTES {
        let message = format!("the plan has {} bytes, more than {MAX_BYTES}", json.len());
        return Err(invalid("change.too_long", message, "send a smaller plan"));
    }
    if bracket_depth(json) > MAX_BRACKETS {
        return Err(too_deep());
    }
    let value: Value = serde_json::from_str(json).map_err(|error| {
        invalid("change.shape", format!("the plan is not JSON: {}", clip(&error.to_string())), "send one JSON object")
    })?;
    parse_change_value(&value)
}

/// Reads a plan from JSON that is parsed already.
pub fn parse_change_value(json: &Value) -> Result<ChangePlan, Fault> {
    if value_depth(json, 0, MAX_BRACKETS) > MAX_BRACKETS {
        return Err(too_deep());
    }
    if let Some(fault) = version(json).or_else(|| deletion(json)) {
        return Err(fault);
    }
    serde_path_to_error::deserialize(json).map_err(|error| {
        let path = error.path().to_string();
        let place = if path == "." { "plan".to_owned() } else { format!("plan.{path}") };
        let message = format!("`{}`: {}", clip(&place), clip(&error.inner().to_string()));
        invalid("change.shape", message, "see the published JSON Schema of a plan (docs/schemas)")
    })
}

/// The published JSON Schema of a plan.
pub fn change_plan_json_schema() -> Value {
    schemars::schema_for!(ChangePlan).to_value()
}

fn version(json: &Value) -> Option<Fault> {
    let version = json.get("version").filter(|v| *v != "1")?;
    let message = format!("unknown version `{}` of the plan language", clip(&version.to_string()));
    Some(invalid("change.version", message, "write `\"version\": \"1\"`"))
}

/// Whatever wants to delete is told so, and not that its verb is unknown.
fn deletion(json: &Value) -> Option<Fault> {
    const VERBS: [&str; 7] = ["DELETE", "REMOVE", "DROP", "TRUNCATE", "PURGE", "ERASE", "DESTROY"];
    let steps = json.get("steps")?.as_array()?;
    let ops = steps.iter().filter_map(|step| step.get("op")?.as_str());
    let verb = ops.map(str::trim).find(|op| VERBS.iter().any(|verb| op.eq_ignore_ascii_case(verb)))?;
    let message = format!("`{verb}` is not possible: nothing is ever deleted here");
    Some(invalid("change.delete", message, "where a contract has `soft_delete`, UPDATE that field"))
}

fn too_deep() -> Fault {
    invalid("change.too_deep", format!("the plan is nested deeper than {MAX_BRACKETS} brackets"), "nest less")
}
