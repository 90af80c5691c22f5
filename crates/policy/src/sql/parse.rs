//! Text to one query.

use super::refuse::{Walk, at, clip, invalid, refuse};
use super::{dialect, guard, spelling};
use domain::{Dialect, Fault};
use sqlparser::ast::{Expr, Query, Statement};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Location, Span, Token, TokenWithSpan, Tokenizer, TokenizerError};

/// The parser counts several levels for one parenthesis.
const RECURSION: usize = 400;

/// Text that is small and flat enough to be parsed, in tokens.
pub struct Tokens {
    parser: &'static dyn sqlparser::dialect::Dialect,
    tokens: Vec<TokenWithSpan>,
    /// The deepest that the tree can be: what [`guard::with_stack`] needs.
    pub depth: usize,
}

impl Tokens {
    pub fn of(dialect: Dialect, text: &str) -> Walk<Self> {
        Self::read(dialect, dialect::of(dialect), text)
    }

    /// Text that we compiled, with names in double quotes whatever the dialect.
    pub fn compiled(dialect: Dialect, text: &str) -> Walk<Self> {
        let parser = match dialect {
            Dialect::BigQuery => &dialect::BigQuery { compiled: true },
            other => dialect::of(other),
        };
        Self::read(dialect, parser, text)
    }

    fn read(dialect: Dialect, parser: &'static dyn sqlparser::dialect::Dialect, text: &str) -> Walk<Self> {
        if text.len() > guard::MAX_BYTES {
            let message = format!("the statement has {} bytes, more than {}", text.len(), guard::MAX_BYTES);
            return Err(refuse("sql.too_long", message, "send a shorter statement"));
        }
        if text.contains('\0') {
            return Err(invalid("sql.syntax", "the statement holds a NUL character", "remove it"));
        }
        let tokens = tokenize(dialect, parser, text).map_err(|error| {
            let fault =
                invalid("sql.syntax", format!("the statement does not parse: {}", clip(&error.message)), SYNTAX_HINT);
            at(fault, Span::new(error.location, error.location))
        })?;
        let tokens = spelling::plain(dialect, tokens);
        let depth = guard::depth(&tokens)?;
        Ok(Self { parser, tokens, depth })
    }

    /// Refuses by the first word and the semicolons, so that also what the parser cannot read gets a clear answer.
    fn one_query(&self) -> Walk {
        let mut tokens = self.tokens.iter().filter(|t| t.token != Token::EOF);
        if let Some(TokenWithSpan { token: Token::Word(word), span }) = tokens.next()
            && word.quote_style.is_none()
            && !matches!(word.keyword, Keyword::SELECT | Keyword::WITH | Keyword::VALUES | Keyword::FROM)
        {
            return Err(at(not_a_query(&word.value), *span));
        }
        let mut after_end = tokens.skip_while(|t| t.token != Token::SemiColon).filter(|t| t.token != Token::SemiColon);
        match after_end.next() {
            None => Ok(()),
            Some(next) => {
                let fault = refuse("sql.several_statements", "more than one statement", "send one SELECT at a time");
                Err(at(fault, next.span))
            }
        }
    }

    /// Text that we rendered from a tree that was within the caps: it may have grown by the rewriting.
    pub fn again(dialect: Dialect, text: &str) -> Walk<Self> {
        let parser = dialect::of(dialect);
        let tokens = tokenize(dialect, parser, text).map_err(|_| Fault::internal("sql.roundtrip"))?;
        Ok(Self { parser, tokens, depth: 0 })
    }

    /// Exactly one statement, a query; a trailing semicolon and comments are fine.
    pub fn query(self) -> Walk<Query> {
        self.one_query()?;
        let end = self.end();
        let mut statements = self.parser().parse_statements().map_err(|error| at(syntax(error), end))?;
        let last = statements.pop();
        match (last, statements.is_empty()) {
            (None, _) => Err(invalid("sql.empty", "there is no statement", "write one SELECT")),
            (Some(_), false) => {
                Err(refuse("sql.several_statements", "more than one statement", "send one SELECT at a time"))
            }
            (Some(Statement::Query(query)), true) => Ok(*query),
            (Some(other), true) => Err(not_a_query(other.to_string().split_whitespace().next().unwrap_or_default())),
        }
    }

    /// Exactly one expression up to the end of the text.
    pub fn expression(self) -> Walk<Expr> {
        let end = self.end();
        let mut parser = self.parser();
        let expr = parser.parse_expr().map_err(|error| at(syntax(error), end))?;
        let rest = parser.peek_token();
        if rest.token == Token::EOF {
            return Ok(expr);
        }
        let fault = invalid(
            "sql.syntax",
            format!("`{}` after the end of the predicate", clip(&rest.token.to_string())),
            "write one condition",
        );
        Err(at(fault, rest.span))
    }

    /// Where the text ends: there is something missing.
    fn end(&self) -> Span {
        let end = self.tokens.iter().rfind(|t| t.token != Token::EOF).map_or(Location::new(1, 1), |t| t.span.end);
        Span::new(end, end)
    }

    fn parser(self) -> Parser<'static> {
        Parser::new(self.parser).with_recursion_limit(RECURSION).with_tokens_with_locations(self.tokens)
    }
}

/// Without whitespace and comments: they mean nothing, and the parser is faster without them.
fn tokenize(
    dialect: Dialect,
    parser: &'static dyn sqlparser::dialect::Dialect,
    text: &str,
) -> Result<Vec<TokenWithSpan>, TokenizerError> {
    // BigQuery's escapes are read when the literal is: the parser does not know them all.
    let unescape = dialect != Dialect::BigQuery;
    let mut tokens = Tokenizer::new(parser, text).with_unescape(unescape).tokenize_with_location()?;
    tokens.retain(|t| !matches!(t.token, Token::Whitespace(_)));
    Ok(tokens)
}

/// One refusal for all that writes, configures or looks around.
pub fn not_a_query(verb: &str) -> Fault {
    let message = format!("`{}` statements are not allowed", clip(verb));
    let hint = match verb.to_ascii_uppercase().as_str() {
        "PIVOT" => "write SELECT * FROM … PIVOT (sum(x) FOR y IN ('a', 'b'))",
        "UNPIVOT" => "write SELECT * FROM … UNPIVOT (value FOR name IN (a, b))",
        _ => "write one SELECT (or WITH … SELECT): nothing here writes or configures",
    };
    refuse("sql.not_a_query", message, hint)
}

const SYNTAX_HINT: &str = "correct the statement near that place";

fn syntax(error: ParserError) -> Fault {
    let text = match error {
        ParserError::TokenizerError(text) | ParserError::ParserError(text) => text,
        ParserError::RecursionLimitExceeded => {
            return refuse("sql.too_deep", "the statement is nested too deep", "use CTEs for deep nesting");
        }
    };
    let (message, place) = split_place(&text);
    let fault = invalid("sql.syntax", format!("the statement does not parse: {}", clip(message)), SYNTAX_HINT);
    place.map_or(fault.clone(), |place| at(fault, Span::new(place, place)))
}

/// The parser writes its place into the message: `… at Line: 1, Column: 9`.
pub fn split_place(text: &str) -> (&str, Option<Location>) {
    let Some((message, place)) = text.split_once(" at Line: ") else { return (text, None) };
    let mut numbers = place.split(", Column: ").map(|n| n.trim().parse::<u64>());
    match (numbers.next(), numbers.next()) {
        (Some(Ok(line)), Some(Ok(column))) => (message, Some(Location::new(line, column))),
        _ => (message, None),
    }
}
