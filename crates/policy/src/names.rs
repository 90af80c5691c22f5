//! Which names can be written in double quotes as they are.

/// No quote that would end it, no backslash that the renderer would take for an escape, nothing invisible.
///
/// A table or column whose name is not like this does not exist for us: it could not be named safely.
pub fn is_quotable(name: &str) -> bool {
    !name.is_empty() && !name.chars().any(|c| c == '"' || c == '\\' || c.is_control())
}
