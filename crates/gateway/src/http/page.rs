//! The page and the published JSON Schemas.

use super::identify::Identified;
use super::{HttpFault, Path};
use axum::Json;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use domain::Kind;
use rust_embed::RustEmbed;

/// The files of `web/`: inside the program in release builds, read from disk in debug builds.
#[derive(RustEmbed)]
#[folder = "../../web"]
struct Web;

pub async fn index() -> Result<Response, HttpFault> {
    file("index.html")
}

pub async fn asset(Path(path): Path<String>) -> Result<Response, HttpFault> {
    file(&path)
}

fn file(path: &str) -> Result<Response, HttpFault> {
    let file = Web::get(path).ok_or_else(|| HttpFault::new(Kind::NotFound, "page.no_file", "there is no such file"))?;
    let kind = file.metadata.mimetype().to_owned();
    Ok(([(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, "no-cache".into())], file.data).into_response())
}

/// `query-plan.json` and `contract.json`, as editors and models want them.
pub async fn json_schema(
    Identified(_): Identified,
    Path(name): Path<String>,
) -> Result<Json<serde_json::Value>, HttpFault> {
    match name.as_str() {
        "query-plan.json" => Ok(Json(policy::query_plan_json_schema())),
        "contract.json" => Ok(Json(policy::contract_json_schema())),
        _ => Err(HttpFault::new(Kind::NotFound, "schema.unknown", "there are `query-plan.json` and `contract.json`")),
    }
}
