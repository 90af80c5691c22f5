//! A result on its way. Nothing that was cut off passes for a whole one.

use super::Client;
use super::api::RecordedResult;
use crate::problem::{Exit, Problem, Result};
use arrow_array::RecordBatch;
use arrow_ipc::reader::StreamReader;
use arrow_schema::SchemaRef;
use jiff::Timestamp;
use jiff::fmt::rfc2822;
use std::io::{self, BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use ureq::BodyReader;
use ureq::http::{HeaderMap, Response};

/// How every Arrow stream ends.
const END: [u8; 8] = [0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0];

pub struct Stream {
    headers: HeaderMap,
    body: Counted<BodyReader<'static>>,
}

/// What is known of a result that arrived whole.
#[derive(Debug, Clone)]
pub struct Arrived {
    pub rows: u64,
    /// The server cut it at a limit of its own.
    pub truncated: bool,
    pub sha256: Option<String>,
}

impl Stream {
    pub fn new(response: Response<ureq::Body>) -> Self {
        let (parts, body) = response.into_parts();
        // As long as it is: the disk is the limit, and it is looked after.
        let body = body.into_with_config().limit(u64::MAX).reader();
        Self { headers: parts.headers, body: Counted::new(body) }
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// When the server evaluated `CURRENT_DATE` and the like.
    pub fn effective_as_of(&self) -> Option<Timestamp> {
        rfc2822::parse(self.header("date")?).ok().map(|zoned| zoned.timestamp())
    }

    pub fn filtered_by(&self) -> Vec<String> {
        let names = self.header("x-gatehouse-filtered-by").unwrap_or_default().split(", ");
        names.filter(|name| !name.is_empty()).map(str::to_owned).collect()
    }

    pub fn run_id(&self) -> Option<String> {
        self.header("x-gatehouse-run-id").map(str::to_owned)
    }

    /// Bytes so far, for whoever shows progress.
    pub fn counter(&self) -> Arc<AtomicU64> {
        self.body.count.clone()
    }

    /// The bytes as they are.
    pub fn bytes(&mut self) -> &mut impl Read {
        &mut self.body
    }

    pub fn batches(self) -> Result<Batches> {
        let headers = self.headers.clone();
        let reader = StreamReader::try_new(BufReader::with_capacity(256 * 1024, self.body), None);
        Ok(Batches { headers, reader: reader.map_err(|error| cut(&error))? })
    }

    pub fn ending(&self) -> Ending {
        Ending { headers: self.headers.clone() }
    }
}

/// A result as Arrow, batch by batch.
pub struct Batches {
    headers: HeaderMap,
    reader: StreamReader<BufReader<Counted<BodyReader<'static>>>>,
}

impl Batches {
    pub fn schema(&self) -> SchemaRef {
        self.reader.schema()
    }

    /// The next batch; none once the stream has ended as a stream ends.
    pub fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        match self.reader.next() {
            Some(batch) => batch.map(Some).map_err(|error| cut(&error)),
            None => self.must_have_ended().map(|()| None),
        }
    }

    /// Readers of Arrow take a stream that stops for one that ends: the mark at its end tells them apart.
    fn must_have_ended(&mut self) -> Result<()> {
        let rest = io::copy(self.reader.get_mut(), &mut io::sink()).map_err(|error| cut(&error))?;
        match self.reader.get_ref().get_ref().last == END && rest == 0 {
            true => Ok(()),
            false => Err(cut(&"it stopped before its end")),
        }
    }

    pub fn ending(&self) -> Ending {
        Ending { headers: self.headers.clone() }
    }
}

/// What tells whether a result is all there is.
#[derive(Clone)]
pub struct Ending {
    headers: HeaderMap,
}

impl Ending {
    /// Compares what came with what the server says that it sent: in the headers of a small result, on record for a
    /// large one (trailers would say so too, and get lost in proxies).
    pub fn check(&self, client: &Client, rows: u64) -> Result<Arrived> {
        let header = |name: &str| self.headers.get(name)?.to_str().ok();
        let told = header("x-gatehouse-rows").and_then(|rows| rows.parse().ok());
        let arrived = match (told, header("x-gatehouse-truncated"), header("x-gatehouse-run-id")) {
            (Some(rows), Some(truncated), _) if header("content-type") != Some("application/vnd.apache.parquet") => {
                Arrived { rows, truncated: truncated == "true", sha256: None }
            }
            (_, _, Some(run)) => {
                let recorded = client.recorded(run)?;
                if recorded.status != "succeeded" {
                    return Err(cut(&format!("the server says that it {}", recorded.status)));
                }
                let RecordedResult { row_count, truncated, sha256 } = recorded.result;
                Arrived { rows: row_count, truncated, sha256 }
            }
            _ => return Err(cut(&"the server does not say how much it sent")),
        };
        if arrived.rows != rows {
            return Err(cut(&format!("{rows} rows came of {}", arrived.rows)));
        }
        Ok(arrived)
    }
}

pub fn cut(why: &dyn std::fmt::Display) -> Problem {
    Problem::new(
        Exit::Network,
        "stream_cut",
        format!("the result did not arrive whole: {why}"),
        "nothing was changed; try again",
    )
}

/// Counts what is read, and keeps the last bytes of it.
struct Counted<R> {
    inner: R,
    count: Arc<AtomicU64>,
    last: [u8; 8],
}

impl<R> Counted<R> {
    fn new(inner: R) -> Self {
        Self { inner, count: Arc::default(), last: [0; 8] }
    }
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        let new = buffer.get(..read).unwrap_or_default();
        self.count.fetch_add(read as u64, Ordering::Relaxed);
        let kept = new.get(new.len().saturating_sub(8)..).unwrap_or_default();
        self.last.rotate_left(kept.len());
        let start = 8 - kept.len();
        if let Some(end) = self.last.get_mut(start..) {
            end.copy_from_slice(kept);
        }
        Ok(read)
    }
}
