//! The suite itself.

use super::data::KINDS;
use super::troubles;
use super::{Source, files::Files, server};
use crate::scan_support;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::OnceLock;
use testkit::{Client, Reply, Server};

/// A line a case: predicates over `orders`.
pub const FILTERS: &str = include_str!("../cases/sources/filters.txt");
/// A line a case: the column of a list, and a predicate over `kinds` that is about it.
const LISTS: &str = include_str!("../cases/sources/lists.txt");
/// A line a case: a kind of source, and a predicate that it refuses.
const REFUSED: &str = include_str!("../cases/sources/refused.txt");
/// A line a case: questions in words over `orders` and `customers`.
const QUESTIONS: &str = include_str!("../cases/sources/questions.txt");
/// A line a case: columns, predicate, order and limit of a scan.
const SHAPES: &str = include_str!("../cases/sources/shapes.txt");

/// A source, and a server over it.
pub struct Tried {
    pub source: Box<dyn Source>,
    _server: Server,
    pub client: Client,
    /// What did not do as it should.
    pub wrong: Vec<String>,
    pub cases: usize,
}

impl Tried {
    fn over(source: Box<dyn Source>, dir: &Path) -> Self {
        let server = server(source.as_ref(), dir).env("RUN_TIMEOUT_SECONDS", &source.seconds().to_string()).start();
        let client = server.client("root", "admin");
        Self { source, _server: server, client, wrong: Vec::new(), cases: 0 }
    }

    /// Counts a case, and keeps what is wrong with it.
    pub fn case(&mut self, what: &str, outcome: Result<(), String>) {
        self.cases += 1;
        self.wrong.extend(outcome.err().map(|why| format!("{what}\n    {why}")));
    }
}

/// DuckDB over files, which the others are to agree with.
fn reference() -> &'static Client {
    static REFERENCE: OnceLock<(tempfile::TempDir, Tried)> = OnceLock::new();
    let (_, tried) = REFERENCE.get_or_init(|| {
        let dir = tempfile::tempdir().unwrap();
        let tried = Tried::over(Box::new(Files::new(dir.path())), dir.path());
        (dir, tried)
    });
    &tried.client
}

/// Runs everything against one kind of source.
pub fn conform(make: impl FnOnce(&Path) -> Box<dyn Source>) {
    let dir = tempfile::tempdir().unwrap();
    let mut tried = Tried::over(make(dir.path()), dir.path());
    let kind = tried.source.kind();
    values(&mut tried);
    filters(&mut tried);
    lists(&mut tried);
    shapes(&mut tried);
    caps(&mut tried);
    questions(&mut tried);
    troubles::all(&mut tried);
    testkit::tally("source", &format!("conformance: {kind}"), tried.cases, "failures", tried.wrong.len());
    assert!(tried.cases > 90, "only {} cases", tried.cases);
    assert!(tried.wrong.is_empty(), "{} of {}:\n{}", tried.wrong.len(), tried.cases, tried.wrong.join("\n"));
}

pub fn scan(client: &Client, body: &Value) -> Reply {
    client.clone().header("accept", "application/json").post("/api/v2/scan", body)
}

/// Each type there and back: its values, an odd one, NULL, and none at all.
fn values(tried: &mut Tried) {
    let kinds: Vec<_> = KINDS.iter().filter(|kind| tried.source.has(kind)).collect();
    for kind in kinds {
        let body = json!({ "table_id": "kinds", "select": [kind.column], "order_by": ["id"] });
        let text = scan(&tried.client, &body).text();
        let json = tried.source.json(kind);
        let expected: Vec<String> =
            json.iter().chain(&["null"]).map(|value| format!("{{\"{}\":{value}}}", kind.column)).collect();
        let expected = format!("[{}]\n", expected.join(",\n"));
        let fine = text.trim() == expected.trim();
        tried.case(kind.column, fine.then_some(()).ok_or(format!("{text}, expected {expected}")));
        let none = scan(&tried.client, &json!({ "table_id": "nobody", "select": [kind.column] }));
        let fine = none.status == 200 && none.text().trim() == "[]";
        tried.case(&format!("no {}", kind.column), fine.then_some(()).ok_or(none.text()));
    }
}

/// Whether a kind of source is known to have no words for a predicate.
fn refuses(kind: &str, filter: &str) -> bool {
    cases(REFUSED)
        .filter_map(|line| line.split_once(": "))
        .any(|(refusing, refused)| kind.starts_with(refusing) && refused == filter)
}

/// Predicates mean the same everywhere, but for those that are known to be refused for want of a translation.
fn filters(tried: &mut Tried) {
    let (kind, known, mut refused) = (tried.source.kind(), tried.source.is_known(), 0);
    for filter in cases(FILTERS) {
        // What a kind of source is known to mean in another way is said so in the file.
        let filter = match filter.strip_prefix('!').and_then(|line| line.split_once(": ")) {
            Some((other, _)) if other == kind => continue,
            Some((_, filter)) => filter,
            None => filter,
        };
        let Some(own) = tried.source.filter(filter) else { continue };
        let body =
            |filter: &str| json!({ "table_id": "orders", "select": ["id"], "where": filter, "order_by": ["id"] });
        let (expected, found) = (scan(reference(), &body(filter)), scan(&tried.client, &body(own)));
        assert_eq!(expected.status, 200, "{filter}: {}", expected.text());
        let some = expected.json().as_array().map_or(0, Vec::len);
        assert!(some > 0 && some < 800, "{filter} tells nothing: {some} rows");
        let unsaid = is_unsaid(&found);
        refused += usize::from(unsaid);
        let fine = if refuses(kind, filter) || !known && unsaid { unsaid } else { found.text() == expected.text() };
        tried.case(filter, fine.then_some(()).ok_or_else(|| told(&found, &expected)));
    }
    let most = cases(FILTERS).count() / 5;
    tried.case("most predicates are translated", (refused <= most).then_some(()).ok_or(format!("{refused} are not")));
}

/// Whether a predicate was refused for want of a translation.
fn is_unsaid(reply: &Reply) -> bool {
    reply.status == 400 && reply.json()["kind"] == "no_translation"
}

/// Predicates about lists, likewise.
fn lists(tried: &mut Tried) {
    for (column, filter) in cases(LISTS).map(|line| line.split_once(": ").unwrap()) {
        let kind = KINDS.iter().find(|kind| kind.column == column).unwrap();
        if !tried.source.has(kind) {
            continue;
        }
        let body = json!({ "table_id": "kinds", "select": ["id"], "where": filter, "order_by": ["id"] });
        let (expected, found) = (scan(reference(), &body), scan(&tried.client, &body));
        assert_eq!(expected.json(), json!([{ "id": 1 }]), "{filter}: {}", expected.text());
        // Whether a column is a list is not known to a translation: some are refused over there.
        let unsaid = is_unsaid(&found) || found.status == 400 && found.json()["kind"] == "statement";
        let refused = refuses(tried.source.kind(), filter) || !tried.source.is_known() && unsaid;
        let fine = if refused { unsaid } else { found.text() == expected.text() };
        tried.case(filter, fine.then_some(()).ok_or_else(|| told(&found, &expected)));
    }
}

/// Columns, orders, limits.
fn shapes(tried: &mut Tried) {
    for shape in cases(SHAPES) {
        let body: Value = serde_json::from_str(shape).unwrap();
        let own: Value = serde_json::from_str(&tried.source.shape(shape)).unwrap();
        let (expected, found) = (scan(reference(), &body), scan(&tried.client, &own));
        assert_eq!(expected.status, 200, "{shape}: {}", expected.text());
        let fine = found.status == 200 && same(&found.json(), &expected.json());
        tried.case(shape, fine.then_some(()).ok_or_else(|| told(&found, &expected)));
    }
    let cut = tried.client.post("/datasets/firm/query", &json!({ "sql": "SELECT n FROM numbers" })).json();
    let fine = cut["result"]["truncated"] == true && cut["result"]["row_count"] == 1000;
    tried.case("a result beyond the limit", fine.then_some(()).ok_or(cut["error"].to_string()));
    let by_sql = json!({ "sql": "SELECT status, count(*) AS n FROM orders GROUP BY status ORDER BY status" });
    let (found, expected) = (tried.client.post("/api/query", &by_sql), reference().post("/api/query", &by_sql));
    tried.case("/api/query", (found.text() == expected.text()).then_some(()).ok_or_else(|| told(&found, &expected)));
}

/// A result beyond the rows or the bytes of one reply is cut, and its headers say so.
fn caps(tried: &mut Tried) {
    for (setting, most) in [("GATEHOUSE_API_SCAN_MAX_LIMIT", "100"), ("GATEHOUSE_API_SCAN_MAX_RESULT_BYTES", "20000")] {
        let dir = tempfile::tempdir().unwrap();
        let server = server(tried.source.as_ref(), dir.path()).env(setting, most).start();
        let reply = scan_support::scan(&server.client("root", "admin"), &json!({ "table_id": "numbers" }));
        let told = ["x-agnes-truncated", "x-gatehouse-truncated", "x-gatehouse-rows"].map(|name| reply.header(name));
        let rows = scan_support::row_count(&reply);
        let few = if setting.ends_with("LIMIT") { rows == 100 } else { (1..30_000).contains(&rows) };
        let fine = few && told == ["true", "true", &rows.to_string()];
        tried.case(setting, fine.then_some(()).ok_or_else(|| format!("{} {told:?} {rows} rows", reply.status)));
    }
}

/// The same questions in words have the same answers.
fn questions(tried: &mut Tried) {
    for question in cases(QUESTIONS) {
        let ask = |client: &Client| {
            let body = client.post("/chat", &json!({ "dataset_id": "firm", "message": question })).json();
            (body["status"].clone(), sorted(&body["result"]["rows"]), body)
        };
        let ((status, expected, body), (_, found, other)) = (ask(reference()), ask(&tried.client));
        assert_eq!(status, "succeeded", "{question}: {body}");
        assert!(expected.as_array().is_some_and(|rows| !rows.is_empty()), "{question}: {body}");
        tried.case(
            question,
            same(&expected, &found)
                .then_some(())
                .ok_or_else(|| format!("{found}, expected {expected}\n    {}", other["details"]["compiled_sql"])),
        );
    }
}

/// What is equal by the order that was asked for comes in any order.
fn sorted(rows: &Value) -> Value {
    let mut rows = rows.as_array().cloned().unwrap_or_default();
    rows.sort_by_key(key);
    rows.into()
}

/// Numbers are told apart by three digits only, so that what is the same is at the same place.
fn key(value: &Value) -> String {
    match (value, value.to_string().trim_matches('"').parse::<f64>()) {
        (Value::Array(items), _) => items.iter().map(key).collect(),
        (_, Ok(number)) => format!("{number:.2e} "),
        (other, Err(_)) => other.to_string(),
    }
}

/// Sums of fractions differ by the order that they are added in, an exact number is as good as a float, and SQLite keeps
/// moments as text of its own.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| same(a, b)))
        }
        (Value::Null, _) | (_, Value::Null) => a == b,
        _ => {
            let plain = [a, b].map(|value| value.to_string().trim_matches('"').to_owned());
            match plain.each_ref().map(|text| text.parse::<f64>()) {
                [Ok(a), Ok(b)] => (a - b).abs() <= 1e-9 * a.abs().max(b.abs()),
                _ => {
                    let [a, b] = plain.map(|text| text.replace('T', " ").trim_end_matches(" 00:00:00").to_owned());
                    a == b
                }
            }
        }
    }
}

pub fn told(found: &Reply, expected: &Reply) -> String {
    let short = |reply: &Reply| reply.text().chars().take(300).collect::<String>();
    format!("{} {}\n    expected {}", found.status, short(found), short(expected))
}

pub fn cases(file: &str) -> impl Iterator<Item = &str> {
    file.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}
