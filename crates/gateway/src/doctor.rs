//! `gatehouse doctor`: does everything hold that the house stands on?

use crate::config::{Config, Secret};
use crate::contracts::Contracts;
use crate::data_dir;
use crate::datasets::{Dataset, Datasets};
use crate::disk::Disk;
use crate::house::{House, open_sandbox};
use crate::planning::Mind;
use serde::Serialize;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    Ok,
    /// Works, with something that the operator should know.
    Warn,
    Fail,
}

/// One thing looked at.
#[derive(Debug, Serialize)]
pub struct Finding {
    pub check: &'static str,
    pub verdict: Verdict,
    pub message: String,
}

fn finding(check: &'static str, verdict: Verdict, message: impl Into<String>) -> Finding {
    Finding { check, verdict, message: message.into() }
}

/// Looks at everything, and goes on after what fails.
pub async fn examine(config: Config) -> Vec<Finding> {
    let mut findings = vec![data(&config)];
    findings.push(sandbox(&config));
    findings.push(contracts(&config));
    findings.push(ledger(&config).await);
    findings.extend(disk(&config));
    findings.push(port(&config));
    findings.push(clock());
    findings.push(planner(&config).await);
    match Datasets::load(&config) {
        Err(problems) => findings.extend(problems.into_iter().map(|p| finding("sources", Verdict::Fail, p))),
        Ok(_) => match House::open(config) {
            Err(cannot) => findings.push(finding("sources", Verdict::Fail, cannot.to_string())),
            Ok(house) => findings.extend(sources(&house).await),
        },
    }
    findings
}

/// Whoever may look into it reads what is asked and answered, and data that workers may read.
fn data(config: &Config) -> Finding {
    let data = config.data.display();
    if data_dir::is_open(&config.data) {
        let message = format!("other users of this machine may look into `{data}`: chmod 700 it");
        return finding("config", Verdict::Warn, message);
    }
    finding("config", Verdict::Ok, format!("data in `{data}`"))
}

fn sandbox(config: &Config) -> Finding {
    match open_sandbox(config) {
        Err(cannot) => finding("sandbox", Verdict::Fail, cannot.to_string()),
        Ok(sandbox) => {
            let report = sandbox.report();
            let mut message = format!("tier {}, workers run as `{}`", report.tier, report.user);
            if !report.missing.is_empty() {
                message.push_str(&format!("; missing for a better tier: {}", report.missing.join("; ")));
            }
            if !report.unenforced.is_empty() {
                message.push_str(&format!("; not enforced here: {}", report.unenforced.join(", ")));
            }
            let whole = report.missing.is_empty() && report.unenforced.is_empty();
            finding("sandbox", if whole { Verdict::Ok } else { Verdict::Warn }, message)
        }
    }
}

/// Nothing is sent anywhere: what shows here is what shows without asking.
async fn planner(config: &Config) -> Finding {
    let mind = match Mind::of(config) {
        Err(problem) => return finding("planner", Verdict::Fail, problem),
        Ok(mind) => mind,
    };
    let (name, agent) = match mind {
        Mind::Offline => return finding("planner", Verdict::Ok, "offline: no model, no network"),
        Mind::Cli(cli) => return agent_cli(&cli).await,
        Mind::Model { name, agent } => (name, agent),
    };
    let model = agent.model.name();
    let message = format!("{name}, model `{model}`");
    let key = config.model.claude_key.as_ref().map(Secret::expose).unwrap_or_default();
    let usual_server = config.model.claude_url == planner::Model::CLAUDE_URL;
    if name == "claude" && usual_server && !key.starts_with("sk-ant-") {
        return finding("planner", Verdict::Warn, format!("{message}; its key does not begin like one of Anthropic's"));
    }
    if !agent.prices.know(model) {
        let unknown = "its price is not known, so that no budget binds it: set `model.prices`";
        return finding("planner", Verdict::Warn, format!("{message}; {unknown}"));
    }
    finding("planner", Verdict::Ok, message)
}

/// Where the agent CLI is the planner: what it says of itself.
pub async fn agent_cli(cli: &planner::ClaudeCode) -> Finding {
    match cli.doctor().await {
        Ok(said) => {
            let message = format!("`claude-code` with `{}`: {said}", cli.model());
            match cli.barrier() {
                None => finding("planner", Verdict::Ok, message),
                Some(barrier) => {
                    let barrier = barrier.display();
                    let why = format!("it runs as root, since the user of workers cannot pass `{barrier}`");
                    let hint = "install it and `gatehouse` where everybody can read";
                    finding("planner", Verdict::Warn, format!("{message}; {why} (hint: {hint})"))
                }
            }
        }
        Err(fault) => finding("planner", Verdict::Fail, format!("{fault} (hint: {})", fault.hint)),
    }
}

fn contracts(config: &Config) -> Finding {
    match Contracts::open(&config.contracts_dir) {
        Ok(contracts) => {
            let count = contracts.policy().contracts().count();
            let fingerprint: String = contracts.policy().fingerprint().chars().take(12).collect();
            finding("contracts", Verdict::Ok, format!("{count} in force, policy {fingerprint}"))
        }
        Err(problems) => finding("contracts", Verdict::Fail, problems.join("; ")),
    }
}

async fn ledger(config: &Config) -> Finding {
    let check = async {
        let ledger = config.open_ledger()?;
        ledger.writable().await?;
        ledger.verify().await
    };
    match check.await {
        Ok(report) => match report.flaw {
            None => finding("ledger", Verdict::Ok, format!("{}, writable, audit chain whole", place(config))),
            Some(flaw) => finding("ledger", Verdict::Fail, format!("audit chain broken: {flaw}")),
        },
        Err(error) => finding("ledger", Verdict::Fail, error.to_string()),
    }
}

/// None where the ledger is no file.
fn disk(config: &Config) -> Option<Finding> {
    let space = Disk::of(config).space()?;
    let mib = |bytes: u64| bytes >> 20;
    let message = format!("{} MiB are free on the disk of the ledger", mib(space.free));
    let reserve = mib(space.reserve);
    Some(match () {
        () if space.is_short() => finding(
            "disk",
            Verdict::Fail,
            format!("{message}: with less than {reserve} MiB no work is begun; free some space"),
        ),
        () if space.is_low() => {
            finding("disk", Verdict::Warn, format!("{message}: below {reserve} MiB no work is begun; free some space"))
        }
        () => finding("disk", Verdict::Ok, message),
    })
}

fn place(config: &Config) -> String {
    config.ledger_home().map_or_else(|error| error.to_string(), |home| home.to_string())
}

fn port(config: &Config) -> Finding {
    let address = config.server.listen;
    match TcpListener::bind(address) {
        Ok(_) => finding("port", Verdict::Ok, format!("`{address}` is free")),
        Err(e) => finding("port", Verdict::Warn, format!("`{address}` cannot be bound: {e} (a server may be running)")),
    }
}

/// Tokens, approvals and the audit chain all lean on the clock.
fn clock() -> Finding {
    let now = jiff::Timestamp::now();
    let year = now.to_zoned(jiff::tz::TimeZone::UTC).year();
    if (2025..2100).contains(&year) {
        finding("clock", Verdict::Ok, now.to_string())
    } else {
        finding("clock", Verdict::Fail, format!("it says {now}: set it, or tokens expire wrongly"))
    }
}

/// The jail holds; a file that everybody may write to does not hold without it.
fn read_only(dataset: &Dataset, tables: usize) -> Finding {
    let open = |path: &&std::path::Path| std::fs::metadata(path).is_ok_and(|m| m.permissions().mode() & 0o002 != 0);
    match dataset.source.paths().into_iter().find(open) {
        None => {
            let but = if dataset.source.is_writable() { " but for Records" } else { "" };
            finding("source", Verdict::Ok, format!("`{}`: {tables} tables, read-only{but}", dataset.id))
        }
        Some(path) => {
            let message = "read-only in the sandbox, but everybody on this machine may write to";
            finding("source", Verdict::Warn, format!("`{}`: {message} `{}` (chmod o-w it)", dataset.id, path.display()))
        }
    }
}

/// The Analyst's database must be read-only for the workers' user also without a jail: the server would not start.
fn analysts(house: &House, dataset: &Dataset) -> Option<Finding> {
    house.datasets.analysts().filter(|its| its.id == dataset.id)?;
    Some(match house.engines.user_can_write(&dataset.source) {
        Ok(false) => {
            finding("analyst", Verdict::Ok, format!("answers from `{}`, which workers could not write", dataset.id))
        }
        Ok(true) => finding("analyst", Verdict::Fail, format!("`{}` is not read-only: chmod a-w its file", dataset.id)),
        Err(error) => finding("analyst", Verdict::Fail, format!("`{}` cannot be tried: {error}", dataset.id)),
    })
}

/// What Records is to write, the workers' user must be able to.
fn writable(house: &House, dataset: &Dataset, tables: usize) -> Finding {
    match house.engines.user_can_write(&dataset.source) {
        Ok(true) => finding("source", Verdict::Ok, format!("`{}`: {tables} tables, written by Records", dataset.id)),
        Ok(false) => {
            let user = &house.engines.sandbox().user;
            let message = format!("`{}` is `writable`, but not by `{user}`: chown it and its directory", dataset.id);
            finding("source", Verdict::Fail, message)
        }
        Err(error) => finding("source", Verdict::Fail, format!("`{}` cannot be tried: {error}", dataset.id)),
    }
}

/// Opens each source in its sandbox, and tries to write to it: that must fail.
async fn sources(house: &Arc<House>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for dataset in house.datasets.iter() {
        findings.extend(analysts(house, dataset));
        findings.push(match house.schema(dataset).await {
            Err(fault) => finding("source", Verdict::Fail, format!("`{}`: {fault} (hint: {})", dataset.id, fault.hint)),
            Ok(schema) if dataset.source.is_writable() && !dataset.source.is_remote() => {
                writable(house, dataset, schema.tables.len())
            }
            Ok(schema) => match house.engines.prove_read_only(&dataset.source).await {
                Ok(()) => read_only(dataset, schema.tables.len()),
                Err(why) => finding("source", Verdict::Fail, format!("`{}`: {why}", dataset.id)),
            },
        });
    }
    findings
}
