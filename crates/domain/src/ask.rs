//! What a caller wants.

use crate::{Proposal, QueryPlan, SessionId, ThreadId};
use serde::{Deserialize, Serialize};

/// One request, translated by its door.
#[derive(Debug, Clone)]
pub struct Ask {
    pub door: Door,
    pub purpose: Purpose,
    /// The source it is about; for Chat, the dataset. Empty where the planner finds it (`Wish::Instruction`).
    pub source: String,
    pub wish: Wish,
    pub session: SessionId,
    pub thread: Option<ThreadId>,
}

/// In words, or with a proposal of the caller's own.
#[derive(Debug, Clone)]
pub enum Wish {
    /// A question and the turns of its thread before it, oldest first.
    Question {
        text: String,
        history: Vec<Turn>,
    },
    /// What is to be read or written, with resources that the caller thinks of. Nobody believes the hints.
    Instruction {
        text: String,
        hints: Vec<String>,
    },
    Proposal(Proposal),
    /// What a model wants run on its way to an answer, and all that its user wrote; no words where nothing could put
    /// personal values into its answer again.
    Step {
        proposal: Proposal,
        words: Option<std::sync::Arc<str>>,
    },
}

/// An earlier question of the thread and what it was understood as.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Turn {
    pub question: String,
    pub plan: Option<QueryPlan>,
    /// What was asked back, if the question was not clear.
    pub clarification: Option<crate::Clarification>,
    pub answer: String,
}

/// The surface that a request came in by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Door {
    Analyst,
    Chat,
    Records,
    Scan,
    /// Diagnostics, and scripts for devices.
    Ops,
    /// The command line on the machine itself.
    Local,
    /// Agents that speak the Model Context Protocol.
    Mcp,
}

impl Door {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Analyst => "analyst",
            Self::Chat => "chat",
            Self::Records => "records",
            Self::Scan => "scan",
            Self::Ops => "ops",
            Self::Local => "local",
            Self::Mcp => "mcp",
        }
    }
}

/// Why a statement runs: to answer, or to learn what the answerer needs to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Purpose {
    /// Somebody wants these rows.
    Answer,
    /// A model wanted to know it, on its way to an answer.
    Step,
    /// Samples and counts for a schema page.
    Describe,
    /// How much a scan would read and give; nothing of it is sent.
    Estimate,
    /// The values that a planner may recognise in questions.
    Index,
}

impl Purpose {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Answer => "answer",
            Self::Step => "step",
            Self::Describe => "describe",
            Self::Estimate => "estimate",
            Self::Index => "index",
        }
    }
}
