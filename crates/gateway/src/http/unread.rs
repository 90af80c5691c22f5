//! Requests that are answered before they are read to their end, as refusals are.
//!
//! A connection with the rest of a request on it can carry no other: hyper then closes it, and as the answer has gone out
//! by that time, without a word. A client that keeps its connections writes its next request into a closed one. So the
//! rest is read where it is short, and where it is not the answer says that the connection ends with it.

use axum::body::{Body, Bytes, HttpBody, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderValue, Version, header};
use axum::response::Response;
use http_body::{Frame, SizeHint};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::oneshot;

/// Longer rests are not read to their end, nor those that do not come in this time.
const LONGEST: usize = 256 << 10;
const PATIENCE: Duration = Duration::from_secs(2);

/// A request's body, given back where it is let go before its end.
struct Lent {
    body: Body,
    back: Option<oneshot::Sender<Body>>,
}

impl HttpBody for Lent {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if !self.body.is_end_stream()
            && let Some(back) = self.back.take()
        {
            let _ = back.send(std::mem::take(&mut self.body));
        }
    }
}

/// What may be left of a request when its answer is there.
pub struct Unread {
    rest: oneshot::Receiver<Body>,
    /// Not a rest that is too long, nor that of somebody who asks first whether to send it: they must not hear yes.
    may_read: bool,
    version: Version,
}

impl Unread {
    pub fn of(request: &mut Request, has_room: bool) -> Self {
        let (back, rest) = oneshot::channel();
        let body = std::mem::take(request.body_mut());
        *request.body_mut() = Body::new(Lent { body, back: Some(back) });
        let may_read = has_room && !request.headers().contains_key(header::EXPECT);
        Self { rest, may_read, version: request.version() }
    }

    /// Leaves the connection fit for the next request, or tells that there will be none.
    pub async fn settle(mut self, response: &mut Response) {
        let Ok(rest) = self.rest.try_recv() else { return };
        let read = self.may_read && matches!(tokio::time::timeout(PATIENCE, to_bytes(rest, LONGEST)).await, Ok(Ok(_)));
        // HTTP/2 ends the one stream instead, and knows no such header.
        if !read && self.version <= Version::HTTP_11 {
            response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
    }
}
