//! `/mcp`: streamable HTTP. There are no sessions to take over: each request is identified like any other.

use super::{Offer, Server, Who};
use crate::House;
use crate::http::identify::Identified;
use crate::http::{HttpFault, Path};
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use domain::{Caller, Door, Purpose, SessionId};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use std::sync::Arc;

/// `POST /mcp`: Chat's tools.
pub async fn over_http(
    State(house): State<Arc<House>>,
    Identified(caller): Identified,
    request: Request,
) -> Result<Response, HttpFault> {
    Ok(answer(house, caller, Offer::Chat, request).await)
}

/// `POST /mcp/{dataset}`: those of SQLite, on this dataset.
pub async fn over_http_for_dataset(
    State(house): State<Arc<House>>,
    Identified(caller): Identified,
    Path(dataset): Path<String>,
    request: Request,
) -> Result<Response, HttpFault> {
    house.dataset(&caller, &dataset).await?;
    Ok(answer(house, caller, Offer::Sqlite { dataset }, request).await)
}

async fn answer(house: Arc<House>, caller: Caller, offer: Offer, request: Request) -> Response {
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(house.config.server.body_limit_bytes)
        .with_cancellation_token(house.shutdown.clone())
        // The threshold has looked at `Host` and `Origin`, and knows more of our names.
        .disable_allowed_hosts();
    let server = move || {
        let (house, who, offer) = (house.clone(), Who::Request(caller.clone()), offer.clone());
        Ok(Server { house, who, offer, door: Door::Mcp, session: SessionId::new(), purpose: Purpose::Answer })
    };
    let service = StreamableHttpService::new(server, Arc::new(NeverSessionManager::default()), config);
    service.handle(request).await.map(Body::new)
}
