//! Talk: a remark on the answer before changes the question before.

use super::Index;
use super::decide::{Read, read};
use super::draft::{Asked, Draft, Filter};
use super::text::tokenise;
use domain::Turn;

/// Threads longer than this are read from here on: nobody refers further back.
const REMEMBERED: usize = 12;

/// The question with everything that the thread says about it.
pub(crate) fn merged(index: &Index, new: Read, history: &[Turn]) -> Read {
    if !is_remark(&new.draft) {
        return new;
    }
    let start = history.len().saturating_sub(REMEMBERED);
    let mut thread: Option<Read> = None;
    for turn in history.get(start..).unwrap_or_default() {
        let earlier = read(index, &tokenise(&turn.question));
        thread = Some(match thread.take() {
            Some(before) if is_remark(&earlier.draft) => merge(before, earlier),
            _ => earlier,
        });
    }
    match thread {
        Some(before) if before.draft.unexplained.is_empty() && before.draft.beyond.is_empty() => merge(before, new),
        _ => new,
    }
}

/// Says nothing on its own: no request, or one that begins by pointing back.
fn is_remark(draft: &Draft) -> bool {
    let fragment = draft.asked.is_empty() || (draft.keys.is_empty() && draft.asked.len() == 1 && draft.continues);
    fragment || draft.continues || draft.adds
}

fn merge(before: Read, new: Read) -> Read {
    let mut draft = before.draft;
    let change = new.draft;
    // "only enterprise customers" limits what was asked; "what about customers?" asks anew.
    let limits = matches!(change.asked.as_slice(), [Asked::Entity { .. }]) && !change.filters.is_empty();
    if !change.asked.is_empty() && !limits {
        ask_again(&mut draft, change.asked);
    }
    draft.subject = draft.subject.or(change.subject);
    draft.each |= change.each;
    if !change.keys.is_empty() {
        if change.adds {
            draft.keys.extend(change.keys);
        } else {
            draft.keys = change.keys;
        }
    }
    for filter in change.filters {
        // What is added limits the whole, not the part whose share was asked for.
        let place = draft.part.map_or(draft.filters.len(), |_| 0);
        if replace_filter(&mut draft.filters, filter, place) {
            draft.part = draft.part.map(|from| from + 1);
        }
    }
    if !change.orders.is_empty() {
        draft.orders = change.orders;
    }
    if let Some(direction) = change.ranked {
        // "top 5 instead": how many changes, by what does not.
        match draft.orders.last_mut() {
            Some(order) => order.direction = direction,
            None => draft.ranked = None,
        }
    }
    draft.limit = change.limit.or(draft.limit);
    draft.offset = change.offset.or(draft.offset);
    draft.distinct |= change.distinct;
    draft.unexplained = change.unexplained;
    draft.beyond = change.beyond;
    draft.absent = change.absent;
    let hints = before.hints.into_iter().chain(new.hints).collect();
    Read { draft, spans: new.spans, hints }
}

/// "and the average?" changes the figure, not what it is a figure of.
fn ask_again(draft: &mut Draft, asked: Vec<Asked>) {
    draft.asked = match (draft.asked.as_slice(), asked.as_slice()) {
        ([Asked::Aggregate(function, _)], [Asked::Column(new)]) => vec![Asked::Aggregate(*function, new.clone())],
        _ => asked,
    };
    draft.subject = None;
}

/// A condition on the same thing takes the place of the old one; true if it is a new one.
fn replace_filter(filters: &mut Vec<Filter>, new: Filter, place: usize) -> bool {
    let same = |old: &Filter| match (old, &new) {
        (Filter::Time { .. }, Filter::Time { .. }) => true,
        (Filter::Values { options: old, negated: false, .. }, Filter::Values { options: new, negated: false, .. }) => {
            old.iter().flatten().any(|o| new.iter().flatten().any(|n| n.column == o.column))
        }
        (Filter::Compare { left: old, .. }, Filter::Compare { left: new, .. }) => old == new,
        _ => false,
    };
    match filters.iter().position(same) {
        Some(at) => {
            filters.remove(at);
            filters.insert(at, new);
            false
        }
        None => {
            filters.insert(place.min(filters.len()), new);
            true
        }
    }
}
