//! Text to words: of a question, of a name in a schema, of a value.

use rust_stemmers::{Algorithm, Stemmer};

/// One word, number, quoted text or punctuation mark of a question.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Token {
    /// As it was written, without quotes and possessive endings.
    pub text: String,
    pub lower: String,
    pub stem: String,
    pub shape: Shape,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Word,
    /// Starts with a digit or a currency sign: `1,000`, `$5k`, `10%`, `2024-03-01`.
    Number,
    Quoted,
    Mark,
}

impl Token {
    fn new(text: &str, shape: Shape) -> Self {
        let lower = text.to_lowercase();
        let stem = if shape == Shape::Word { stem(&lower) } else { lower.clone() };
        Self { text: text.to_owned(), lower, stem, shape }
    }

    pub fn is_capitalised(&self) -> bool {
        self.text.chars().next().is_some_and(char::is_uppercase)
    }
}

/// Questions longer than this are read up to here: nobody asks one question in so many words.
const MAX_TOKENS: usize = 120;

pub(crate) fn tokenise(text: &str) -> Vec<Token> {
    let chars: Vec<char> = text.chars().map(straight_quote).collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        if tokens.len() >= MAX_TOKENS {
            break;
        }
        if let Some(symbol) = comparison(&chars, at) {
            tokens.push(Token::new(symbol, Shape::Word));
            at += symbol.len();
        } else if c.is_whitespace() || (!c.is_alphanumeric() && !",;$€£\"'`-".contains(c)) {
            at += 1;
        } else if let Some(end) = quoted_end(&chars, at) {
            let inner: String = chars.get(at + 1..end).unwrap_or_default().iter().collect();
            tokens.push(Token::new(inner.trim(), Shape::Quoted));
            at = end + 1;
        } else if c.is_ascii_digit() || "$€£".contains(c) || is_minus(&chars, at) {
            at = number(&chars, at, &mut tokens);
        } else if c.is_alphanumeric() {
            at = word(&chars, at, &mut tokens);
        } else {
            if c == ',' || c == ';' {
                tokens.push(Token::new(",", Shape::Mark));
            }
            at += 1;
        }
    }
    tokens
}

/// A sign that compares.
fn comparison(chars: &[char], at: usize) -> Option<&'static str> {
    let next = chars.get(at + 1);
    match (chars.get(at)?, next) {
        ('>', Some('=')) => Some(">="),
        ('<', Some('=')) => Some("<="),
        ('!', Some('=')) => Some("!="),
        ('<', Some('>')) => Some("<>"),
        ('=', Some('=')) => Some("=="),
        ('>', _) => Some(">"),
        ('<', _) => Some("<"),
        ('=', _) => Some("="),
        _ => None,
    }
}

/// A minus sign stands before a number and behind nothing; a hyphen does not.
fn is_minus(chars: &[char], at: usize) -> bool {
    let opens = at == 0 || chars.get(at - 1).is_some_and(|c| c.is_whitespace() || *c == '(');
    chars.get(at) == Some(&'-') && opens && chars.get(at + 1).is_some_and(char::is_ascii_digit)
}

fn straight_quote(c: char) -> char {
    match c {
        '“' | '”' | '„' => '"',
        '‘' | '’' => '\'',
        other => other,
    }
}

/// The end of the quotation that opens at `at`, if one does. An apostrophe is not a quotation.
fn quoted_end(chars: &[char], at: usize) -> Option<usize> {
    let quote = *chars.get(at)?;
    if !matches!(quote, '"' | '\'' | '`') {
        return None;
    }
    let opens = at == 0 || chars.get(at - 1).is_some_and(|c| !c.is_alphanumeric());
    let closes = |i: usize| chars.get(i) == Some(&quote) && chars.get(i + 1).is_none_or(|c| !c.is_alphanumeric());
    if !opens {
        return None;
    }
    (at + 2..chars.len()).find(|&i| closes(i))
}

/// Reads `1,000.50`, `$5k`, `10%`, `2024-03-01`, `3rd`; pushes it and returns where it ends.
fn number(chars: &[char], start: usize, tokens: &mut Vec<Token>) -> usize {
    let mut end = start + 1;
    while let Some(&c) = chars.get(end) {
        let digit_follows = chars.get(end + 1).is_some_and(char::is_ascii_digit);
        if c.is_alphanumeric() || c == '%' || (matches!(c, ',' | '.' | '-' | '/' | ':') && digit_follows) {
            end += 1;
        } else {
            break;
        }
    }
    let text: String = chars.get(start..end).unwrap_or_default().iter().collect();
    if text.chars().any(|c| c.is_ascii_digit()) {
        tokens.push(Token::new(&text, Shape::Number));
    }
    end
}

fn word(chars: &[char], start: usize, tokens: &mut Vec<Token>) -> usize {
    let mut end = start;
    while let Some(&c) = chars.get(end) {
        let letter_follows = chars.get(end + 1).is_some_and(|n| n.is_alphanumeric());
        if c.is_alphanumeric() || c == '_' || (matches!(c, '\'' | '@' | '.') && letter_follows) {
            end += 1;
        } else {
            break;
        }
    }
    let text: String = chars.get(start..end).unwrap_or_default().iter().collect();
    let bare = text.strip_suffix("'s").or_else(|| text.strip_suffix("'S")).unwrap_or(&text);
    tokens.push(Token::new(bare, Shape::Word));
    end
}

/// "salespeople" are several of a salesperson.
pub(crate) fn one_person(lower: &str) -> Option<String> {
    lower.strip_suffix("people").filter(|before| before.len() > 2).map(|before| format!("{before}person"))
}

/// The root that inflected forms of an English word share.
pub(crate) fn stem(lower: &str) -> String {
    // "lenses" are several of a lens, not of a lense.
    if let Some(bare) = lower.strip_suffix("es").filter(|b| b.ends_with("ns")) {
        return stem(bare);
    }
    if let Some(one) = one_person(lower) {
        return stem(&one);
    }
    Stemmer::create(Algorithm::English).stem(lower).into_owned()
}

/// The lowercase words of a name in a schema: `orderItems`, `ORDER_ITEMS` and `order items` alike.
pub(crate) fn split_name(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut previous = ' ';
    for c in name.chars() {
        let boundary = (previous.is_lowercase() && c.is_uppercase())
            || (previous.is_alphabetic() && c.is_numeric())
            || (previous.is_numeric() && c.is_alphabetic());
        if (!c.is_alphanumeric() || boundary) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        previous = c;
    }
    if !word.is_empty() {
        words.push(word);
    }
    rejoin_units(&mut words);
    words
}

/// Square and cubic metres are one word: `floor_area_m2`.
fn rejoin_units(words: &mut Vec<String>) {
    let unit =
        |pair: &[String]| matches!(pair, [a, b] if ["m", "km", "cm"].contains(&a.as_str()) && (b == "2" || b == "3"));
    while let Some(at) = words.windows(2).position(unit) {
        let power = words.remove(at + 1);
        if let Some(word) = words.get_mut(at) {
            word.push_str(&power);
        }
    }
}

/// A value as the index keys it: its lowercase words, one space apart.
pub(crate) fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()) {
        if !folded.is_empty() {
            folded.push(' ');
        }
        folded.extend(word.chars().flat_map(char::to_lowercase));
    }
    folded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_become_words() {
        let words = |q: &str| tokenise(q).into_iter().map(|t| t.text).collect::<Vec<_>>();
        assert_eq!(words("What's Ann's total, over $1,000.50?"), ["What", "Ann", "total", ",", "over", "$1,000.50"]);
        assert_eq!(
            words("status is 'In Review' since 2024-03-01"),
            ["status", "is", "In Review", "since", "2024-03-01"]
        );
        assert_eq!(words("year-to-date order_items"), ["year", "to", "date", "order_items"]);
        assert_eq!(words("between -50 and 5 - 3"), ["between", "-50", "and", "5", "3"]);
        assert_eq!(words("price>=5 and tier != 'pro'"), ["price", ">=", "5", "and", "tier", "!=", "pro"]);
        assert_eq!(words("mail a.b@example.com …"), ["mail", "a.b@example.com"]);
    }

    #[test]
    fn names_become_words() {
        assert_eq!(split_name("orderItems"), ["order", "items"]);
        assert_eq!(split_name("Ref_Product-Categories"), ["ref", "product", "categories"]);
        assert_eq!(split_name("CustomerID"), ["customer", "id"]);
        assert_eq!(split_name("address1"), ["address", "1"]);
    }

    #[test]
    fn values_fold() {
        assert_eq!(fold(" New-York, NY "), "new york ny");
    }
}
