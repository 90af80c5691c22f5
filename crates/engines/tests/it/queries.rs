//! Queries out of thin air, over `cases` and `clients`: most of them fail on some value or other.

use proptest::prelude::*;
use proptest::sample::select;
use std::fmt::Write;

/// An expression of a number. Casts, logarithms, products and JSON fail on values that they don't like.
fn number(depth: u32) -> BoxedStrategy<String> {
    let leaf = select(vec![
        "priority",
        "amount",
        "client_id",
        "length(owner)",
        "CAST(case_no AS INTEGER)",
        "CAST(json_extract(payload, '$.a.b') AS INTEGER)",
        "ln(amount)",
        "priority * 2147483647 * 4294967296",
        "0",
        "7",
        "-3",
    ]);
    let leaf = leaf.prop_map(str::to_owned);
    if depth == 0 {
        return leaf.boxed();
    }
    let inner = move || number(depth - 1);
    prop_oneof![
        3 => leaf,
        1 => (inner(), select(vec!["+", "-", "*"]), inner()).prop_map(|(a, op, b)| format!("({a} {op} {b})")),
        1 => (select(vec!["abs", "round", "sqrt", "sign"]), inner()).prop_map(|(f, a)| format!("{f}({a})")),
        1 => inner().prop_map(|a| format!("coalesce({a}, 0)")),
        1 => (condition(depth - 1), inner(), inner())
            .prop_map(|(c, a, b)| format!("CASE WHEN {c} THEN {a} ELSE {b} END")),
        1 => (select(vec!["max", "min", "count"]), select(vec!["priority", "case_no", "client_id"]))
            .prop_map(|(f, a)| format!("(SELECT {f}({a}) FROM cases)")),
    ]
    .boxed()
}

fn text(depth: u32) -> BoxedStrategy<String> {
    let leaf = select(vec!["owner", "status", "case_no", "CAST(priority AS VARCHAR)", "'a'", "'eve'"]);
    let leaf = leaf.prop_map(str::to_owned);
    if depth == 0 {
        return leaf.boxed();
    }
    prop_oneof![
        3 => leaf,
        1 => (text(depth - 1), text(depth - 1)).prop_map(|(a, b)| format!("({a} || {b})")),
        1 => (select(vec!["upper", "lower", "trim"]), text(depth - 1)).prop_map(|(f, a)| format!("{f}({a})")),
        1 => number(depth - 1).prop_map(|n| format!("CAST({n} AS VARCHAR)")),
    ]
    .boxed()
}

pub fn condition(depth: u32) -> BoxedStrategy<String> {
    let down = depth.saturating_sub(1);
    let compare = select(vec!["=", "<>", "<", ">="]);
    let simple = prop_oneof![
        (number(down), compare.clone(), number(down)).prop_map(|(a, op, b)| format!("{a} {op} {b}")),
        (text(down), compare, text(down)).prop_map(|(a, op, b)| format!("{a} {op} {b}")),
        (text(down), select(vec!["'%a%'", "'e%'", "'not%'"])).prop_map(|(a, like)| format!("{a} LIKE {like}")),
        number(down).prop_map(|a| format!("{a} IS NULL")),
        Just("is_urgent".to_owned()),
        Just("json_extract(payload, '$.kind') IS NOT NULL".to_owned()),
    ];
    if depth == 0 {
        return simple.boxed();
    }
    prop_oneof![
        4 => simple,
        1 => (condition(down), select(vec!["AND", "OR"]), condition(down)).prop_map(|(a, op, b)| format!("({a} {op} {b})")),
        1 => condition(down).prop_map(|a| format!("NOT ({a})")),
        1 => condition(down).prop_map(|a| format!("id IN (SELECT id FROM cases WHERE {a})")),
        1 => condition(down).prop_map(|a| format!("EXISTS (SELECT 1 FROM cases WHERE {a})")),
    ]
    .boxed()
}

fn option(words: &'static str, strategy: BoxedStrategy<String>) -> BoxedStrategy<String> {
    prop_oneof![Just(String::new()), strategy.prop_map(move |s| format!(" {words} {s}"))].boxed()
}

/// Selections, filters and joins: with fewer rows to read they give no others.
pub fn monotone() -> impl Strategy<Value = String> {
    let from = select(vec![
        "cases",
        "cases JOIN clients ON clients.id = cases.client_id",
        "cases JOIN (SELECT client_id AS c, case_no AS other FROM cases) AS t ON t.c = client_id",
    ]);
    // Without queries inside: what they count and find is not monotone.
    let plain = condition(2).prop_filter("a query inside", |c| !c.contains("SELECT"));
    (prop::collection::vec(text(1), 1..3), from, option("WHERE", plain.boxed()))
        .prop_filter("a query inside", |(items, ..)| items.iter().all(|i| !i.contains("SELECT")))
        .prop_map(|(items, from, filter)| format!("SELECT {} FROM {from}{filter}", aliased(&items)))
}

fn aliased(items: &[String]) -> String {
    let mut list = String::new();
    for (i, item) in items.iter().enumerate() {
        let _ = write!(list, "{}{item} AS c{i}", if i > 0 { ", " } else { "" });
    }
    list
}

/// Any query.
pub fn query() -> impl Strategy<Value = String> {
    let item = prop_oneof![number(2), text(2)];
    let rows =
        (prop::collection::vec(item, 1..4), option("WHERE", condition(2)), option("ORDER BY", number(1)), 0..3u8)
            .prop_map(|(items, filter, order, limit)| {
                let limit = if limit == 0 { " LIMIT 3" } else { "" };
                format!("SELECT {} FROM cases{filter}{order}{limit}", aliased(&items))
            });
    let groups = (text(1), number(1), option("WHERE", condition(2)), option("HAVING count(*) >", number(0))).prop_map(
        |(key, n, filter, having)| {
            let having = if having.contains("amount") || having.contains("owner") { "" } else { having.as_str() };
            let having = if having.chars().any(|c| c.is_ascii_digit()) { having } else { "" };
            format!("SELECT {key} AS k, count(*) AS n, sum({n}) AS s, min(owner) AS m, avg(priority) AS a FROM cases{filter} GROUP BY {key}{having}")
        },
    );
    let windows = (number(1), text(1), number(1), option("WHERE", condition(1))).prop_map(|(n, p, o, filter)| {
        format!("SELECT id, row_number() OVER (ORDER BY {o}) AS r, sum({n}) OVER (PARTITION BY {p}) AS s, lag(case_no) OVER (ORDER BY created_at) AS l FROM cases{filter}")
    });
    let joins = (text(1), option("WHERE", condition(2)), select(vec!["JOIN", "LEFT JOIN", "RIGHT JOIN"])).prop_map(
        |(t, filter, join)| {
            format!(
                "SELECT {t} AS t, name FROM clients {join} cases ON clients.id = client_id{}",
                filter.replace(" id IN", " cases.id IN")
            )
        },
    );
    let sets = (text(1), condition(1), select(vec!["UNION", "UNION ALL", "EXCEPT", "INTERSECT"]), text(1))
        .prop_map(|(a, c, op, b)| format!("SELECT {a} AS x FROM cases WHERE {c} {op} SELECT {b} FROM cases"));
    let aggregates = (number(1), option("WHERE", condition(2))).prop_map(|(n, filter)| {
        format!("SELECT count(*), max({n}), min(case_no), median(priority), count(DISTINCT owner) FROM cases{filter}")
    });
    prop_oneof![4 => rows, 2 => groups, 2 => windows, 2 => joins, 1 => sets, 2 => aggregates]
}
