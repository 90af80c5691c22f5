//! The agent CLI at work: it starts a `gatehouse mcp` of its own for the one question, as the caller and for no longer.

use super::hands::Hands;
use crate::house::House;
use domain::{Ask, Caller, Door, Fault, Purpose, Run};
use jiff::{SignedDuration, Timestamp};
use ledger::RunFilter;
use planner::{ClaudeCode, Event, Finished, McpServer, Message};
use std::sync::Arc;

/// How much longer the token of a question is good than the question may take.
const GRACE: SignedDuration = SignedDuration::from_secs(60);

impl House {
    pub(super) async fn ask_cli(
        self: &Arc<Self>,
        cli: &ClaudeCode,
        caller: &Caller,
        ask: &Ask,
        (system, messages): (&[String], &[Message]),
        hands: &Hands<'_>,
        hear: &mut (dyn FnMut(Event) + Send),
    ) -> Result<Finished, Fault> {
        let seconds = i64::try_from(self.config.model.timeout.as_secs()).unwrap_or(i64::MAX);
        let expires_at = Timestamp::now() + SignedDuration::from_secs(seconds) + GRACE;
        let (known, secret) = self.ledger.lend_token(caller, expires_at).await.map_err(Fault::from)?;
        let _revoked = Revoked { house: self.clone(), id: known.id };
        let program = std::env::current_exe().map_err(|_| Fault::internal("planner.program"))?;
        let server = McpServer { program, args: self.arguments(ask), token: secret.expose().to_owned() };
        let finished = cli.run(system, messages, &server, hear).await;
        hands.adopt(self.steps_of(ask).await?);
        Ok(finished)
    }

    fn arguments(&self, ask: &Ask) -> Vec<String> {
        let data = self.config.data.to_string_lossy().into_owned();
        let mut arguments = vec!["mcp".to_owned(), "--data".to_owned(), data];
        if let Some(file) = &self.config.file {
            arguments.extend(["--config".to_owned(), file.to_string_lossy().into_owned()]);
        }
        let (dataset, session) = (ask.source.clone(), ask.session.to_string());
        arguments.extend(["--tools", "sqlite", "--dataset", &dataset, "--session", &session].map(str::to_owned));
        if ask.door == Door::Analyst {
            arguments.push("--analyst".to_owned());
        }
        arguments
    }

    /// What was asked for in another process, in order.
    async fn steps_of(&self, ask: &Ask) -> Result<Vec<Run>, Fault> {
        let (session, purposes) = (Some(ask.session), &[Purpose::Step]);
        let filter = RunFilter { session, purposes, limit: RunFilter::MAX_LIMIT, ..RunFilter::default() };
        let page = self.ledger.runs(&filter).await.map_err(Fault::from)?;
        let mut steps = Vec::new();
        for run in page.runs.iter().rev() {
            steps.extend(self.ledger.run(run.run_id).await.map_err(Fault::from)?);
        }
        Ok(steps)
    }
}

/// Ends a question's token with the question, also with one that is stopped.
struct Revoked {
    house: Arc<House>,
    id: String,
}

impl Drop for Revoked {
    fn drop(&mut self) {
        let (house, id) = (self.house.clone(), std::mem::take(&mut self.id));
        self.house.tasks.spawn(async move {
            if let Err(error) = house.ledger.revoke_token(&id).await {
                tracing::error!(%error, "the token of a question was not revoked");
            }
        });
    }
}
