//! Which row is meant: ids by their look, and the fields that hold them.

use super::literal::Place;
use super::surface::Surface;
use super::words::root;
use crate::offline::text::split_name;

/// The resource that an id with a prefix belongs to: `case_987` is one of the `cases`.
pub(crate) fn owner(surface: &Surface, id: &str) -> Option<usize> {
    let prefix = id.split(['_', '-']).next().filter(|p| p.len() < id.len() && p.chars().all(char::is_alphabetic))?;
    let prefix = root(&prefix.to_lowercase());
    let named = |name: &String| matches!(split_name(name).as_slice(), [only] if root(only) == prefix);
    let mut owners = surface.resources.iter().enumerate().filter(|(_, r)| {
        // An id in capitals is rather a number that people gave it.
        id.starts_with(|c: char| c.is_lowercase()) && (named(&r.name) || r.synonyms.iter().any(named))
    });
    match (owners.next(), owners.next()) {
        (Some((at, _)), None) => Some(at),
        _ => None,
    }
}

/// The place of a resource's key, where it is one field.
pub(crate) fn own(surface: &Surface, resource: usize) -> Option<Place> {
    let of = surface.resources.get(resource)?;
    let key = of.key_field()?;
    of.fields.iter().position(|f| f.name == key.name).map(|at| (resource, at))
}
