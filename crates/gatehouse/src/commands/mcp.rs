//! `gatehouse mcp`: the tools of the house for a client that starts us as its child.

use super::{existing, flags, load};
use crate::cli::{Mcp, ToolSet};
use crate::print::Problem;
use domain::{Door, Purpose, SessionId};
use gateway::House;
use gateway::mcp::{Offer, Server, Who};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use tokio::signal::unix::{SignalKind, signal};

/// Longer than any token of ours.
const MOST_TOKEN_BYTES: u64 = 4096;

pub async fn run(mcp: Mcp) -> Result<ExitCode, Problem> {
    if let Some(socket) = &mcp.connect {
        pass_on(socket).await?;
        return Ok(ExitCode::SUCCESS);
    }
    existing(&mcp.data)?;
    let who = who(&mcp)?;
    let (config, _) = load(&flags(&mcp.data))?;
    gateway::log::start(&config.log);
    let to_client = take_stdout()?;
    let house = House::open(config)?;
    let offer = offer(&house, &mcp)?;
    shut_down_on_signal(house.clone())?;
    let door = if mcp.analyst { Door::Analyst } else { Door::Mcp };
    let session = mcp.session.unwrap_or_else(SessionId::new);
    let purpose = if mcp.session.is_some() { Purpose::Step } else { Purpose::Answer };
    let server = Server { house, who, offer, door, session, purpose };
    server.over_pipes(tokio::io::stdin(), tokio::fs::File::from_std(to_client)).await?;
    Ok(ExitCode::SUCCESS)
}

/// Until either side has said all.
async fn pass_on(socket: &Path) -> io::Result<()> {
    let (mut from_server, mut to_server) = tokio::net::UnixStream::connect(socket).await?.into_split();
    let (mut stdin, mut stdout) = (tokio::io::stdin(), tokio::io::stdout());
    tokio::select! {
        said = tokio::io::copy(&mut stdin, &mut to_server) => said.map(drop),
        told = tokio::io::copy(&mut from_server, &mut stdout) => told.map(drop),
    }
}

fn who(mcp: &Mcp) -> Result<Who, Problem> {
    match (&mcp.token_file, &mcp.role) {
        (Some(file), _) => read_token(file).map(Who::Token),
        (None, Some(role)) => Ok(Who::Local { actor: mcp.actor.clone(), role: role.clone() }),
        (None, None) => Err(Problem::usage("nobody is named", "give `--token-file`, or `--role` and `--actor`")),
    }
}

/// What others can read is no secret.
fn read_token(path: &Path) -> Result<String, Problem> {
    let cannot = |e: io::Error| {
        Problem::usage(format!("the token file `{}` cannot be read: {e}", path.display()), "it holds one token")
    };
    let file = File::open(path).map_err(cannot)?;
    if file.metadata().map_err(cannot)?.mode() & 0o077 != 0 {
        let message = format!("others can read the token file `{}`", path.display());
        return Err(Problem::usage(message, "`chmod 600` it, and consider its token known"));
    }
    let mut token = String::new();
    file.take(MOST_TOKEN_BYTES).read_to_string(&mut token).map_err(cannot)?;
    Ok(token.trim().to_owned())
}

fn offer(house: &House, mcp: &Mcp) -> Result<Offer, Problem> {
    let analysts = || house.datasets.analysts().map(|dataset| dataset.id.clone());
    match (mcp.tools, mcp.dataset.clone()) {
        (ToolSet::Chat, None) => Ok(Offer::Chat),
        (ToolSet::Chat, Some(_)) => {
            Err(Problem::usage("Chat's tools are for all datasets", "`--dataset` goes with `--tools sqlite`"))
        }
        (ToolSet::Sqlite, named) => named.or_else(analysts).map(|dataset| Offer::Sqlite { dataset }).ok_or_else(|| {
            Problem::usage("no dataset is named", "give `--dataset`: there is no database of the Analyst here")
        }),
    }
}

/// Stdout is the protocol's. Whatever else of this program writes there (audit lines, say) is sent to stderr instead.
fn take_stdout() -> io::Result<File> {
    let stdout = io::stdout().as_fd().try_clone_to_owned()?;
    rustix::stdio::dup2_stdout(io::stderr().as_fd())?;
    Ok(File::from(stdout))
}

fn shut_down_on_signal(house: Arc<House>) -> io::Result<()> {
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    tokio::spawn(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        house.shutdown.cancel();
    });
    Ok(())
}
