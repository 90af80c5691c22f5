//! Words that name files: what may be read, and what may be changed.

use super::Checker;
use crate::script::paths::{self, No};
use crate::script::walk::Redirection;
use crate::script::words::Argument;
use domain::Risk;

impl Checker<'_> {
    pub fn redirection(&mut self, redirection: &Redirection) {
        if redirection.writes {
            self.write(redirection.line, &redirection.target);
        } else {
            self.read(redirection.line, &redirection.target);
        }
    }

    /// A text that names a file that nobody may read must not be there at all.
    pub fn never(&mut self, line: usize, text: &str) {
        if text.starts_with('/')
            && let Err(no @ No::Denied) = self.paths.read(text)
        {
            self.no(no, line, text, "read");
        }
    }

    /// A word that names a file to read. An option may name one after `=` or its letter.
    pub fn read(&mut self, line: usize, word: &Argument) {
        let Some(choices) = self.variables.resolve(word) else {
            return self.read_beginning(line, word);
        };
        for choice in choices.iter().filter(|choice| !choice.is_empty() && choice.as_str() != "-") {
            for path in self.candidates_of(word, choice) {
                if let Err(no) = self.paths.read(&path) {
                    return self.no(no, line, &path, "read");
                }
            }
        }
    }

    /// Only its beginning is known; the rest is the jail's to bound.
    fn read_beginning(&mut self, line: usize, word: &Argument) {
        let prefix = word.prefix();
        let Some(at) = prefix.find('/') else {
            let message = "reads a file that is only known when it runs".to_owned();
            return self.reasons.add(Risk::Medium, "path_known_late", line, message);
        };
        // What is not known stands for anything: `/proc/$x/environ` is as bad as any of them.
        let pattern = word.pattern();
        if let Err(no) = self.paths.read(pattern.get(at..).unwrap_or_default()) {
            self.no(no, line, &prefix, "read");
        }
    }

    /// A word that names a file to change: it must be known before it runs.
    pub fn write(&mut self, line: usize, word: &Argument) {
        let Some(choices) = self.variables.resolve(word) else {
            let hint = "write the path itself, or set the variable to it in the script";
            return self.refuse("path_not_literal", line, &word.raw, "is a path that is only known when it runs", hint);
        };
        for choice in choices.iter().filter(|choice| !choice.is_empty()) {
            for path in self.candidates_of(word, choice) {
                match self.paths.write(&path) {
                    Err(no) => return self.no(no, line, &path, "changed"),
                    Ok(()) if paths::is_delicate(&path) => {
                        let message =
                            format!("changes `{}`, which other programs depend on", crate::sql::refuse::clip(&path));
                        self.reasons.add(Risk::High, "delicate_path", line, message);
                    }
                    // Nothing, or what it prints.
                    Ok(()) if path.starts_with("/dev/") => {}
                    Ok(()) => self.reasons.add(
                        Risk::Medium,
                        "writes",
                        line,
                        format!("writes `{}`", crate::sql::refuse::clip(&path)),
                    ),
                }
            }
        }
    }

    /// The same for a word whose value is split where it stands outside of quotes.
    fn candidates_of(&self, word: &Argument, value: &str) -> Vec<String> {
        if !word.splits {
            return self.candidates(value);
        }
        value.split_whitespace().flat_map(|part| self.candidates(part)).collect()
    }

    /// The paths that a word may mean: itself, or what follows an option; in each place that the script goes to.
    pub(super) fn candidates(&self, word: &str) -> Vec<String> {
        let path = match word.strip_prefix('-') {
            Some(option) => match option.find('/') {
                Some(at) => option.get(at..).unwrap_or_default(),
                None => return Vec::new(),
            },
            // `strings @file` takes its words from a file.
            None => word.strip_prefix('@').filter(|path| path.starts_with('/')).unwrap_or(word),
        };
        if path.starts_with('/') || self.places.is_empty() {
            return vec![path.to_owned()];
        }
        let below = self.places.iter().map(|place| format!("{place}/{path}"));
        below.chain([path.to_owned()]).collect()
    }

    pub fn no(&mut self, no: No, line: usize, path: &str, verb: &str) {
        let (code, what, hint) = match no {
            No::Denied => ("path_denied", format!("must not be {verb}"), "leave it out: nobody may"),
            No::Covers => (
                "path_denied",
                "has something below it that is denied by setting".to_owned(),
                "name what lies beside it, without patterns",
            ),
            No::NotReadable => (
                "path_not_readable",
                "is not below a directory that scripts may read".to_owned(),
                "read below /etc, /var/log, /proc, /sys, /run, /usr",
            ),
            No::NotWritable => (
                "path_not_writable",
                format!("must not be {verb} by this script"),
                "name it in `writable_paths` of the manifest, or use /tmp",
            ),
            No::Climbs => ("path_climbs", "climbs with `..`".to_owned(), "write the path without `..`"),
            No::Network => (
                "network_path",
                "is a socket in the guise of a file".to_owned(),
                "use `curl`, `nc -z` or `ping` with the network granted",
            ),
        };
        self.refuse(code, line, path, &what, hint);
    }
}
