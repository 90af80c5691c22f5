//! A model at work: it is asked, calls tools, reads what they say, and answers. The model has no other hands than the
//! tools it is given, and no more turns, money and time than its caps.

mod budget;
mod conversation;
mod once;
mod tools;
mod work;

pub use conversation::{Message, Role};
pub use tools::{Tool, Tools};

pub(crate) use conversation::{CallResult, Entry, begin};

use crate::{Model, Prices, Usage};
use domain::{Fault, Kind};
use serde_json::Value;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};
use work::Work;

/// A model with its prices and caps. One serves any number of runs at a time.
#[derive(Debug)]
pub struct Agent {
    pub model: Model,
    pub prices: Prices,
    pub caps: Caps,
}

/// How much one run may use.
#[derive(Debug, Clone, Copy)]
pub struct Caps {
    /// Calls of the model. On the last one it may call no tool, so that it answers with what it has.
    pub max_turns: u32,
    /// Binds where the model's price is known.
    pub max_budget_usd: f64,
    /// For everything: the model, its tools, and waiting to try again.
    pub seconds: u32,
    /// Tokens of one reply.
    pub max_tokens: u64,
    /// Bytes of one tool result that the model is shown.
    pub tool_result_bytes: usize,
}

impl Default for Caps {
    fn default() -> Self {
        Self { max_turns: 10, max_budget_usd: 0.50, seconds: 240, max_tokens: 8_192, tool_result_bytes: 32 * 1024 }
    }
}

/// What happens in a run, told while it happens.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// More of the answer. All of these together are [`Answer::text`].
    Text(String),
    ToolStarted {
        id: String,
        name: String,
        input: Value,
    },
    /// A `fault` that the model can fix was told to it, another one ends the run. `cut`: it saw only a beginning.
    ToolFinished {
        id: String,
        name: String,
        fault: Option<Fault>,
        cut: bool,
    },
    /// What the run has spent so far: the last word on it for a run that is dropped.
    Spent(Spent),
}

/// What a run has used.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Spent {
    pub usage: Usage,
    /// Not known of models without a price.
    pub cost_usd: Option<f64>,
    pub turns: u32,
    pub tool_calls: u32,
}

/// A run that has ended, one way or the other.
#[derive(Debug)]
pub struct Finished {
    pub answer: Result<Answer, Fault>,
    pub spent: Spent,
    /// When the provider says that asking again may help.
    pub retry_after: Option<Duration>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Never empty.
    pub text: String,
    pub ending: Ending,
}

/// Why the answer ends where it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The model had said all.
    Complete,
    /// It would have gone on calling tools: what it made of those it had called.
    MaxTurns,
    /// The same, for want of money.
    Budget,
    /// It broke off at the length of a reply.
    MaxTokens,
}

impl Agent {
    /// Runs to the end. `system` are the parts of the prompt, `messages` the whole conversation, the question last.
    /// Dropping the future stops it, the request to the model included.
    pub async fn run(
        &self,
        system: &[String],
        messages: &[Message],
        tools: &dyn Tools,
        hear: &mut (dyn FnMut(Event) + Send),
    ) -> Finished {
        let until = Instant::now() + Duration::from_secs(self.caps.seconds.into());
        let mut work = Work::new(self, system, tools, hear, until);
        let answer = match begin(messages) {
            Ok(transcript) => match timeout_at(until, work.walk(transcript)).await {
                Ok(answer) => answer,
                Err(_) => Err(self.too_late()),
            },
            Err(fault) => Err(fault),
        };
        Finished { answer, spent: work.spent(), retry_after: work.retry_after() }
    }

    fn too_late(&self) -> Fault {
        Fault::new(Kind::Timeout, "model.timeout", format!("no answer within {} seconds", self.caps.seconds))
    }
}
