//! Configuration: flags before environment before `gatehouse.toml` before defaults.
//!
//! One table ([`settings`]) says for each setting its key, its variables, its default, its meaning
//! and how it is read. Loading, the refusal of unknown keys, `config show --origin` and
//! `docs/SETTINGS.md` all come from it. What is wrong is reported all at once.

mod checks;
mod docs;
mod error;
mod file;
mod given;
mod home;
mod rates;
mod settings;
mod show;
mod sources;
mod types;

#[cfg(test)]
mod tests;

pub use docs::{env_example, markdown};
pub use error::ConfigError;
pub use show::{Shown, text};
pub use sources::SourceConfig;
pub use types::{
    Analyst, Audit, AuditOutput, Config, Jwks, Jwt, Ledger, Log, LogFormat, Model, Ops, PlannerChoice, Rate, Records,
    Scan, Secret, Server, Tls,
};

use error::Problems;
use file::File;
use given::{Given, Origin};
use settings::{SETTINGS, Setting};
use std::path::PathBuf;

/// What the command line says. `data` and `config` are relative to the working directory, as every
/// path that a shell completes; all other relative paths are relative to `data`.
#[derive(Debug, Clone, Default)]
pub struct Flags {
    pub data: PathBuf,
    /// Instead of `gatehouse.toml` in `data`.
    pub config: Option<PathBuf>,
    pub listen: Option<String>,
    pub behind_proxy: bool,
    pub planner: Option<String>,
}

impl Flags {
    /// What was said by the flag of this name in the table.
    fn said(&self, flag: &str) -> Option<String> {
        match flag {
            "--listen" => self.listen.clone(),
            "--behind-proxy" => self.behind_proxy.then(|| "true".to_owned()),
            "--planner" => self.planner.clone(),
            _ => None,
        }
    }
}

/// The settings in force and where each comes from, or everything that is wrong with them.
pub fn load(flags: &Flags, env: impl Fn(&str) -> Option<String>) -> Result<(Config, Vec<Shown>), Vec<ConfigError>> {
    load_with(flags, &env, |file, config, problems| sources::read(file, &config.data, &env, problems))
}

/// The same without sources, for commands that need the ledger only: they work where no secret of a source is at hand.
pub fn load_without_sources(flags: &Flags, env: impl Fn(&str) -> Option<String>) -> Result<Config, Vec<ConfigError>> {
    load_with(flags, &env, |_, _, _| Vec::new()).map(|(config, _)| config)
}

fn load_with(
    flags: &Flags,
    env: &impl Fn(&str) -> Option<String>,
    sources: impl Fn(&File, &Config, &mut Problems) -> Vec<SourceConfig>,
) -> Result<(Config, Vec<Shown>), Vec<ConfigError>> {
    let mut problems = Problems::default();
    let data = std::path::absolute(&flags.data).unwrap_or_else(|_| flags.data.clone());
    let file = File::read(&data, flags.config.as_deref(), &mut problems);
    let mut config = Config { file: flags.config.clone(), ..Config::blank(data) };
    let mut shown: Vec<Shown> = Vec::new();
    for setting in SETTINGS {
        let layers = layers(setting, flags, env, &file, &mut problems);
        shown.push(Shown::new(setting, layers.last()));
        for given in &layers {
            // Also those that another one overrides: a wrong value is never passed over.
            if let Err(message) = (setting.apply)(&mut config, given) {
                problems.add(given.origin(), setting.key, message);
            }
        }
    }
    config.sources = sources(&file, &config, &mut problems);
    shown.extend(config.sources.iter().map(|source| Shown::source(source, &file.origin())));
    checks::check(&config, &shown, &mut problems);
    problems.none_or((config, shown))
}

/// Everything that says what a setting is, the one that decides last.
fn layers(
    setting: &Setting,
    flags: &Flags,
    env: &impl Fn(&str) -> Option<String>,
    file: &File,
    problems: &mut Problems,
) -> Vec<Given> {
    let mut layers = Vec::new();
    if !setting.default.is_empty() {
        layers.push(Given::text(Origin::Default, setting.default));
    }
    if let Some(value) = file.values.get(setting.key) {
        layers.push(Given::toml(file.origin(), value.clone()));
    }
    let said: Vec<(String, String)> = setting
        .variables()
        .into_iter()
        // Empty is how compose files and units say "not set".
        .filter_map(|name| env(&name).filter(|value| !value.trim().is_empty()).map(|value| (name, value)))
        .collect();
    if let [(first, value), others @ ..] = said.as_slice() {
        for (other, _) in others.iter().filter(|(_, v)| v != value) {
            let message = format!("`{first}` and `{other}` say different things: unset one of them");
            problems.add(Origin::Environment(other.clone()), setting.key, message);
        }
        layers.push(Given::text(Origin::Environment(first.clone()), value));
    }
    if let Some((flag, value)) = setting.flag.and_then(|flag| Some((flag, flags.said(flag)?))) {
        layers.push(Given::text(Origin::Flag(flag), &value));
    }
    layers
}
