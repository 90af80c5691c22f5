//! Ask to Proposal: the embedded planner, which needs no model and no network, and models that plan by calling tools.

mod agent;
mod claude;
mod claude_code;
mod links;
mod model;
pub mod offline;
mod openai;
mod placeholders;
mod prices;
pub mod prompt;
pub mod records;

pub use agent::{Agent, Answer, Caps, Ending, Event, Finished, Message, Role, Spent, Tool, Tools};
pub use claude_code::{ClaudeCode, McpServer};
pub use model::{Dialect, Model, Usage};
pub use placeholders::{Placeholders, Restorer, Shown};
pub use prices::Prices;
