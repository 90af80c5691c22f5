//! Spellings that the parser does not know, put into those that it does.

use domain::Dialect;
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Span, Token, TokenWithSpan};

/// `AS [NOT] MATERIALIZED (…)` of a CTE is a hint to the engine's planner and is left out; `**` is `^`.
pub fn plain(dialect: Dialect, tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let mut plain: Vec<TokenWithSpan> = Vec::with_capacity(tokens.len());
    for token in tokens {
        match (&token.token, plain.last_mut()) {
            (Token::LParen, _) => plain.truncate(plain.len() - hint(&plain)),
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
