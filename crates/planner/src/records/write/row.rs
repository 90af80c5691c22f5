//! Which row is to be changed.

use crate::records::keys;
use crate::records::literal::{Now, Taken, take};
use crate::records::spans::Span;
use crate::records::words::{Shape, is_uuid};
use crate::records::{Index, Trouble};
use serde_json::Value;
use std::ops::Range;

/// The key's value, and the spans that name it.
#[derive(Debug)]
pub(super) struct Row {
    pub key: Value,
    pub spans: Range<usize>,
}

/// The one row of the subject that is named.
pub(super) fn find(index: &Index, subject: usize, spans: &[Span], now: Now) -> Result<Row, Trouble> {
    let resource = index.surface.resources.get(subject).ok_or(Trouble::WhichResource)?;
    let which = || Trouble::WhichRow { resource: resource.name.clone() };
    let place = keys::own(&index.surface, subject).ok_or_else(which)?;
    let field = resource.fields.get(place.1).ok_or_else(which)?;
    let mut found: Vec<Row> = Vec::new();
    for (at, span) in spans.iter().enumerate() {
        let Some(literal) = span.literal() else { continue };
        let before = at.checked_sub(1).and_then(|b| spans.get(b));
        let named = before.is_some_and(|b| b.names_resource(subject));
        let keyed = before.is_some_and(|b| b.field_of(subject) == Some((place.1, false)));
        let own = match literal.shape {
            Shape::Id if is_uuid(&literal.text) => named || keyed || before.is_none_or(|b| b.senses.is_empty()),
            Shape::Id => keys::owner(&index.surface, &literal.text) == Some(subject) || keyed,
            Shape::Number | Shape::Quoted => keyed || (named && literal.shape == Shape::Number),
            _ => false,
        };
        if let (true, Taken::Value(key, 1)) = (own, take(field, place, std::slice::from_ref(span), now)) {
            let from = if named || keyed { at - 1 } else { at };
            found.push(Row { key, spans: from..at + 1 });
        }
    }
    let mut rows = found.into_iter();
    match (rows.next(), rows.next()) {
        (Some(row), None) => Ok(row),
        (Some(row), Some(other)) if row.key == other.key => Ok(row),
        (Some(_), Some(_)) => Err(Trouble::Bulk),
        _ => Err(which()),
    }
}
