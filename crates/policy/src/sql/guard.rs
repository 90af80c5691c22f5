//! Caps on the text before it is parsed: size, nesting and the length of operator chains.
//!
//! A tree is as deep as its nesting plus its chains (`1+1+1+…` leans left, one level per operator),
//! and whatever visits a tree recurses that deep.

use super::refuse::{Walk, at, refuse};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};

pub const MAX_BYTES: usize = 64 * 1024;
/// Open parentheses, brackets and CASEs.
const MAX_NESTING: usize = 48;
/// Nesting and operators on the way from the root to a leaf.
const MAX_DEPTH: usize = 2_000;
/// Trees below this depth fit into any thread's stack.
pub const SHALLOW: usize = 100;
const DEEP_STACK: usize = 64 * 1024 * 1024;

/// The deepest that the tree of these tokens can be, if that is not too deep.
pub fn depth(tokens: &[TokenWithSpan]) -> Walk<usize> {
    // For each open level, the operators seen on it so far.
    let mut levels: Vec<usize> = vec![0];
    let (mut deepest, mut current, mut arms) = (0, 0, 0);
    for TokenWithSpan { token, span } in tokens {
        match effect(token) {
            Effect::Open => levels.push(0),
            Effect::Close => {
                if levels.len() > 1 {
                    current -= levels.pop().unwrap_or(0);
                }
            }
            Effect::Operator => {
                current += 1;
                if let Some(level) = levels.last_mut() {
                    *level += 1;
                }
            }
            // `SELECT … UNION SELECT … UNION …` leans left over whole queries.
            Effect::SetOperator => arms += 1,
            // After a comma or a clause the next expression starts afresh.
            Effect::Separator => {
                if let Some(level) = levels.last_mut() {
                    current -= std::mem::take(level);
                }
            }
            Effect::None => {}
        }
        deepest = deepest.max(arms + current + levels.len());
        if levels.len() > MAX_NESTING || deepest > MAX_DEPTH {
            let message = format!(
                "the statement is nested or chained too deep (more than {MAX_NESTING} levels or {MAX_DEPTH} operators)"
            );
            return Err(at(
                refuse("sql.too_deep", message, "use IN (…) for long lists of ORs, and CTEs for deep nesting"),
                *span,
            ));
        }
    }
    Ok(deepest)
}

enum Effect {
    Open,
    Close,
    Operator,
    SetOperator,
    Separator,
    None,
}

fn effect(token: &Token) -> Effect {
    match token {
        Token::LParen | Token::LBracket | Token::LBrace => Effect::Open,
        Token::RParen | Token::RBracket | Token::RBrace => Effect::Close,
        Token::Comma | Token::SemiColon => Effect::Separator,
        Token::Word(word) if word.quote_style.is_none() => match word.keyword {
            Keyword::CASE => Effect::Open,
            Keyword::END => Effect::Close,
            Keyword::WHERE | Keyword::HAVING => Effect::Separator,
            Keyword::UNION | Keyword::INTERSECT | Keyword::EXCEPT | Keyword::MINUS => Effect::SetOperator,
            Keyword::NoKeyword => Effect::None,
            // Any other keyword may be an operator (AND, OR, NOT, IS, UNION, JOIN …): count it.
            _ => Effect::Operator,
        },
        Token::Word(_) | Token::Number(..) | Token::SingleQuotedString(_) | Token::EOF => Effect::None,
        _ => Effect::Operator,
    }
}

/// Runs the work with a stack that holds a tree of this depth.
pub fn with_stack<T>(depth: usize, work: impl FnOnce() -> T) -> T {
    if depth <= SHALLOW { work() } else { stacker::grow(DEEP_STACK, work) }
}
