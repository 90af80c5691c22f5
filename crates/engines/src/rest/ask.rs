//! Requests to a service: only to the address that configuration names, with its credential, and never further.

use super::Rest;
use super::rows::{Found, MOST_ROWS};
use crate::fault::from_worker;
use crate::protocol::{Cause, Failed};
use crate::source::RestSource;
use domain::{Fault, Kind};
use policy::{Approved, Fetch, Method, Service};
use reqwest::header::{self, HeaderMap, HeaderName, HeaderValue};
use reqwest::{StatusCode, Url};
use serde_json::{Map, Value as Json};
use std::time::Duration;

const CONNECT: Duration = Duration::from_secs(5);

/// Everything that one approved plan asks of one service.
pub struct Asking<'a> {
    pub rest: &'a Rest,
    pub approved: &'a Approved,
    pub service: &'a Service,
}

/// A reply that was read to its end.
struct Reply {
    status: StatusCode,
    etag: Option<String>,
    body: Vec<u8>,
}

pub fn client(settings: &RestSource) -> reqwest::Result<reqwest::Client> {
    // Whoever is first decides; all of us decide alike.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .connect_timeout(CONNECT)
        .timeout(settings.timeout)
        // A redirect would carry the credential elsewhere, and so would a proxy.
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .build()
}

impl Asking<'_> {
    /// The rows that the plan begins with; none where it needs none.
    pub async fn fetch(&self) -> Result<Found, Fault> {
        let Some(fetch) = self.service.fetch() else { return Ok(Found::default()) };
        if fetch.is_item() {
            return self.item(fetch.path()).await;
        }
        let mut found = Found::default();
        loop {
            let offset = found.objects.len();
            let rows = self.page(fetch, offset).await?;
            let last = fetch.pages().is_none_or(|pages| (rows.len() as u64) < pages.size);
            found.objects.extend(rows);
            if found.objects.len() > MOST_ROWS {
                let message = format!("`{}` gives more than {MOST_ROWS} rows for this", self.rest.name);
                return Err(Fault::new(Kind::Invalid, "source.too_many_rows", message).hint("filter by more"));
            }
            if last {
                return Ok(found);
            }
        }
    }

    async fn page(&self, fetch: &Fetch, offset: usize) -> Result<Vec<Map<String, Json>>, Fault> {
        let mut query = fetch.query().to_vec();
        if let Some(pages) = fetch.pages() {
            query.push((pages.limit.clone(), pages.size.to_string()));
            query.push((pages.offset.clone(), offset.to_string()));
        }
        let reply = self.ask(reqwest::Method::GET, fetch.path(), &query, HeaderMap::new(), None).await?;
        self.understood(&reply)
    }

    /// One row, or none.
    async fn item(&self, path: &str) -> Result<Found, Fault> {
        let reply = self.ask(reqwest::Method::GET, path, &[], HeaderMap::new(), None).await?;
        match reply.status {
            StatusCode::NOT_FOUND | StatusCode::GONE => Ok(Found::default()),
            _ => Ok(Found { objects: self.understood(&reply)?, etag: reply.etag }),
        }
    }

    /// Sends the change. The row as the service has it now.
    pub async fn send(&self, before: &Found) -> Result<Found, Fault> {
        let send = self.service.send().ok_or_else(|| Fault::internal("engine.service"))?;
        let mut headers = HeaderMap::new();
        if let Some(key) = send.idempotency_key() {
            headers.insert("idempotency-key", plain(key)?);
        }
        let current = before.objects.first().filter(|_| send.method() != Method::Post);
        if let (Some(column), Some(row)) = (send.version(), current) {
            let member = self.service.columns().iter().find(|member| member.column.eq_ignore_ascii_case(column));
            let version = member.and_then(|member| row.get(&member.member)).map(bare);
            let tag = before.etag.clone().or(version.map(|version| format!("\"{version}\"")));
            headers.insert(header::IF_MATCH, plain(&tag.unwrap_or_default())?);
        }
        let body = match (send.method(), current) {
            (Method::Put, Some(row)) => row.clone().into_iter().chain(send.body().clone()).collect(),
            _ => send.body().clone(),
        };
        let method = match send.method() {
            Method::Post => reqwest::Method::POST,
            Method::Patch => reqwest::Method::PATCH,
            Method::Put => reqwest::Method::PUT,
        };
        let reply = self.ask(method, send.path(), &[], headers, Some(&body)).await?;
        match (reply.status, send.method()) {
            (status, Method::Patch | Method::Put) if status.is_success() && reply.body.is_empty() => {
                self.item(send.path()).await
            }
            (status, _) if status.is_success() => Ok(Found { objects: self.understood(&reply)?, etag: None }),
            (status, method) => Err(self.refused(status, method)),
        }
    }

    async fn ask(
        &self,
        method: reqwest::Method,
        path: &str,
        query: &[(String, String)],
        mut headers: HeaderMap,
        body: Option<&Map<String, Json>>,
    ) -> Result<Reply, Fault> {
        let settings = &self.rest.settings;
        let address = format!("{}{path}", settings.url.trim_end_matches('/'));
        let mut url = Url::parse(&address).map_err(|_| Fault::internal("engine.service_url"))?;
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        self.introduce(&mut headers)?;
        let mut request = self.rest.client.request(method, url).headers(headers);
        if let Some(body) = body {
            let text = serde_json::to_vec(body).map_err(|_| Fault::internal("engine.service_body"))?;
            request = request.header(header::CONTENT_TYPE, "application/json").body(text);
        }
        let mut response = request.send().await.map_err(|error| self.away(&error))?;
        let etag = response.headers().get(header::ETAG).and_then(|tag| tag.to_str().ok()).map(str::to_owned);
        let (status, mut body) = (response.status(), Vec::new());
        let most = usize::try_from(self.approved.limits().bytes).unwrap_or(usize::MAX);
        while let Some(piece) = response.chunk().await.map_err(|error| self.away(&error))? {
            body.extend_from_slice(&piece);
            if body.len() > most {
                let message = format!("`{}` sends more than {most} bytes for this", self.rest.name);
                return Err(Fault::new(Kind::ResourceExceeded, "source.too_large", message).hint("filter by more"));
            }
        }
        Ok(Reply { status, etag, body })
    }

    /// Who asks, and for whom: the service may have rules of its own.
    fn introduce(&self, headers: &mut HeaderMap) -> Result<(), Fault> {
        let caller = self.approved.caller();
        let told = [
            ("x-request-id", caller.request_id.as_str()),
            ("x-gatehouse-actor", &caller.actor),
            ("x-gatehouse-role", &caller.role),
        ];
        for (name, value) in told {
            headers.insert(HeaderName::from_static(name), plain(&encoded(value))?);
        }
        headers.insert(header::ACCEPT, HeaderValue::from_static("application/json"));
        if let Some(token) = &self.rest.settings.token {
            let mut value = plain(&format!("Bearer {}", token.expose()))?;
            value.set_sensitive(true);
            headers.insert(header::AUTHORIZATION, value);
        }
        Ok(())
    }

    fn understood(&self, reply: &Reply) -> Result<Vec<Map<String, Json>>, Fault> {
        if !reply.status.is_success() {
            return Err(self.unwell(reply.status));
        }
        let rows = serde_json::from_slice(&reply.body).ok().and_then(|json| Found::read(self.service, json));
        rows.ok_or_else(|| {
            let message = format!("`{}` answers with something else than rows", self.rest.name);
            Fault::new(Kind::Unavailable, "source.answer", message).hint("its contract may be out of date")
        })
    }

    /// What the service says no to, in the words of every other source.
    fn refused(&self, status: StatusCode, method: Method) -> Fault {
        let cause = match (status, method) {
            (StatusCode::NOT_FOUND | StatusCode::GONE, _) => (Cause::Missing, ""),
            (StatusCode::PRECONDITION_FAILED | StatusCode::PRECONDITION_REQUIRED, _) => {
                (Cause::Stale, "the row has been changed since you read it")
            }
            (StatusCode::CONFLICT, Method::Post) => {
                (Cause::Taken, "another row has this natural key, with other values")
            }
            (StatusCode::CONFLICT, _) => (Cause::Unique, "another row has a value that must be unique"),
            (StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY, _) => {
                (Cause::Check, "the service does not take these values")
            }
            (StatusCode::FORBIDDEN, _) => {
                let message = format!("`{}` does not let you do this", self.rest.name);
                return Fault::new(Kind::Forbidden, "change.refused", message);
            }
            _ => return self.unwell(status),
        };
        from_worker(&Failed::new(cause.0, cause.1))
    }

    fn unwell(&self, status: StatusCode) -> Fault {
        let name = &self.rest.name;
        let fault =
            Fault::new(Kind::Unavailable, "source.failed", format!("`{name}` answers with status {}", status.as_u16()));
        match status {
            StatusCode::UNAUTHORIZED => fault.hint("whoever runs this server should look at the source's credential"),
            _ => fault.hint("try again; if it was a change, look first whether it was made"),
        }
    }

    fn away(&self, error: &reqwest::Error) -> Fault {
        let name = &self.rest.name;
        let hint = "try again; if it was a change, look first whether it was made";
        match error.is_timeout() {
            true => Fault::new(Kind::Timeout, "source.timeout", format!("`{name}` does not answer in time")).hint(hint),
            false => Fault::new(Kind::Unavailable, "source.away", format!("`{name}` cannot be reached")).hint(hint),
        }
    }
}

fn bare(json: &Json) -> String {
    json.as_str().map_or_else(|| json.to_string(), str::to_owned)
}

/// Names of people are not always ASCII; headers are.
fn encoded(text: &str) -> String {
    let plain = |b: &u8| (b.is_ascii_graphic() || *b == b' ') && *b != b'%';
    text.bytes().map(|b| if plain(&b) { char::from(b).to_string() } else { format!("%{b:02X}") }).collect()
}

fn plain(text: &str) -> Result<HeaderValue, Fault> {
    HeaderValue::from_str(text).map_err(|_| Fault::internal("engine.header"))
}
