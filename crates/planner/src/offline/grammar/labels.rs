//! Words that only say what sort of thing a column holds: "decor type", "the name of the studio", "kinds of enzymes".

use super::Parser;
use super::nouns::noun;
use crate::offline::catalog::{self, ColumnKind, TableId};
use crate::offline::cues::Cue;
use crate::offline::draft::{Noun, Thing};

impl Parser<'_> {
    /// "decor type", "company names", "classroom numbers": a word that only says what sort of thing the column holds.
    pub(super) fn is_label(&self, noun: &Noun, at: usize) -> bool {
        let word = self.span(at).map(|s| catalog::singular(&s.text.to_lowercase())).unwrap_or_default();
        let named = noun.is_column() && noun.things.iter().any(|(_, w)| *w >= 0.95);
        self.is_classifier(at) && self.is_category(noun) || word == "number" && named
    }

    fn is_classifier(&self, at: usize) -> bool {
        let words = ["name", "names", "type", "types", "kind", "kinds", "value", "values", "status", "statuses"];
        self.span(at).is_some_and(|s| words.contains(&s.text.to_lowercase().as_str()))
    }

    /// A column of text that the words name nearly in full.
    pub(super) fn is_category(&self, noun: &Noun) -> bool {
        let catalog = self.catalog();
        let text = |t: Thing| t.column().is_some_and(|c| catalog.column(c).kind == ColumnKind::Text);
        noun.is_column() && noun.things.iter().any(|(t, w)| *w >= 0.8 && text(*t))
    }

    /// "kinds of enzymes" where enzymes have no kind: the enzymes themselves.
    pub(super) fn kinds_of(&self, at: usize) -> Option<(TableId, usize)> {
        if !self.is_classifier(at) || self.cue(at + 1) != Some(Cue::Of) {
            return None;
        }
        let (table, next) = self.table_at(at + 2)?;
        let own = self.span(at).map(|s| noun(self.catalog(), s)).unwrap_or_default();
        (!own.belongs_to(table, self.catalog())).then_some((table, next))
    }

    /// The place of the label that a noun stands behind.
    pub(super) fn label_before(&self, at: usize) -> Option<usize> {
        let of = (0..at).rev().find(|i| self.span(*i).is_some_and(|s| !s.is_stop()))?;
        let label = of.checked_sub(1)?;
        (self.cue(of) == Some(Cue::Of) && self.is_classifier(label) && self.labelled(label) == Some(at))
            .then_some(label)
    }

    /// "the name of the studio", "types of status" where the studio and the status are columns.
    pub(super) fn labelled(&self, at: usize) -> Option<usize> {
        if !self.is_classifier(at) || self.cue(at + 1) != Some(Cue::Of) {
            return None;
        }
        let of = self.skip(at + 2, &[Cue::Distinct]);
        let (of_noun, _) = self.noun_at(of)?;
        let catalog = self.catalog();
        let own = self.span(at).map(|s| noun(catalog, s)).unwrap_or_default();
        // "the type of the document" is no label where documents have a type.
        let label = self.span(at).map(|s| catalog::singular(&s.text.to_lowercase())).unwrap_or_default();
        let spelt = |t: Thing| t.column().is_some_and(|c| label != "name" && catalog.column(c).words.contains(&label));
        let beside = |(t, w): &(Thing, f32)| {
            (*w >= 0.9 || spelt(*t)) && of_noun.things.iter().any(|(o, _)| o.table(catalog) == t.table(catalog))
        };
        (self.is_category(&of_noun) && !own.things.iter().any(beside)).then_some(of)
    }
}
