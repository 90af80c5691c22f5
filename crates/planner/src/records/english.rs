//! English that instructions are given in, and that no contract needs to know.

use crate::offline::english::{is_linking, is_stop};

/// What a verb, said as a command, wants done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    Read,
    Update,
    Insert,
    /// Takes a row away: nobody may.
    Delete,
    /// Takes a value away, or a row: what follows says which.
    Remove,
    /// Changes a value by its old one.
    Reckon,
    /// What this door does not do at all.
    Other,
}

const READ: &str = "\
    show list find get fetch retrieve return display look search read see view check pull tell what which who whose when \
    where how are is do does did any lookup select query sort order";
const UPDATE: &str = "\
    mark set change update move switch assign reassign put flag make raise lower edit modify correct adjust push \
    postpone extend shift transition turn hand rename replace fix reopen escalate complete";
const INSERT: &str = "add create record log insert register note file enter save store open write";
const DELETE: &str = "\
    delete drop truncate erase wipe purge destroy annihilate";
const RECKON: &str = "increase decrease increment decrement double halve multiply reduce bump";
const OTHER: &str =
    "send grant revoke alter copy clone duplicate merge execute run archive restore import export email";

/// The verb that a word is, said as a command: in its plain form.
pub(crate) fn verb(lower: &str) -> Option<Verb> {
    let among = |list: &str| list.split_whitespace().any(|word| word == lower);
    let lists = [(UPDATE, Verb::Update), (INSERT, Verb::Insert), (DELETE, Verb::Delete), (RECKON, Verb::Reckon)];
    let found = lists.into_iter().find(|(list, _)| among(list)).map(|(_, verb)| verb);
    found.or_else(|| match lower {
        "remove" | "clear" | "unset" | "reset" => Some(Verb::Remove),
        _ if among(READ) => Some(Verb::Read),
        _ if among(OTHER) => Some(Verb::Other),
        _ => None,
    })
}

/// Words of courtesy before a command.
pub(crate) fn is_courtesy(lower: &str) -> bool {
    const WORDS: &str = "\
        please kindly can could would will you i we want need to like let us now just also hi hello hey the agent should \
        must go ahead and d ll s";
    WORDS.split_whitespace().any(|word| word == lower)
}

/// Words that carry no condition of their own.
pub(crate) fn is_filler(lower: &str) -> bool {
    const MORE: &str = "\
        please us me anything something row rows entry entries item items there currently still whose which that new \
        fields columns attributes either kindly thanks thank hereby accordingly instead together along has have having been being via per made it itself \
        existing latest page using said called because so far information info details full concerning \
        regarding s";
    is_stop(lower) || is_linking(lower) || MORE.split_whitespace().any(|word| word == lower)
}

/// Words that make a change one of several rows.
pub(crate) fn is_bulk(lower: &str) -> bool {
    ["all", "every", "each", "any", "everything", "everyone", "both", "several", "multiple", "many", "whole", "entire"]
        .contains(&lower)
}

/// Words behind which another condition, and not the thing itself, is spoken of.
pub(crate) fn is_preposition(lower: &str) -> bool {
    const WORDS: &str = "\
        of for in on with from by that which whose where to about at since after before during between under without \
        belonging concerning regarding having and its when if together are is was were has have";
    WORDS.split_whitespace().any(|word| word == lower)
}

/// Values that people say in other words, whatever the contract: a contract's own words always outrank them.
const EQUIVALENT: &[&[&str]] = &[
    &["outbound", "outgoing"],
    &["inbound", "incoming"],
    &["phone", "call", "phone call", "telephone", "telephone call"],
    &["email", "mail", "e mail"],
    &["active", "open"],
    &["in review", "under review"],
    &["on hold", "paused"],
    &["complete", "finished"],
    &["cancelled", "canceled"],
];

/// Other phrases for a value, lowercase words one space apart.
pub(crate) fn equivalents(folded: &str) -> impl Iterator<Item = &'static str> {
    let group = EQUIVALENT.iter().find(|group| group.contains(&folded)).copied().unwrap_or_default();
    group.iter().copied().filter(move |other| *other != folded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verbs_are_commands_in_their_plain_form() {
        assert_eq!(verb("mark"), Some(Verb::Update));
        assert_eq!(verb("marked"), None);
        assert_eq!(verb("truncate"), Some(Verb::Delete));
        assert_eq!(verb("case"), None);
    }

    #[test]
    fn values_have_other_words() {
        assert_eq!(equivalents("on hold").collect::<Vec<_>>(), ["paused"]);
        assert_eq!(equivalents("urgent").count(), 0);
    }
}
