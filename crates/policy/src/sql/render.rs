//! The tree back to text, with proof that the text means the tree.

use super::parse::Tokens;
use super::refuse::{Walk, invalid};
use super::walk::Origin;
use domain::{Dialect, Fault};
use sqlparser::ast::Query;

const CODE: &str = "sql.roundtrip";

/// Writes the query out and reads it again: a rendering that means something else never leaves.
pub fn render(dialect: Dialect, origin: Origin, query: &Query) -> Walk<String> {
    let text = query.to_string();
    let again = Tokens::again(dialect, &text).and_then(Tokens::query);
    match again {
        Ok(again) if again == *query => Ok(text),
        _ => Err(unfaithful(origin)),
    }
}

/// A caller's text that the parser takes for something that it cannot write down is the caller's to correct. Text that we
/// compiled is not.
fn unfaithful(origin: Origin) -> Fault {
    match origin {
        Origin::Text => invalid(
            CODE,
            "the statement does not parse: it reads as something else when it is written out",
            "write it in a plainer way: spaces, commas and parentheses where SQL has them",
        ),
        Origin::Plan | Origin::Key | Origin::Rows => {
            Fault::internal(CODE).hint("write the plan in a plainer way, and report the request id")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::Kind;
    use sqlparser::ast::{Expr, Ident, SelectItem, SetExpr};

    #[test]
    fn a_rendering_that_reads_as_something_else_never_leaves() {
        let mut query = Tokens::of(Dialect::DuckDb, "SELECT 1").and_then(Tokens::query).unwrap();
        assert_eq!(render(Dialect::DuckDb, Origin::Text, &query).unwrap(), "SELECT 1");
        let SetExpr::Select(select) = query.body.as_mut() else { panic!("a SELECT") };
        select.projection = vec![SelectItem::UnnamedExpr(Expr::Identifier(Ident::new("secret FROM vault")))];
        let kind = |origin| render(Dialect::DuckDb, origin, &query).unwrap_err().kind;
        assert_eq!(kind(Origin::Text), Kind::Invalid);
        for ours in [Origin::Plan, Origin::Key, Origin::Rows] {
            assert_eq!(kind(ours), Kind::Internal);
        }
    }
}
