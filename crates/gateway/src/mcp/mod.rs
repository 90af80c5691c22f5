//! The Model Context Protocol: the tools of the house for agents that others make. Design §13.
//!
//! Two transports, one [`Server`]: [`over_http`] at `/mcp`, without sessions, every request with a token of its own; and
//! [`Server::over_pipes`] for a client that starts us as its child. A fault that a model can fix is the result of its call,
//! ours are errors of the protocol.

mod http;
mod notation;
mod pipes;
mod server;

pub use http::{over_http, over_http_for_dataset};
pub use server::{Server, Who};

/// Which tools a server offers.
#[derive(Debug, Clone)]
pub enum Offer {
    /// The five of Chat, over all that the caller may see.
    Chat,
    /// The three of SQLite's own server, over one dataset.
    Sqlite { dataset: String },
}
