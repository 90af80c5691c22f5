//! Requests to BigQuery's REST interface, tried again where that can help.

use super::fault;
use super::identity::Passes;
use super::patience::Patience;
use crate::source::BigQuerySource;
use domain::Fault;
use reqwest::{Method, StatusCode, Url, header};
use serde_json::Value as Json;
use std::sync::Arc;
use std::time::Duration;

const CONNECT: Duration = Duration::from_secs(10);
/// An answer takes no longer: what takes long is asked for again and again.
const ANSWER: Duration = Duration::from_secs(60);
/// An answer is about a job or a table, never its rows.
const MOST: usize = 16 * 1024 * 1024;

pub fn client() -> Result<reqwest::Client, Fault> {
    // Whoever is first decides; all of us decide alike.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder()
        .connect_timeout(CONNECT)
        .timeout(ANSWER)
        // A redirect would carry the token elsewhere, and so would a proxy.
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .build();
    client.map_err(|_| Fault::internal("engine.bigquery"))
}

/// One project.
pub struct Api {
    pub name: String,
    /// `…/bigquery/v2/projects/x`.
    base: String,
    client: reqwest::Client,
    passes: Arc<Passes>,
}

/// Why a request was not answered as it was meant to be.
pub enum Unanswered {
    /// It said why, by status and body.
    Refused(StatusCode, Json),
    /// What we say ourselves.
    Fault(Fault),
}

impl Api {
    pub fn new(name: &str, settings: &BigQuerySource, client: reqwest::Client, passes: Arc<Passes>) -> Self {
        let base = format!("{}/bigquery/v2/projects/{}", settings.url.trim_end_matches('/'), settings.project);
        Self { name: name.to_owned(), base, client, passes }
    }

    pub async fn get(&self, path: &str, query: &[(&str, String)]) -> Result<Json, Fault> {
        let answer = self.ask(Method::GET, path, query, None).await;
        answer.map_err(|unanswered| self.fault(unanswered))
    }

    pub fn fault(&self, unanswered: Unanswered) -> Fault {
        match unanswered {
            Unanswered::Refused(status, body) => fault::refused(&self.name, status, &body),
            Unanswered::Fault(fault) => fault,
        }
    }

    /// Asks, and asks again after a pause while it is only that too much is going on over there.
    pub async fn ask(
        &self,
        method: Method,
        path: &str,
        query: &[(&str, String)],
        body: Option<&Json>,
    ) -> Result<Json, Unanswered> {
        let mut patience = Patience::new();
        loop {
            let unanswered = match self.once(method.clone(), path, query, body).await {
                Ok(answer) => return Ok(answer),
                Err(unanswered) => unanswered,
            };
            match &unanswered {
                // The token may have been taken back before its time.
                Unanswered::Refused(StatusCode::UNAUTHORIZED, _) if patience.is_first() => {
                    self.passes.forget().await;
                    patience.counts();
                    continue;
                }
                Unanswered::Refused(status, body) if is_passing(*status, body) => {
                    tracing::info!(source = self.name, status = status.as_u16(), "BigQuery is asked again");
                }
                Unanswered::Fault(fault) if fault.code == "source.unreachable" => {}
                _ => return Err(unanswered),
            }
            if !patience.counts() {
                return Err(unanswered);
            }
            patience.pause().await;
        }
    }

    async fn once(
        &self,
        method: Method,
        path: &str,
        query: &[(&str, String)],
        body: Option<&Json>,
    ) -> Result<Json, Unanswered> {
        let mut url = Url::parse(&format!("{}/{path}", self.base))
            .map_err(|_| Unanswered::Fault(Fault::internal("engine.bigquery_url")))?;
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        let mut request = self.client.request(method, url).header(header::ACCEPT, "application/json");
        if let Some(bearer) = self.passes.bearer().await.map_err(Unanswered::Fault)? {
            request = request.header(header::AUTHORIZATION, bearer);
        }
        if let Some(body) = body {
            request = request.header(header::CONTENT_TYPE, "application/json").body(body.to_string());
        }
        let away = |error: reqwest::Error| {
            tracing::info!(source = self.name, error = %error.without_url(), "BigQuery cannot be reached");
            Unanswered::Fault(fault::unreachable(&self.name))
        };
        let mut response = request.send().await.map_err(away)?;
        let (status, mut text) = (response.status(), Vec::new());
        while let Some(piece) = response.chunk().await.map_err(away)? {
            text.extend_from_slice(&piece);
            if text.len() > MOST {
                return Err(Unanswered::Fault(fault::unreadable(&self.name)));
            }
        }
        let json = serde_json::from_slice(&text);
        match status.is_success() {
            true => json.map_err(|_| Unanswered::Fault(fault::unreadable(&self.name))),
            false => Err(Unanswered::Refused(status, json.unwrap_or_default())),
        }
    }
}

/// Whether the same request may be answered a moment later.
fn is_passing(status: StatusCode, body: &Json) -> bool {
    let reason = fault::reason(body);
    match status.as_u16() {
        429 | 500 | 502 | 503 | 504 => reason != "dontRetry",
        403 => matches!(reason, "rateLimitExceeded" | "backendError"),
        _ => false,
    }
}
