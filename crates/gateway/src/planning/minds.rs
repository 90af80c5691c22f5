//! Who plans: the embedded planner, or a model that configuration names.

use crate::config::{Config, Model as Settings, PlannerChoice};
use planner::{Agent, Caps, Dialect, Model, Prices};

/// The planner in use.
pub enum Mind {
    Offline,
    Model { name: &'static str, agent: Agent },
}

impl Mind {
    /// What configuration asks for, or why it cannot be had, with its ways out.
    pub fn of(config: &Config) -> Result<Self, String> {
        let settings = &config.model;
        match config.planner {
            PlannerChoice::Offline => Ok(Self::Offline),
            PlannerChoice::Auto if settings.claude_key.is_none() => Ok(Self::Offline),
            PlannerChoice::Auto | PlannerChoice::Claude => claude(settings),
            PlannerChoice::OpenAi => openai(settings),
            PlannerChoice::ClaudeCode => Err("the planner `claude-code` is not available yet".to_owned()),
        }
    }

    /// As runs record it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Offline => "offline",
            Self::Model { name, .. } => name,
        }
    }
}

fn claude(settings: &Settings) -> Result<Mind, String> {
    let key = settings.claude_key.as_ref().ok_or(
        "the planner `claude` needs a key: set `ANTHROPIC_API_KEY`\n\
         hint: or answer without a model: `--planner offline` (`planner = \"offline\"`)",
    )?;
    let model = Model::new(Dialect::Claude, &settings.claude_url, Some(key.expose().to_owned()), &settings.name);
    Ok(Mind::Model { name: "claude", agent: agent(settings, model)? })
}

fn openai(settings: &Settings) -> Result<Mind, String> {
    let key = settings.openai_key.as_ref().map(|key| key.expose().to_owned());
    let model = Model::new(Dialect::OpenAi, &settings.openai_url, key, &settings.name);
    Ok(Mind::Model { name: "openai", agent: agent(settings, model)? })
}

fn agent(settings: &Settings, model: Result<Model, domain::Fault>) -> Result<Agent, String> {
    let model = model.map_err(|fault| format!("{}\nhint: {}", fault.message, fault.hint))?;
    let caps = Caps {
        max_turns: settings.max_turns,
        max_budget_usd: settings.max_budget_usd,
        seconds: u32::try_from(settings.timeout.as_secs()).unwrap_or(u32::MAX),
        ..Caps::default()
    };
    Ok(Agent { model, prices: prices(settings)?, caps })
}

fn prices(settings: &Settings) -> Result<Prices, String> {
    let Some(path) = &settings.prices else { return Ok(Prices::default()) };
    let shown = path.display();
    let text = std::fs::read_to_string(path).map_err(|e| format!("the prices `{shown}` cannot be read: {e}"))?;
    Prices::overridden_by(&text).map_err(|fault| format!("the prices `{shown}`: {}", fault.message))
}
