//! The messages of `google.cloud.bigquery.storage.v1.BigQueryRead` that are used here, with the fields that are used.

use prost::Message;

/// `DataFormat.ARROW`.
pub const ARROW: i32 = 2;

#[derive(Clone, PartialEq, Message)]
pub struct CreateReadSessionRequest {
    /// `projects/x`: who reads.
    #[prost(string, tag = "1")]
    pub parent: String,
    #[prost(message, optional, tag = "2")]
    pub read_session: Option<ReadSession>,
    #[prost(int32, tag = "3")]
    pub max_stream_count: i32,
}

#[derive(Clone, PartialEq, Message)]
pub struct ReadSession {
    #[prost(int32, tag = "3")]
    pub data_format: i32,
    #[prost(message, optional, tag = "5")]
    pub arrow_schema: Option<ArrowSchema>,
    /// `projects/x/datasets/y/tables/z`.
    #[prost(string, tag = "6")]
    pub table: String,
    #[prost(message, repeated, tag = "10")]
    pub streams: Vec<ReadStream>,
}

/// A schema, as the first message of an IPC stream.
#[derive(Clone, PartialEq, Message)]
pub struct ArrowSchema {
    #[prost(bytes = "vec", tag = "1")]
    pub serialized_schema: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
pub struct ReadStream {
    #[prost(string, tag = "1")]
    pub name: String,
}

#[derive(Clone, PartialEq, Message)]
pub struct ReadRowsRequest {
    #[prost(string, tag = "1")]
    pub read_stream: String,
    /// Rows to leave out, as they were read before.
    #[prost(int64, tag = "2")]
    pub offset: i64,
}

#[derive(Clone, PartialEq, Message)]
pub struct ReadRowsResponse {
    #[prost(message, optional, tag = "4")]
    pub arrow_record_batch: Option<ArrowRecordBatch>,
}

/// A batch, as another message of that stream.
#[derive(Clone, PartialEq, Message)]
pub struct ArrowRecordBatch {
    #[prost(bytes = "vec", tag = "1")]
    pub serialized_record_batch: Vec<u8>,
}
