//! One server: whom it works for and what it offers.

use super::Offer;
use super::notation::abridged;
use crate::House;
use crate::tools::{self, Bound, Called};
use domain::{Actor, Caller, Door, Fault, Kind, Purpose, RequestId, SessionId};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorCode, ErrorData, Implementation,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Value, json};
use std::sync::Arc;

/// What a model is shown of one result: more than it can use well, less than clients cut off.
const MOST_BYTES: usize = 48 * 1024;

pub struct Server {
    pub house: Arc<House>,
    pub who: Who,
    pub offer: Offer,
    pub door: Door,
    pub session: SessionId,
    /// Whether a model of ours is at work here, on its way to an answer.
    pub purpose: Purpose,
}

/// Who calls.
pub enum Who {
    /// Identified at the threshold, for one request.
    Request(Caller),
    /// Whoever started this program says so.
    Local { actor: String, role: String },
    /// Looked up with every call: a token that is revoked or has expired opens nothing any more.
    Token(String),
}

impl Server {
    /// The caller of one call.
    pub async fn caller(&self) -> Result<Caller, Fault> {
        match &self.who {
            Who::Request(caller) => Ok(caller.clone()),
            Who::Local { actor, role } => Ok(Caller::new(self.house.config.names.write(&Actor::token(actor)), role)),
            Who::Token(secret) => {
                let token = self.house.ledger.authenticate(secret).await.map_err(Fault::from)?;
                let token = token.ok_or_else(|| {
                    let message = "the token is unknown, expired or revoked";
                    Fault::new(Kind::Unauthenticated, "auth.refused", message)
                        .hint("create another one with `gatehouse tokens create`")
                })?;
                let (actor, role, claims) = (token.actor, token.role, token.claims);
                Ok(Caller { actor, role, claims, request_id: RequestId::new(), end_user: None })
            }
        }
    }

    fn tools(&self) -> Vec<tools::Tool> {
        match self.offer {
            Offer::Chat => tools::chat(),
            Offer::Sqlite { .. } => tools::sqlite(),
        }
    }

    async fn call(&self, caller: &Caller, name: &str, arguments: Value) -> Result<Called, Fault> {
        let Self { house, door, session, purpose, .. } = self;
        let bound =
            Bound { house, caller, door: *door, purpose: *purpose, session: *session, thread: None, words: None };
        match &self.offer {
            Offer::Chat => tools::call(&bound, name, arguments).await,
            Offer::Sqlite { dataset } => tools::call_sqlite(&bound, dataset, name, arguments).await,
        }
    }

    async fn answer(&self, request: CallToolRequestParams) -> Result<CallToolResult, ErrorData> {
        let caller = self.caller().await.map_err(|fault| ours(&fault, None))?;
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let called = self.call(&caller, &request.name, arguments).await;
        match called.and_then(|called| called.brief(MOST_BYTES)) {
            Ok(answer) => Ok(CallToolResult::success(vec![ContentBlock::text(answer.get())])),
            Err(fault) if fault.kind.model_can_fix() => {
                let told = format!("{} [{}]\nhint: {}", fault.message, fault.code, fault.hint);
                Ok(CallToolResult::error(vec![ContentBlock::text(told)]))
            }
            Err(fault) => Err(ours(&fault, Some(&caller.request_id))),
        }
    }
}

/// An error that no other call would avoid.
fn ours(fault: &Fault, request_id: Option<&RequestId>) -> ErrorData {
    let data = json!({ "code": fault.code, "hint": fault.hint, "request_id": request_id });
    ErrorData::new(ErrorCode::INTERNAL_ERROR, fault.to_string(), Some(data))
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let (name, about) = match self.offer {
            Offer::Chat => ("gatehouse", "Read-only access to datasets."),
            Offer::Sqlite { .. } => ("sqlite", "Read-only access to one database."),
        };
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new(name, env!("CARGO_PKG_VERSION")))
            .with_instructions(format!("{about} Every call is checked and recorded."))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools().into_iter().map(offered).collect()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tools().into_iter().find(|tool| tool.name == name).map(offered)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        tokio::select! {
            biased;
            // What still runs is stopped, and recorded so.
            () = context.ct.cancelled() => {
                Err(ErrorData::new(ErrorCode::INTERNAL_ERROR, "the call was cancelled", None))
            }
            answer = self.answer(request) => answer.map(CallToolResponse::from),
        }
    }
}

fn offered(tool: tools::Tool) -> Tool {
    let annotations = ToolAnnotations::new().read_only(true).idempotent(true).open_world(false);
    Tool::new(tool.name, tool.description, abridged(tool.input_schema)).with_annotations(annotations)
}
