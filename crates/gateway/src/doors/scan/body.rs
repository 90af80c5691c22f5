//! A result as the body of a reply: bytes as they come, and at the end, as a trailer, what only shows there.

use super::negotiate::content_type;
use crate::streamed::{Head, Piece, Streamed, Tail};
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use domain::ResultColumn;
use engines::{Compression, Form, Packing};
use http_body::Frame;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

const RUN_ID: HeaderName = HeaderName::from_static("x-gatehouse-run-id");
const SCHEMA: HeaderName = HeaderName::from_static("x-gatehouse-schema");
const FILTERED_BY: HeaderName = HeaderName::from_static("x-gatehouse-filtered-by");
const DATA_VERSION: HeaderName = HeaderName::from_static("x-gatehouse-data-version");
const COMPRESSION: HeaderName = HeaderName::from_static("x-gatehouse-arrow-compression");
const ROWS: HeaderName = HeaderName::from_static("x-gatehouse-rows");
/// The name of the specification, and ours.
const TRUNCATED: [HeaderName; 2] =
    [HeaderName::from_static("x-agnes-truncated"), HeaderName::from_static("x-gatehouse-truncated")];
const TRAILER: &str = "x-agnes-truncated, x-gatehouse-truncated, x-gatehouse-rows";
/// A longer schema does not fit into headers; it is in the result anyway.
const MOST_SCHEMA: usize = 8 * 1024;

pub fn respond(streamed: Streamed, form: Form) -> Response {
    let headers = headers(&streamed.head, form);
    let mut response = Body::new(Pieces { streamed: Some(streamed) }).into_response();
    response.headers_mut().extend(headers);
    response
}

fn headers(head: &Head, form: Form) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let mut set = |name: HeaderName, text: &str| {
        if let Ok(value) = HeaderValue::from_str(text) {
            headers.insert(name, value);
        }
    };
    set(header::CONTENT_TYPE, content_type(form));
    set(header::VARY, "accept, accept-encoding");
    set(RUN_ID, &head.run_id.to_string());
    if let Some(version) = &head.data_version {
        set(DATA_VERSION, version);
    }
    set(SCHEMA, &schema(&head.columns));
    if !head.filtered_by.is_empty() {
        set(FILTERED_BY, &head.filtered_by.join(", "));
    }
    match form {
        Form::Packed(Packing { compression: Some(Compression::Lz4), .. }) => set(COMPRESSION, "lz4"),
        Form::Packed(Packing { compression: Some(Compression::Zstd), .. }) => set(COMPRESSION, "zstd"),
        _ => {}
    }
    match head.tail {
        Some(tail) => headers.extend(ending(tail)),
        None => set(header::TRAILER, TRAILER),
    }
    headers
}

/// `[{"name": …, "type": …}, …]` in ASCII.
fn schema(columns: &[ResultColumn]) -> String {
    let json = serde_json::to_string(columns).unwrap_or_default();
    let mut ascii = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            ' '..='~' => ascii.push(c),
            _ => c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| ascii.push_str(&format!("\\u{unit:04x}"))),
        }
    }
    if ascii.len() <= MOST_SCHEMA { ascii } else { "null".to_owned() }
}

fn ending(tail: Tail) -> HeaderMap {
    let truncated = HeaderValue::from_static(if tail.truncated { "true" } else { "false" });
    let mut headers: HeaderMap = TRUNCATED.map(|name| (name, truncated.clone())).into_iter().collect();
    headers.insert(ROWS, HeaderValue::from(tail.rows));
    headers
}

/// Forwards pieces. A failure in the middle breaks the connection off: nobody takes half a result for a whole one.
struct Pieces {
    streamed: Option<Streamed>,
}

impl http_body::Body for Pieces {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let Some(streamed) = &mut self.streamed else { return Poll::Ready(None) };
        let whole = streamed.head.tail.is_some();
        match std::task::ready!(streamed.poll_next(context)) {
            Some(Ok(Piece::Bytes(bytes))) => Poll::Ready(Some(Ok(Frame::data(bytes)))),
            Some(Ok(Piece::Tail(tail))) => {
                self.streamed = None;
                Poll::Ready((!whole).then(|| Ok(Frame::trailers(ending(tail)))))
            }
            Some(Err(fault)) => {
                self.streamed = None;
                Poll::Ready(Some(Err(io::Error::other(fault))))
            }
            None => {
                self.streamed = None;
                Poll::Ready(Some(Err(io::ErrorKind::UnexpectedEof.into())))
            }
        }
    }
}
