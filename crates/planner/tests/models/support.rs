//! A run against a script, and what was seen of it.

use crate::shop::Shop;
use domain::Fault;
use planner::{Agent, Answer, Caps, Dialect, Event, Finished, Message, Model, Prices};
use testkit::{Messages, Said};

pub const DIALECTS: [Dialect; 2] = [Dialect::Claude, Dialect::OpenAi];
pub const MODEL: &str = "claude-sonnet-5-5";

pub struct Seen {
    pub finished: Finished,
    pub events: Vec<Event>,
    pub server: Messages,
}

pub fn agent_of(dialect: Dialect, server: &Messages, caps: Caps) -> Agent {
    let url = match dialect {
        Dialect::Claude => server.url.clone(),
        Dialect::OpenAi => format!("{}/v1", server.url),
    };
    let model = Model::new(dialect, &url, Some(Messages::KEY.into()), MODEL).unwrap();
    Agent { model, prices: Prices::default(), caps }
}

pub fn system() -> Vec<String> {
    vec!["You are an analyst.".into(), "Schema: orders (id, month, amount)".into()]
}

/// Asks one question of a model that follows a script.
pub async fn ask(dialect: Dialect, caps: Caps, question: &str, script: Vec<Said>) -> Seen {
    converse(dialect, caps, &[Message::user(question)], script).await
}

pub async fn converse(dialect: Dialect, caps: Caps, messages: &[Message], script: Vec<Said>) -> Seen {
    let server = Messages::script(script);
    let agent = agent_of(dialect, &server, caps);
    let mut events = Vec::new();
    let finished = agent.run(&system(), messages, &Shop::open(), &mut |event| events.push(event)).await;
    Seen { finished, events, server }
}

/// Waits in another thread: connections are closed in this one.
pub async fn left(server: Messages) {
    tokio::task::spawn_blocking(move || server.wait_for_departures(1)).await.unwrap();
}

impl Seen {
    pub fn answer(&self) -> &Answer {
        self.finished.answer.as_ref().unwrap()
    }

    pub fn fault(&self) -> &Fault {
        self.finished.answer.as_ref().unwrap_err()
    }

    /// What was passed on while it came.
    pub fn streamed(&self) -> String {
        let text = |event: &Event| if let Event::Text(text) = event { Some(text.clone()) } else { None };
        self.events.iter().filter_map(text).collect()
    }

    /// Waits until the model has noticed that nobody listens.
    pub async fn left(self) {
        left(self.server).await;
    }

    /// The last thing that the model was told, as text.
    pub fn last_message(&self) -> String {
        let requests = self.server.requests();
        requests.last().unwrap().body["messages"].as_array().unwrap().last().unwrap().to_string()
    }
}
