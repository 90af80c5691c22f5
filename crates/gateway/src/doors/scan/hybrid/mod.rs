//! `POST /api/query/hybrid {register: [{name, sql}], sql}`: results of several sources, joined with local tables.
//!
//! Each part is a statement of its own, a run of its own, under the policy of its own source. Its rows go to a file that
//! one jailed worker may read besides the local tables, and nobody else; the last statement is checked like any other,
//! over what its caller may read and what they were just given. With `estimate: true` nothing runs, and the reply says
//! what each part would read and give.

mod joined;
mod part;

pub use joined::{DIRECTORY, Joined};

use super::fetch::{self, Refusal};
use super::{body, negotiate};
use crate::House;
use crate::http::StrictJson;
use crate::http::identify::Identified;
use crate::streamed::Wanted;
use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use domain::{Caller, Fault, Kind, Purpose, SessionId};
use engines::Form;
use part::Part;
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Parts of one request.
const MOST_PARTS: usize = 8;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HybridRequest {
    register: Vec<Register>,
    sql: String,
    /// Rows to give; a longer result is cut and marked as truncated.
    limit: Option<u64>,
    /// Only say what each part would read and give.
    #[serde(default)]
    estimate: bool,
}

/// A statement, and the table that its result is called in the last one.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Register {
    name: String,
    sql: String,
}

pub async fn hybrid(
    State(house): State<Arc<House>>,
    Identified(caller): Identified,
    headers: HeaderMap,
    StrictJson(request): StrictJson<HybridRequest>,
) -> Result<Response, Refusal> {
    named(&request.register)?;
    let session = SessionId::new();
    if request.estimate {
        return estimates(&house, &caller, session, request.register).await;
    }
    let form = negotiate::form(&headers, Form::Json)?;
    let place = joined::Place::new(&house.config.data, session)?;
    let mut parts = Vec::new();
    for register in request.register {
        parts.push(Part::fetch(&house, &caller, session, register, place.path()).await?);
    }
    let (proposal, joined) = joined::placed(&house, &caller, request.sql, parts, place).await?;
    let wanted = Wanted { form, rows: request.limit.unwrap_or(u64::MAX) };
    let streamed =
        fetch::stream_in(&house, &caller, session, (proposal, Purpose::Answer), wanted, Some(joined)).await?;
    Ok(body::respond(streamed, form))
}

async fn estimates(
    house: &Arc<House>,
    caller: &Caller,
    session: SessionId,
    register: Vec<Register>,
) -> Result<Response, Refusal> {
    let mut parts = Vec::new();
    for register in register {
        parts.push(Part::estimate(house, caller, session, register).await?);
    }
    Ok(Json(json!({ "parts": parts })).into_response())
}

/// Names as resources have them, each once.
fn named(register: &[Register]) -> Result<(), Fault> {
    if register.is_empty() || register.len() > MOST_PARTS {
        let message = format!("`register` takes 1 to {MOST_PARTS} statements, and has {}", register.len());
        return Err(Fault::new(Kind::Invalid, "hybrid.parts", message).hint("without parts, use `POST /api/query`"));
    }
    let mut names = BTreeSet::new();
    for Register { name, .. } in register {
        let first = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_');
        let plain = name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
        if !first || !plain || name.len() > 64 {
            let shown: String = name.chars().take(64).collect();
            let message = format!("`{shown}` cannot be the name of a part");
            return Err(Fault::new(Kind::Invalid, "hybrid.name", message)
                .hint("use lowercase letters, digits and `_`, at most 64"));
        }
        if !names.insert(name) {
            let message = format!("two parts are called `{name}`");
            return Err(Fault::new(Kind::Invalid, "hybrid.name", message).hint("give one of them another name"));
        }
    }
    Ok(())
}
