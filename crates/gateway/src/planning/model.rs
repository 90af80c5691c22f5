//! A question answered by a model. It is told what the caller may see, has the tools of its door and nothing else; every
//! statement it wants is a run of its own, checked and recorded like anybody's.

use super::Mind;
use super::hands::Hands;
use crate::active::{Event, Stage, Watch};
use crate::house::House;
use crate::http::error::RETRY_AFTER;
use domain::{Ask, Caller, Door, Fault, ModelUse, Run, Turn};
use planner::{Ending, Event as Said, Message, Restorer, Spent, prompt};
use std::sync::Arc;

/// What a model left unsaid, for whoever reads its answer.
const NOTES: [(Ending, &str); 3] = [
    (Ending::MaxTurns, "(The model had no turns left to look further.)"),
    (Ending::Budget, "(The budget of this question is used up; the model could not look further.)"),
    (Ending::MaxTokens, "(The answer is longer than the model may write, and ends here.)"),
];

impl House {
    /// The model's answer in words. What its last statement gave becomes the result of `run`; what it has used is written
    /// down as it goes, so that a run which is stopped has it too.
    pub async fn ask_model(
        self: &Arc<Self>,
        mind: &Mind,
        caller: &Caller,
        ask: &Ask,
        (question, history): (&str, &[Turn]),
        watch: &Watch,
        run: &mut Run,
    ) -> Result<String, Fault> {
        let (_, view) = self.dataset(caller, &ask.source).await?;
        let words = words(question, history);
        let hands = Hands::new(self, caller, ask, &words, watch);
        let messages = self.messages(caller, question, history, &hands).await?;
        let (mut restorer, mut said_so_far) = (Restorer::default(), String::new());
        let today = jiff::Zoned::now().date();
        let name = mind.model().unwrap_or_default().to_owned();
        run.model = Some(ModelUse { name, ..ModelUse::default() });
        let mut hear = |said: Said| match said {
            Said::Text(text) => {
                said_so_far.push_str(&text);
                // A run that is stopped has shown what came so far.
                if text.contains('⟧') {
                    note_shown(run, &hands, &said_so_far);
                }
                let text = hands.restore_piece(&mut restorer, &text);
                if !text.is_empty() {
                    watch.tell(Event::Words(text));
                }
            }
            Said::Spent(spent) => note_spent(run, &spent),
            Said::ToolFinished { .. } => note_steps(run, &hands),
            Said::ToolStarted { .. } => watch.enter(Stage::Validating),
        };
        let finished = match (mind, ask.door) {
            (Mind::Model { agent, .. }, Door::Analyst) => {
                agent.run(&prompt::analyst(&view, today), &messages, &hands, &mut hear).await
            }
            (Mind::Model { agent, .. }, _) => {
                agent.run(&prompt::chat(&view, today), &messages, &hands, &mut hear).await
            }
            (Mind::Cli(cli), _) => {
                self.ask_cli(cli, caller, ask, (&prompt::analyst(&view, today), &messages), &hands, &mut hear).await?
            }
            (Mind::Offline, _) => return Err(Fault::internal("planner.mind")),
        };
        note_spent(run, &finished.spent);
        note_steps(run, &hands);
        let again = finished.retry_after.map(|pause| pause.as_secs_f64().ceil().to_string());
        let answer = finished.answer.map_err(|fault| match again {
            Some(seconds) => fault.detail(RETRY_AFTER, seconds),
            None => fault,
        })?;
        hands.show_last(run);
        let note = NOTES.iter().find(|(ending, _)| *ending == answer.ending).map(|(_, note)| *note);
        note_shown(run, &hands, &answer.text);
        let rest = hands.restore_end(restorer) + &note.map(|note| format!("\n\n{note}")).unwrap_or_default();
        if !rest.is_empty() {
            watch.tell(Event::Words(rest));
        }
        let text = hands.restore(&answer.text);
        Ok(note.map_or(text.clone(), |note| format!("{text}\n\n{note}")))
    }

    /// The conversation, the question last. Answers that a client sends back have placeholders again for what this caller
    /// was shown; what the user writes is told as it is.
    async fn messages(
        &self,
        caller: &Caller,
        question: &str,
        history: &[Turn],
        hands: &Hands<'_>,
    ) -> Result<Vec<Message>, Fault> {
        let is_answered = history.iter().any(|turn| !turn.answer.trim().is_empty());
        let shown = if is_answered { self.ledger.shown_to(&caller.actor).await? } else { Vec::new() };
        let answer = |turn: &Turn| Message::assistant(hands.hide(&turn.answer, &shown));
        let before = history.iter().flat_map(|turn| [Message::user(&turn.question), answer(turn)]);
        Ok(before.filter(|message| !message.text.trim().is_empty()).chain([Message::user(question)]).collect())
    }
}

/// All that the user wrote.
fn words(question: &str, history: &[Turn]) -> String {
    history.iter().map(|turn| turn.question.as_str()).chain([question]).collect::<Vec<_>>().join("\n")
}

fn note_shown(run: &mut Run, hands: &Hands<'_>, said: &str) {
    if let Some(model) = &mut run.model {
        model.shown = hands.shown_in(said);
    }
}

fn note_spent(run: &mut Run, spent: &Spent) {
    run.cost_usd = spent.cost_usd;
    if let Some(model) = &mut run.model {
        model.prompt_tokens = spent.usage.prompt();
        model.completion_tokens = spent.usage.output;
        model.cache_read_tokens = spent.usage.cache_read;
        model.cache_write_tokens = spent.usage.cache_write;
        model.turns = spent.turns;
        model.tool_calls = spent.tool_calls;
    }
}

fn note_steps(run: &mut Run, hands: &Hands<'_>) {
    if let Some(model) = &mut run.model {
        (model.steps, model.personal) = hands.steps();
    }
}
