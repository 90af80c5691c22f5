//! Text to one expression, up to the end of the text.

use super::dialect::BigQuery;
use super::refuse::{invalid, nested_select, refuse};
use crate::sql::guard;
use crate::sql::refuse::{at, clip};
use domain::{Fault, Flavour};
use sqlparser::ast::Expr;
use sqlparser::dialect::Dialect;
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Location, Span, Token, TokenWithSpan, Tokenizer, Whitespace};

/// The longest text that one entry of a scan may be.
const MAX_BYTES: usize = guard::MAX_BYTES;
/// The parser counts several levels for one parenthesis.
const RECURSION: usize = 400;

/// Text that is small and flat enough to be parsed, in tokens.
pub struct Tokens {
    dialect: &'static dyn Dialect,
    tokens: Vec<TokenWithSpan>,
    /// The deepest that the tree can be: what [`guard::with_stack`] needs.
    pub depth: usize,
}

impl Tokens {
    pub fn of(flavour: Flavour, text: &str) -> Result<Self, Fault> {
        if text.len() > MAX_BYTES {
            let message = format!("the expression has {} bytes, more than {MAX_BYTES}", text.len());
            return Err(refuse("too_long", message, "send a shorter one"));
        }
        if text.contains('\0') {
            return Err(invalid("syntax", "the expression holds a NUL character", "remove it"));
        }
        let dialect: &'static dyn Dialect = match flavour {
            Flavour::BigQuery => &BigQuery,
            Flavour::DuckDb => crate::sql::dialect::of(domain::Dialect::DuckDb),
        };
        let mut tokens = Tokenizer::new(dialect, text).with_unescape(false).tokenize_with_location().map_err(|e| {
            at(invalid("syntax", does_not_parse(&e.message), SYNTAX_HINT), Span::new(e.location, e.location))
        })?;
        no_comments(&tokens)?;
        tokens.retain(|t| !matches!(t.token, Token::Whitespace(_) | Token::EOF));
        while tokens.last().is_some_and(|t| t.token == Token::SemiColon) {
            tokens.pop();
        }
        if tokens.is_empty() {
            return Err(invalid("empty", "there is no expression", "write one condition, or leave it out"));
        }
        let tokens = Self { dialect, depth: guard::depth(&tokens).map_err(too_deep)?, tokens };
        tokens.no_statements()?;
        Ok(tokens)
    }

    /// What is no expression gets a clear answer, also where the parser would only stumble over it.
    fn no_statements(&self) -> Result<(), Fault> {
        for (place, TokenWithSpan { token, span }) in self.tokens.iter().enumerate() {
            let fault = match token {
                // The parser would read over it.
                Token::Comma if self.closes_at(place + 1) => {
                    invalid("syntax", "there is nothing after a comma", SYNTAX_HINT)
                }
                Token::SemiColon => refuse("multi_statement", "more than one statement", "write one condition"),
                Token::Word(word) if word.quote_style.is_none() => {
                    let next = self.tokens.get(place + 1).map(|t| &t.token);
                    match word.keyword {
                        Keyword::SELECT => nested_select(),
                        verb if is_verb(verb) && next.is_some_and(is_plain_word) => statement(&word.value),
                        _ => continue,
                    }
                }
                _ => continue,
            };
            return Err(at(fault, *span));
        }
        Ok(())
    }

    fn closes_at(&self, place: usize) -> bool {
        let next = self.tokens.get(place).map(|t| &t.token);
        matches!(next, Some(Token::RParen | Token::RBracket | Token::RBrace) | None)
    }

    /// The whole of the text as one expression.
    pub fn expression(self) -> Result<Expr, Fault> {
        let star = self.stray_star();
        let (expr, parser) = self.expression_and_rest()?;
        let ended = nothing_after(&parser, "the expression", "write one condition and nothing after it");
        ended.map_err(|fault| star.map_or(fault, |span| at(wildcard(), span)))?;
        Ok(expr)
    }

    /// An expression at the beginning of the text, and a parser of the rest.
    pub fn expression_and_rest(self) -> Result<(Expr, Parser<'static>), Fault> {
        let (star, end) = (self.stray_star(), self.end());
        let mut parser = self.parser();
        match parser.parse_expr() {
            Ok(expr) => Ok((expr, parser)),
            Err(error) => Err(star.map_or_else(|| at(syntax(error), end), |span| at(wildcard(), span))),
        }
    }

    /// A `*` that multiplies nothing.
    fn stray_star(&self) -> Option<Span> {
        let after_operand = |place: usize| match place.checked_sub(1).and_then(|p| self.tokens.get(p)) {
            Some(TokenWithSpan { token: Token::Word(word), .. }) => {
                word.quote_style.is_some() || matches!(word.keyword, Keyword::NoKeyword | Keyword::END)
            }
            Some(TokenWithSpan { token: Token::Number(..) | Token::RParen | Token::RBracket, .. }) => true,
            _ => false,
        };
        let stars = self.tokens.iter().enumerate().filter(|(_, t)| t.token == Token::Mul);
        stars.map(|(place, t)| (place, t.span)).find(|(place, _)| !after_operand(*place)).map(|(_, span)| span)
    }

    /// Where the text begins: the place of what has no other.
    pub fn start(&self) -> Span {
        self.tokens.first().map_or(Span::empty(), |t| t.span)
    }

    /// Where the text ends: there is something missing.
    fn end(&self) -> Span {
        let end = self.tokens.last().map_or(Location::new(1, 1), |t| t.span.end);
        Span::new(end, end)
    }

    fn parser(self) -> Parser<'static> {
        Parser::new(self.dialect).with_recursion_limit(RECURSION).with_tokens_with_locations(self.tokens)
    }
}

/// Refuses what is left in the parser.
pub fn nothing_after(parser: &Parser<'_>, what: &str, hint: &str) -> Result<(), Fault> {
    let rest = parser.peek_token();
    if rest.token == Token::EOF {
        return Ok(());
    }
    let message = format!("`{}` after the end of {what}", clip(&rest.token.to_string()));
    Err(at(invalid("trailing_input", message, hint), rest.span))
}

pub fn wildcard() -> Fault {
    refuse("wildcard_expansion", "`*` is not allowed here", "name the columns; without `select` all of them are read")
}

/// A comment has no meaning for us, and may have one for whoever reads the text next.
fn no_comments(tokens: &[TokenWithSpan]) -> Result<(), Fault> {
    let is_comment = |token: &Token| {
        let Token::Whitespace(space) = token else { return false };
        matches!(space, Whitespace::SingleLineComment { .. } | Whitespace::MultiLineComment(_))
    };
    match tokens.iter().find(|t| is_comment(&t.token)) {
        None => Ok(()),
        Some(found) => {
            let fault = refuse("comment_inject", "comments are not allowed in a predicate", "leave the comment out");
            Err(at(fault, found.span))
        }
    }
}

fn is_verb(keyword: Keyword) -> bool {
    use Keyword as K;
    let changes = [K::INSERT, K::UPDATE, K::DELETE, K::MERGE, K::DROP, K::TRUNCATE, K::ALTER, K::CREATE, K::COPY];
    let manages = [K::GRANT, K::REVOKE, K::ATTACH, K::DETACH, K::CALL, K::EXECUTE, K::EXPORT, K::LOAD, K::INSTALL];
    changes.contains(&keyword) || manages.contains(&keyword) || keyword == K::REPLACE
}

/// A word that can follow the name of a statement, but not a column that happens to be called like one.
fn is_plain_word(token: &Token) -> bool {
    use Keyword as K;
    let Token::Word(word) = token else { return false };
    let operators = [K::IS, K::IN, K::NOT, K::LIKE, K::ILIKE, K::BETWEEN, K::AND, K::OR, K::XOR, K::THEN, K::ELSE];
    let more = [K::END, K::WHEN, K::ASC, K::DESC, K::NULLS, K::AS];
    word.quote_style.is_some() || !(operators.contains(&word.keyword) || more.contains(&word.keyword))
}

fn statement(verb: &str) -> Fault {
    let message = format!("`{}` statements are not allowed in a predicate", clip(verb));
    refuse("ddl_in_predicate", message, "write one condition: nothing here writes or configures")
        .detail("statement", clip(verb))
}

const SYNTAX_HINT: &str = "correct the expression near that place";

fn does_not_parse(why: &str) -> String {
    format!("the expression does not parse: {}", clip(why))
}

fn too_deep(fault: Fault) -> Fault {
    let code = "scan.too_deep".to_owned();
    let message = fault.message.replace("the statement", "the expression");
    Fault { code, message, hint: "use IN (…) for long lists of ORs".to_owned(), ..fault }
}

fn syntax(error: ParserError) -> Fault {
    match error {
        ParserError::TokenizerError(text) | ParserError::ParserError(text) => {
            let (message, place) = crate::sql::parse::split_place(&text);
            let fault = invalid("syntax", does_not_parse(message), SYNTAX_HINT);
            place.map_or(fault.clone(), |place| at(fault, Span::new(place, place)))
        }
        ParserError::RecursionLimitExceeded => {
            refuse("too_deep", "the expression is nested too deep", "use IN (…) for long lists of ORs")
        }
    }
}
