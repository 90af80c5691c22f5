//! Dataset `crm`: the records of a small law firm, which agents read and write.
//!
//! Six hundred cases of eighty clients, what was said about them, and what was found in their documents.

mod sqlite;

use super::names::{email, people};
use super::rng::Rng;
use jiff::ToSpan;
use jiff::civil::{Date, DateTime, Time, date};
use std::io;
use std::path::Path;

const FIRST: Date = date(2023, 6, 1);
const DAYS: i64 = 810;
const CASES: i64 = 600;
const STAFF: [&str; 6] = ["Dana", "Elliot", "Farid", "Greta", "Hiro", "Imani"];
const MATTERS: [&str; 8] =
    ["lease", "employment", "debt", "boundary", "inheritance", "licence", "delivery", "insurance"];
const SIDES: [&str; 4] = ["dispute", "review", "claim", "settlement"];
const SUBJECTS: [&str; 8] = [
    "Engagement letter",
    "Status update",
    "Request for documents",
    "Hearing date",
    "Invoice",
    "Settlement offer",
    "Call notes",
    "Closing letter",
];

pub struct Crm {
    pub cases: Vec<Case>,
    pub communications: Vec<Communication>,
    pub documents: Vec<Document>,
}

/// One row of `cases`.
pub struct Case {
    pub id: String,
    pub case_no: String,
    pub client_id: String,
    pub title: String,
    pub status: &'static str,
    pub priority: &'static str,
    pub assigned_to: Option<&'static str>,
    pub claim_amount: Option<f64>,
    pub due_date: Option<Date>,
    pub client_email: String,
    pub created_at: DateTime,
    pub closed_at: Option<DateTime>,
    pub deleted_at: Option<DateTime>,
}

/// One row of `client_communications`.
pub struct Communication {
    pub id: String,
    pub case_id: String,
    pub direction: &'static str,
    pub channel: &'static str,
    pub subject: &'static str,
    pub sent_by: Option<&'static str>,
    pub recipient_email: Option<String>,
    pub sent_at: DateTime,
}

/// One row of `document_analysis`.
pub struct Document {
    pub id: String,
    pub case_id: String,
    pub document_name: String,
    pub document_type: &'static str,
    pub status: &'static str,
    pub risk_level: Option<&'static str>,
    pub confidence: Option<f64>,
    pub page_count: i64,
    pub reviewed: bool,
    pub summary: Option<String>,
    pub analysed_at: Option<DateTime>,
}

impl Crm {
    pub fn generate() -> Self {
        let mut rng = Rng::new(0x0002_63C5);
        let clients = people(&mut rng, 80);
        let mut crm = Self { cases: Vec::new(), communications: Vec::new(), documents: Vec::new() };
        for number in 0..CASES {
            let client = rng.int(0, 79);
            let name = clients.get(usize::try_from(client).unwrap_or_default()).map_or("", String::as_str);
            let case = case(&mut rng, number, client, name);
            crm.write_to_client(&mut rng, &case);
            crm.read_documents(&mut rng, &case);
            crm.cases.push(case);
        }
        crm
    }

    pub fn write(&self, dir: &Path) -> io::Result<()> {
        sqlite::write(self, &dir.join("crm.sqlite"))
    }

    fn write_to_client(&mut self, rng: &mut Rng, case: &Case) {
        let mut subjects = SUBJECTS;
        rng.shuffle(&mut subjects);
        for subject in subjects.into_iter().take(rng.count(1.6).min(SUBJECTS.len())) {
            let outbound = rng.chance(0.6);
            self.communications.push(Communication {
                id: uuid(rng),
                case_id: case.id.clone(),
                direction: if outbound { "OUTBOUND" } else { "INBOUND" },
                channel: rng.weighted(&[("EMAIL", 6.0), ("PHONE", 3.0), ("LETTER", 1.5), ("MEETING", 1.0)]),
                subject,
                sent_by: outbound.then(|| *rng.pick(&STAFF)),
                recipient_email: outbound.then(|| case.client_email.clone()),
                sent_at: later(rng, case.created_at, 60),
            });
        }
    }

    fn read_documents(&mut self, rng: &mut Rng, case: &Case) {
        for number in 0..rng.count(0.8) {
            let kind = rng.weighted(&[("CONTRACT", 4.0), ("INVOICE", 3.0), ("LETTER", 3.0), ("ID_DOCUMENT", 1.0)]);
            let status = rng.weighted(&[("COMPLETE", 7.0), ("PENDING", 2.0), ("FAILED", 1.0)]);
            let complete = status == "COMPLETE";
            let risk = rng.weighted(&[("LOW", 5.0), ("MEDIUM", 3.0), ("HIGH", 1.5)]);
            self.documents.push(Document {
                id: uuid(rng),
                case_id: case.id.clone(),
                document_name: format!("{}_{}.pdf", kind.to_lowercase(), number + 1),
                document_type: kind,
                status,
                risk_level: complete.then_some(risk),
                confidence: complete.then(|| rng.int(52, 99) as f64 / 100.0),
                page_count: rng.int(1, 48),
                reviewed: complete && rng.chance(0.4),
                summary: complete.then(|| format!("{} risk in a {} matter", risk.to_lowercase(), case.title)),
                analysed_at: complete.then(|| later(rng, case.created_at, 30)),
            });
        }
    }
}

fn case(rng: &mut Rng, number: i64, client: i64, name: &str) -> Case {
    // In the order in which they came.
    let day = FIRST.saturating_add((number * DAYS / CASES).days());
    let created_at = day.to_datetime(clock(rng));
    let age = DAYS - number * DAYS / CASES;
    let closed = age > 120 && rng.chance(0.55);
    let open = rng.weighted(&[("ACTIVE", 6.0), ("IN_REVIEW", 2.0), ("ON_HOLD", 1.5)]);
    Case {
        id: format!("case_{}", 400 + number),
        case_no: format!("C-{}-{:04}", day.year(), 1 + number),
        client_id: (101 + client).to_string(),
        title: format!("{} {}", rng.pick(&MATTERS), rng.pick(&SIDES)),
        status: if closed { "CLOSED" } else { open },
        priority: rng.weighted(&[("LOW", 2.0), ("NORMAL", 5.0), ("HIGH", 2.0), ("URGENT", 0.7)]),
        assigned_to: rng.chance(0.9).then(|| *rng.pick(&STAFF)),
        claim_amount: rng.chance(0.7).then(|| (rng.skewed() * 9_000.0) as i64 as f64),
        due_date: rng.chance(0.6).then(|| day.saturating_add(rng.int(30, 400).days())),
        client_email: email(name, "client"),
        created_at,
        closed_at: closed.then(|| later(rng, created_at, 110)),
        deleted_at: (rng.chance(0.02) && number + 400 != 987).then(|| later(rng, created_at, 20)),
    }
}

fn clock(rng: &mut Rng) -> Time {
    Time::constant(rng.int(8, 17) as i8, rng.int(0, 59) as i8, rng.int(0, 59) as i8, 0)
}

fn later(rng: &mut Rng, from: DateTime, days: i64) -> DateTime {
    from.date().saturating_add(rng.int(1, days).days()).to_datetime(clock(rng))
}

/// Of the fourth version, from our own stream: the demo is the same everywhere.
fn uuid(rng: &mut Rng) -> String {
    let part = |rng: &mut Rng, digits: u32| {
        format!("{:0width$x}", rng.int(0, (1 << (4 * digits)) - 1), width = digits as usize)
    };
    format!("{}-{}-4{}-a{}-{}", part(rng, 8), part(rng, 4), part(rng, 3), part(rng, 3), part(rng, 12))
}
