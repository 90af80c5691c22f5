//! Scans: what may be written in `where`, `select` and `order_by`, and what comes out.

use crate::fixture::{cases, path, text};
use crate::promise::{self, events};
use domain::{Caller, Dialect, Fault, Flavour, Kind, Scan, Value};
use policy::{Approved, Policy};
use std::collections::BTreeSet;
use std::sync::LazyLock;

static POLICY: LazyLock<Policy> = LazyLock::new(events::policy);

fn analyst() -> Caller {
    Caller::new("ann@example.com", "analyst")
}

fn agent() -> Caller {
    Caller::new("bob@example.com", "agent")
}

fn checked(dialect: Dialect, scan: Scan) -> Result<Approved, Fault> {
    events::check(&POLICY, &analyst(), dialect, scan)
}

fn canonical(flavour: Flavour, predicate: &str) -> Result<String, Fault> {
    let source = events::source(Dialect::DuckDb);
    let scan = POLICY.canonical_scan(&analyst(), &source, &events::filtered(flavour, predicate))?;
    Ok(scan.filter.unwrap())
}

fn accepted(flavour: Flavour) -> Vec<String> {
    cases(&format!("cases/scan/accept/{}.txt", flavour.as_str()))
}

fn rejected(flavour: Flavour) -> Vec<(String, String)> {
    let files = ["both", flavour.as_str()].map(|name| cases(&format!("cases/scan/reject/{name}.txt")));
    let split = |line: String| line.split_once(" | ").map(|(code, text)| (format!("scan.{code}"), text.to_owned()));
    files.into_iter().flatten().map(|line| split(line).unwrap()).collect()
}

fn snapshot(name: &str, lines: &[String]) {
    insta::with_settings!({ snapshot_path => path("snapshots"), prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!(name, lines.join("\n"));
    });
}

/// Each as it was written, as it was understood, and as each engine runs it.
#[test]
fn good_predicates_pass() {
    let (mut tried, mut refused) = (0, Vec::new());
    for flavour in Flavour::ALL {
        let mut shown = Vec::new();
        for text in accepted(flavour) {
            tried += 1;
            match canonical(flavour, &text) {
                Ok(canonical) => {
                    shown.push(format!("{text}\n    {canonical}"));
                    shown.extend([Dialect::DuckDb, Dialect::Sqlite].map(|dialect| in_engine(flavour, dialect, &text)));
                }
                Err(fault) => refused.push(format!("{flavour:?}: {text}\n    {fault} (hint: {})", fault.hint)),
            }
            promise::scan(&text);
        }
        assert!(shown.len() > 3 * 60 || !refused.is_empty());
        if refused.is_empty() {
            snapshot(&format!("predicates_{}", flavour.as_str()), &shown);
        }
    }
    testkit::tally("policy", "good predicates accepted", tried, "false refusals", refused.len());
    assert!(refused.is_empty(), "refused by mistake:\n{}", refused.join("\n"));
}

/// Its WHERE, or why there is none. What DuckDB wrote, DuckDB runs.
fn in_engine(flavour: Flavour, dialect: Dialect, text: &str) -> String {
    match checked(dialect, events::filtered(flavour, text)) {
        Ok(approved) => {
            let (_, filter) = approved.sql().split_once(r#" AS "events" WHERE "#).unwrap();
            format!("    {dialect:?}: {}", filter.strip_suffix(" LIMIT 1001").unwrap())
        }
        Err(fault) => {
            let absent = ["scan.unknown_column", "scan.cross_table_ref"].contains(&fault.code.as_str());
            let nested = dialect == Dialect::Sqlite && absent;
            let own = flavour == Flavour::DuckDb && dialect == Dialect::DuckDb;
            assert!(nested || (fault.code == "scan.no_translation" && !own), "{text}\n    {fault}");
            format!("    {dialect:?}: {}", fault.message)
        }
    }
}

/// The rule, the offending part with its place, and what would be allowed.
#[test]
fn bad_predicates_are_refused_with_their_code() {
    let (mut tried, mut escaped, mut wrong) = (0, 0, Vec::new());
    for flavour in Flavour::ALL {
        let mut told = BTreeSet::new();
        let mut count = 0;
        for (code, text) in rejected(flavour) {
            count += 1;
            match checked(Dialect::DuckDb, events::filtered(flavour, &text)) {
                Err(fault) if fault.code == code => {
                    let place = fault.span.map_or("-".to_owned(), |span| format!("{}:{}", span.line, span.column));
                    if place == "-" && code != "scan.empty" {
                        wrong.push(format!("{flavour:?}: {text}\n    {fault} does not say where"));
                    }
                    assert_eq!(fault.details.as_ref().unwrap()["in"], "where");
                    told.insert(format!("{text}\n    {place} {fault}\n    {}", fault.hint));
                }
                Err(fault) => wrong.push(format!("{flavour:?}: {text}\n    {fault}, expected {code}")),
                Ok(approved) => {
                    escaped += 1;
                    wrong.push(format!("{flavour:?}: {text}\n    passed as {}", approved.sql()));
                }
            }
            promise::scan(&text);
        }
        assert!(count > 120);
        tried += count;
        if wrong.is_empty() {
            snapshot(&format!("predicate_refusals_{}", flavour.as_str()), &told.into_iter().collect::<Vec<_>>());
        }
    }
    testkit::tally("policy", "hostile predicates refused", tried, "escapes", escaped);
    assert!(wrong.is_empty(), "not refused as expected:\n{}", wrong.join("\n"));
}

/// Every code of spec 004 §3.7, and every function of its list, stands in the case files.
#[test]
fn the_case_files_cover_the_specification() {
    let codes = text("cases/scan/reject/both.txt") + &text("cases/scan/reject/bigquery.txt");
    for code in [
        "nested_select",
        "multi_statement",
        "ddl_in_predicate",
        "external_query",
        "unknown_function",
        "comment_inject",
        "wildcard_expansion",
        "cross_table_ref",
        "bytes_literal_raw",
    ] {
        assert!(codes.contains(&format!("\n{code} | ")), "{code}");
    }
    let predicates = text("cases/scan/accept/bigquery.txt");
    for function in [
        "CURRENT_DATE",
        "CURRENT_TIMESTAMP",
        "CURRENT_TIME",
        "DATE",
        "DATETIME",
        "TIMESTAMP",
        "TIME",
        "DATE_ADD",
        "DATE_SUB",
        "DATE_DIFF",
        "DATE_TRUNC",
        "EXTRACT",
        "FORMAT_DATE",
        "FORMAT_TIMESTAMP",
        "PARSE_DATE",
        "PARSE_TIMESTAMP",
        "UNIX_SECONDS",
        "UNIX_MILLIS",
        "CONCAT",
        "LENGTH",
        "LOWER",
        "UPPER",
        "SUBSTR",
        "SUBSTRING",
        "TRIM",
        "LTRIM",
        "RTRIM",
        "REPLACE",
        "STARTS_WITH",
        "ENDS_WITH",
        "CONTAINS_SUBSTR",
        "REGEXP_CONTAINS",
        "REGEXP_EXTRACT",
        "SAFE_CAST",
        "ABS",
        "CEIL",
        "FLOOR",
        "ROUND",
        "MOD",
        "POWER",
        "SQRT",
        "LOG",
        "LN",
        "EXP",
        "SIGN",
        "GREATEST",
        "LEAST",
        "CAST",
        "IF",
        "IFNULL",
        "COALESCE",
        "NULLIF",
    ] {
        let called = |line: &str| {
            line.split(&format!("{function}(")).skip(1).count() > 0
                && line
                    .split(&format!("{function}("))
                    .any(|before| !before.ends_with(|c: char| c.is_alphanumeric() || c == '_'))
        };
        assert!(predicates.lines().any(called), "{function}");
    }
    for kind in [
        "INT64",
        "FLOAT64",
        "NUMERIC",
        "STRING",
        "BYTES",
        "BOOL",
        "DATE",
        "DATETIME",
        "TIMESTAMP",
        "TIME",
        "DECIMAL",
        "BIGNUMERIC",
    ] {
        assert!(predicates.contains(&format!(" AS {kind})")), "{kind}");
    }
}

fn selecting(flavour: Flavour, select: &[&str], order_by: &[&str]) -> Scan {
    let owned = |entries: &[&str]| entries.iter().map(|entry| (*entry).to_owned()).collect();
    Scan { table: "events".into(), select: owned(select), order_by: owned(order_by), flavour, ..Scan::default() }
}

#[test]
fn a_scan_is_one_governed_statement() {
    let scan = Scan {
        table: "Events".to_owned(),
        select: vec!["event_date".to_owned(), "device.os".to_owned(), "items[OFFSET(0)].sku".to_owned()],
        filter: Some("country_code = 'CZ'".to_owned()),
        order_by: vec!["event_date DESC".to_owned(), "device.screen.w".to_owned()],
        limit: Some(1000),
        flavour: Flavour::BigQuery,
    };
    let approved = events::check(&POLICY, &agent(), Dialect::DuckDb, scan.clone()).unwrap();
    insta::assert_snapshot!(approved.sql(), @r#"SELECT "event_date" AS "event_date", "device"['os'] AS "os", "items"[1]['sku'] AS "sku" FROM (SELECT "id", "event_date", "created_at", "at_time", "country_code", "platform", "session_id", "owner", "amount", "score", "clicks", "is_bot", "device", "tags", "items" FROM "main"."events" WHERE (owner = $1)) AS "events" WHERE "country_code" = 'CZ' ORDER BY "event_date" DESC NULLS LAST, "device"['screen']['w'] ASC NULLS FIRST LIMIT 1000"#);
    assert_eq!(approved.params(), [Value::Text("bob@example.com".to_owned())]);
    assert_eq!(approved.filtered_by(), ["events"]);
    assert_eq!(approved.tables(), ["events"]);
    let canonical = POLICY.canonical_scan(&agent(), &events::source(Dialect::DuckDb), &scan).unwrap();
    insta::assert_json_snapshot!(canonical, @r#"
{
  "table_id": "events",
  "select": [
    "`event_date`",
    "`device`.`os`",
    "`items`[OFFSET(0)].`sku`"
  ],
  "where": "`country_code` = 'CZ'",
  "order_by": [
    "`event_date` DESC NULLS LAST",
    "`device`.`screen`.`w` ASC NULLS FIRST"
  ],
  "limit": 1000,
  "sql_flavor": "bigquery"
}
"#);
}

#[test]
fn entries_of_select_and_order_by_are_checked_like_predicates() {
    for flavour in Flavour::ALL {
        for (code, select, order_by) in [
            ("unknown_column", "nonesuch", ""),
            ("unknown_column", "secret", ""),
            ("unknown_column", "", "secret DESC"),
            ("cross_table_ref", "other.id", ""),
            ("wildcard_expansion", "*", ""),
            ("wildcard_expansion", "events.*", ""),
            ("wildcard_expansion", "* EXCLUDE (secret)", ""),
            ("trailing_input", "id AS x", ""),
            ("trailing_input", "id, secret", ""),
            ("trailing_input", "", "id, secret"),
            ("trailing_input", "", "id DESC LIMIT 5"),
            ("trailing_input", "", "id DESC DESC"),
            ("trailing_input", "", "id NULLS"),
            ("not_a_column", "md5(owner)", ""),
            ("not_a_column", "LOWER(platform)", ""),
            ("not_a_column", "1", ""),
            ("not_a_column", "", "1"),
            ("not_a_column", "", "LENGTH(platform) DESC"),
            ("not_a_column", "", "CASE WHEN is_bot THEN id END"),
            ("nested_select", "(SELECT secret FROM events)", ""),
            ("nested_select", "", "(SELECT 1)"),
            ("multi_statement", "id; DROP TABLE events", ""),
            ("comment_inject", "id --", ""),
            ("comment_inject", "", "id /* */"),
            ("unknown_field", "device.nonesuch", ""),
            ("not_orderable", "", "tags"),
            ("not_orderable", "", "device"),
            ("empty", "", " "),
        ] {
            let entries = |entry: &'static str| if entry.is_empty() { vec![] } else { vec![entry] };
            let scan = selecting(flavour, &entries(select), &entries(order_by));
            let fault = checked(Dialect::DuckDb, scan).unwrap_err();
            assert_eq!(fault.code, format!("scan.{code}"), "{flavour:?} {select} {order_by}: {fault}");
            assert_eq!(fault.details.as_ref().unwrap()["in"], if select.is_empty() { "order_by" } else { "select" });
        }
    }
}

#[test]
fn orders_say_where_nulls_go() {
    for (flavour, entry, expected) in [
        (Flavour::BigQuery, "clicks", r#""clicks" ASC NULLS FIRST"#),
        (Flavour::BigQuery, "clicks desc", r#""clicks" DESC NULLS LAST"#),
        (Flavour::BigQuery, "clicks DESC NULLS FIRST", r#""clicks" DESC NULLS FIRST"#),
        (Flavour::DuckDb, "clicks", r#""clicks" ASC NULLS LAST"#),
        (Flavour::DuckDb, "clicks ASC NULLS FIRST", r#""clicks" ASC NULLS FIRST"#),
        (Flavour::DuckDb, "device.screen.w desc", r#""device"['screen']['w'] DESC NULLS LAST"#),
    ] {
        let sql = checked(Dialect::DuckDb, selecting(flavour, &["id"], &[entry])).unwrap().sql().to_owned();
        assert!(sql.ends_with(&format!(" ORDER BY {expected} LIMIT 1001")), "{entry}: {sql}");
    }
}

#[test]
fn two_columns_of_one_name_are_refused() {
    let fault = checked(Dialect::DuckDb, selecting(Flavour::DuckDb, &["id", "ID"], &[])).unwrap_err();
    assert_eq!(fault.code, "scan.duplicate_column");
}

#[test]
fn limits_are_checked() {
    let limited = |limit| checked(Dialect::DuckDb, Scan { limit, ..selecting(Flavour::DuckDb, &["id"], &[]) });
    assert!(limited(Some(1000)).unwrap().sql().ends_with(" LIMIT 1000"));
    assert!(limited(Some(0)).unwrap().sql().ends_with(" LIMIT 0"));
    assert!(limited(None).unwrap().sql().ends_with(" LIMIT 1001"));
    let fault = limited(Some(1001)).unwrap_err();
    assert_eq!((fault.kind, fault.code.as_str()), (Kind::Invalid, "scan.limit_too_large"));
}

/// What gives rows as they come holds a far cap by itself; everybody else is told of it, and so are they where rows are in
/// an order.
#[test]
fn a_far_cap_costs_no_limit_where_rows_come_as_they_are() {
    let written = |dialect, order: &[&str]| {
        let scan = Box::new(selecting(Flavour::DuckDb, &["id"], order));
        let limits = domain::Limits { rows: 1_000_000, ..domain::Limits::default() };
        let proposal = domain::Proposal::Scan { source: "web".to_owned(), scan };
        POLICY.check(&analyst(), &events::source(dialect), &proposal, &limits).unwrap().sql().to_owned()
    };
    for streaming in [Dialect::DuckDb, Dialect::Spark] {
        assert!(!written(streaming, &[]).contains("LIMIT"));
        assert!(written(streaming, &["id"]).ends_with(" LIMIT 1000001"));
    }
    assert!(written(Dialect::Sqlite, &[]).ends_with(" LIMIT 1000001"));
    assert!(written(Dialect::DataFusion, &[]).ends_with(" LIMIT 1000001"));
}

#[test]
fn what_is_hidden_is_refused_like_what_does_not_exist() {
    for (hidden, absent) in [("secret = 'x'", "sxcrxt = 'x'"), ("not_in_contract = 'x'", "nxt_xn_cxntract = 'x'")] {
        for flavour in Flavour::ALL {
            let [a, b] = [hidden, absent].map(|t| checked(Dialect::DuckDb, events::filtered(flavour, t)).unwrap_err());
            assert_eq!((a.kind, &a.code, a.span), (b.kind, &b.code, b.span));
            assert!(
                !a.hint.contains("secret") && !b.hint.contains("secret") && !b.hint.contains("not_in"),
                "{}",
                b.hint
            );
        }
    }
    let unknown =
        |table: &str| checked(Dialect::DuckDb, Scan { table: table.to_owned(), ..Scan::default() }).unwrap_err();
    assert_eq!((unknown("nonesuch").kind, unknown("nonesuch").code.as_str()), (Kind::NotFound, "scan.unknown_table"));
    let stranger =
        events::check(&POLICY, &Caller::new("eve", "stranger"), Dialect::DuckDb, selecting(Flavour::DuckDb, &[], &[]));
    assert_eq!(stranger.unwrap_err().code, "scan.unknown_table");
}

#[test]
fn refusals_name_the_offending_part() {
    let fault = canonical(Flavour::BigQuery, "clicks = 1\n  AND OBSCURE_FN(clicks) = 1").unwrap_err();
    insta::assert_json_snapshot!(fault, @r#"
{
  "kind": "sql_policy",
  "code": "scan.unknown_function",
  "message": "the function `OBSCURE_FN` is not among those that a predicate may call",
  "hint": "use the listed functions of dates, text, numbers and conditions, by their plain names",
  "span": {
    "line": 2,
    "column": 7
  },
  "details": {
    "function": "OBSCURE_FN",
    "in": "where"
  }
}
"#);
}
