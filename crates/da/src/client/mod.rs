//! The server, as one caller sees it.

mod api;
mod refusal;
mod stream;

pub use api::{Estimate, ScanRequest};
pub use stream::{Arrived, Stream, cut};

use crate::config::Config;
use crate::credentials::{Credentials, Token};
use crate::problem::{Exit, Problem, Result};
use std::sync::Arc;
use std::time::Duration;
use ureq::Agent;
use ureq::http::{Method, Request, Response};
use ureq::tls::{RootCerts, TlsConfig};

/// A server that does not take a connection by then is not there.
const CONNECT: Duration = Duration::from_secs(10);
/// Replies that are no results are small.
const MOST_TEXT: u64 = 256 * 1024 * 1024;

pub struct Client {
    agent: Agent,
    server: String,
    token: Token,
}

/// A reply that was read to its end.
pub struct Reply {
    pub status: u16,
    pub body: Vec<u8>,
}

impl Reply {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub fn json<T: serde::de::DeserializeOwned>(&self) -> Result<T> {
        serde_json::from_slice(&self.body).map_err(|error| not_ours(&error.to_string()))
    }
}

impl Client {
    pub fn new(config: &Config) -> Result<Self> {
        let (token, _) = Credentials::token(config)?;
        Self::with(config.server()?, token)
    }

    pub fn with(server: &str, token: Token) -> Result<Self> {
        if !(server.starts_with("http://") || server.starts_with("https://")) {
            let message = format!("`{server}` is not the address of a server");
            return Err(Problem::invalid(
                "bad_server",
                message,
                "write it with its scheme: `https://data.example.com`",
            ));
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = TlsConfig::builder()
            .root_certs(RootCerts::PlatformVerifier)
            .unversioned_rustls_crypto_provider(provider)
            .build();
        // No redirects: the token is for this server alone.
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_connect(Some(CONNECT))
            .tls_config(tls)
            .user_agent(concat!("da/", env!("CARGO_PKG_VERSION")))
            .build()
            .into();
        Ok(Self { agent, server: server.to_owned(), token })
    }

    pub fn server(&self) -> &str {
        &self.server
    }

    /// Tells one caller's cached replies from another's, without telling the token.
    pub fn identity(&self) -> String {
        domain::sha256_hex(format!("{}\0{}", self.server, self.token.expose()).as_bytes())
    }

    /// On the same machine bytes are cheaper than packing them.
    pub fn is_near(&self) -> bool {
        let host = self.server.split_once("://").map_or(self.server.as_str(), |(_, rest)| rest);
        ["127.", "localhost", "[::1]"].iter().any(|near| host.starts_with(near))
    }

    /// The whole reply, if the server did what was asked.
    fn ask(&self, method: Method, path: &str, headers: &[(&str, &str)], body: &str) -> Result<Reply> {
        let mut response = self.open(method, path, headers, body)?;
        let reply = self.read(&mut response)?;
        if reply.status >= 300 && reply.status != 304 {
            return Err(refusal::problem(&reply, &self.server));
        }
        Ok(reply)
    }

    /// The reply as soon as its headers are there, if it is a result.
    fn begin(&self, path: &str, headers: &[(&str, &str)], method: Method, body: &str) -> Result<Response<ureq::Body>> {
        let mut response = self.open(method, path, headers, body)?;
        if response.status().as_u16() >= 300 && response.status().as_u16() != 304 {
            let reply = self.read(&mut response)?;
            return Err(refusal::problem(&reply, &self.server));
        }
        Ok(response)
    }

    fn open(&self, method: Method, path: &str, headers: &[(&str, &str)], body: &str) -> Result<Response<ureq::Body>> {
        let mut request = Request::builder()
            .method(method.clone())
            .uri(format!("{}{path}", self.server))
            .header("authorization", format!("Bearer {}", self.token.expose()));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let sent = match (method, body) {
            (Method::GET | Method::DELETE, _) => {
                request.body(()).map_err(ureq::Error::Http).and_then(|r| self.agent.run(r))
            }
            _ => request
                .header("content-type", "application/json")
                .body(body)
                .map_err(ureq::Error::Http)
                .and_then(|r| self.agent.run(r)),
        };
        sent.map_err(|error| self.unreachable(&error))
    }

    fn read(&self, response: &mut Response<ureq::Body>) -> Result<Reply> {
        let status = response.status().as_u16();
        let body = response.body_mut().with_config().limit(MOST_TEXT).read_to_vec();
        Ok(Reply { status, body: body.map_err(|error| self.unreachable(&error))? })
    }

    fn unreachable(&self, error: &ureq::Error) -> Problem {
        let server = &self.server;
        match error {
            ureq::Error::BadUri(_) | ureq::Error::Http(_) => {
                let message = format!("`{server}` is not the address of a server");
                Problem::invalid("bad_server", message, "write it like `https://data.example.com`")
            }
            error => Problem::new(
                Exit::Network,
                "unreachable",
                format!("`{server}` cannot be reached: {}", plain(error)),
                "check the address and the network; `da query` on snapshots works without a server",
            ),
        }
    }
}

fn plain(error: &ureq::Error) -> String {
    match error {
        ureq::Error::Io(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => "connection refused".into(),
        ureq::Error::HostNotFound => "no such host".into(),
        ureq::Error::Timeout(_) => "it does not answer".into(),
        other => other.to_string(),
    }
}

/// Something answers, and it is not Gatehouse.
fn not_ours(why: &str) -> Problem {
    let message = format!("the server's answer is not understood: {why}");
    Problem::new(Exit::Server, "bad_answer", message, "check the address; `da doctor` shows what answers there")
}
