//! Sends a request and reads its reply, again where that may help.

use super::failure::Again;
use super::sse::{self, Event};
use super::{Dialect, Failure, Hear, Model, Reply, Usage, api_failure};
use crate::{claude, openai};
use bytes::Bytes;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// Tries after the first, as long as nothing has been passed on yet.
const MOST_RETRIES: u32 = 4;
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(8);
/// More than any answer; a server that goes on and on is not believed.
const MOST_BYTES: usize = 32 * 1024 * 1024;
const MOST_ERROR_BYTES: usize = 64 * 1024;

enum Reader {
    Claude(claude::Reader),
    OpenAi(openai::Reader),
}

impl Reader {
    fn take(&mut self, event: &Event, hear: &mut dyn Hear) -> Result<(), Failure> {
        match self {
            Self::Claude(reader) => reader.take(event, hear),
            Self::OpenAi(reader) => reader.take(event, hear),
        }
    }

    fn usage(&self) -> Usage {
        match self {
            Self::Claude(reader) => reader.usage(),
            Self::OpenAi(reader) => reader.usage(),
        }
    }

    fn is_whole(&self) -> bool {
        match self {
            Self::Claude(reader) => reader.is_whole(),
            Self::OpenAi(reader) => reader.is_whole(),
        }
    }

    fn finish(self) -> Result<Reply, Failure> {
        match self {
            Self::Claude(reader) => reader.finish(),
            Self::OpenAi(reader) => reader.finish(),
        }
    }
}

/// Passes on, and remembers whether there was any text: what has been told cannot be told again.
struct Attempt<'h> {
    hear: &'h mut dyn Hear,
    told: bool,
}

impl Hear for Attempt<'_> {
    fn text(&mut self, text: &str) {
        self.told = true;
        self.hear.text(text);
    }
    fn used(&mut self, usage: Usage) {
        self.hear.used(usage);
    }
}

impl Model {
    /// The reply to `body`. A pause that would outlast the deadline is not begun: its failure is the answer.
    pub(crate) async fn complete(&self, body: Bytes, until: Instant, hear: &mut dyn Hear) -> Result<Reply, Failure> {
        let mut retries = 0;
        loop {
            let mut attempt = Attempt { hear, told: false };
            let failure = match self.attempt(body.clone(), &mut attempt).await {
                Ok(reply) => return Ok(reply),
                Err(failure) => failure,
            };
            let Again::After(said) = failure.again else { return Err(failure) };
            let pause = said.unwrap_or_else(|| backoff(retries));
            let too_late = Instant::now().checked_add(pause).is_none_or(|then| then >= until);
            if attempt.told || retries == MOST_RETRIES || too_late {
                return Err(failure);
            }
            sleep(pause).await;
            retries += 1;
        }
    }

    async fn attempt(&self, body: Bytes, hear: &mut dyn Hear) -> Result<Reply, Failure> {
        let (path, mut reader) = match self.dialect {
            Dialect::Claude => ("/v1/messages", Reader::Claude(claude::Reader::default())),
            Dialect::OpenAi => ("/chat/completions", Reader::OpenAi(openai::Reader::default())),
        };
        let request = self.http.post(format!("{}{path}", self.base_url)).headers(self.headers()).body(body);
        let response = request.send().await.map_err(|_| Failure::unreachable())?;
        if !response.status().is_success() {
            return Err(refused(response).await);
        }
        let read = read(response, &mut reader, hear).await;
        hear.used(reader.usage());
        read.and_then(|()| reader.finish())
    }

    fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if self.dialect == Dialect::Claude {
            headers.insert("anthropic-version", HeaderValue::from_static(claude::VERSION));
        }
        let key = self.key.as_ref().map(|key| match self.dialect {
            Dialect::Claude => ("x-api-key", key.0.clone()),
            Dialect::OpenAi => ("authorization", format!("Bearer {}", key.0)),
        });
        // A key with a line break in it is no key: the server will say so.
        if let Some((name, Ok(mut value))) = key.map(|(name, value)| (name, HeaderValue::from_str(&value))) {
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        headers
    }
}

async fn read(mut response: reqwest::Response, reader: &mut Reader, hear: &mut dyn Hear) -> Result<(), Failure> {
    let mut events = sse::Parser::default();
    let mut left = MOST_BYTES;
    loop {
        let bytes = match response.chunk().await {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return Ok(()),
            // What breaks after the last word is no loss.
            Err(_) if reader.is_whole() => return Ok(()),
            Err(_) => return Err(Failure::cut()),
        };
        left = left.checked_sub(bytes.len()).ok_or_else(Failure::too_much)?;
        events.feed(&bytes);
        while let Some(event) = events.next() {
            reader.take(&event, hear)?;
        }
    }
}

async fn refused(mut response: reqwest::Response) -> Failure {
    let mut body = Vec::new();
    while let Ok(Some(bytes)) = response.chunk().await {
        if body.len() + bytes.len() > MOST_ERROR_BYTES {
            break;
        }
        body.extend_from_slice(&bytes);
    }
    let header = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok());
    let (retry_after, should_retry) = (header("retry-after"), header("x-should-retry"));
    api_failure(response.status().as_u16(), retry_after, should_retry, &String::from_utf8_lossy(&body))
}

/// Doubles, up to a bound, and takes up to a quarter off, so that those who failed together do not return together.
fn backoff(retries: u32) -> Duration {
    let pause = FIRST_PAUSE.saturating_mul(1 << retries.min(8)).min(LONGEST_PAUSE);
    let random = getrandom::u32().unwrap_or_default();
    pause.mul_f64(1.0 - 0.25 * f64::from(random) / f64::from(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    struct Deaf;

    impl Hear for Deaf {
        fn text(&mut self, _: &str) {}
        fn used(&mut self, _: Usage) {}
    }

    /// Parts of both dialects, to be put together in any order and cut anywhere.
    const PARTS: [&str; 14] = [
        r#"{"type":"message_start","message":{"usage":{"input_tokens":1}}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking"}}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":7}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"a"}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{"}}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"pause_turn"},"usage":{"output_tokens":18446744073709551615}}"#,
        r#"{"type":"message_stop"}"#,
        r#"{"choices":[{"delta":{"content":"a","tool_calls":[{"index":63,"function":{"arguments":"{"}}]}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"index":18446744073709551615},{"id":"x"},{}]}}]}"#,
        r#"{"choices":[{"delta":{},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":1,"prompt_tokens_details":{"cached_tokens":9}}}"#,
        r#"{"choices":null,"error":null}"#,
        "[DONE]",
    ];

    proptest! {
        #[test]
        fn no_events_make_a_reader_panic(parts in prop::collection::vec((0..PARTS.len(), 0usize..150), 0..12)) {
            for mut reader in [Reader::Claude(claude::Reader::default()), Reader::OpenAi(openai::Reader::default())] {
                for (part, cut) in &parts {
                    let part = PARTS[*part];
                    // Most stay whole; some end early.
                    let data = part.get(..*cut).filter(|_| cut % 4 == 0).unwrap_or(part).to_owned();
                    let _ = reader.take(&Event { data }, &mut Deaf);
                }
                reader.usage().prompt();
                prop_assert_eq!(reader.is_whole(), reader.finish().is_ok());
            }
        }
    }

    #[test]
    fn pauses_double_within_their_bounds() {
        for (retries, most) in [(0, 500), (1, 1000), (2, 2000), (3, 4000), (4, 8000), (9, 8000), (u32::MAX, 8000)] {
            let pause = backoff(retries).as_millis();
            assert!((most * 3 / 4..=most).contains(&pause), "{retries}: {pause}");
        }
    }
}
