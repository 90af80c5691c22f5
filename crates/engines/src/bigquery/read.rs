//! The rows of a result, as Arrow, over the Storage Read interface.
//!
//! One stream, since the order of the rows is the statement's. A stream that breaks is taken up where it broke, after a
//! pause; without a row in between, not more often than anything else is asked again.

use super::fault;
use super::identity::Passes;
use super::job::Place;
use super::messages::{ARROW, CreateReadSessionRequest, ReadRowsRequest, ReadRowsResponse, ReadSession};
use super::patience::Patience;
use crate::fault::from_worker;
use crate::protocol::{Cause, Failed, MAX_FRAME, Queried, Query};
use crate::remote::{Outbox, encode, is_broken};
use crate::source::BigQuerySource;
use crate::worker::encode::columns_of;
use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::convert::try_schema_from_ipc_buffer;
use arrow_ipc::reader::StreamDecoder;
use arrow_schema::SchemaRef;
use domain::{Fault, Kind};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::transport::{Channel, ClientTlsConfig, Endpoint};
use tonic::{Request, Status, Streaming};
use tonic_prost::ProstCodec;

const CONNECT: Duration = Duration::from_secs(10);
/// An interface that does not answer this is gone, whatever the network says.
const ALIVE: Duration = Duration::from_secs(20);
/// Batches that may wait for the writer.
const WAITING: usize = 2;

const SESSION: &str = "/google.cloud.bigquery.storage.v1.BigQueryRead/CreateReadSession";
const ROWS: &str = "/google.cloud.bigquery.storage.v1.BigQueryRead/ReadRows";

/// The way to the rows, shared by all statements.
#[derive(Clone)]
pub struct Storage {
    name: String,
    project: String,
    channel: Channel,
    passes: Arc<Passes>,
}

impl Storage {
    /// Nothing is sent yet.
    pub fn open(name: &str, settings: &BigQuerySource, passes: Arc<Passes>) -> Result<Self, Fault> {
        let wrong = || {
            let message = format!("the address of source `{name}` is not one");
            Fault::new(Kind::Unavailable, "source.address", message).hint("write https://host, or https://host:port")
        };
        let mut endpoint = Endpoint::from_shared(settings.storage_url.clone()).map_err(|_| wrong())?;
        if settings.storage_url.starts_with("https:") {
            endpoint = endpoint.tls_config(ClientTlsConfig::new().with_native_roots()).map_err(|_| wrong())?;
        }
        let endpoint = endpoint
            .user_agent("gatehouse")
            .map_err(|_| wrong())?
            .connect_timeout(CONNECT)
            .http2_keep_alive_interval(ALIVE)
            .keep_alive_timeout(ALIVE)
            .http2_adaptive_window(true)
            .tcp_nodelay(true);
        Ok(Self { name: name.to_owned(), project: settings.project.clone(), channel: endpoint.connect_lazy(), passes })
    }

    /// All rows of a result, in the form that is wanted.
    pub async fn encoded(&self, result: &Place, query: Query, outbox: Outbox) -> Result<Queried, Fault> {
        let session = self.session(result).await?;
        let schema = session.arrow_schema.ok_or_else(|| fault::unreadable(&self.name))?.serialized_schema;
        let mut reader = Reader::new(schema).ok_or_else(|| fault::unreadable(&self.name))?;
        let (sender, mut received) = mpsc::channel::<Result<RecordBatch, Failed>>(WAITING);
        let schema = reader.schema.clone();
        let writing = tokio::task::spawn_blocking(move || {
            let columns = columns_of(&schema);
            encode(&query, schema, columns, std::iter::from_fn(move || received.blocking_recv()), outbox)
        });
        let mut fed = Ok(());
        for stream in session.streams {
            fed = self.feed(stream.name, &mut reader, &sender).await;
            if fed.is_err() {
                // What was written so far must not be taken for the whole.
                drop(sender.send(Err(Failed::new(Cause::Source, "cut"))).await);
                break;
            }
        }
        drop(sender);
        let written = writing.await.map_err(|_| Fault::internal("engine.writer"))?;
        fed?;
        written.map_err(|failed| from_worker(&failed))
    }

    /// Everything, or until the writer has enough.
    async fn feed(
        &self,
        stream: String,
        reader: &mut Reader,
        sender: &mpsc::Sender<Result<RecordBatch, Failed>>,
    ) -> Result<(), Fault> {
        let (mut rows, mut patience) = (0_i64, Patience::new());
        loop {
            let broken = match self.rows(&stream, rows).await {
                Err(status) => status,
                Ok(mut messages) => loop {
                    match messages.message().await {
                        Err(status) => break status,
                        Ok(None) => return Ok(()),
                        Ok(Some(response)) => {
                            let Some(batch) = response.arrow_record_batch else { continue };
                            let batch = reader.batch(batch.serialized_record_batch);
                            let batch = batch.ok_or_else(|| fault::unreadable(&self.name))?;
                            rows += i64::try_from(batch.num_rows()).unwrap_or(i64::MAX);
                            patience = Patience::new();
                            if sender.send(Ok(batch)).await.is_err() {
                                return Ok(());
                            }
                        }
                    }
                },
            };
            if !is_broken(&broken) || !patience.counts() {
                return Err(fault::reading(&self.name, &broken));
            }
            tracing::info!(source = self.name, rows, "a stream of BigQuery's broke and is taken up again");
            patience.pause().await;
        }
    }

    async fn session(&self, result: &Place) -> Result<ReadSession, Fault> {
        let Place { project, dataset, table } = result;
        let table = format!("projects/{project}/datasets/{dataset}/tables/{table}");
        let place = format!("read_session.table={}", encoded(&table));
        let session = ReadSession { data_format: ARROW, table, ..ReadSession::default() };
        let parent = format!("projects/{}", self.project);
        let asked = CreateReadSessionRequest { parent, read_session: Some(session), max_stream_count: 1 };
        let mut patience = Patience::new();
        loop {
            match self.opened(asked.clone(), &place).await {
                Ok(session) => return Ok(session),
                // A session that was opened and not heard of costs nothing, and ends by itself.
                Err(status) if is_broken(&status) && patience.counts() => patience.pause().await,
                Err(status) => return Err(fault::reading(&self.name, &status)),
            }
        }
    }

    async fn opened(&self, asked: CreateReadSessionRequest, place: &str) -> Result<ReadSession, Status> {
        let (mut client, request) = self.request(asked, place).await?;
        let path = PathAndQuery::from_static(SESSION);
        let opened = client.unary(request, path, ProstCodec::<_, ReadSession>::default()).await?;
        Ok(opened.into_inner())
    }

    async fn rows(&self, stream: &str, offset: i64) -> Result<Streaming<ReadRowsResponse>, Status> {
        let asked = ReadRowsRequest { read_stream: stream.to_owned(), offset };
        let (mut client, request) = self.request(asked, &format!("read_stream={}", encoded(stream))).await?;
        let path = PathAndQuery::from_static(ROWS);
        let rows = client.server_streaming(request, path, ProstCodec::<_, ReadRowsResponse>::default()).await?;
        Ok(rows.into_inner())
    }

    /// A request, who sends it, and where Google should send it on to.
    async fn request<T>(&self, message: T, place: &str) -> Result<(Grpc<Channel>, Request<T>), Status> {
        let mut client = Grpc::new(self.channel.clone()).max_decoding_message_size(MAX_FRAME as usize);
        client.ready().await.map_err(|_| Status::unavailable("not connected"))?;
        let mut request = Request::new(message);
        let headers = request.metadata_mut();
        let place: MetadataValue<Ascii> = place.parse().map_err(|_| Status::internal("place"))?;
        headers.insert("x-goog-request-params", place);
        let bearer = self.passes.bearer().await.map_err(|_| Status::unauthenticated("no token"))?;
        if let Some(text) = bearer.as_ref().and_then(|bearer| bearer.to_str().ok()) {
            let mut bearer: MetadataValue<Ascii> = text.parse().map_err(|_| Status::internal("token"))?;
            bearer.set_sensitive(true);
            headers.insert("authorization", bearer);
        }
        Ok((client, request))
    }
}

/// Slashes are data in a header that is read like a query.
fn encoded(name: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_.~".contains(&b);
    name.bytes().map(|b| if plain(b) { char::from(b).to_string() } else { format!("%{b:02X}") }).collect()
}

/// Messages of one IPC stream.
struct Reader {
    decoder: StreamDecoder,
    schema: SchemaRef,
}

impl Reader {
    /// The decoder itself would tell the schema only with the first batch, and there may be none.
    fn new(message: Vec<u8>) -> Option<Self> {
        let schema = Arc::new(try_schema_from_ipc_buffer(&message).ok()?);
        let mut decoder = StreamDecoder::new();
        decoder.decode(&mut Buffer::from_vec(message)).ok()?;
        Some(Self { decoder, schema })
    }

    fn batch(&mut self, message: Vec<u8>) -> Option<RecordBatch> {
        self.decoder.decode(&mut Buffer::from_vec(message)).ok()?
    }
}
