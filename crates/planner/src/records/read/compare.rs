//! Words and signs that compare.

use crate::records::spans::Span;
use domain::change::FilterOperator as Op;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compare {
    Op(Op),
    Contains,
    Starts,
    Ends,
}

#[rustfmt::skip]
const PHRASES: &[(&str, Compare)] = &[
    ("greater than or equal to", Compare::Op(Op::GreaterOrEqual)), ("less than or equal to", Compare::Op(Op::LessOrEqual)),
    ("no less than", Compare::Op(Op::GreaterOrEqual)), ("no more than", Compare::Op(Op::LessOrEqual)),
    ("not less than", Compare::Op(Op::GreaterOrEqual)), ("not more than", Compare::Op(Op::LessOrEqual)),
    ("no fewer than", Compare::Op(Op::GreaterOrEqual)), ("a minimum of", Compare::Op(Op::GreaterOrEqual)),
    ("a maximum of", Compare::Op(Op::LessOrEqual)), ("more than", Compare::Op(Op::Greater)),
    ("greater than", Compare::Op(Op::Greater)), ("higher than", Compare::Op(Op::Greater)),
    ("larger than", Compare::Op(Op::Greater)), ("bigger than", Compare::Op(Op::Greater)),
    ("less than", Compare::Op(Op::Less)), ("fewer than", Compare::Op(Op::Less)), ("lower than", Compare::Op(Op::Less)),
    ("smaller than", Compare::Op(Op::Less)), ("longer than", Compare::Op(Op::Greater)), ("shorter than", Compare::Op(Op::Less)), ("at least", Compare::Op(Op::GreaterOrEqual)),
    ("at most", Compare::Op(Op::LessOrEqual)), ("up to", Compare::Op(Op::LessOrEqual)),
    ("equal to", Compare::Op(Op::Equal)), ("other than", Compare::Op(Op::NotEqual)), ("not equal to", Compare::Op(Op::NotEqual)),
    ("starts with", Compare::Starts), ("starting with", Compare::Starts), ("begins with", Compare::Starts),
    ("beginning with", Compare::Starts), ("start with", Compare::Starts), ("ends with", Compare::Ends),
    ("ending with", Compare::Ends), ("ending in", Compare::Ends), ("end with", Compare::Ends),
    ("above", Compare::Op(Op::Greater)), ("over", Compare::Op(Op::Greater)), ("exceeding", Compare::Op(Op::Greater)),
    ("exceeds", Compare::Op(Op::Greater)), ("below", Compare::Op(Op::Less)), ("under", Compare::Op(Op::Less)),
    ("between", Compare::Op(Op::Between)), ("equals", Compare::Op(Op::Equal)), ("exactly", Compare::Op(Op::Equal)),
    ("contains", Compare::Contains), ("containing", Compare::Contains), ("contain", Compare::Contains),
    ("includes", Compare::Contains), ("including", Compare::Contains), ("mentions", Compare::Contains),
    ("mentioning", Compare::Contains), ("matching", Compare::Contains), ("like", Compare::Contains),
    ("!=", Compare::Op(Op::NotEqual)), ("<>", Compare::Op(Op::NotEqual)), (">=", Compare::Op(Op::GreaterOrEqual)),
    ("<=", Compare::Op(Op::LessOrEqual)), ("==", Compare::Op(Op::Equal)), ("=", Compare::Op(Op::Equal)),
    (">", Compare::Op(Op::Greater)), ("<", Compare::Op(Op::Less)),
];

/// The comparison that these spans begin with, and how many of them it takes.
pub(crate) fn read(spans: &[Span]) -> Option<(Compare, usize)> {
    PHRASES.iter().find_map(|(phrase, compare)| {
        let length = phrase.split(' ').count();
        let taken = spans.get(..length)?;
        let same =
            taken.iter().zip(phrase.split(' ')).all(|(span, word)| span.senses.is_empty() && span.lower() == word);
        same.then_some((*compare, length))
    })
}

/// What turns a condition round, and how many spans it takes.
pub(crate) fn negation(spans: &[Span]) -> Option<usize> {
    let lower = |at: usize| spans.get(at).filter(|s| s.senses.is_empty()).map(Span::lower).unwrap_or_default();
    match (lower(0).as_str(), lower(1).as_str()) {
        ("other", "than") | ("not", "in") | ("not", "be") => Some(2),
        ("not" | "except" | "excluding" | "isn" | "aren" | "non", _) => Some(1),
        _ => None,
    }
}
