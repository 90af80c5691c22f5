//! Engine messages made fit to be shown.
//!
//! An engine evaluates conditions in an order of its own, so that a failing cast may quote a value
//! of a row that policy hides. What failed on the data is therefore told without any value.

/// The first line of an engine's message, without its location lines.
pub fn first_line(message: &str) -> String {
    let line = message.lines().next().unwrap_or_default().trim();
    line.chars().take(500).collect()
}

/// The same with everything between quotes left out.
pub fn without_values(message: &str) -> String {
    let mut quote = None;
    let mut shown = String::new();
    for c in first_line(message).chars() {
        match (quote, c) {
            (None, '\'' | '"') => {
                quote = Some(c);
                shown.push(c);
            }
            (Some(q), c) if c == q => {
                quote = None;
                shown.push('…');
                shown.push(c);
            }
            (Some(_), _) => {}
            (None, c) if c.is_ascii_digit() => {
                if !shown.ends_with('…') {
                    shown.push('…');
                }
            }
            (None, c) => shown.push(c),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_do_not_show() {
        let message = "Conversion Error: Could not convert string 'ann@example.com' to INT32\nLINE 1: ...";
        assert_eq!(without_values(message), "Conversion Error: Could not convert string '…' to INT…");
        assert_eq!(
            without_values("Out of Range Error: Overflow in 42 + 17!"),
            "Out of Range Error: Overflow in … + …!"
        );
        assert_eq!(without_values("unclosed 'secret"), "unclosed '");
    }
}
