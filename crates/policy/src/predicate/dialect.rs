//! BigQuery's SQL as the parser should read it: what its own dialect says of expressions, XOR between AND and OR, and
//! what is refused anyway, so that it is refused by its name.

use sqlparser::dialect::{BigQueryDialect, Dialect};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::Token;
use std::any::TypeId;

/// Looser than AND, tighter than OR. The parser would put it above comparisons.
const XOR: u8 = 7;

#[derive(Debug)]
pub struct BigQuery;

impl Dialect for BigQuery {
    fn dialect(&self) -> TypeId {
        TypeId::of::<BigQueryDialect>()
    }
    fn is_delimited_identifier_start(&self, ch: char) -> bool {
        BigQueryDialect.is_delimited_identifier_start(ch)
    }
    fn is_identifier_start(&self, ch: char) -> bool {
        BigQueryDialect.is_identifier_start(ch)
    }
    fn is_identifier_part(&self, ch: char) -> bool {
        BigQueryDialect.is_identifier_part(ch)
    }
    fn get_next_precedence(&self, parser: &Parser) -> Option<Result<u8, ParserError>> {
        let is_xor = matches!(parser.peek_token_ref().token, Token::Word(ref word) if word.keyword == Keyword::XOR);
        is_xor.then_some(Ok(XOR))
    }
    /// Without it, what is no part of a date would be told as a syntax error.
    fn allow_extract_custom(&self) -> bool {
        true
    }
    fn supports_bitwise_shift_operators(&self) -> bool {
        true
    }
    fn supports_comma_separated_trim(&self) -> bool {
        true
    }
    fn supports_pipe_operator(&self) -> bool {
        true
    }
    fn supports_struct_literal(&self) -> bool {
        true
    }
    fn supports_string_literal_backslash_escape(&self) -> bool {
        true
    }
    fn supports_triple_quoted_string(&self) -> bool {
        true
    }
    fn require_interval_qualifier(&self) -> bool {
        true
    }
}
