//! What we make of what the CLI says: events while it works, and how it ended.

use super::KNOWN;
use super::command::SERVER;
use super::frames::{Block, Delta, Frame, Outcome, StreamEvent, System};
use crate::Usage;
use crate::agent::{Answer, Ending, Event, Finished, Spent};
use crate::model::{Failure, api_failure};
use domain::logged::{code, phrases};
use domain::{Fault, Kind};
use std::collections::HashMap;

/// How the CLI begins the text of a call that failed at our server, not at the statement.
const OURS: &str = "MCP error -32603: ";

pub(super) struct Report<'a> {
    hear: &'a mut (dyn FnMut(Event) + Send),
    text: String,
    /// Where the text of this turn begins.
    turn_begins: usize,
    /// Whether texts come in pieces. If so, those of whole messages are repetitions.
    in_pieces: bool,
    /// Tools that have been called, by the id of the call.
    called: HashMap<String, String>,
    spent: Spent,
    /// What the messages before this one have used, and this one.
    before: Usage,
    message: Usage,
    answer: Option<Result<Answer, Failure>>,
}

impl<'a> Report<'a> {
    pub fn new(hear: &'a mut (dyn FnMut(Event) + Send)) -> Self {
        Self {
            hear,
            text: String::new(),
            turn_begins: 0,
            in_pieces: false,
            called: HashMap::new(),
            spent: Spent::default(),
            before: Usage::default(),
            message: Usage::default(),
            answer: None,
        }
    }

    /// Takes up a frame; true with the last one.
    pub fn take(&mut self, frame: Frame) -> Result<bool, Failure> {
        match frame {
            Frame::System(system) => locked_down(&system)?,
            Frame::StreamEvent { event } => self.streamed(event),
            Frame::Assistant { message } => message.content.blocks().into_iter().for_each(|block| self.said(block)),
            Frame::User { message } => {
                for block in message.content.blocks() {
                    self.came_back(block)?;
                }
            }
            Frame::Result(outcome) => {
                self.ended(*outcome);
                return Ok(true);
            }
            Frame::ControlResponse { .. } | Frame::Other => {}
        }
        Ok(false)
    }

    pub fn finish(mut self) -> Finished {
        match self.answer.take() {
            Some(Ok(answer)) => Finished { answer: Ok(answer), spent: self.spent, retry_after: None },
            Some(Err(failure)) => self.fail(failure),
            None => self.fail(Failure::cut()),
        }
    }

    pub fn fail(self, failure: Failure) -> Finished {
        Finished { retry_after: failure.retry_after(), answer: Err(*failure.fault), spent: self.spent }
    }

    fn streamed(&mut self, event: StreamEvent) {
        self.in_pieces = true;
        match event {
            StreamEvent::MessageStart { message } => {
                self.spent.turns += 1;
                self.turn_begins = self.text.len();
                self.message = message.usage.over(Usage::default());
            }
            StreamEvent::ContentBlockDelta { delta: Delta::TextDelta { text } } => self.tell(&text),
            StreamEvent::MessageDelta { usage } => self.message = usage.over(self.message),
            StreamEvent::MessageStop => {
                self.before += std::mem::take(&mut self.message);
                self.spent.usage = self.before;
                (self.hear)(Event::Spent(self.spent));
            }
            StreamEvent::ContentBlockDelta { .. } | StreamEvent::Other => {}
        }
    }

    fn tell(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        // Texts of two turns are two paragraphs.
        let first_of_turn = self.text.len() == self.turn_begins;
        let gap = if first_of_turn && !self.text.is_empty() { "\n\n" } else { "" };
        let text = format!("{gap}{text}");
        self.text.push_str(&text);
        (self.hear)(Event::Text(text));
    }

    fn said(&mut self, block: Block) {
        match block {
            Block::Text { text } if !self.in_pieces => {
                self.turn_begins = self.text.len();
                self.tell(&text);
            }
            Block::ToolUse { id, name, input } => {
                let name = own_name(&name).to_owned();
                self.spent.tool_calls += 1;
                self.called.insert(id.clone(), name.clone());
                (self.hear)(Event::ToolStarted { id, name, input });
            }
            Block::Text { .. } | Block::ToolResult { .. } | Block::Other => {}
        }
    }

    /// A call that our server could not serve ends the run; with another one, the model may try again.
    fn came_back(&mut self, block: Block) -> Result<(), Failure> {
        let Block::ToolResult { tool_use_id: id, content, is_error } = block else { return Ok(()) };
        let Some(name) = self.called.remove(&id) else { return Ok(()) };
        let fault = is_error.unwrap_or_default().then(|| fault(&content.text()));
        let ours = fault.clone().filter(|fault| !fault.kind.model_can_fix());
        (self.hear)(Event::ToolFinished { id, name, fault, cut: false });
        ours.map_or(Ok(()), |fault| Err(fault.into()))
    }

    fn ended(&mut self, outcome: Outcome) {
        if let Some(usage) = outcome.usage {
            self.spent.usage = usage.over(Usage::default());
        }
        self.spent.turns = outcome.num_turns.unwrap_or(self.spent.turns);
        self.spent.cost_usd = outcome.total_cost_usd;
        (self.hear)(Event::Spent(self.spent));
        let text = outcome.result.unwrap_or_default();
        self.answer = Some(match (outcome.subtype.as_str(), outcome.is_error, outcome.api_error_status) {
            (_, true, Some(status)) => Err(api_failure(status, None, None, &text)),
            ("success", false, _) => {
                if self.text.trim().is_empty() {
                    self.tell(&text);
                }
                self.answer(Ending::Complete, Kind::Unavailable, "model.empty")
            }
            ("error_max_turns", ..) => self.answer(Ending::MaxTurns, Kind::ResourceExceeded, "model.max_turns"),
            ("error_max_budget_usd", ..) => self.answer(Ending::Budget, Kind::ResourceExceeded, "model.budget"),
            (subtype, ..) => {
                // Its words may repeat the question.
                let said = phrases(&format!("{text} {:?}", outcome.errors), &KNOWN);
                tracing::warn!(subtype = code(subtype), said, "the agent CLI failed");
                Err(Fault::new(Kind::Unavailable, "model.failed", "the agent CLI failed").into())
            }
        });
    }

    /// All that was said, or, if that is nothing, a fault of this kind and code.
    fn answer(&mut self, ending: Ending, kind: Kind, code: &str) -> Result<Answer, Failure> {
        let text = std::mem::take(&mut self.text);
        if text.trim().is_empty() {
            return Err(Fault::new(kind, code, "the model stopped without an answer").into());
        }
        Ok(Answer { text, ending })
    }
}

/// Before anything is asked: our tools are there, and none that could do harm.
fn locked_down(system: &System) -> Result<(), Failure> {
    if system.subtype != "init" {
        return Ok(());
    }
    let ours = format!("mcp__{SERVER}__");
    if let Some(tool) = system.tools.iter().find(|tool| !tool.starts_with(&ours)) {
        tracing::error!(tool = code(tool), "the agent CLI offers the model a tool that it must not have");
        return Err(Fault::internal("model.lockdown").into());
    }
    match system.mcp_servers.iter().find(|server| server.name == SERVER) {
        Some(server) if server.status == "failed" => {
            Err(Fault::new(Kind::Unavailable, "model.tools", "the model's tools could not be started").into())
        }
        _ => Ok(()),
    }
}

/// `mcp__sqlite__read_query` is our `read_query`.
fn own_name(name: &str) -> &str {
    name.strip_prefix("mcp__")
        .and_then(|name| name.strip_prefix(SERVER))
        .and_then(|n| n.strip_prefix("__"))
        .unwrap_or(name)
}

/// What our server told the model: `message [code]`, and a hint below it.
fn fault(text: &str) -> Fault {
    let (text, kind) = match text.split_once(OURS) {
        Some((_, text)) => (text, Kind::Unavailable),
        None => (text, Kind::Invalid),
    };
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let coded = first.trim_end().strip_suffix(']').and_then(|first| first.rsplit_once(" ["));
    let (message, code) = coded.unwrap_or((first, "tool.failed"));
    let fault = Fault::new(kind, code, message);
    match rest.trim().strip_prefix("hint: ") {
        Some(hint) => fault.hint(hint),
        None => fault,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_read_back_as_they_were_told() {
        let cases = [
            ("no `x` [sql.unknown]\nhint: ask", (Kind::Invalid, "sql.unknown", "no `x`", "ask")),
            (
                "MCP error -32603: it crashed [engine.crashed]",
                (Kind::Unavailable, "engine.crashed", "it crashed", Kind::Unavailable.default_hint()),
            ),
            ("denied", (Kind::Invalid, "tool.failed", "denied", Kind::Invalid.default_hint())),
            ("", (Kind::Invalid, "tool.failed", "", Kind::Invalid.default_hint())),
        ];
        for (text, (kind, code, message, hint)) in cases {
            assert_eq!(fault(text), Fault::new(kind, code, message).hint(hint), "{text}");
        }
    }

    #[test]
    fn tools_have_their_own_names() {
        assert_eq!(own_name("mcp__sqlite__read_query"), "read_query");
        assert_eq!(own_name("mcp__other__read_query"), "mcp__other__read_query");
        assert_eq!(own_name("Bash"), "Bash");
    }
}
