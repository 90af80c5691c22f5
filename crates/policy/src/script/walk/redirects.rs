//! Files that the shell itself opens, and what it hands to a command in their place.

use super::{Redirection, Walker};
use crate::script::words;
use brush_parser::ast::{IoFileRedirectKind as Kind, IoFileRedirectTarget as Target, IoRedirect, Word};

impl Walker {
    pub(super) fn redirects<'a>(&mut self, redirects: impl IntoIterator<Item = &'a IoRedirect>) {
        for redirect in redirects {
            match redirect {
                IoRedirect::File(_, kind, target) => self.file(kind, target),
                IoRedirect::HereDocument(_, document) => {
                    if document.requires_expansion {
                        let read = words::read_document(&document.doc.value, self.line, &mut self.inner);
                        self.keep(read);
                        self.foreign();
                    }
                }
                IoRedirect::HereString(_, word) => {
                    self.only_bash("<<<");
                    let text = self.word(word);
                    self.text(text.as_ref());
                }
                IoRedirect::OutputAndError(word, _) => {
                    self.only_bash("&>");
                    self.open(word, true);
                }
            }
        }
    }

    fn file(&mut self, kind: &Kind, target: &Target) {
        let writes = !matches!(kind, Kind::Read | Kind::DuplicateInput);
        match target {
            Target::Filename(word) => self.open(word, writes),
            Target::Fd(_) => {}
            Target::ProcessSubstitution(_, subshell) => {
                self.process_substitution();
                self.list(&subshell.list);
            }
            // `>&2`, `2>&1`, `<&-`; anything else would be a file.
            Target::Duplicate(word) if word.value.trim_end_matches('-').bytes().all(|b| b.is_ascii_digit()) => {}
            Target::Duplicate(word) => {
                self.only_bash(">&");
                self.open(word, writes);
            }
        }
    }

    fn open(&mut self, word: &Word, writes: bool) {
        if let Some(target) = self.word(word) {
            self.found.redirections.push(Redirection { line: self.line, target, writes });
        }
    }
}
