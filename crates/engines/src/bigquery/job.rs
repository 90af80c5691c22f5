//! Jobs: one for each statement, under a name of ours, so that it can be found again and taken back.

use super::ask::{Api, Unanswered};
use super::fault;
use crate::protocol::Query;
use crate::source::BigQuerySource;
use domain::{Fault, Value};
use reqwest::{Method, StatusCode};
use serde_json::{Value as Json, json};
use std::sync::Arc;

/// How long one look at a job waits for its end, in milliseconds.
const WAIT: u64 = 10_000;

/// Where jobs run, and what they all have.
pub struct Jobs {
    pub api: Arc<Api>,
    project: String,
    dataset: Option<String>,
    location: Option<String>,
    max_bytes_billed: u64,
}

/// A table that holds a result: Google keeps it for a day.
pub struct Place {
    pub project: String,
    pub dataset: String,
    pub table: String,
}

impl Jobs {
    pub fn new(api: Api, settings: &BigQuerySource) -> Self {
        Self {
            api: Arc::new(api),
            project: settings.project.clone(),
            dataset: settings.datasets.first().cloned(),
            location: settings.location.clone(),
            max_bytes_billed: settings.max_bytes_billed,
        }
    }

    /// How many bytes a statement would read. It is not run, and costs nothing.
    pub async fn would_read(&self, query: &Query) -> Result<Option<u64>, Fault> {
        let mut job = self.described(query, None);
        if let Some(configuration) = job.get_mut("configuration").and_then(Json::as_object_mut) {
            configuration.insert("dryRun".into(), json!(true));
        }
        let answer = self.api.ask(Method::POST, "jobs", &[], Some(&job)).await;
        let answer = answer.map_err(|unanswered| self.api.fault(unanswered))?;
        Ok(number(answer.pointer("/statistics/totalBytesProcessed")))
    }

    /// Whether the account could make a table in a dataset. It is only asked what would happen: nothing is made.
    pub async fn would_create(&self, dataset: &str) -> Result<bool, Fault> {
        let sql = format!("CREATE TABLE `{}`.`{dataset}`.`gatehouse_probe` (n INT64)", self.project);
        let statement = json!({ "query": sql, "useLegacySql": false });
        let job = self.somewhere(json!({ "dryRun": true, "query": statement }));
        match self.api.ask(Method::POST, "jobs", &[], Some(&job)).await {
            Ok(_) => Ok(true),
            Err(Unanswered::Refused(StatusCode::FORBIDDEN, body)) if fault::reason(&body) == "accessDenied" => {
                Ok(false)
            }
            Err(unanswered) => Err(self.api.fault(unanswered)),
        }
    }

    fn described(&self, query: &Query, seconds: Option<u64>) -> Json {
        let parameters: Vec<Json> =
            query.params.iter().enumerate().map(|(place, value)| parameter(place + 1, value)).collect();
        let mut statement = json!({
            "query": query.sql,
            "useLegacySql": false,
            "parameterMode": "NAMED",
            "queryParameters": parameters,
            // Always: a statement that would read more fails before it reads, and costs nothing.
            "maximumBytesBilled": self.max_bytes_billed.to_string(),
        });
        if let (Some(dataset), Some(statement)) = (&self.dataset, statement.as_object_mut()) {
            statement.insert("defaultDataset".into(), json!({ "projectId": self.project, "datasetId": dataset }));
        }
        let mut configuration = json!({ "query": statement, "labels": { "by": "gatehouse" } });
        if let (Some(seconds), Some(configuration)) = (seconds, configuration.as_object_mut()) {
            // Should this server die, nobody else would stop it.
            configuration.insert("jobTimeoutMs".into(), json!((seconds * 1_000).to_string()));
        }
        self.somewhere(configuration)
    }

    /// A job, where the datasets are.
    fn somewhere(&self, configuration: Json) -> Json {
        let mut job = json!({ "configuration": configuration });
        if let (Some(location), Some(job)) = (&self.location, job.as_object_mut()) {
            job.insert("jobReference".into(), json!({ "projectId": self.project, "location": location }));
        }
        job
    }

    fn at(&self) -> Vec<(&'static str, String)> {
        self.location.iter().map(|location| ("location", location.clone())).collect()
    }
}

/// A statement at work. Dropped before its end, it is cancelled.
pub struct Job {
    jobs: Arc<Jobs>,
    id: String,
    ended: bool,
}

impl Job {
    /// Runs a statement to its end and gives the table of its rows.
    pub async fn run(jobs: &Arc<Jobs>, query: &Query, seconds: u64) -> Result<Place, Fault> {
        let mut job =
            Self { jobs: jobs.clone(), id: format!("gatehouse_{}", uuid::Uuid::new_v4().simple()), ended: false };
        let mut state = job.begin(query, seconds).await?;
        while !is_done(&state) {
            job.wait().await?;
            state = jobs.api.get(&format!("jobs/{}", job.id), &jobs.at()).await?;
        }
        job.ended = true;
        if let Some(error) = state.pointer("/status/errorResult") {
            return Err(fault::failed(&jobs.api.name, error));
        }
        let read = number(state.pointer("/statistics/query/totalBytesBilled"));
        tracing::debug!(source = jobs.api.name, job = job.id, bytes_billed = read, "a statement of BigQuery's is done");
        place(&state).ok_or_else(|| fault::unreadable(&jobs.api.name))
    }

    /// Sent twice, it is made once: its name is taken by then.
    async fn begin(&mut self, query: &Query, seconds: u64) -> Result<Json, Fault> {
        let api = &self.jobs.api;
        let mut described = self.jobs.described(query, Some(seconds));
        let mut reference = json!({ "projectId": self.jobs.project, "jobId": self.id });
        if let (Some(location), Some(reference)) = (&self.jobs.location, reference.as_object_mut()) {
            reference.insert("location".into(), json!(location));
        }
        if let Some(described) = described.as_object_mut() {
            described.insert("jobReference".into(), reference);
        }
        match api.ask(Method::POST, "jobs", &[], Some(&described)).await {
            Ok(state) => Ok(state),
            Err(Unanswered::Refused(StatusCode::CONFLICT, _)) => {
                api.get(&format!("jobs/{}", self.id), &self.jobs.at()).await
            }
            Err(unanswered) => {
                // Refused, there is nothing to be cancelled.
                self.ended = matches!(unanswered, Unanswered::Refused(status, _) if status.is_client_error());
                Err(api.fault(unanswered))
            }
        }
    }

    /// Waits a while for its end. How it ended, the job itself says.
    async fn wait(&self) -> Result<(), Fault> {
        let mut query = self.jobs.at();
        query.extend([("maxResults", "0".to_owned()), ("timeoutMs", WAIT.to_string())]);
        let waited = self.jobs.api.ask(Method::GET, &format!("queries/{}", self.id), &query, None).await;
        match waited {
            Ok(_) => Ok(()),
            Err(Unanswered::Refused(status, _)) if status.is_client_error() && status != StatusCode::UNAUTHORIZED => {
                Ok(())
            }
            Err(unanswered) => Err(self.jobs.api.fault(unanswered)),
        }
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        if self.ended {
            return;
        }
        let (jobs, id) = (self.jobs.clone(), std::mem::take(&mut self.id));
        runtime.spawn(async move {
            let cancelled = jobs.api.ask(Method::POST, &format!("jobs/{id}/cancel"), &jobs.at(), None).await;
            if cancelled.is_err() {
                tracing::warn!(source = jobs.api.name, job = id, "a job of BigQuery's could not be cancelled");
            }
        });
    }
}

fn is_done(job: &Json) -> bool {
    job.pointer("/status/state").and_then(Json::as_str) == Some("DONE")
}

fn place(job: &Json) -> Option<Place> {
    let table = job.pointer("/configuration/query/destinationTable")?;
    let part = |name: &str| table.get(name).and_then(Json::as_str).map(str::to_owned);
    Some(Place { project: part("projectId")?, dataset: part("datasetId")?, table: part("tableId")? })
}

/// Google writes 64-bit numbers as text.
pub fn number(json: Option<&Json>) -> Option<u64> {
    let json = json?;
    json.as_u64().or_else(|| json.as_str()?.parse().ok())
}

/// The n-th value, from 1, as `@p1` stands for it.
fn parameter(number: usize, value: &Value) -> Json {
    let (kind, value) = match value {
        Value::Null => ("STRING", Json::Null),
        Value::Bool(truth) => ("BOOL", json!(truth.to_string())),
        Value::Int(number) => ("INT64", json!(number.to_string())),
        Value::Float(number) => ("FLOAT64", json!(number.to_string())),
        Value::Text(text) => ("STRING", json!(text)),
    };
    json!({
        "name": format!("p{number}"),
        "parameterType": { "type": kind },
        "parameterValue": { "value": value },
    })
}
