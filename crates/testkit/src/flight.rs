//! Statements that prepare a test, for engines that speak Arrow Flight SQL.

use arrow_array::RecordBatch;
use arrow_flight::flight_service_client::FlightServiceClient;
use arrow_flight::sql::client::FlightSqlServiceClient;
use futures_util::TryStreamExt;
use tonic::transport::Endpoint;

/// Has an engine run a statement. Gives the rows.
pub fn run(url: &str, sql: &str) -> Vec<RecordBatch> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let endpoint = Endpoint::from_shared(url.to_owned()).expect("an address");
        let channel = endpoint.connect().await.expect("the engine to answer");
        let inner = FlightServiceClient::new(channel).max_decoding_message_size(64 << 20);
        let mut client = FlightSqlServiceClient::new_from_inner(inner);
        let info = client.execute(sql.to_owned(), None).await.unwrap_or_else(|e| panic!("{sql}: {e}"));
        let mut batches = Vec::new();
        for ticket in info.endpoint.into_iter().filter_map(|endpoint| endpoint.ticket) {
            let rows = client.do_get(ticket).await.unwrap_or_else(|e| panic!("{sql}: {e}"));
            batches.extend(rows.try_collect::<Vec<_>>().await.unwrap_or_else(|e| panic!("{sql}: {e}")));
        }
        batches
    })
}
