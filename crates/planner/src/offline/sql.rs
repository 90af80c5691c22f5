//! Whether a message is SQL of the caller's own rather than a question.

/// The SQL in a message: a fenced block, or a message that is a query as a whole.
pub(crate) fn in_message(message: &str) -> Option<String> {
    if let Some((_, after)) = message.split_once("```sql") {
        let text = after.split("```").next().unwrap_or(after).trim();
        return (!text.is_empty()).then(|| text.to_owned());
    }
    let text = message.trim();
    let text = ["run this sql:", "run sql:", "execute sql:", "run:", "sql:"]
        .iter()
        .find_map(|lead| text.get(..lead.len()).filter(|t| t.eq_ignore_ascii_case(lead)).and(text.get(lead.len()..)))
        .map_or(text, str::trim);
    is_query(text).then(|| text.to_owned())
}

/// "Select the customers from Berlin" is English; SQL has a shape that English does not.
fn is_query(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let (Some(first), second) = (words.next(), words.next().unwrap_or_default()) else { return false };
    let lower = text.to_lowercase();
    match first.to_ascii_lowercase().as_str() {
        "select" => {
            let english = ["the", "all", "a", "an", "any", "every", "each", "only", "those"];
            let shaped = lower.contains(" from ") || text.contains(['*', '(', ';']) || second.parse::<f64>().is_ok();
            shaped && (first == "SELECT" || !english.contains(&second.to_ascii_lowercase().as_str()))
        }
        "with" => lower.contains(" as (") && lower.contains("select"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sql_is_told_from_english() {
        for sql in
            ["SELECT * FROM t", "select a, b from t where x = 1", "with x as (select 1) select * from x", "SELECT 1"]
        {
            assert_eq!(in_message(sql).as_deref(), Some(sql));
        }
        assert_eq!(in_message("please run\n```sql\nselect 1\n```\nthanks").as_deref(), Some("select 1"));
        assert_eq!(in_message("run this sql: select count(*) from t").as_deref(), Some("select count(*) from t"));
        for english in ["Select the customers from Berlin", "with how many orders did we start", "how many orders", ""]
        {
            assert_eq!(in_message(english), None, "{english}");
        }
    }
}
