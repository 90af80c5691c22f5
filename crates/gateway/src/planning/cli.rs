//! The agent CLI at work. Its tools are those of this server, as the caller and for the one question: the CLI starts a
//! `gatehouse mcp --connect`, which passes on what is said between the CLI and a socket of ours. So neither of them needs
//! the server's data, settings or secrets.

use super::hands::Hands;
use crate::house::House;
use crate::mcp::{Offer, Server, Who};
use domain::{Ask, Caller, Door, Fault, Purpose, Run};
use ledger::RunFilter;
use planner::{ClaudeCode, Event, Finished, McpServer, Message};
use std::io;
use std::os::unix::fs::chown;
use std::path::PathBuf;
use std::sync::Arc;
use tempfile::TempDir;
use tokio::net::UnixListener;
use tokio::task::JoinSet;

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
        let (dir, listener, socket) = listen(cli.user()).map_err(|error| {
            tracing::error!(%error, "no socket for the agent CLI");
            Fault::internal("planner.socket")
        })?;
        let program = std::env::current_exe().map_err(|_| Fault::internal("planner.program"))?;
        let args = ["mcp", "--connect"].map(str::to_owned).into_iter().chain([socket.to_string_lossy().into_owned()]);
        let server = McpServer { program, args: args.collect(), token: None };
        let finished = tokio::select! {
            finished = cli.run(system, messages, &server, hear) => finished,
            () = self.serve_cli(listener, caller, ask) => return Err(Fault::internal("planner.socket")),
        };
        drop(dir);
        hands.adopt(self.steps_of(ask).await?);
        Ok(finished)
    }

    /// Serves whoever comes to the socket; when this is dropped, so are they.
    async fn serve_cli(self: &Arc<Self>, listener: UnixListener, caller: &Caller, ask: &Ask) {
        let door = if ask.door == Door::Analyst { Door::Analyst } else { Door::Mcp };
        let mut clients = JoinSet::new();
        while let Ok((client, _)) = listener.accept().await {
            let server = Server {
                house: self.clone(),
                who: Who::Request(caller.clone()),
                offer: Offer::Sqlite { dataset: ask.source.clone() },
                door,
                session: ask.session,
                purpose: Purpose::Step,
            };
            clients.spawn(server.over_socket(client));
        }
    }

    /// What the CLI asked for, in order.
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

/// A socket in a directory that only the CLI's user can enter.
fn listen(user: Option<(u32, u32)>) -> io::Result<(TempDir, UnixListener, PathBuf)> {
    let dir = tempfile::Builder::new().prefix("gatehouse-mcp-").tempdir()?;
    let socket = dir.path().join("socket");
    let listener = UnixListener::bind(&socket)?;
    if let Some((uid, gid)) = user {
        chown(&socket, Some(uid), Some(gid))?;
        chown(dir.path(), Some(uid), Some(gid))?;
    }
    Ok((dir, listener, socket))
}
