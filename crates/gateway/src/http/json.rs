//! JSON bodies, strictly: unknown keys refused, the place of an error named.

use super::HttpFault;
use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;
use axum::response::IntoResponse;
use domain::Kind;
use serde::de::DeserializeOwned;

pub struct StrictJson<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for StrictJson<T> {
    type Rejection = HttpFault;

    async fn from_request(request: Request, state: &S) -> Result<Self, HttpFault> {
        let bytes = Bytes::from_request(request, state).await.map_err(|rejection| {
            match rejection.into_response().status() {
                StatusCode::PAYLOAD_TOO_LARGE => too_large(),
                _ => HttpFault::new(Kind::Invalid, "request.body", "the body could not be read to its end"),
            }
        })?;
        parse(&bytes).map(Self)
    }
}

pub fn too_large() -> HttpFault {
    HttpFault::new(Kind::TooLarge, "request.too_large", "the body is larger than this server accepts")
}

pub fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, HttpFault> {
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let place = error.path().to_string();
        let reason = error.into_inner();
        let message = if place == "." { reason.to_string() } else { format!("`{place}`: {reason}") };
        HttpFault::new(Kind::Invalid, "request.json", message)
    })?;
    deserializer
        .end()
        .map_err(|_| HttpFault::new(Kind::Invalid, "request.json", "there is something after the JSON value"))?;
    Ok(value)
}
