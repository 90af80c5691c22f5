//! How a scan is refused: `scan.` and the code of spec 004 §3.7, or one of ours where the spec has none.

use crate::sql::refuse::clip;
use domain::{Fault, Kind};

/// Nobody may write this in a predicate.
pub fn refuse(code: &str, message: impl Into<String>, hint: impl Into<String>) -> Fault {
    Fault::new(Kind::SqlPolicy, format!("scan.{code}"), message).hint(hint)
}

/// It is not well formed, or names what does not exist.
pub fn invalid(code: &str, message: impl Into<String>, hint: impl Into<String>) -> Fault {
    Fault::new(Kind::Invalid, format!("scan.{code}"), message).hint(hint)
}

pub fn syntax_not_allowed(what: &str) -> Fault {
    refuse(
        "syntax_not_allowed",
        format!("`{}` is not allowed in a predicate", clip(what)),
        "use comparisons, IN, BETWEEN, LIKE, IS NULL, AND, OR, NOT, CASE and the listed functions",
    )
}

pub fn ensure(holds: bool, what: &str) -> Result<(), Fault> {
    if holds { Ok(()) } else { Err(syntax_not_allowed(what)) }
}

pub fn nested_select() -> Fault {
    refuse("nested_select", "a predicate may not hold a query", "compare columns of this table with values")
}

pub fn no_translation(what: &str, engine: &str) -> Fault {
    refuse(
        "no_translation",
        format!("`{}` cannot be said in the SQL of this table's engine ({engine})", clip(what)),
        "write the condition without it",
    )
    .detail("construct", clip(what))
}
