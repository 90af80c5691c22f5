//! Well-formed queries, generated: whatever is written by these rules must be let through by both dialects.

use proptest::prelude::*;

const COLUMNS: &[&str] = &["id", "owner", "status", "priority", "amount", "opened_on", "k.case_no", "\"created_at\""];

fn leaf() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(COLUMNS).prop_map(str::to_owned),
        any::<u32>().prop_map(|n| n.to_string()),
        "[a-z'\\\\%_é -]{0,8}".prop_map(|text| format!("'{}'", text.replace('\'', "''"))),
        Just("NULL".to_owned()),
        Just("count(*)".to_owned()),
    ]
}

fn expr() -> impl Strategy<Value = String> {
    leaf().prop_recursive(4, 24, 3, |inner| {
        let operator = prop::sample::select(&["+", "-", "*", "||", "=", "<>", "<", "AND", "OR", "LIKE", "->>"][..]);
        let call = prop::sample::select(&["lower", "abs", "max", "coalesce", "sum", "length"][..]);
        prop_oneof![
            (inner.clone(), operator, inner.clone()).prop_map(|(a, op, b)| format!("({a}) {op} ({b})")),
            (call, inner.clone()).prop_map(|(f, a)| format!("{f}({a})")),
            inner.clone().prop_map(|a| format!("NOT {a}")),
            inner.clone().prop_map(|a| format!("- ({a})")),
            inner.clone().prop_map(|a| format!("{a} IS NOT NULL")),
            inner.clone().prop_map(|a| format!("CAST({a} AS VARCHAR)")),
            inner.clone().prop_map(|a| format!("sum({a}) OVER (PARTITION BY owner ORDER BY {a} DESC)")),
            inner.clone().prop_map(|a| format!("count(*) FILTER (WHERE {a})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("CASE WHEN {a} THEN {b} ELSE NULL END")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a}) IN ({b}, 1)")),
            (inner.clone(), inner).prop_map(|(a, b)| format!("EXISTS (SELECT {a} FROM clients AS c WHERE {b})")),
        ]
    })
}

/// A statement over `cases`, with or without each clause.
pub fn query() -> impl Strategy<Value = String> {
    let clause = |word: &'static str| prop::option::of(expr().prop_map(move |e| format!(" {word} {e}")));
    let from = prop::sample::select(
        &[
            "cases AS k",
            "cases k JOIN clients ON clients.id = k.client_id",
            "(SELECT * FROM cases) AS k",
            "x AS k",
            "(cases k LEFT JOIN offices USING (id))",
        ][..],
    );
    let select = (prop::collection::vec(expr(), 1..4), from, clause("WHERE"), clause("GROUP BY"), clause("HAVING"))
        .prop_map(|(list, from, filter, group, having)| {
            let clauses = [filter, group, having].map(Option::unwrap_or_default).concat();
            format!("SELECT {} FROM {from}{clauses}", list.join(", "))
        });
    let arms = prop::collection::vec(select, 1..3).prop_map(|arms| arms.join(" UNION ALL "));
    (arms, prop::option::of(0_u16..2_000)).prop_map(|(body, limit)| {
        let limit = limit.map_or(String::new(), |n| format!(" LIMIT {n}"));
        format!("WITH x AS (SELECT * FROM cases) {body}{limit}")
    })
}
