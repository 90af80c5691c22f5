//! What kind of question it is, as far as the query that answers it tells.

use super::question::Known;

/// The most demanding thing that the query does.
pub fn of(known: &Known) -> &'static str {
    let sql = match known {
        Known::Sql(sql) => words(sql),
        Known::Rows { .. } => return "rows",
        Known::Refusal => return "refusal",
        Known::Clarification => return "clarification",
    };
    let has = |word: &str| sql.iter().any(|w| w == word);
    let nested = sql.iter().filter(|w| *w == "select").count() > 1;
    if has("intersect") || has("except") || has("union") {
        "set operation"
    } else if nested {
        "nested"
    } else if has("group") && has("having") {
        "group, having"
    } else if has("group") && has("limit") {
        "group, top"
    } else if has("group") {
        "group"
    } else if has("limit") {
        "top"
    } else if ["count", "sum", "avg", "min", "max"].iter().any(|f| has(f)) {
        "total"
    } else if has("where") {
        "list, filtered"
    } else {
        "list"
    }
}

/// Whether the order of its rows is part of the answer.
pub fn is_ordered(sql: &str) -> bool {
    words(sql).windows(2).any(|w| w == ["order", "by"])
}

fn words(sql: &str) -> Vec<String> {
    // What stands in quotes is a value or a name, whatever it says.
    let outside = sql.split('\'').step_by(2).collect::<Vec<_>>().join(" ");
    outside.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|w| !w.is_empty()).map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes() {
        for (sql, shape) in [
            ("SELECT name FROM t", "list"),
            ("SELECT name FROM t WHERE x = 'group by limit'", "list, filtered"),
            ("SELECT count(*) FROM t", "total"),
            ("SELECT name FROM t ORDER BY age LIMIT 1", "top"),
            ("SELECT a, count(*) FROM t GROUP BY a", "group"),
            ("SELECT a FROM t GROUP BY a HAVING count(*) > 2", "group, having"),
            ("SELECT a FROM t GROUP BY a ORDER BY count(*) DESC LIMIT 1", "group, top"),
            ("SELECT a FROM t WHERE x > (SELECT avg(x) FROM t)", "nested"),
            ("SELECT a FROM t EXCEPT SELECT a FROM u", "set operation"),
        ] {
            assert_eq!(of(&Known::Sql(sql.into())), shape, "{sql}");
        }
        assert!(is_ordered("select a from t ORDER  BY a") && !is_ordered("select 'order by' from t"));
    }
}
