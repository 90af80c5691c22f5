//! Caps on the text before it is parsed: size, nesting and the length of operator chains.
//!
//! A tree is as deep as its nesting and its chains together (`1+1+1+…` leans left, one level per operator, and
//! `((1+1+…)+1+…)` adds them up), and whatever visits a tree recurses that deep. The parser itself only minds nesting.

use super::refuse::{Walk, at, refuse};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Span, Token, TokenWithSpan};

pub const MAX_BYTES: usize = 64 * 1024;
/// Open parentheses, brackets and CASEs.
const MAX_NESTING: usize = 48;
/// Nesting and operators on the way from the root to a leaf.
const MAX_DEPTH: usize = 2_000;
/// Trees below this depth fit into any thread's stack.
pub const SHALLOW: usize = 100;
const DEEP_STACK: usize = 64 * 1024 * 1024;

/// The deepest that the tree of these tokens can be, if that is not too deep.
///
/// Words are judged without knowing the grammar, so that a keyword may turn out to be a name. That must never make a
/// tree look flatter than it is: only a comma or a semicolon ends an expression here, and END only a CASE.
pub fn depth(tokens: &[TokenWithSpan]) -> Walk<usize> {
    let mut open = vec![Level::default()];
    for TokenWithSpan { token, span } in tokens {
        match effect(token) {
            Effect::Open => open.push(Level::default()),
            Effect::OpenBracket => {
                // `INTEGER[][][]…` leans left as well.
                open.last_mut().into_iter().for_each(|level| level.count(Effect::Operator));
                open.push(Level::default());
            }
            Effect::OpenCase => open.push(Level { is_case: true, ..Level::default() }),
            Effect::Close => close(&mut open),
            Effect::CloseCase => {
                if open.last().is_some_and(|level| level.is_case) {
                    close_one(&mut open);
                }
            }
            other => open.last_mut().into_iter().for_each(|level| level.count(other)),
        }
        if open.len() > MAX_NESTING || open.iter().map(Level::height).sum::<usize>() > MAX_DEPTH {
            return Err(too_deep(*span));
        }
    }
    Ok(open.iter().map(Level::height).sum())
}

/// What is known of one pair of brackets, or of the whole text, so far.
#[derive(Default)]
struct Level {
    is_case: bool,
    /// `SELECT … UNION SELECT … UNION …` leans left over whole queries: no separator ends that.
    arms: usize,
    /// Operators of the current expression.
    operators: usize,
    /// The highest of the brackets that were closed in the current expression. Operators may lie on top of it.
    inside: usize,
    /// The highest of the expressions before this one.
    before: usize,
}

impl Level {
    fn count(&mut self, effect: Effect) {
        match effect {
            Effect::Operator => self.operators += 1,
            Effect::SetOperator => {
                self.operators += 1;
                self.arms += 1;
            }
            Effect::Separator => {
                self.before = self.before.max(self.operators + self.inside);
                (self.operators, self.inside) = (0, 0);
            }
            _ => {}
        }
    }

    fn height(&self) -> usize {
        1 + self.arms + self.before.max(self.operators + self.inside)
    }
}

/// Closes a bracket, and what looked like a CASE in it and was none.
fn close(open: &mut Vec<Level>) {
    while open.last().is_some_and(|level| level.is_case) {
        close_one(open);
    }
    close_one(open);
}

fn close_one(open: &mut Vec<Level>) {
    if let [.., around, closed] = open.as_mut_slice() {
        around.inside = around.inside.max(closed.height());
        open.pop();
    }
}

fn too_deep(span: Span) -> domain::Fault {
    let message = format!(
        "the statement is nested or chained too deep (more than {MAX_NESTING} levels or {MAX_DEPTH} operators)"
    );
    at(refuse("sql.too_deep", message, "use IN (…) for long lists of ORs, and CTEs for deep nesting"), span)
}

#[derive(Clone, Copy)]
enum Effect {
    Open,
    OpenBracket,
    OpenCase,
    Close,
    CloseCase,
    Operator,
    SetOperator,
    Separator,
    None,
}

fn effect(token: &Token) -> Effect {
    match token {
        Token::LParen | Token::LBrace => Effect::Open,
        Token::LBracket => Effect::OpenBracket,
        Token::RParen | Token::RBracket | Token::RBrace => Effect::Close,
        Token::Comma | Token::SemiColon => Effect::Separator,
        Token::Word(word) if word.quote_style.is_none() => match word.keyword {
            Keyword::CASE => Effect::OpenCase,
            Keyword::END => Effect::CloseCase,
            Keyword::UNION | Keyword::INTERSECT | Keyword::EXCEPT | Keyword::MINUS => Effect::SetOperator,
            Keyword::NoKeyword => Effect::None,
            // Any other keyword may be an operator (AND, OR, NOT, IS, JOIN …): count it.
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
