//! What bash reads in one way and `sh`, which is dash on most devices, in another: `((reboot))` is arithmetic here and two
//! subshells there.

use super::variables::braces;
use super::words::{Argument, Part};
use brush_parser::word::{Parameter, ParameterExpr};

/// Signs that end a word in `sh`. Outside of quotes they can only be in one that has a form of bash: `@(a|b)`, `$[1;2]`.
const ENDS: [char; 10] = [' ', '\t', '\n', ';', '&', '|', '<', '>', '(', ')'];

/// What only bash makes of a word.
pub fn foreign(argument: &Argument) -> Option<String> {
    let bare = |part: &Part| match part {
        Part::Text { text, bare: true } => {
            text.contains(ENDS) || text.contains("$[") || braces(text).is_none_or(|all| all != [text.as_str()])
        }
        _ => false,
    };
    argument.parts.iter().any(bare).then(|| argument.raw.clone())
}

/// What only bash makes of `${…}`; quotes and brackets in it end at other places than there.
pub fn foreign_parameter(expression: &ParameterExpr) -> Option<String> {
    use ParameterExpr as E;
    let (parameter, word) = match expression {
        E::Parameter { parameter, .. } | E::ParameterLength { parameter, .. } => (parameter, None),
        E::UseDefaultValues { parameter, default_value: word, .. }
        | E::IndicateErrorIfNullOrUnset { parameter, error_message: word, .. }
        | E::UseAlternativeValue { parameter, alternative_value: word, .. }
        | E::RemoveSmallestSuffixPattern { parameter, pattern: word, .. }
        | E::RemoveLargestSuffixPattern { parameter, pattern: word, .. }
        | E::RemoveSmallestPrefixPattern { parameter, pattern: word, .. }
        | E::RemoveLargestPrefixPattern { parameter, pattern: word, .. } => (parameter, word.as_ref()),
        _ => return Some("${…}".to_owned()),
    };
    let array = matches!(parameter, Parameter::NamedWithIndex { .. } | Parameter::NamedWithAllIndices { .. });
    let quoted = word.is_some_and(|word| word.contains(['\'', '"', '\\', '`', '{', '}']));
    (array || quoted).then(|| "${…}".to_owned())
}

/// Whether `function` stands before a name that begins at this character.
pub fn is_keyword_before(text: &str, at: usize) -> bool {
    let before: String = text.chars().take(at).collect();
    let before = before.replace("\\\n", " ");
    before.trim_end_matches([' ', '\t']).ends_with("function")
}
