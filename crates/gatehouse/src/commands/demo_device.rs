//! `gatehouse demo-device`: a device with three faults for the demo's house. The program that runs scripts on it is the
//! real one; only its disk and what its other programs say are made up.

use super::{existing, flags, load};
use crate::cli::DemoDevice;
use crate::demo::device::{Disk, ID, NAME};
use crate::print::{self, Problem};
use domain::Caller;
use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use tokio::process::{Child, Command};
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::sleep;
use ureq::Agent;

/// How often the device looks at itself.
const LOOK: Duration = Duration::from_secs(1);
/// A house that has not answered for this long is gone, and the device with it.
const PATIENCE: u32 = 30;

pub async fn run(wish: DemoDevice) -> Result<ExitCode, Problem> {
    existing(&wish.data)?;
    let (config, _) = load(&flags(&wish.data))?;
    let program = program()?;
    let disk = Disk::broken(&wish.data.data, config.sandbox_user.as_deref())?;
    let state = std::path::absolute(wish.data.data.join("demo-device"))?;
    let house = House::new(&wish.url);
    house.wait_for().await?;
    let ledger = config.open_ledger()?;
    let soon = Timestamp::now() + SignedDuration::from_mins(5);
    let code = ledger.expect_device(&Caller::new("demo", Caller::ADMIN), ID, NAME, soon).await?;
    let user = config.sandbox_user.as_deref();
    let device = DeviceProgram { program, state, user: user.map(str::to_owned) };
    device.enrol(&house.url, code.expose(), disk.root()).await?;
    let token = device.token()?;
    let login = ledger.create_login("bea", "approver").await?;
    print::line(format!("device    {}/ops/devices/{ID}  (three faults)", house.url));
    let link = format!("{}/login?code={}", house.url, login.expose());
    print::line(format!("approver  {link}  (signs in once, as bea: in another browser)"));
    let mut child = device.start()?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
        _ = child.wait() => {}
        () = house.tell(&disk, &token) => {}
    }
    // Killed with its handle, if it is still there.
    drop(child);
    Ok(ExitCode::SUCCESS)
}

/// The device's program is built and installed beside ours.
fn program() -> Result<PathBuf, Problem> {
    let beside = std::env::current_exe()?.with_file_name("gatehouse-device");
    if beside.is_file() {
        return Ok(beside);
    }
    Err(Problem::usage(format!("there is no `{}`", beside.display()), "build it with `cargo build -p device`"))
}

/// `gatehouse-device`, with its state beside the house's.
struct DeviceProgram {
    program: PathBuf,
    state: PathBuf,
    user: Option<String>,
}

impl DeviceProgram {
    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.arg("--state").arg(&self.state).kill_on_drop(true);
        if let Some(user) = &self.user {
            command.arg("--user").arg(user);
        }
        command
    }

    async fn enrol(&self, url: &str, code: &str, writable: &Path) -> Result<(), Problem> {
        let mut command = self.command();
        command.arg("--writable").arg(writable).args(["enrol", url, code]).stdout(std::process::Stdio::null());
        match command.status().await?.code() {
            Some(0) => Ok(()),
            code => Err(Problem {
                lines: vec!["the demo's device could not enrol".to_owned()],
                code: code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1),
            }),
        }
    }

    fn start(&self) -> Result<Child, Problem> {
        Ok(self.command().arg("run").spawn()?)
    }

    fn token(&self) -> Result<String, Problem> {
        let config: serde_json::Value = serde_json::from_slice(&std::fs::read(self.state.join("device.json"))?)
            .map_err(|error| std::io::Error::other(error.to_string()))?;
        Ok(config.get("token").and_then(|token| token.as_str()).unwrap_or_default().to_owned())
    }
}

/// The house as the device's other programs reach it.
struct House {
    agent: Agent,
    url: String,
}

impl House {
    fn new(url: &str) -> Self {
        let config = Agent::config_builder().timeout_global(Some(Duration::from_secs(10)));
        Self { agent: config.http_status_as_error(false).build().into(), url: url.trim_end_matches('/').to_owned() }
    }

    /// It may have been started together with this.
    async fn wait_for(&self) -> Result<(), Problem> {
        for _ in 0..PATIENCE {
            if self.lives().await {
                return Ok(());
            }
            sleep(LOOK).await;
        }
        let message = format!("no house answers at `{}`", self.url);
        Err(Problem::usage(message, "start `gatehouse serve --demo`, and name its address with `--url`"))
    }

    async fn lives(&self) -> bool {
        let (agent, url) = (self.agent.clone(), format!("{}/livez", self.url));
        tokio::task::spawn_blocking(move || agent.get(url).call().is_ok()).await.unwrap_or(false)
    }

    /// Submits what the device's programs say, whenever they say something new; until the house is gone.
    async fn tell(&self, disk: &Disk, token: &str) {
        let (mut told, mut silent) = (None, 0);
        while silent < PATIENCE {
            let symptoms = disk.symptoms();
            let heard = match told.as_ref() == Some(&symptoms) {
                true => self.lives().await,
                false => self.submit(disk.journal(), token).await,
            };
            if heard {
                (told, silent) = (Some(symptoms), 0);
            } else {
                silent += 1;
            }
            sleep(LOOK).await;
        }
    }

    async fn submit(&self, journal: String, token: &str) -> bool {
        let (agent, url) = (self.agent.clone(), format!("{}/api/v1/ai/diagnostics", self.url));
        let authorization = format!("Bearer {token}");
        let body = json!({ "device_id": ID, "outputs": [{ "command": "journalctl -n 3", "text": journal }] });
        let sent = move || agent.post(url).header("authorization", authorization).send_json(body);
        let sent = tokio::task::spawn_blocking(sent).await;
        sent.is_ok_and(|sent| sent.is_ok_and(|response| response.status().is_success()))
    }
}
