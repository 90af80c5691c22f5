//! What a model has to say about devices and scripts: one question, one answer in a given form, no tools.

use super::{Mind, Recall};
use crate::aside::aside;
use crate::doors::ops::masks::{Values, hidden};
use crate::house::House;
use domain::{Fault, Kind, ModelUse};
use ops::model::Prompt;
use planner::Spent;
use policy::redact::Masks;
use serde_json::{Value, json};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// An answer, or why there is none, and what it took.
pub struct Thought<T> {
    pub answer: Result<T, Fault>,
    pub used: ModelUse,
    pub cost_usd: Option<f64>,
    pub took: Duration,
}

impl<T> Thought<T> {
    fn of(answer: Result<T, Fault>, model: &str, spent: &Spent, start: Instant) -> Self {
        Self { answer, used: used(model, spent), cost_usd: spent.cost_usd, took: start.elapsed() }
    }

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
    /// Asks the model, where there is one.
    pub(crate) async fn think<T>(
        &self,
        prompt: Prompt,
        read: impl Fn(&str) -> Result<T, String> + Send + Sync,
    ) -> Result<Option<Thought<T>>, Fault> {
        self.ask_or_recall(prompt, read, None).await
    }

    /// The same, unless it was asked lately and what it said is kept: for what a model writes, and what it says of that.
    pub(crate) async fn think_once<T>(
        &self,
        prompt: Prompt,
        read: impl Fn(&str) -> Result<T, String> + Send + Sync,
    ) -> Result<Option<Thought<T>>, Fault> {
        self.ask_or_recall(prompt, read, self.ops.recall.as_ref()).await
    }

    /// The question is redacted here once more, whatever was done to it before: this is the only line of Ops that a text
    /// passes on its way to a model, or to what remembers for it.
    async fn ask_or_recall<T>(
        &self,
        prompt: Prompt,
        read: impl Fn(&str) -> Result<T, String> + Send + Sync,
        recall: Option<&Recall>,
    ) -> Result<Option<Thought<T>>, Fault> {
        let Mind::Model { agent, .. } = self.planning.mind() else { return Ok(None) };
        let (redactor, Prompt { system, question, schema }) = (self.ops.redactor.clone(), prompt);
        let (question, masks) = aside(move || {
            let mut masks = Masks::default();
            (redactor.redact(&question, &mut masks), masks)
        })
        .await?;
        // The model answers in the words that it was given.
        let values: Values = masks.values().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        // What is wrong with it is told to the model and the log, which do not see the values.
        let read = |answer: &str| read(&masks.restore(answer)).map_err(|wrong| hidden(&values, &wrong));
        let (start, name) = (Instant::now(), agent.model.name());
        let key = Recall::key(name, &[&system, &question, &schema.to_string()]);
        let known = match recall {
            Some(recall) => recall.find(&key).await.and_then(|known| read(&known).ok()),
            None => None,
        };
        if let Some(known) = known {
            return Ok(Some(Thought::of(Ok(known), name, &Spent::default(), start)));
        }
        let (mut spent, said) = (Spent::default(), Mutex::new(String::new()));
        let hear = |answer: &str| {
            answer.clone_into(&mut said.lock().unwrap_or_else(PoisonError::into_inner));
            read(answer)
        };
        let answer = agent.structured(&[system], question, schema, hear, &mut spent).await.and_then(in_shape);
        if let (Some(recall), Ok(_)) = (recall, &answer) {
            recall.keep(&key, &said.into_inner().unwrap_or_else(PoisonError::into_inner)).await;
        }
        Ok(Some(Thought::of(answer, name, &spent, start)))
    }
}

fn in_shape<T>(answer: Result<T, String>) -> Result<T, Fault> {
    answer.map_err(|_| {
        // What is wrong with it quotes it, and it may speak of what was found on a device.
        tracing::warn!("a model's answer has not the form that was asked for");
        Fault::new(Kind::NotUnderstood, "model.answer", "the model's answer could not be read")
            .hint("try again, or write it yourself")
    })
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
