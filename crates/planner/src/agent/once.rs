//! One reply without tools, in a form that is given: structured output.

use super::budget::{Measured, allow};
use super::{Agent, Message, Spent, begin};
use crate::Usage;
use crate::model::{Hear, Request, Stop};
use bytes::Bytes;
use domain::{Fault, Kind};
use serde_json::Value;
use std::fmt::Display;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// A model held to one form of answer, with one deadline for all its replies.
struct Once<'a> {
    agent: &'a Agent,
    system: &'a [String],
    schema: Value,
    until: Instant,
    measured: Measured,
}

#[derive(Default)]
struct Heard {
    text: String,
    usage: Usage,
}

impl Hear for Heard {
    fn text(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn used(&mut self, usage: Usage) {
        self.usage += usage;
    }
}

impl<'a> Once<'a> {
    fn new(agent: &'a Agent, system: &'a [String], schema: Value) -> Self {
        let until = Instant::now() + Duration::from_secs(agent.caps.seconds.into());
        Self { agent, system, schema, until, measured: Measured::default() }
    }

    /// The whole text of one reply. What it costs is added to `spent`, also if it fails.
    async fn reply(&mut self, messages: &[Message], spent: &mut Spent) -> Result<String, Fault> {
        let Agent { model, prices, caps } = self.agent;
        let transcript = begin(messages)?;
        let mut request = Request {
            model: model.name(),
            system: self.system,
            transcript: &transcript,
            tools: &[],
            may_call: false,
            note: None,
            max_tokens: caps.max_tokens,
            schema: Some(&self.schema),
        };
        let bytes = model.body(&request).to_string().len() as u64;
        request.max_tokens = allow(prices, model.name(), caps, spent, self.measured.estimate(bytes))?.max_tokens;
        let body = serde_json::to_vec(&model.body(&request)).map_err(|_| Fault::internal("model.body"))?;
        let mut heard = Heard::default();
        spent.turns += 1;
        let reply = timeout_at(self.until, model.complete(Bytes::from(body), self.until, &mut heard)).await;
        spent.usage += heard.usage;
        spent.cost_usd = match (prices.cost(model.name(), &heard.usage), spent.turns) {
            (Some(cost), _) => Some(spent.cost_usd.unwrap_or_default() + cost),
            (None, _) => None,
        };
        self.measured = Measured { bytes, tokens: heard.usage.prompt() };
        let reply = reply.map_err(|_| self.agent.too_late())?.map_err(|failure| *failure.fault)?;
        match reply.stop {
            Stop::Refused => Err(Fault::new(Kind::NotUnderstood, "model.refusal", "the model declined to answer")),
            Stop::MaxTokens | Stop::ContextFull => Err(Fault::new(
                Kind::ResourceExceeded,
                "model.max_tokens",
                "the model's answer is longer than it may be",
            )),
            Stop::End | Stop::Paused => Ok(heard.text),
        }
    }
}

impl Agent {
    /// One question that is answered in the form of `schema`, and one more turn if `read` can't read the answer. The inner
    /// error is what was wrong with the second one.
    pub async fn structured<T, E: Display>(
        &self,
        system: &[String],
        question: String,
        schema: Value,
        read: impl Fn(&str) -> Result<T, E>,
        spent: &mut Spent,
    ) -> Result<Result<T, E>, Fault> {
        let mut once = Once::new(self, system, schema);
        let mut messages = vec![Message::user(question)];
        let first = once.reply(&messages, spent).await?;
        let wrong = match read(&first) {
            Ok(found) => return Ok(Ok(found)),
            Err(wrong) => wrong.to_string(),
        };
        messages.push(Message::assistant(if first.trim().is_empty() { "{}".to_owned() } else { first }));
        messages.push(Message::user(format!("{wrong}. Answer again, with the corrected JSON alone.")));
        Ok(read(&once.reply(&messages, spent).await?))
    }
}
