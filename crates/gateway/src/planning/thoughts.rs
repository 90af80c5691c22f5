//! What a model has to say about devices and scripts: one question, one answer in a given form, no tools.

use super::Mind;
use crate::aside::aside;
use crate::house::House;
use domain::{Fault, Kind, ModelUse};
use ops::model::Prompt;
use planner::Spent;
use policy::redact::Masks;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// An answer, or why there is none, and what it took.
pub struct Thought<T> {
    pub answer: Result<T, Fault>,
    pub used: ModelUse,
    pub cost_usd: Option<f64>,
    pub took: Duration,
}

impl<T> Thought<T> {
    /// For the record: what it took, and why there is no answer.
    pub fn account(&self) -> Value {
        json!({
            "name": self.used.name, "ms": self.took.as_secs_f64() * 1e3, "turns": self.used.turns,
            "prompt_tokens": self.used.prompt_tokens, "completion_tokens": self.used.completion_tokens,
            "cost_usd": self.cost_usd, "fault": self.answer.as_ref().err().map(|fault| &fault.code),
        })
    }
}

impl House {
    /// Asks the model, where there is one. The question is redacted here once more, whatever was done to it before: this is
    /// the only line of Ops that a text passes on its way to a model.
    pub(crate) async fn think<T>(
        &self,
        prompt: Prompt,
        read: impl Fn(&str) -> Result<T, String> + Send + Sync,
    ) -> Result<Option<Thought<T>>, Fault> {
        let Mind::Model { agent, .. } = self.planning.mind() else { return Ok(None) };
        let (redactor, Prompt { system, question, schema }) = (self.ops.redactor.clone(), prompt);
        let (question, masks) = aside(move || {
            let mut masks = Masks::default();
            (redactor.redact(&question, &mut masks), masks)
        })
        .await?;
        let (start, mut spent) = (Instant::now(), Spent::default());
        // The model answers in the words that it was given.
        let read = |answer: &str| read(&masks.restore(answer));
        let answer = agent.structured(&[system], question, schema, read, &mut spent).await;
        let answer = answer.and_then(|answer| {
            answer.map_err(|wrong| {
                tracing::warn!(wrong, "a model's answer has not the form that was asked for");
                Fault::new(Kind::NotUnderstood, "model.answer", "the model's answer could not be read")
                    .hint("try again, or write it yourself")
            })
        });
        Ok(Some(Thought {
            answer,
            used: used(agent.model.name(), &spent),
            cost_usd: spent.cost_usd,
            took: start.elapsed(),
        }))
    }
}

fn used(name: &str, spent: &Spent) -> ModelUse {
    ModelUse {
        name: name.to_owned(),
        prompt_tokens: spent.usage.prompt(),
        completion_tokens: spent.usage.output,
        cache_read_tokens: spent.usage.cache_read,
        cache_write_tokens: spent.usage.cache_write,
        turns: spent.turns,
        ..ModelUse::default()
    }
}
