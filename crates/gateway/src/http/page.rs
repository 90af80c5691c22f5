//! The page and the published JSON Schemas.

use super::identify::Identified;
use super::{HttpFault, Path};
use axum::Json;
use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use domain::Kind;
use flate2::Compression;
use flate2::write::GzEncoder;
use rust_embed::{EmbeddedFile, RustEmbed};
use std::collections::HashMap;
use std::io::Write;
use std::sync::{LazyLock, Mutex, PoisonError};

/// The files of `web/`: inside the program in release builds, read from disk in debug builds.
#[derive(RustEmbed)]
#[folder = "../../web"]
struct Web;

/// All addresses of the page are one file; its script looks at the address.
pub async fn index(headers: HeaderMap) -> Result<Response, HttpFault> {
    file("index.html", &headers)
}

pub async fn asset(Path(path): Path<String>, headers: HeaderMap) -> Result<Response, HttpFault> {
    file(&path, &headers)
}

/// Browsers keep files and ask each time whether they are still right: a new version shows at once.
fn file(path: &str, asked: &HeaderMap) -> Result<Response, HttpFault> {
    let file = Web::get(path).ok_or_else(|| HttpFault::new(Kind::NotFound, "page.no_file", "there is no such file"))?;
    let hash = file.metadata.sha256_hash();
    let tag = format!("W/\"{}\"", hash.iter().take(12).map(|byte| format!("{byte:02x}")).collect::<String>());
    let known = [
        (header::ETAG, tag.clone()),
        (header::CACHE_CONTROL, "no-cache".to_owned()),
        (header::VARY, "accept-encoding".to_owned()),
    ];
    if mentions(asked, header::IF_NONE_MATCH, &tag) {
        return Ok((StatusCode::NOT_MODIFIED, known).into_response());
    }
    let kind = file.metadata.mimetype().to_owned();
    let mut response = if mentions(asked, header::ACCEPT_ENCODING, "gzip") {
        let mut response = packed(hash, &file).into_response();
        response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        response
    } else {
        file.data.into_response()
    };
    if let Ok(kind) = kind.parse() {
        response.headers_mut().insert(header::CONTENT_TYPE, kind);
    }
    Ok((known, response).into_response())
}

fn mentions(headers: &HeaderMap, name: header::HeaderName, value: &str) -> bool {
    headers.get_all(name).iter().filter_map(|v| v.to_str().ok()).any(|v| v.contains(value))
}

/// Each content is packed once.
fn packed(hash: [u8; 32], file: &EmbeddedFile) -> Bytes {
    static PACKED: LazyLock<Mutex<HashMap<[u8; 32], Bytes>>> = LazyLock::new(Mutex::default);
    let mut known = PACKED.lock().unwrap_or_else(PoisonError::into_inner);
    known.entry(hash).or_insert_with(|| gzip(&file.data)).clone()
}

fn gzip(data: &[u8]) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::with_capacity(data.len() / 3), Compression::best());
    // Writing to memory does not fail.
    let _ = encoder.write_all(data);
    encoder.finish().unwrap_or_default().into()
}

/// `query-plan.json` and `contract.json`, as editors and models want them.
pub async fn json_schema(
    Identified(_): Identified,
    Path(name): Path<String>,
) -> Result<Json<serde_json::Value>, HttpFault> {
    match name.as_str() {
        "query-plan.json" => Ok(Json(policy::query_plan_json_schema())),
        "contract.json" => Ok(Json(policy::contract_json_schema())),
        "change-plan.json" => Ok(Json(policy::change_plan_json_schema())),
        _ => {
            let message = "there are `query-plan.json`, `change-plan.json` and `contract.json`";
            Err(HttpFault::new(Kind::NotFound, "schema.unknown", message))
        }
    }
}
