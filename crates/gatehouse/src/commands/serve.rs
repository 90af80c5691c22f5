//! `gatehouse serve`.

use super::{flags, load};
use crate::cli::Serve;
use crate::demo;
use crate::print::{self, Problem};
use domain::Actor;
use gateway::config::{Flags, PlannerChoice};
use gateway::{House, Serving, data_dir};
use ledger::NewToken;
use sandbox::Tier;
use std::process::ExitCode;
use tokio::signal::unix::{Signal, SignalKind, signal};

pub async fn run(serve: Serve) -> Result<ExitCode, Problem> {
    let flags = Flags {
        listen: serve.listen.clone(),
        behind_proxy: serve.behind_proxy,
        planner: serve.planner.clone(),
        ..flags(&serve.data)
    };
    data_dir::create(&serve.data.data)?;
    // Before anything is written to it. What keeps it from being shut is told below, where the log is open.
    let _ = data_dir::shut(&serve.data.data, Tier::T1, None);
    if serve.demo {
        demo::write(&serve.data.data)?;
    }
    let (mut config, shown) = load(&flags)?;
    if !serve.demo && shown.iter().any(|setting| setting.key == "planner" && setting.origin == "default") {
        config.planner = PlannerChoice::Claude;
    }
    if serve.demo {
        demo::hand_over(&serve.data.data, config.sandbox_user.as_deref())?;
    }
    gateway::log::start(&config.log);
    let house = House::open(config)?;
    shut(&house);
    // Before anybody is told that it is ready: who asks it to stop at once is heard.
    let signals = Signals::listen()?;
    let serving = gateway::serve(house.clone()).await?;
    print::line(format!("ready {}", serving.url()));
    welcome(&house, &serving, serve.demo).await?;
    signals.stop(&house).await;
    tracing::info!("stopping");
    serving.stop().await;
    Ok(ExitCode::SUCCESS)
}

/// Other users of this machine are kept out of the data directory. One that cannot be shut is the operator's to shut.
fn shut(house: &House) {
    let (config, tier) = (&house.config, house.engines.sandbox().tier);
    let workers = sandbox::worker_owner(config.sandbox_user.as_deref());
    if let Err(error) = data_dir::shut(&config.data, tier, workers) {
        let data = config.data.display();
        tracing::warn!(%error, "other users of this machine may look into `{data}` (hint: `chmod 700` it)");
    }
}

/// How to get in. On a loopback address only: elsewhere a terminal's log may be read by others.
async fn welcome(house: &House, serving: &Serving, demo: bool) -> Result<(), Problem> {
    if serving.address.ip().is_loopback() {
        let code = house.ledger.create_login("owner", "admin").await?;
        print::line(format!("page  {}/login?code={}  (signs in once, as owner)", serving.url(), code.expose()));
    }
    if demo {
        let in_a_day = jiff::Timestamp::now() + jiff::SignedDuration::from_hours(24);
        let token = NewToken {
            actor: Actor::token("demo"),
            role: "analyst".into(),
            claims: Default::default(),
            expires_at: Some(in_a_day),
        };
        let (_, secret) = house.ledger.create_token(token).await?;
        print::line(format!("token {}  (demo analyst, valid for a day)", secret.expose()));
    }
    Ok(())
}

/// Signals that a running server listens to.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hangup: Signal,
}

impl Signals {
    fn listen() -> std::io::Result<Self> {
        let [terminate, interrupt, hangup] =
            [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()].map(signal);
        Ok(Self { terminate: terminate?, interrupt: interrupt?, hangup: hangup? })
    }

    /// Returns when it is to stop. A hangup is how rotations say that the file of the audit lines has moved.
    async fn stop(mut self, house: &House) {
        loop {
            tokio::select! {
                _ = self.terminate.recv() => return,
                _ = self.interrupt.recv() => return,
                _ = self.hangup.recv() => house.audit_lines.reopen(),
            }
        }
    }
}
