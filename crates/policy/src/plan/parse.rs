//! JSON → QueryPlan, with the exact place of what is wrong.

use super::invalid;
use crate::json::{bracket_depth, value_depth};
use crate::sql::refuse::clip;
use domain::{Fault, QueryPlan};
use serde::de::DeserializeOwned;
use serde_json::Value;

const MAX_BYTES: usize = 256 * 1024;
/// Brackets within brackets; a plan of eight nested plans stays below.
const MAX_BRACKETS: usize = 100;

/// Reads a plan from JSON text.
pub fn parse_plan(json: &str) -> Result<QueryPlan, Fault> {
    if json.len() > MAX_BYTES {
        let message = format!("the plan has {} bytes, more than {MAX_BYTES}", json.len());
        return Err(invalid("plan.too_long", message, "send a smaller plan"));
    }
    if bracket_depth(json) > MAX_BRACKETS {
        return Err(too_deep());
    }
    read(&mut serde_json::Deserializer::from_str(json))
}

/// Reads a plan from JSON that is parsed already.
pub fn parse_plan_value(json: &Value) -> Result<QueryPlan, Fault> {
    if value_depth(json, 0, MAX_BRACKETS) > MAX_BRACKETS {
        return Err(too_deep());
    }
    read(json)
}

/// The published JSON Schema of a plan.
pub fn query_plan_json_schema() -> Value {
    schemars::schema_for!(QueryPlan).to_value()
}

fn read<'de, D>(json: D) -> Result<QueryPlan, Fault>
where
    D: serde::Deserializer<'de>,
    QueryPlan: DeserializeOwned,
{
    serde_path_to_error::deserialize(json).map_err(|error| {
        let path = error.path().to_string();
        let place = if path == "." { "plan".to_owned() } else { format!("plan.{path}") };
        let message = format!("`{}`: {}", clip(&place), clip(&error.inner().to_string()));
        invalid("plan.shape", message, "see the published JSON Schema of a plan")
    })
}

fn too_deep() -> Fault {
    invalid("plan.too_deep", format!("the plan is nested deeper than {MAX_BRACKETS} brackets"), "nest less")
}
