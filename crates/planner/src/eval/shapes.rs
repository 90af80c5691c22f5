//! The shape of a question, told by the statement that answers it.

/// What the right statement is made of: how many tables, and which clauses.
pub fn shapes(sql: &str) -> Vec<&'static str> {
    let words: Vec<String> = sql
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|w| !w.is_empty())
        .map(str::to_lowercase)
        .collect();
    let count = |wanted: &str| words.iter().filter(|w| *w == wanted).count();
    let has = |wanted: &str| count(wanted) > 0;
    let pair = |a: &str, b: &str| words.windows(2).any(|w| matches!(w, [x, y] if x == a && y == b));
    let mut found =
        vec![match (["intersect", "except", "union"].iter().any(|w| has(w)), count("select"), count("join")) {
            (true, _, _) => "set operation",
            (_, 2.., _) => "nested",
            (_, _, 0) => "one table",
            (_, _, 1) => "two tables",
            _ => "more tables",
        }];
    let grouped = pair("group", "by");
    let aggregate = ["count", "sum", "avg", "min", "max"].iter().any(|w| has(w));
    let parts = [
        (has("where"), "condition"),
        (aggregate && !grouped, "one figure"),
        (grouped, "per group"),
        (has("having"), "condition on groups"),
        (pair("order", "by") && has("limit"), "ranking"),
        (pair("order", "by") && !has("limit"), "order"),
        (has("like") || has("ilike"), "pattern"),
    ];
    found.extend(parts.iter().filter(|(holds, _)| *holds).map(|(_, name)| *name));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_have_shapes() {
        for (sql, expected) in [
            ("SELECT name FROM a", vec!["one table"]),
            ("SELECT count(*) FROM a WHERE x = 1", vec!["one table", "condition", "one figure"]),
            (
                "SELECT x, count(*) FROM a JOIN b ON a.i = b.i GROUP BY x HAVING count(*) > 1",
                vec!["two tables", "per group", "condition on groups"],
            ),
            ("SELECT x FROM a ORDER BY y DESC LIMIT 1", vec!["one table", "ranking"]),
            ("SELECT x FROM a WHERE y IN (SELECT y FROM b)", vec!["nested", "condition"]),
            ("SELECT x FROM a EXCEPT SELECT x FROM b", vec!["set operation"]),
        ] {
            assert_eq!(shapes(sql), expected, "{sql}");
        }
    }
}
