//! `support` as CSV files, with empty cells for what is missing.

use super::super::files::place_bytes;
use super::Support;
use std::fmt::Display;
use std::io;
use std::path::Path;

pub fn write(support: &Support, folder: &Path) -> io::Result<()> {
    place_bytes(&folder.join("tickets.csv"), tickets(support).as_bytes())?;
    place_bytes(&folder.join("agents.csv"), agents(support).as_bytes())
}

fn tickets(support: &Support) -> String {
    let mut text = String::from(
        "ticket_id,created_at,closed_at,status,priority,area,channel,requester_email,agent_id,\
         first_response_minutes,satisfaction,reopened\n",
    );
    for t in &support.tickets {
        let created_at = t.created_at.strftime(TIMESTAMP);
        let closed_at = cell(t.closed_at.map(|at| at.strftime(TIMESTAMP).to_string()));
        let email = cell(t.requester_email.as_ref());
        let (response, satisfaction) = (cell(t.first_response_minutes), cell(t.satisfaction));
        let (id, status, agent) = (t.id, t.status(), t.agent_id);
        let (priority, area, channel, reopened) = (t.priority, t.area, t.channel, t.reopened);
        text.push_str(&format!(
            "{id},{created_at},{closed_at},{status},{priority},{area},{channel},{email},{agent},\
             {response},{satisfaction},{reopened}\n"
        ));
    }
    text
}

fn agents(support: &Support) -> String {
    let mut text = String::from("agent_id,agent,team,location,hired_on\n");
    for a in &support.agents {
        text.push_str(&format!("{},{},{},{},{}\n", a.id, a.name, a.team, a.location, a.hired_on));
    }
    text
}

const TIMESTAMP: &str = "%Y-%m-%d %H:%M:%S";

/// No value of this dataset holds a comma, a quote or a line break, so none needs quoting.
fn cell(value: Option<impl Display>) -> String {
    value.map(|v| v.to_string()).unwrap_or_default()
}
