//! The way to an engine: one address, verified where it is not on this machine.

use super::fault;
use crate::protocol::MAX_FRAME;
use crate::source::FlightSource;
use arrow_flight::decode::FlightRecordBatchStream;
use arrow_flight::error::FlightError;
use arrow_flight::flight_service_client::FlightServiceClient;
use arrow_flight::sql::CommandGetTables;
use arrow_flight::sql::client::FlightSqlServiceClient;
use arrow_flight::{FlightData, FlightInfo, Ticket};
use domain::{Fault, Kind};
use futures_util::TryStreamExt;
use std::time::Duration;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint};
use tonic::{Request, Streaming};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// An engine that does not answer this is gone, whatever the network says.
const ALIVE: Duration = Duration::from_secs(20);

/// Shared by all statements; broken, it is made again with the next.
#[derive(Clone)]
pub struct Connection {
    pub name: String,
    channel: Channel,
    /// `Bearer …`, marked so that it is never shown.
    bearer: Option<MetadataValue<Ascii>>,
}

impl Connection {
    /// Nothing is sent yet.
    pub fn open(name: &str, settings: &FlightSource) -> Result<Self, Fault> {
        let wrong = || {
            Fault::new(Kind::Unavailable, "source.address", format!("the address of source `{name}` is not one"))
                .hint("write http://host:port, or https://host:port")
        };
        let mut endpoint = Endpoint::from_shared(settings.url.clone()).map_err(|_| wrong())?;
        if settings.url.starts_with("https:") {
            endpoint = endpoint.tls_config(tls(name, settings)?).map_err(|_| wrong())?;
        }
        let endpoint = endpoint
            .user_agent("gatehouse")
            .map_err(|_| wrong())?
            .connect_timeout(CONNECT_TIMEOUT)
            .http2_keep_alive_interval(ALIVE)
            .keep_alive_timeout(ALIVE)
            .http2_adaptive_window(true)
            .tcp_nodelay(true);
        let bearer = match &settings.token {
            None => None,
            Some(token) => {
                let mut value: MetadataValue<Ascii> = format!("Bearer {}", token.expose()).parse().map_err(|_| {
                    let message = format!("the token of source `{name}` holds characters that no header can");
                    Fault::new(Kind::Unavailable, "source.credentials", message)
                })?;
                value.set_sensitive(true);
                Some(value)
            }
        };
        Ok(Self { name: name.to_owned(), channel: endpoint.connect_lazy(), bearer })
    }

    fn client(&self) -> FlightServiceClient<Channel> {
        FlightServiceClient::new(self.channel.clone()).max_decoding_message_size(MAX_FRAME as usize)
    }

    fn sql_client(&self) -> FlightSqlServiceClient<Channel> {
        let mut client = FlightSqlServiceClient::new_from_inner(self.client());
        if let Some(text) = self.bearer.as_ref().and_then(|bearer| bearer.to_str().ok()) {
            client.set_token(text.trim_start_matches("Bearer ").to_owned());
        }
        client
    }

    /// Has a statement planned there, and where that is the engine's way, run to its end.
    pub async fn execute(&self, sql: &str) -> Result<FlightInfo, Fault> {
        let info = self.sql_client().execute(sql.to_owned(), None).await;
        info.map_err(|error| fault::from_flight(&self.name, error))
    }

    /// Asks for all tables that there are, with their columns.
    pub async fn tables(&self) -> Result<FlightInfo, Fault> {
        let request = CommandGetTables { include_schema: true, ..CommandGetTables::default() };
        let info = self.sql_client().get_tables(request).await;
        info.map_err(|error| fault::from_flight(&self.name, error))
    }

    /// The messages of a result, from the address that we know: never from one that we are told.
    pub async fn messages(&self, ticket: Ticket) -> Result<Streaming<FlightData>, Fault> {
        let mut request = Request::new(ticket);
        if let Some(bearer) = &self.bearer {
            request.metadata_mut().insert("authorization", bearer.clone());
        }
        let answer = self.client().do_get(request).await;
        answer.map(tonic::Response::into_inner).map_err(|status| fault::from_status(&self.name, &status))
    }

    /// The same, decoded.
    pub async fn batches(&self, ticket: Ticket) -> Result<FlightRecordBatchStream, Fault> {
        let messages = self.messages(ticket).await?;
        Ok(FlightRecordBatchStream::new_from_flight_data(
            messages.map_err(|status| FlightError::Tonic(Box::new(status))),
        ))
    }
}

fn tls(name: &str, settings: &FlightSource) -> Result<ClientTlsConfig, Fault> {
    let tls = ClientTlsConfig::new();
    match &settings.ca {
        None => Ok(tls.with_native_roots()),
        Some(file) => {
            let pem = std::fs::read(file).map_err(|_| {
                let message = format!("source `{name}` has no authority that its certificate could be verified by");
                Fault::new(Kind::Unavailable, "source.authority", message).hint("name the authority's PEM file as `ca`")
            })?;
            Ok(tls.ca_certificate(Certificate::from_pem(pem)))
        }
    }
}
