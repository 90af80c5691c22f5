//! Who plans: the embedded planner, or a model that configuration names.

use crate::config::{Config, Model as Settings, PlannerChoice};
use planner::{Agent, Caps, ClaudeCode, Dialect, Model, Prices};

/// The planner in use.
pub enum Mind {
    Offline,
    /// A model behind HTTP.
    Model {
        name: &'static str,
        agent: Agent,
    },
    /// The agent CLI, which brings its model along.
    Cli(ClaudeCode),
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
            PlannerChoice::ClaudeCode => {
                Ok(Self::Cli(claude_code(settings, sandbox::worker_owner(config.sandbox_user.as_deref()))))
            }
        }
    }

    /// The small model that routes instructions, if configuration names one; whatever is wrong with it is told of the mind.
    pub fn router(config: &Config) -> Option<Agent> {
        let name = config.records.router_model.clone()?;
        let mut small = config.clone();
        small.model.name = name;
        match Self::of(&small) {
            Ok(Self::Model { agent, .. }) => Some(agent),
            _ => None,
        }
    }

    /// The model that is asked, if one is.
    pub fn model(&self) -> Option<&str> {
        match self {
            Self::Offline => None,
            Self::Model { agent, .. } => Some(agent.model.name()),
            Self::Cli(cli) => Some(cli.model()),
        }
    }

    /// As runs record it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Offline => "offline",
            Self::Model { name, .. } => name,
            Self::Cli(_) => "claude-code",
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

/// A server that is root runs it as the user of its workers, where that user can reach it.
fn claude_code(settings: &Settings, user: Option<(u32, u32)>) -> ClaudeCode {
    let key = settings.claude_key.as_ref().map(|key| key.expose().to_owned());
    let cli = ClaudeCode::new(&settings.claude_program, &settings.name, key, caps(settings));
    let (Some(user), Ok(server)) = (user, std::env::current_exe()) else { return cli };
    let cli = cli.as_user(user, &server);
    if let Some(barrier) = cli.barrier() {
        tracing::warn!(uid = user.0, barrier = %barrier.display(), "the agent CLI runs as root: its user cannot reach it");
    }
    cli
}

fn openai(settings: &Settings) -> Result<Mind, String> {
    let key = settings.openai_key.as_ref().map(|key| key.expose().to_owned());
    let model = Model::new(Dialect::OpenAi, &settings.openai_url, key, &settings.name);
    Ok(Mind::Model { name: "openai", agent: agent(settings, model)? })
}

fn agent(settings: &Settings, model: Result<Model, domain::Fault>) -> Result<Agent, String> {
    let model = model.map_err(|fault| format!("{}\nhint: {}", fault.message, fault.hint))?;
    Ok(Agent { model, prices: prices(settings)?, caps: caps(settings) })
}

fn caps(settings: &Settings) -> Caps {
    Caps {
        max_turns: settings.max_turns,
        max_budget_usd: settings.max_budget_usd,
        seconds: u32::try_from(settings.timeout.as_secs()).unwrap_or(u32::MAX),
        ..Caps::default()
    }
}

fn prices(settings: &Settings) -> Result<Prices, String> {
    let Some(path) = &settings.prices else { return Ok(Prices::default()) };
    let shown = path.display();
    let text = std::fs::read_to_string(path).map_err(|e| format!("the prices `{shown}` cannot be read: {e}"))?;
    Prices::overridden_by(&text).map_err(|fault| format!("the prices `{shown}`: {}", fault.message))
}
