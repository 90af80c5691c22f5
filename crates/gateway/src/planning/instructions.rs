//! From an instruction to a plan of Records.

use super::Planned;
use crate::house::House;
use domain::{Caller, Fault, Kind};
use std::sync::Arc;

impl House {
    /// Finds the resource that an instruction is about, and writes the plan for it. The proposal names the source.
    pub async fn plan_instruction(
        self: &Arc<Self>,
        _caller: &Caller,
        _text: &str,
        _hints: &[String],
    ) -> Result<Planned, Fault> {
        let message = "no planner reads instructions";
        Err(Fault::new(Kind::NotUnderstood, "planner.instruction", message).hint("send a plan to `/agent/db/plan`"))
    }
}
