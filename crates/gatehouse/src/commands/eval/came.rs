//! What came of a question, whoever planned it.

use domain::{Run, Status};
use serde::Serialize;

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Came {
    /// With rows.
    Answered,
    /// A question came back.
    Asked,
    Refused,
    /// No planner's word: the model, the engine or the time was not to be had.
    Failed,
    /// What is right is not known.
    Unjudged,
}

impl Came {
    pub fn of(run: &Run) -> Self {
        match run.status {
            Status::Succeeded if run.result_json.is_some() => Self::Answered,
            Status::Succeeded => Self::of_words(&run.assistant_message),
            Status::Clarify => Self::Asked,
            Status::Refused if is_trouble(run) => Self::Failed,
            Status::Refused => Self::Refused,
            Status::Failed | Status::Cancelled => Self::Failed,
        }
    }

    /// A model refuses and asks back in words alone.
    fn of_words(message: &str) -> Self {
        if message.trim_end().ends_with('?') { Self::Asked } else { Self::Refused }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Asked => "asked",
            Self::Refused => "refused",
            Self::Failed => "failed",
            Self::Unjudged => "unjudged",
        }
    }
}

/// Whether a model's server said no, rather than the model.
fn is_trouble(run: &Run) -> bool {
    let code = run.error_json.as_ref().map_or("", |fault| &fault.code);
    code.starts_with("model.") && code != "model.refusal"
}
