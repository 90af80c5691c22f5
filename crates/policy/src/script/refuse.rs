//! How a script is refused: the rule, the offending part, what would be allowed, and where.

use crate::sql::refuse::clip;
use domain::{Fault, Kind};

/// `code` without its `script.`; `what` says what is wrong with `part`, which is quoted.
pub fn refuse(code: &str, line: usize, part: &str, what: &str, hint: &str) -> Fault {
    let message = format!("`{}` {what}", clip(part));
    let fault = Fault::new(Kind::Invalid, format!("script.{code}"), message).hint(hint);
    if line == 0 { fault } else { fault.at(line as u64, 1) }
}
