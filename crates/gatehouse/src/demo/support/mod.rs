//! Dataset `support`: eighteen months of a help desk, as CSV.
//!
//! Mondays are busy and weekends quiet; a sign-in outage in March 2026 triples the tickets for
//! three days. Urgent tickets are answered first, slow answers cost satisfaction, and more than
//! half of the customers never say how satisfied they were.

mod csv;

use super::names::{email, people};
use super::rng::Rng;
use super::season::{days, days_between, weekly};
use jiff::ToSpan;
use jiff::civil::{Date, DateTime, date};
use std::io;
use std::path::Path;

const FIRST: Date = date(2025, 5, 1);
const LAST: Date = date(2026, 10, 31);
/// The moment at which the export was made: what is not solved by then is open.
const EXPORTED: DateTime = date(2026, 11, 1).at(0, 0, 0, 0);

pub struct Support {
    pub tickets: Vec<Ticket>,
    pub agents: Vec<Agent>,
}

/// One row of `tickets`.
pub struct Ticket {
    pub id: usize,
    pub created_at: DateTime,
    pub closed_at: Option<DateTime>,
    pub priority: &'static str,
    pub area: &'static str,
    pub channel: &'static str,
    pub requester_email: Option<String>,
    pub agent_id: u32,
    /// `None` while nobody has answered.
    pub first_response_minutes: Option<i64>,
    /// 1 to 5; `None` when the customer did not say.
    pub satisfaction: Option<i64>,
    pub reopened: bool,
}

impl Ticket {
    pub fn status(&self) -> &'static str {
        if self.closed_at.is_some() { "solved" } else { "open" }
    }
}

/// One row of `agents`.
pub struct Agent {
    pub id: u32,
    pub name: String,
    pub team: &'static str,
    pub location: &'static str,
    pub hired_on: Date,
    /// Above 1 answers later and pleases less.
    pace: f64,
}

/// A team: what it is good at, and how its customers feel about it.
struct Team {
    name: &'static str,
    location: &'static str,
    size: usize,
    areas: &'static [&'static str],
    mood: f64,
}

const TEAMS: [Team; 4] = [
    Team { name: "Front Line", location: "Porto", size: 10, areas: &["Sign-in", "Mobile App", "Billing"], mood: 4.0 },
    Team { name: "Accounts Desk", location: "Dublin", size: 5, areas: &["Billing", "Shipping"], mood: 3.7 },
    Team { name: "Platform", location: "Toronto", size: 6, areas: &["Integrations", "Reports", "Sign-in"], mood: 4.3 },
    Team { name: "Field", location: "Singapore", size: 3, areas: &["Hardware", "Shipping"], mood: 3.3 },
];

const AREAS: [(&str, f64); 7] = [
    ("Billing", 24.0),
    ("Sign-in", 18.0),
    ("Mobile App", 17.0),
    ("Shipping", 14.0),
    ("Reports", 11.0),
    ("Integrations", 9.5),
    ("Hardware", 6.5),
];
const CHANNELS: [(&str, f64); 4] = [("portal", 41.0), ("chat", 33.0), ("phone", 19.0), ("social", 7.0)];
const PRIORITIES: [(&str, f64); 4] = [("low", 27.0), ("normal", 49.0), ("high", 18.0), ("urgent", 6.0)];
const WEEK: [f64; 7] = [1.35, 1.2, 1.1, 1.05, 1.0, 0.4, 0.3];
/// How likely a ticket is in each hour of the day.
#[rustfmt::skip]
const HOURS: [f64; 24] = [
    0.3, 0.2, 0.2, 0.2, 0.3, 0.5, 1.0, 2.0, 4.0, 6.0, 6.5, 6.0,
    4.5, 5.0, 6.0, 5.5, 5.0, 4.0, 2.5, 2.0, 1.5, 1.0, 0.7, 0.4,
];

impl Support {
    pub fn generate() -> Self {
        let mut rng = Rng::new(0x5099);
        let agents = agents(&mut rng);
        let customers = people(&mut rng, 900);
        let mut tickets: Vec<Ticket> = Vec::with_capacity(14_000);
        for day in days(FIRST, LAST) {
            let growth = 1.0 + 0.3 * f64::from(days_between(FIRST, day)) / 365.0;
            let surge = if is_outage(day) { 3.2 } else { 1.0 };
            let mut today: Vec<DateTime> =
                (0..rng.count(19.0 * growth * weekly(&WEEK, day) * surge)).map(|_| moment(&mut rng, day)).collect();
            today.sort();
            for created_at in today {
                let id = 20_001 + tickets.len();
                tickets.push(ticket(&mut rng, id, created_at, &agents, &customers));
            }
        }
        Self { tickets, agents }
    }

    pub fn write(&self, folder: &Path) -> io::Result<()> {
        csv::write(self, folder)
    }
}

/// The days on which nobody could sign in.
pub fn is_outage(day: Date) -> bool {
    day >= date(2026, 3, 17) && day <= date(2026, 3, 19)
}

fn moment(rng: &mut Rng, day: Date) -> DateTime {
    let hours: Vec<(i64, f64)> = (0..).zip(HOURS).collect();
    let minutes = rng.weighted(&hours) * 60 + rng.int(0, 59);
    day.to_datetime(jiff::civil::Time::midnight()).saturating_add(minutes.minutes())
}

fn agents(rng: &mut Rng) -> Vec<Agent> {
    let teams = TEAMS.iter().flat_map(|team| std::iter::repeat_n(team, team.size));
    let names = people(rng, 24);
    let agent = |((team, name), id): ((&Team, String), u32)| Agent {
        id,
        name,
        team: team.name,
        location: team.location,
        hired_on: date(2019, 2, 1).saturating_add(rng.int(0, 2_200).days()),
        pace: rng.between(0.75, 1.35),
    };
    teams.zip(names).zip(301..).map(agent).collect()
}

fn ticket(rng: &mut Rng, id: usize, created_at: DateTime, agents: &[Agent], customers: &[String]) -> Ticket {
    let outage = is_outage(created_at.date()) && rng.chance(0.72);
    let area = if outage { "Sign-in" } else { rng.weighted(&AREAS) };
    let priority = if outage { rng.weighted(&[("high", 0.6), ("urgent", 0.4)]) } else { rng.weighted(&PRIORITIES) };
    let channel = rng.weighted(&CHANNELS);
    let agent = rng.pick_by(agents, |a| a.suits(area, created_at.date()));
    let response = response_minutes(rng, priority, agent.pace * if outage { 2.4 } else { 1.0 });
    let closed_at = closed_at(rng, priority, created_at, response);
    let answered = created_at.saturating_add(response.minutes()) < EXPORTED;
    // Who calls rarely leaves an address.
    let unknown = if channel == "phone" { 0.4 } else { 0.03 };
    let requester = rng.pick(customers);
    let requester_email = (!rng.chance(unknown)).then(|| email(requester, "mail"));
    let satisfaction = closed_at.and_then(|_| satisfaction(rng, agent, response, outage));
    Ticket {
        id,
        created_at,
        closed_at,
        priority,
        area,
        channel,
        requester_email,
        agent_id: agent.id,
        first_response_minutes: answered.then_some(response),
        satisfaction,
        reopened: closed_at.is_some() && rng.chance(0.06),
    }
}

impl Agent {
    fn suits(&self, area: &str, day: Date) -> f64 {
        if self.hired_on > day {
            return 0.0;
        }
        let own = TEAMS.iter().any(|team| team.name == self.team && team.areas.contains(&area));
        (if own { 1.0 } else { 0.04 }) / (self.pace * self.pace)
    }
}

fn response_minutes(rng: &mut Rng, priority: &str, pace: f64) -> i64 {
    let typical = match priority {
        "urgent" => 11.0,
        "high" => 38.0,
        "normal" => 145.0,
        _ => 390.0,
    };
    (typical * pace * rng.skewed()) as i64 + 1
}

/// A few tickets are never closed; the others take hours or days.
fn closed_at(rng: &mut Rng, priority: &str, created_at: DateTime, response: i64) -> Option<DateTime> {
    let hours = match priority {
        "urgent" => 5.0,
        "high" => 14.0,
        "normal" => 34.0,
        _ => 70.0,
    };
    let minutes = response + (hours * 60.0 * rng.skewed()) as i64;
    let forgotten = rng.chance(0.009);
    let closed_at = created_at.saturating_add(minutes.minutes());
    (!forgotten && closed_at < EXPORTED).then_some(closed_at)
}

fn satisfaction(rng: &mut Rng, agent: &Agent, response: i64, outage: bool) -> Option<i64> {
    if !rng.chance(0.44) {
        return None;
    }
    let mood = TEAMS.iter().find(|team| team.name == agent.team).map_or(4.0, |team| team.mood);
    let waited = (response as f64 / 600.0).min(1.2);
    let score = mood - waited - if outage { 1.1 } else { 0.0 } - (agent.pace - 1.0) + 0.9 * rng.bell();
    Some((score + 0.5).clamp(1.0, 5.0) as i64)
}
