//! Queries on the server, and its results joined here with what is local.

use crate::support::House;

#[test]
fn a_remote_result_is_joined_with_a_snapshot() {
    let house = House::new(1_000);
    let da = house.da();
    da.ok(&["fetch", "events", "--quiet"]);
    let mut text = String::new();
    let mut say = |args: &[&str]| text.push_str(&format!("{}\n", da.shown(args)));
    say(&["query", "--remote", "SELECT count(*) AS n, max(name) AS last FROM numbers"]);
    say(&["query", "--remote", "--limit", "2", "SELECT n FROM numbers ORDER BY n"]);
    say(&[
        "query",
        "--register",
        "big=SELECT n, share FROM numbers WHERE n < 20",
        "SELECT count(*) AS pairs FROM events JOIN big ON clicks = n",
    ]);
    // Two results of two sources and a snapshot; `=` belongs to the query; the spec's own name of the flag.
    say(&[
        "query",
        "--register-bq",
        "few=SELECT n FROM numbers WHERE n = 3 OR n = 4",
        "--register",
        "sold = SELECT region, count(*) AS orders FROM orders GROUP BY region",
        "SELECT few.n, count(*) AS events, (SELECT sum(orders) FROM sold) AS orders \
         FROM few JOIN events ON clicks = few.n GROUP BY 1 ORDER BY 1",
    ]);
    insta::assert_snapshot!(text);
    assert_eq!(da.files(), ["events.meta.json", "events.parquet"], "what was registered is gone");
    // The name is the statement's own, whatever else is here by that name; the snapshot stays.
    assert_eq!(da.number("SELECT count(*) FROM events"), 120);
    let hidden = da.json(&["query", "--register", "events=SELECT 7 AS seven FROM numbers WHERE n = 1", "FROM events"]);
    assert_eq!(hidden, serde_json::json!([{ "seven": 7 }]));
    assert_eq!(da.number("SELECT count(*) FROM events"), 120);
}

/// Each says what is wrong with which part, and what to do.
#[test]
fn what_cannot_be_joined_is_told() {
    let house = House::new(1_000);
    let da = house.da();
    da.ok(&["fetch", "events", "--quiet"]);
    let mut text = String::new();
    for (register, sql, code) in [
        ("nonsense", "SELECT 1", 2),
        ("Bad Name=SELECT 1", "SELECT 1", 2),
        ("big=", "FROM big", 2),
        ("big=SELECT nope FROM numbers", "FROM big", 2),
        ("big=SELECT * FROM secrets", "FROM big", 2),
        ("big=DELETE FROM numbers", "FROM big", 2),
        ("big=SELECT n FROM numbers", "SELECT nope FROM big", 2),
        ("big=SELECT n FROM numbers", "SELECT * FROM big JOIN numbers USING (n)", 2),
    ] {
        let args = ["query", "--register", register, sql];
        let said = da.run(&args);
        assert_eq!(said.code, code, "{said:?}");
        assert!(said.err.contains("\nHint: "), "{said:?}");
        text.push_str(&format!("{}\n", da.told(&args, said)));
    }
    insta::assert_snapshot!(text);
    let away = da.run(&["query", "--register", "a=SELECT 1", "FROM a", "--server", "http://127.0.0.1:1"]);
    assert_eq!(away.code, 9, "{away:?}");
    assert_eq!(da.files(), ["events.meta.json", "events.parquet"], "nothing is left of them");
}

/// The server's limits bind what is registered, and it is told.
#[test]
fn what_is_registered_is_capped() {
    let house = House::with(5_000, |server| server.env("GATEHOUSE_API_SCAN_MAX_LIMIT", "1000"));
    let da = house.da();
    let said = da.run(&["query", "--register", "big=SELECT n FROM numbers", "SELECT count(*) AS n FROM big", "--json"]);
    assert_eq!((said.code, said.out.as_str()), (0, "[\n{\"n\":1000}\n]\n"), "{}", said.err);
    assert_eq!(said.err, "WARN: the server cut `big` at 1 000 rows\n");
}

/// With `--remote` the server joins them, in its own sandbox: nothing but the result comes here.
#[test]
fn results_of_two_sources_are_joined_on_the_server() {
    let house = House::new(1_000);
    let da = house.da();
    let joined = |sql: &str| {
        let few = "few=SELECT n FROM numbers WHERE n < 5";
        let sold = "sold = SELECT region, count(*) AS orders FROM orders GROUP BY region";
        da.run(&["query", "--remote", "--register", few, "--register", sold, sql, "--json"])
    };
    let regions =
        da.json(&["query", "--remote", "SELECT region, count(*) AS orders FROM orders GROUP BY 1 ORDER BY 1"]);
    let all = joined("SELECT region, orders FROM sold ORDER BY region");
    assert_eq!(serde_json::from_str::<serde_json::Value>(&all.out).unwrap(), regions, "{}", all.err);
    let pairs = regions.as_array().unwrap().len() * 5;
    let said = joined("SELECT count(*) AS pairs FROM few, sold");
    assert_eq!(said.out, format!("[\n{{\"pairs\":{pairs}}}\n]\n"), "{}", said.err);
    let wrong = joined("SELECT nope FROM few");
    assert_eq!(wrong.code, 2, "{wrong:?}");
    assert!(wrong.err.contains("nope"), "{wrong:?}");
}
