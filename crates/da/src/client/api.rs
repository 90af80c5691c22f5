//! The requests that the server knows, one function each.

use super::stream::Stream;
use super::{Client, Reply};
use crate::problem::Result;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use ureq::http::Method;

/// The body of a scan and of its estimate, spec 004 §3.4.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ScanRequest {
    pub table_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub select: Option<Vec<String>>,
    #[serde(rename = "where", skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order_by: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
}

/// What a scan would read and give; what is not known is missing.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Estimate {
    pub table_id: String,
    pub estimated_scan_bytes: Option<u64>,
    pub estimated_result_rows: Option<u64>,
    pub estimated_result_bytes: Option<u64>,
    pub bq_cost_estimate_usd: Option<f64>,
}

/// Who the server takes us for.
#[derive(Debug, Serialize, Deserialize)]
pub struct Seen {
    pub actor: String,
    pub role: String,
}

const ARROW: &str = "application/vnd.apache.arrow.stream";

impl Client {
    pub fn whoami(&self) -> Result<Seen> {
        self.get("/session")?.json()
    }

    pub fn get(&self, path: &str) -> Result<Reply> {
        self.ask(Method::GET, path, &[("accept", "application/json")], "")
    }

    pub fn post(&self, path: &str, body: &Value) -> Result<Reply> {
        self.ask(Method::POST, path, &[("accept", "application/json")], &body.to_string())
    }

    pub fn delete(&self, path: &str) -> Result<Reply> {
        self.ask(Method::DELETE, path, &[], "")
    }

    pub fn estimate(&self, request: &ScanRequest) -> Result<Estimate> {
        self.post("/api/v2/scan/estimate", &json!(request))?.json()
    }

    pub fn scan(&self, request: &ScanRequest) -> Result<Stream> {
        self.arrow("/api/v2/scan", &json!(request))
    }

    /// One statement where its tables are.
    pub fn query(&self, sql: &str, limit: Option<u64>) -> Result<Stream> {
        self.arrow("/api/query", &limited(json!({ "sql": sql }), limit))
    }

    /// Remote results joined with the server's own tables.
    pub fn hybrid(&self, register: &[(String, String)], sql: &str, limit: Option<u64>) -> Result<Stream> {
        let register: Vec<Value> = register.iter().map(|(name, sql)| json!({ "name": name, "sql": sql })).collect();
        self.arrow("/api/query/hybrid", &limited(json!({ "register": register, "sql": sql }), limit))
    }

    /// A whole table as Parquet, unless it is the version that is known.
    pub fn table(&self, path: &str, known: Option<&str>) -> Result<Option<Stream>> {
        let tag = known.map(|version| format!("\"{version}\""));
        let headers: Vec<(&str, &str)> = tag.iter().map(|tag| ("if-none-match", tag.as_str())).collect();
        let response = self.begin(path, &headers, Method::GET, "")?;
        Ok((response.status().as_u16() != 304).then(|| Stream::new(response)))
    }

    /// What the server put on record about a result, which it does before it sends the last of it.
    pub fn recorded(&self, run_id: &str) -> Result<Recorded> {
        self.get(&format!("/runs/{run_id}"))?.json()
    }

    fn arrow(&self, path: &str, body: &Value) -> Result<Stream> {
        let packed = format!("{ARROW};compression=lz4");
        let accept = if self.is_near() { ARROW } else { &packed };
        Ok(Stream::new(self.begin(path, &[("accept", accept)], Method::POST, &body.to_string())?))
    }
}

fn limited(mut body: Value, limit: Option<u64>) -> Value {
    if let (Some(limit), Some(object)) = (limit, body.as_object_mut()) {
        object.insert("limit".into(), json!(limit));
    }
    body
}

#[derive(Debug, Deserialize)]
pub struct Recorded {
    /// `succeeded`, if it was sent to its end.
    pub status: String,
    pub result: RecordedResult,
}

#[derive(Debug, Deserialize)]
pub struct RecordedResult {
    pub row_count: u64,
    pub truncated: bool,
    /// Of the bytes that were sent, where the result was a file.
    pub sha256: Option<String>,
}
