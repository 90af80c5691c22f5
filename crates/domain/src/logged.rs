//! Texts of engines, models and programs, made fit for a log.
//!
//! Their words may quote rows that a caller may not see, a prompt or a value. Phrases that are known beforehand hold
//! none of it, and mostly tell what is wrong.

/// The known phrases that a text holds, in whatever case, and its length.
pub fn phrases(text: &str, known: &[&str]) -> String {
    let lower = text.to_lowercase();
    let found: Vec<&str> = known.iter().copied().filter(|phrase| lower.contains(&phrase.to_lowercase())).collect();
    match (text.len(), found.join(", ")) {
        (0, _) => "nothing".to_owned(),
        (length, found) if found.is_empty() => format!("{length} bytes"),
        (length, found) => format!("{found} ({length} bytes)"),
    }
}

/// A code of somebody else's (`rate_limit_error`) as it is, and of anything else only that it is there.
pub fn code(text: &str) -> &str {
    let is_code = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if text.len() <= MOST_CODE_BYTES && text.chars().all(is_code) { text } else { "…" }
}

const MOST_CODE_BYTES: usize = 48;

/// The place and the sort of an error in JSON: its own words quote what stands there.
pub fn json_error(error: &serde_json::Error) -> String {
    format!("{:?} error at line {} column {}", error.classify(), error.line(), error.column()).to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_left_out_and_what_is_known_is_kept() {
        let said = "Arrow error: Cast error: Cannot cast string 'secret' to value of Int32 type";
        assert_eq!(phrases(said, &["cast error", "plan error", "arrow error"]), "cast error, arrow error (75 bytes)");
        assert_eq!(phrases("missing ): (secret", &["cast error"]), "18 bytes");
        assert_eq!(phrases("", &["cast error"]), "nothing");
        assert_eq!(code("invalid_request_error"), "invalid_request_error");
        for text in ["the secret", "secret: 1", &"x".repeat(49)] {
            assert_eq!(code(text), "…");
        }
    }

    #[test]
    fn errors_in_json_tell_their_place_and_no_value() {
        let cases = [(r#"{"n": "secret"}"#, "data error"), (r#"{"n": secret}"#, "syntax error"), ("{", "eof error")];
        for (text, sort) in cases {
            let error = serde_json::from_str::<std::collections::BTreeMap<String, u8>>(text).unwrap_err();
            assert!(json_error(&error).starts_with(&format!("{sort} at line 1 column ")), "{}", json_error(&error));
            assert!(!json_error(&error).contains("secret"));
        }
    }
}
