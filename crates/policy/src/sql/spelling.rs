//! Spellings that the parser does not know, put into those that it does.

use domain::Dialect;
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Span, Token, TokenWithSpan};

/// Functions that the parser reads in a form of their own. With a comma after the last argument it takes them for others.
const FORMS: [Keyword; 10] = [
    Keyword::CAST,
    Keyword::CEIL,
    Keyword::EXTRACT,
    Keyword::FLOOR,
    Keyword::OVERLAY,
    Keyword::POSITION,
    Keyword::SUBSTR,
    Keyword::SUBSTRING,
    Keyword::TRIM,
    Keyword::TRY_CAST,
];

/// `AS [NOT] MATERIALIZED (…)` of a CTE is a hint to the engine's planner and is left out; `**` is `^`; `substr(a, 1,)` is
/// `substr(a, 1)`.
pub fn plain(dialect: Dialect, tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let mut plain: Vec<TokenWithSpan> = Vec::with_capacity(tokens.len());
    let mut in_forms = Vec::new();
    for token in tokens {
        match (&token.token, plain.last_mut()) {
            (Token::LParen, last) => {
                in_forms.push(last.is_some_and(|last| is_form(last)));
                plain.truncate(plain.len() - hint(&plain));
            }
            (Token::RParen, _) => {
                let ends_form = in_forms.pop().unwrap_or(false) && dialect == Dialect::DuckDb;
                if ends_form && ends_in_comma(&plain) {
                    plain.pop();
                }
            }
            (Token::Mul, Some(last)) if dialect == Dialect::DuckDb && is_power(last, &token) => {
                *last = TokenWithSpan::new(Token::Caret, Span::new(last.span.start, token.span.end));
                continue;
            }
            _ => {}
        }
        plain.push(token);
    }
    plain
}

fn is_form(name: &TokenWithSpan) -> bool {
    matches!(&name.token, Token::Word(word) if word.quote_style.is_none() && FORMS.contains(&word.keyword))
}

/// One comma, behind an argument: `substr(a,,)` and `substr(,)` are mistakes, left to the parser.
fn ends_in_comma(tokens: &[TokenWithSpan]) -> bool {
    matches!(tokens, [.., argument, last]
        if last.token == Token::Comma && !matches!(argument.token, Token::Comma | Token::LParen))
}

fn is_power(last: &TokenWithSpan, next: &TokenWithSpan) -> bool {
    last.token == Token::Mul && last.span.end == next.span.start
}

/// How many tokens at the end are the hint.
fn hint(tokens: &[TokenWithSpan]) -> usize {
    match tokens {
        [.., as_, not, hint] if keywords([as_, not, hint], [Keyword::AS, Keyword::NOT, Keyword::MATERIALIZED]) => 2,
        [.., as_, hint] if keywords([as_, hint], [Keyword::AS, Keyword::MATERIALIZED]) => 1,
        _ => 0,
    }
}

fn keywords<const N: usize>(tokens: [&TokenWithSpan; N], expected: [Keyword; N]) -> bool {
    tokens.iter().zip(expected).all(|(token, keyword)| {
        matches!(&token.token, Token::Word(word) if word.quote_style.is_none() && word.keyword == keyword)
    })
}
