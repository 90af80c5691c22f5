//! Where a text links to something. A reader's program may fetch what a link names as soon as the text is shown, so that
//! a value inside of one would be sent to wherever a model wants it.

/// The place that a text has come to. Links are Markdown's (`](…)`, `[…]: …`, `<…>`), tags of HTML, and words that
/// programs make links of.
#[derive(Debug, Default)]
pub(crate) struct Links {
    place: Place,
    last: char,
    /// The word so far.
    word: String,
    /// Nothing but space since the line began.
    is_blank: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq)]
enum Place {
    #[default]
    Text,
    /// After `](`, inside of so many brackets more.
    Target(usize),
    /// After `]:`; whether anything has come yet.
    Definition(bool),
    /// After `<`, of which the next character shows whether it begins a tag.
    Less,
    /// Inside of a tag, and of a quoted value there.
    Tag(Option<char>),
}

impl Links {
    /// Takes what is shown next.
    pub fn take(&mut self, text: &str) {
        for c in text.chars() {
            self.place = self.next(c);
            if c.is_whitespace() {
                self.word.clear();
            } else {
                self.word.push(c);
            }
            self.is_blank = c == '\n' || self.is_blank && c.is_whitespace();
            self.last = c;
        }
    }

    fn next(&self, c: char) -> Place {
        let ends_paragraph = c == '\n' && self.is_blank;
        match self.place {
            Place::Target(_) | Place::Definition(_) if ends_paragraph => Place::Text,
            Place::Less if c.is_ascii_alphabetic() || ['/', '!', '?'].contains(&c) => Place::Tag(None),
            Place::Text | Place::Less => match (self.last, c) {
                (']', '(') => Place::Target(0),
                (']', ':') => Place::Definition(false),
                (_, '<') => Place::Less,
                _ => Place::Text,
            },
            Place::Target(depth) => match c {
                '(' => Place::Target(depth + 1),
                ')' => depth.checked_sub(1).map_or(Place::Text, Place::Target),
                _ => self.place,
            },
            Place::Definition(true) if c == '\n' => Place::Text,
            Place::Definition(begun) => Place::Definition(begun || !c.is_whitespace()),
            Place::Tag(None) => match (self.last, c) {
                (_, '>') => Place::Text,
                ('=', '"' | '\'') => Place::Tag(Some(c)),
                _ => self.place,
            },
            Place::Tag(Some(quote)) if c == quote => Place::Tag(None),
            Place::Tag(_) => self.place,
        }
    }

    /// Whether something that comes now would be part of a link. `rest` is what follows it in the same word.
    pub fn is_inside(&self, rest: &str) -> bool {
        // The text of a link is no part of where it leads.
        let rest = rest.split("](").next().unwrap_or_default();
        self.place != Place::Text
            || has_scheme(&format!("{}x{rest}", self.word))
            || has_host(&format!("{}x{}", behind_delimiter(&self.word), before_delimiter(rest)))
    }
}

/// Characters that end the name of a host, and begin no path of it: cells of tables and of CSV stand between them.
const DELIMITERS: [char; 3] = [',', ';', '|'];

/// The end of a word, from where a host's name could reach to what follows.
fn behind_delimiter(word: &str) -> &str {
    match word.rsplit_once(DELIMITERS) {
        Some((before, behind)) if !before.contains(['/', '\\', '?', '#', ':']) => behind,
        _ => word,
    }
}

fn before_delimiter(rest: &str) -> &str {
    rest.split(DELIMITERS).next().unwrap_or_default()
}

/// Whether a word has what begins an address.
fn has_scheme(word: &str) -> bool {
    let word = word.to_lowercase();
    let schemes = ["//", "\\\\", "www.", "mailto:", "xmpp:", "tel:", "sms:", "data:", "javascript:"];
    schemes.iter().any(|scheme| word.contains(scheme))
}

/// A dot between a letter or digit and two letters or more, as in `evil.example`.
fn has_host(word: &str) -> bool {
    word.match_indices('.').any(|(at, _)| {
        let (before, after) = word.split_at(at);
        let labels = after.chars().skip(1).take_while(|c| c.is_alphabetic()).count();
        before.chars().next_back().is_some_and(char::is_alphanumeric) && labels >= 2
    })
}
