//! What stands in an address, with faults in our own envelope.

use super::HttpFault;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use domain::Kind;
use serde::de::DeserializeOwned;

/// The named parts of the path.
pub struct Path<T>(pub T);

/// What follows the `?`.
pub struct Query<T>(pub T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Path<T> {
    type Rejection = HttpFault;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, HttpFault> {
        let path = axum::extract::Path::from_request_parts(parts, state).await;
        path.map(|axum::extract::Path(value)| Self(value))
            .map_err(|e| HttpFault::new(Kind::Invalid, "request.path", e.body_text().to_lowercase()))
    }
}

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = HttpFault;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, HttpFault> {
        let query = axum::extract::Query::from_request_parts(parts, state).await;
        query
            .map(|axum::extract::Query(value)| Self(value))
            .map_err(|e| HttpFault::new(Kind::Invalid, "request.query", e.body_text().to_lowercase()))
    }
}
