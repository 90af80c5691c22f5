//! What engines are sent that nobody here writes for: written and checked as DuckDB's SQL, then translated.

use crate::fixture::{analyst, cases, path, plan_as, sql_as};
use crate::plans::plans;
use crate::promise::events;
use domain::{Caller, Dialect, Flavour};
use proptest::prelude::*;

struct Engine {
    dialect: Dialect,
    /// As files and the table of `make test` call it.
    file: &'static str,
    name: &'static str,
    /// What its names stand in.
    quote: char,
    /// The database of tables whose names say none.
    usual: &'static str,
}

const ENGINES: [Engine; 2] = [
    Engine { dialect: Dialect::Spark, file: "spark", name: "Spark", quote: '`', usual: "default" },
    Engine { dialect: Dialect::DataFusion, file: "datafusion", name: "DataFusion", quote: '"', usual: "public" },
];

fn snapshot(name: &str, shown: &str) {
    insta::with_settings!({ snapshot_path => path("snapshots"), prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!(name, shown);
    });
}

impl Engine {
    fn quoted(&self, name: &str) -> String {
        format!("{0}{name}{0}", self.quote)
    }

    /// Without what stands for the tables: their readable columns and rows are tested elsewhere.
    fn outline(&self, sql: &str) -> String {
        let (head, place) = (format!("(SELECT {}, ", self.quoted("id")), format!("{}.", self.quoted(self.usual)));
        let mut rest = sql;
        let mut short = String::new();
        while let Some((before, after)) = rest.split_once(&head) {
            let (inside, behind) = after.split_once(')').unwrap();
            short.push_str(&format!("{before}⟨{}⟩", inside.split(&place).nth(1).unwrap().trim_matches(self.quote)));
            rest = behind;
        }
        short + rest
    }
}

#[test]
fn plans_are_translated() {
    for engine in ENGINES {
        let mut shown = String::new();
        let all = plans("cases/plan/accept/both.txt");
        for (name, json) in &all {
            let approved = plan_as(&analyst(), engine.dialect, json).unwrap_or_else(|fault| panic!("{name}: {fault}"));
            assert!(approved.params().is_empty(), "no values are bound there: {name}");
            shown.push_str(&format!("# {name}\n{}\n", engine.outline(approved.sql())));
        }
        testkit::tally("policy", &format!("good plans in {}'s SQL", engine.name), all.len(), "false refusals", 0);
        snapshot(&format!("{}_plans", engine.file), &shown);
    }
}

/// Each as it was written and as the engine runs it; what has no translation is told so.
#[test]
fn predicates_are_translated() {
    let policy = events::policy();
    for (engine, flavour) in ENGINES.iter().flat_map(|engine| Flavour::ALL.map(|flavour| (engine, flavour))) {
        let (mut shown, mut translated) = (String::new(), 0);
        let all = cases(&format!("cases/scan/accept/{}.txt", flavour.as_str()));
        let table = format!(" AS {} WHERE ", engine.quoted("events"));
        for text in &all {
            let scan = events::filtered(flavour, text);
            let said = match events::check(&policy, &Caller::new("ann@example.com", "analyst"), engine.dialect, scan) {
                Ok(approved) => {
                    translated += 1;
                    let (_, filter) = approved.sql().split_once(&table).unwrap();
                    filter.strip_suffix(" LIMIT 1001").unwrap().to_owned()
                }
                Err(fault) => {
                    assert!(fault.code.ends_with(".no_translation"), "{text}: {fault}");
                    fault.message
                }
            };
            shown.push_str(&format!("{text}\n    {said}\n"));
        }
        assert!(translated * 10 > all.len() * 7, "{translated} of {} in {flavour:?}", all.len());
        snapshot(&format!("{}_predicates_{}", engine.file, flavour.as_str()), &shown);
    }
}

#[test]
fn statements_are_translated_or_refused() {
    let all: Vec<String> =
        ["both", "duckdb"].iter().flat_map(|file| cases(&format!("cases/sql/accept/{file}.txt"))).collect();
    for engine in ENGINES {
        let (mut shown, mut translated) = (String::new(), 0);
        for text in &all {
            let said = match sql_as(&analyst(), engine.dialect, text) {
                Ok(approved) => {
                    translated += 1;
                    engine.outline(approved.sql())
                }
                Err(fault) => {
                    assert_eq!(fault.code, "sql.no_translation", "{text}: {fault}");
                    fault.message
                }
            };
            shown.push_str(&format!("{text}\n    {said}\n"));
        }
        snapshot(&format!("{}_statements", engine.file), &shown);
        assert!(translated * 2 > all.len(), "{translated} of {}", all.len());
    }
}

#[test]
fn hostile_statements_stay_refused() {
    let all: Vec<String> =
        ["both", "duckdb"].iter().flat_map(|file| cases(&format!("cases/sql/reject/{file}.txt"))).collect();
    for engine in ENGINES {
        let passed: Vec<&String> = all
            .iter()
            .filter(|case| sql_as(&analyst(), engine.dialect, case.split_once(" | ").unwrap().1).is_ok())
            .collect();
        let what = format!("hostile statements refused for {}", engine.name);
        testkit::tally("policy", &what, all.len(), "escapes", passed.len());
        assert!(passed.is_empty(), "{}: {passed:?}", engine.name);
    }
}

/// To DataFusion `Id` and `id` are two names: each is spelled as the table or the statement spells it.
#[test]
fn names_are_spelled_as_they_were_given() {
    let spelled = |text: &str| sql_as(&analyst(), Dialect::DataFusion, text);
    let sql =
        spelled("SELECT N.NAME AS Named, count(*) AS C FROM Clients n GROUP BY n.Name ORDER BY c, NAMED").unwrap();
    let outline = ENGINES[1].outline(sql.sql());
    assert_eq!(
        outline,
        r#"SELECT "n"."name" AS "Named", count(*) AS "C" FROM ⟨clients⟩ AS "n" GROUP BY "n"."name" ORDER BY "C" NULLS LAST, "Named" NULLS LAST LIMIT 1001"#
    );
    // Which of the two is meant by `NAME` could not be told.
    assert_eq!(
        spelled("SELECT upper(name) AS Name FROM clients ORDER BY NAME").unwrap_err().code,
        "sql.no_translation"
    );
}

/// Where a literal ends: in Spark a backslash takes the next character along, in DataFusion a quote the next quote.
fn literal_end(dialect: Dialect, text: &str) -> Option<usize> {
    let mut characters = text.char_indices().skip(1).peekable();
    while let Some((at, c)) = characters.next() {
        match (c, characters.peek()) {
            ('\\', _) if dialect == Dialect::Spark => drop(characters.next()),
            ('\'', Some((_, '\''))) if dialect == Dialect::DataFusion => drop(characters.next()),
            ('\'', _) => return Some(at + 1),
            _ => {}
        }
    }
    None
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever a value holds, it stays one literal, and the statement around it the same.
    #[test]
    fn values_stay_within_their_quotes(value in r#"[ -~'\\"`%$é\n\t;]{0,40}"#) {
        let json = serde_json::json!({
            "version": "1", "from": {"resource": "clients"}, "select": [{"expr": {"field": "name"}}],
            "where": {"test": {"left": {"field": "name"}, "op": "=", "right": {"value": value}}},
        });
        for engine in ENGINES {
            let approved = plan_as(&analyst(), engine.dialect, &json.to_string()).unwrap();
            let before = format!(" WHERE ({}.{} = ", engine.quoted("clients"), engine.quoted("name"));
            let (_, from_literal) = approved.sql().split_once(&before).unwrap();
            let end = literal_end(engine.dialect, from_literal).unwrap();
            prop_assert_eq!(&from_literal[end..], ") LIMIT 1001");
        }
    }
}
