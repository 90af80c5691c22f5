//! What agents may do, defined once: for models, for MCP, and over HTTP for whoever writes an agent of their own.
//!
//! Two sets: [`chat`], the five tools of spec 001 §5, over all datasets that the caller may see, and [`sqlite`], three
//! over one dataset, as spec 000's analyst has them. Each call is checked and recorded like any other request.

mod answer;
mod chat;
mod http;
mod sqlite;

pub use answer::Called;
pub use chat::{call, chat};
pub use http::{call_over_http, list};
pub use sqlite::{call_sqlite, sqlite};

use crate::{House, Reply};
use domain::{Ask, Caller, Door, Fault, Kind, Proposal, Purpose, SessionId, SourceSchema, Table, ThreadId, Wish};
use ledger::AuditEvent;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::sync::Arc;

/// One tool as models are told of it.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Tool {
    pub name: &'static str,
    pub description: &'static str,
    pub input_schema: Value,
}

impl Tool {
    fn new(name: &'static str, description: &'static str, arguments: schemars::Schema) -> Self {
        let mut input_schema = arguments.to_value();
        if let Some(schema) = input_schema.as_object_mut() {
            // Names of ours and of a standard: models pay for them and do nothing with them.
            schema.remove("$schema");
            schema.remove("title");
        }
        Self { name, description, input_schema }
    }
}

/// Whom the tools work for, and what their runs are part of.
#[derive(Clone, Copy)]
pub struct Bound<'a> {
    pub house: &'a Arc<House>,
    pub caller: &'a Caller,
    pub door: Door,
    /// Whether somebody wants what they give, or a model on its way to an answer.
    pub purpose: Purpose,
    /// The runs of one request share it.
    pub session: SessionId,
    pub thread: Option<ThreadId>,
    /// All that a model's user wrote, where somebody puts personal values into the model's answer again.
    pub words: Option<&'a str>,
}

impl Bound<'_> {
    /// Sends a proposal down the path. One that does not come as far as a run is on record all the same. Nobody can come
    /// back for what a tool was to give: when its caller goes, it is stopped, and recorded so.
    async fn run(&self, proposal: Proposal) -> Result<Arc<Reply>, Fault> {
        if let Err(fault) = self.house.dataset(self.caller, proposal.source()).await {
            return Err(self.refuse(fault).await);
        }
        let ask = Ask {
            door: self.door,
            purpose: self.purpose,
            source: proposal.source().to_owned(),
            wish: match self.purpose {
                Purpose::Step => Wish::Step { proposal, words: self.words.map(Arc::from) },
                _ => Wish::Proposal(proposal),
            },
            session: self.session,
            thread: self.thread,
        };
        let walk = self.house.start(self.caller.clone(), ask);
        // Whoever stops waiting for a tool wants it no more.
        let _stop = walk.watch.cancel.clone().drop_guard();
        walk.reply().await
    }

    /// What a model is told of a source has no personal fields in it.
    fn shown(&self, mut view: SourceSchema) -> SourceSchema {
        if self.purpose == Purpose::Step {
            for table in &mut view.tables {
                table.columns.retain(|column| !column.pii);
                let Table { columns, primary_key, foreign_keys, .. } = table;
                let is_shown = |name: &String| columns.iter().any(|column| column.name == *name);
                if !primary_key.iter().all(is_shown) {
                    primary_key.clear();
                }
                foreign_keys.retain(|key| key.columns.iter().all(is_shown));
            }
        }
        view
    }

    /// Something to know. The version of the data and the sizes of its files change with personal values too, and are of no
    /// use to a model.
    fn told(&self, value: &impl serde::Serialize) -> Result<Called, Fault> {
        if self.purpose != Purpose::Step {
            return Called::value(value);
        }
        let mut told = serde_json::to_value(value).map_err(|_| Fault::internal("tool.answer"))?;
        without_state(&mut told);
        Called::value(&told)
    }

    pub(crate) async fn refuse(&self, fault: Fault) -> Fault {
        let detail = serde_json::json!({ "code": fault.code });
        let event = AuditEvent::new("proposal.refused").by(self.caller).through(self.door).detail(detail);
        match self.house.ledger.append(event).await {
            Ok(_) => fault,
            Err(error) => Fault::from(error),
        }
    }
}

fn without_state(told: &mut Value) {
    match told {
        Value::Object(fields) => {
            fields.retain(|name, _| !["version_hash", "bytes"].contains(&name.as_str()));
            fields.values_mut().for_each(without_state);
        }
        Value::Array(items) => items.iter_mut().for_each(without_state),
        _ => {}
    }
}

fn parse<T: DeserializeOwned>(arguments: Value) -> Result<T, Fault> {
    serde_path_to_error::deserialize(arguments)
        .map_err(|e| Fault::new(Kind::Invalid, "tool.arguments", format!("`{}`: {}", e.path(), e.inner())))
}

fn unknown(name: &str, tools: &[Tool]) -> Fault {
    let shown: String = name.chars().take(64).collect();
    let names: Vec<&str> = tools.iter().map(|tool| tool.name).collect();
    Fault::new(Kind::NotFound, "tool.unknown", format!("there is no tool `{shown}`"))
        .hint(format!("there are: {}", names.join(", ")))
}
