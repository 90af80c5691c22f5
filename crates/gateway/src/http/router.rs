//! All routes, in one table, and what wraps them.

use super::{health, page, session, threshold};
use crate::House;
use crate::doors::{admin, analyst, chat, ops, records, scan};
use crate::{mcp, tools};
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::from_fn_with_state;
use axum::routing::{delete, get, post};
use std::sync::Arc;
use std::time::Duration;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::timeout::RequestBodyTimeoutLayer;

/// A body that takes longer than this to arrive is not waited for.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

#[rustfmt::skip]
pub fn router(house: Arc<House>) -> Router {
    Router::new()
        // open to everybody
        .route("/livez",                 get(health::live))
        .route("/healthz",               get(health::ready))
        .route("/",                      get(page::index))
        .route("/r/{run}",               get(page::index))
        .route("/t/{thread}",            get(page::index))
        .route("/history",               get(page::index))
        .route("/ops/{page}",            get(page::index))
        .route("/ops/{page}/{id}",       get(page::index))
        .route("/admin/{page}",          get(page::index))
        .route("/assets/{*path}",        get(page::asset))
        .route("/login",                 get(session::login))
        // the page's own
        .route("/session",               get(session::who))
        .route("/logout",                post(session::logout))
        // Chat
        .route("/datasets",              get(chat::datasets::list))
        .route("/datasets/{id}/schema",  get(chat::datasets::schema))
        .route("/datasets/{id}/query",   post(chat::query::query))
        .route("/chat",                  post(chat::ask::chat))
        .route("/chat/stream",           post(chat::stream::chat_stream))
        .route("/runs",                  get(chat::runs::list))
        .route("/runs/{id}",             get(chat::runs::show).delete(chat::runs::cancel))
        .route("/runs/{id}/events",      get(chat::stream::resume))
        .route("/runs/{id}/sql",         get(chat::runs::sql))
        // Analyst
        .route("/v1/chat/completions",   post(analyst::completions))
        .route("/v1/models",             get(analyst::models))
        .route("/v1/models/{*id}",       get(analyst::model))
        // Records
        .route("/agent/db",              post(records::instruct))
        .route("/agent/db/plan",         post(records::run_plan))
        // Scan
        .route("/api/v2/catalog",        get(scan::catalog::catalog))
        .route("/api/v2/schema/{id}",    get(scan::schema::schema))
        .route("/api/v2/sample/{id}",    get(scan::sample::sample))
        .route("/api/v2/scan",           post(scan::slice::scan))
        .route("/api/v2/scan/estimate",  post(scan::estimate::estimate))
        .route("/api/query",             post(scan::query::query))
        .route("/api/query/hybrid",      post(scan::hybrid::hybrid))
        .route("/api/sync/manifest",     get(scan::sync::manifest))
        .route("/api/sync/tables/{id}",  get(scan::sync::table))
        .route("/api/admin/catalog/invalidate", post(scan::admin::invalidate))
        .route("/api/admin/tables",      post(scan::admin::register))
        .route("/api/admin/tables/{id}", get(scan::admin::describe).delete(scan::admin::unregister))
        // Ops
        .route("/api/v1/ai/schemas",     get(ops::schemas))
        .route("/api/v1/ai/diagnostics", get(ops::list_diagnostics).post(ops::submit))
        .route("/api/v1/ai/diagnostics/{id}", get(ops::show_diagnostics))
        .route("/api/v1/ai/analyses",    post(ops::analyse))
        .route("/api/v1/ai/analyses/{id}", get(ops::show_analysis))
        .route("/api/v1/ai/runbooks",    get(ops::runbooks))
        .route("/api/v1/ai/validations", post(ops::validate))
        .route("/api/v1/ai/proposals",   get(ops::list_proposals).post(ops::propose))
        .route("/api/v1/ai/proposals/{id}", get(ops::show_proposal).put(ops::edit))
        .route("/api/v1/ai/proposals/{id}/approve", post(ops::approve))
        .route("/api/v1/ai/proposals/{id}/reject", post(ops::reject))
        .route("/api/v1/ai/proposals/{id}/withdraw", post(ops::withdraw))
        .route("/api/v1/ai/packages/{id}", get(ops::show_package))
        .route("/api/v1/devices",        get(ops::list_devices).post(ops::expect))
        .route("/api/v1/devices/enrol",  post(ops::enrol))
        .route("/api/v1/devices/claim",  post(ops::claim))
        .route("/api/v1/devices/logs",   post(ops::log))
        .route("/api/v1/devices/result", post(ops::result))
        // for agents and their makers
        .route("/tools",                 get(tools::list))
        .route("/tools/{name}",          post(tools::call_over_http))
        .route("/mcp",                   post(mcp::over_http))
        .route("/mcp/{dataset}",         post(mcp::over_http_for_dataset))
        .route("/schemas/{name}",        get(page::json_schema))
        // for operators
        .route("/metrics",               get(health::metrics))
        .route("/policy",                get(admin::policy::show))
        .route("/policy/check",          post(admin::policy::check))
        .route("/audit",                 get(admin::audit::show))
        .route("/audit/verify",          post(admin::audit::verify))
        .route("/tokens",                get(admin::tokens::list).post(admin::tokens::create))
        .route("/tokens/{id}",           delete(admin::tokens::revoke))
        .fallback(threshold::no_route)
        .method_not_allowed_fallback(threshold::wrong_method)
        .layer(DefaultBodyLimit::max(house.config.server.body_limit_bytes))
        .layer(RequestBodyTimeoutLayer::new(BODY_TIMEOUT))
        .layer(CatchPanicLayer::custom(threshold::panicked))
        .layer(from_fn_with_state(house.clone(), threshold::cross))
        .with_state(house)
}
