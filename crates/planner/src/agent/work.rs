//! One run, turn by turn.

use super::budget::{Measured, allow};
use super::tools::call;
use super::{Agent, Answer, Ending, Entry, Event, Spent, Tool, Tools};
use crate::model::{Failure, Hear, Reply, Request, Stop};
use crate::{Prices, Usage};
use bytes::Bytes;
use domain::{Fault, Kind};
use std::time::Duration;
use tokio::time::Instant;

/// What the model is told when it may call no more tools.
const LAST_TURN: &str = "No more tools can be called. Answer now, with what you have found, and say what is missing.";

pub(super) struct Work<'a> {
    agent: &'a Agent,
    system: &'a [String],
    tools: &'a dyn Tools,
    offered: Vec<Tool>,
    until: Instant,
    told: Told<'a>,
    measured: Measured,
    retry_after: Option<Duration>,
}

/// What has been told so far, and what it has cost.
struct Told<'a> {
    hear: &'a mut (dyn FnMut(Event) + Send),
    prices: &'a Prices,
    model: &'a str,
    text: String,
    /// Where the text of this turn begins.
    turn_begins: usize,
    spent: Spent,
    last: Usage,
}

impl Hear for Told<'_> {
    fn text(&mut self, text: &str) {
        // Texts of two turns are two paragraphs.
        let first_of_turn = self.text.len() == self.turn_begins;
        let gap = if first_of_turn && !self.text.is_empty() { "\n\n" } else { "" };
        let text = format!("{gap}{text}");
        self.text.push_str(&text);
        (self.hear)(Event::Text(text));
    }

    fn used(&mut self, usage: Usage) {
        self.last = usage;
        self.spent.usage += usage;
        if let (Some(so_far), Some(cost)) = (self.spent.cost_usd, self.prices.cost(self.model, &usage)) {
            // Without the dust of binary fractions, which every record would show.
            self.spent.cost_usd = Some(((so_far + cost) * 1e12).round() / 1e12);
        }
        (self.hear)(Event::Spent(self.spent));
    }
}

impl<'a> Work<'a> {
    pub fn new(
        agent: &'a Agent,
        system: &'a [String],
        tools: &'a dyn Tools,
        hear: &'a mut (dyn FnMut(Event) + Send),
        until: Instant,
    ) -> Self {
        let (prices, model) = (&agent.prices, agent.model.name());
        let spent = Spent { cost_usd: prices.of(model, 0).map(|_| 0.0), ..Spent::default() };
        let told = Told { hear, prices, model, text: String::new(), turn_begins: 0, spent, last: Usage::default() };
        let offered = tools.list();
        Self { agent, system, tools, offered, until, told, measured: Measured::default(), retry_after: None }
    }

    pub fn spent(&self) -> Spent {
        self.told.spent
    }

    pub fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }

    /// Asks, calls what the model wants called, and asks again, until it answers.
    pub async fn walk(&mut self, mut transcript: Vec<Entry>) -> Result<Answer, Fault> {
        loop {
            let (reply, last) = self.turn(&transcript).await?;
            match reply.stop {
                Stop::Refused => return Err(declined()),
                Stop::MaxTokens => return self.answer(Ending::MaxTokens, Kind::ResourceExceeded, "model.max_tokens"),
                Stop::ContextFull => return self.answer(Ending::MaxTokens, Kind::TooLarge, "model.too_long"),
                Stop::End if reply.calls.is_empty() => {
                    return self.answer(last.unwrap_or(Ending::Complete), Kind::Unavailable, "model.empty");
                }
                Stop::End | Stop::Paused => {}
            }
            if let Some(ending) = last {
                return self.answer(ending, Kind::ResourceExceeded, "model.max_turns");
            }
            let results = self.call_all(&reply).await?;
            transcript.push(Entry::Reply(reply.echo));
            if !results.is_empty() {
                transcript.push(Entry::Results(results));
            }
        }
    }

    /// One call of the model, if there is money for it; and whether, and why, it has to be the last.
    async fn turn(&mut self, transcript: &[Entry]) -> Result<(Reply, Option<Ending>), Fault> {
        let Agent { model, prices, caps } = self.agent;
        let turn = self.told.spent.turns + 1;
        let mut request = Request {
            model: model.name(),
            system: self.system,
            transcript,
            tools: &self.offered,
            may_call: true,
            note: None,
            max_tokens: caps.max_tokens,
            schema: None,
        };
        let bytes = size(&model.body(&request));
        let allowance = allow(prices, model.name(), caps, &self.told.spent, self.measured.estimate(bytes))?;
        request.max_tokens = allowance.max_tokens;
        let last = match turn {
            _ if turn >= caps.max_turns => Some(Ending::MaxTurns),
            // On the first turn tools are what an answer needs most.
            2.. if allowance.is_last => Some(Ending::Budget),
            _ => None,
        };
        if last.is_some() && !self.offered.is_empty() {
            (request.may_call, request.note) = (false, Some(LAST_TURN));
        }
        let body = serde_json::to_vec(&model.body(&request)).map_err(|_| Fault::internal("model.body"))?;
        self.told.spent.turns = turn;
        self.told.turn_begins = self.told.text.len();
        let reply = model.complete(Bytes::from(body), self.until, &mut self.told).await;
        let reply = reply.map_err(|failure| self.failed(failure))?;
        // Not every server says what it has read.
        if self.told.last.prompt() > 0 {
            self.measured = Measured { bytes, tokens: self.told.last.prompt() };
        }
        Ok((reply, last))
    }

    /// One after the other: the record keeps the order in which the model asked.
    async fn call_all(&mut self, reply: &Reply) -> Result<Vec<super::CallResult>, Fault> {
        let mut results = Vec::new();
        for wanted in &reply.calls {
            let (id, name) = (wanted.id.clone(), wanted.name.clone());
            let input = wanted.input.clone().unwrap_or_default();
            (self.told.hear)(Event::ToolStarted { id: id.clone(), name: name.clone(), input });
            self.told.spent.tool_calls += 1;
            let called = call(self.tools, &self.offered, wanted, self.agent.caps.tool_result_bytes).await;
            (self.told.hear)(Event::ToolFinished { id, name, fault: called.fault.clone(), cut: called.cut });
            if let Some(fault) = called.fault.filter(|fault| self.tools.ends_run(fault)) {
                return Err(fault);
            }
            results.push(called.result);
        }
        Ok(results)
    }

    fn failed(&mut self, failure: Failure) -> Fault {
        self.retry_after = failure.retry_after();
        *failure.fault
    }

    /// All that was said, or, if that is nothing, a fault of this kind and code.
    fn answer(&mut self, ending: Ending, kind: Kind, code: &str) -> Result<Answer, Fault> {
        let text = std::mem::take(&mut self.told.text);
        if text.trim().is_empty() {
            let message = "the model stopped without an answer";
            return Err(Fault::new(kind, code, message));
        }
        Ok(Answer { text, ending })
    }
}

fn declined() -> Fault {
    Fault::new(Kind::NotUnderstood, "model.refusal", "the model declined to answer").hint("ask in another way")
}

fn size(body: &serde_json::Value) -> u64 {
    body.to_string().len() as u64
}
