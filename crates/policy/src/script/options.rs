//! Options and subcommands of one command against the table.

use super::arguments::{Call, Checker, positional};
use super::commands::{Command, Meaning};
use super::words::{Argument, Part};

impl Checker<'_> {
    pub(super) fn options(&mut self, call: &Call<'_>, command: &Command) {
        let texts: Vec<String> = call.words.iter().flat_map(|word| self.beginnings(word)).collect();
        for text in &texts {
            if !text.starts_with(['-', '+']) || text.len() < 2 {
                continue;
            }
            let name = text.split('=').next().unwrap_or_default();
            let refused = command.refuse.iter().any(|option| is_option(name, option));
            let outside = command.only.as_ref().is_some_and(|only| !only.contains(&name) && !is_number(name));
            if refused || outside {
                let what = format!("is no option that `{}` may have", call.name);
                self.refuse("option_not_allowed", call.line, name, &what, "leave the option out");
            }
        }
        for word in call.words.iter().filter(|word| ["-", "--", "+"].contains(&word.prefix().as_str())) {
            if word.literal().is_none() && self.variables.resolve(word).is_none() {
                let hint = "write the option out";
                self.refuse("option_not_allowed", call.line, &word.raw, "is an option that nobody can read", hint);
            }
        }
        self.late_words(call, command);
        if let Some(allowed) = &command.sub {
            self.subcommand(call, command, allowed);
        }
        if let Some(forms) = &command.exact {
            self.exactly(call, command, forms);
        }
    }

    /// A word that is only known when it runs may turn out to be an option: outside of quotes even several words. It must
    /// not where the command has options that nobody may give it.
    fn late_words(&mut self, call: &Call<'_>, command: &Command) {
        // Both have options with programs in them, and take them at any place.
        let language = matches!(command.meaning, Meaning::Sed | Meaning::Curl);
        let bound = command.only.is_some() || !command.refuse.is_empty() || language;
        let changes = matches!(command.meaning, Meaning::Write | Meaning::Copy | Meaning::Move | Meaning::Mode);
        let sets = matches!(call.name, "printf" | "read" | "unset");
        let careful = command.known_words || command.only.is_some() || language || changes || sets || command.spoken;
        let ended = call.words.iter().position(|word| word.raw == "--").unwrap_or(usize::MAX);
        for (at, word) in call.words.iter().enumerate() {
            let begins = word.prefix().is_empty() && word.literal().is_none();
            let values = self.variables.resolve(word);
            let known = values.is_some();
            let several = values.is_none_or(|all| all.iter().any(|value| value.contains(char::is_whitespace)));
            // `export x=$(y)` is one word in bash; `sh` is looked at where names are.
            let name = word.raw.split_once('=').map(|(name, _)| name);
            let assigns = name.is_some_and(|name| name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'));
            let whole = command.meaning == Meaning::Declare && assigns;
            let splits = word.splits && !whole && ((!known && (bound || command.known_words)) || (several && language));
            // Quoted, it is one word: an option at most, and none behind `--`.
            let option = begins && !known && (command.known_words || command.meaning == Meaning::Sed) && at < ended;
            let hidden =
                language && word.literal().is_none() && self.beginnings(word).iter().any(|t| t.starts_with('-'));
            if splits || option || (hidden && at < ended) {
                let hint = "put it in quotes, with `--` before it, or set the variable in the script";
                let what = format!("may turn out to be an option of `{}`", call.name);
                self.refuse("option_not_certain", call.line, &word.raw, &what, hint);
            }
            if at < ended && careful && self.finds_options(word) {
                let hint = "put `./` before the pattern";
                let what = format!("may find a file with the name of an option of `{}`", call.name);
                self.refuse("option_not_certain", call.line, &word.raw, &what, hint);
            }
        }
    }

    /// Whether a pattern may find a name that begins with `-`.
    pub fn finds_options(&self, word: &Argument) -> bool {
        let first = word.parts.iter().find(|part| !matches!(part, Part::Text { text, .. } if text.is_empty()));
        match first {
            Some(Part::Text { text, bare: true }) => {
                may_find_dash(text) || (text.starts_with('-') && text.contains(['*', '?']))
            }
            Some(Part::Variable(_)) => {
                self.variables.is_found(word) && self.beginnings(word).iter().any(|text| may_find_dash(text))
            }
            _ => false,
        }
    }

    /// All that a word can be, its parts split as the shell splits them; where that is not known, what it begins with.
    pub fn beginnings(&self, word: &Argument) -> Vec<String> {
        match self.variables.resolve(word) {
            Some(choices) => choices
                .iter()
                .flat_map(|choice| std::iter::once(choice.clone()).chain(choice.split_whitespace().map(str::to_owned)))
                .collect(),
            None => vec![word.prefix()],
        }
    }

    fn subcommand(&mut self, call: &Call<'_>, command: &Command, allowed: &[&str]) {
        let words = said(call, command);
        let deepest = allowed.iter().map(|sub| sub.matches('.').count() + 1).max().unwrap_or(1);
        let Some(first) = words.first() else { return };
        let fits = (1..=deepest.min(words.len())).rev().any(|n| {
            let said = words.get(..n).unwrap_or_default().join(".");
            // What follows a subcommand that has others of its own must not be one that changes something.
            allowed.contains(&said.as_str()) && (n == deepest || !changes(words.get(n).map_or("", String::as_str)))
        });
        if !fits {
            self.no_subcommand(call, first, allowed);
        }
    }

    /// Every word that is no option, from the first to the last: `*` stands for any one.
    fn exactly(&mut self, call: &Call<'_>, command: &Command, forms: &[&str]) {
        let words = said(call, command);
        let fits = forms.iter().any(|form| {
            let parts: Vec<&str> = form.split('.').collect();
            parts.len() == words.len() && parts.iter().zip(&words).all(|(part, word)| *part == "*" || part == word)
        });
        if let Some(first) = words.first()
            && !fits
        {
            self.no_subcommand(call, first, forms);
        }
    }

    fn no_subcommand(&mut self, call: &Call<'_>, first: &str, allowed: &[&str]) {
        let what = format!("is nothing that `{}` may be asked", call.name);
        let hint = format!("use one of: {}", allowed.join(" "));
        self.refuse("subcommand_not_allowed", call.line, first, &what, &hint);
    }
}

/// The same, as they are written.
fn said(call: &Call<'_>, command: &Command) -> Vec<String> {
    operands(call, command).map(|word| word.literal().unwrap_or_else(|| "$".to_owned())).collect()
}

/// Words that are neither options nor values of options.
pub fn operands<'a>(call: &Call<'a>, command: &'a Command) -> impl Iterator<Item = &'a Argument> {
    let words = call.words;
    let takes_next = |word: &Argument| word.literal().is_some_and(|word| command.valued.contains(&word.as_str()));
    let values: Vec<&Argument> = words
        .iter()
        .zip(words.iter().skip(1))
        .filter(|(before, _)| takes_next(before))
        .map(|(_, value)| value)
        .collect();
    positional(words).filter(move |word| !values.iter().any(|value| std::ptr::eq(*value, *word)))
}

/// `[n]ginx` is no option, whatever it finds.
fn may_find_dash(text: &str) -> bool {
    let Some(set) = text.strip_prefix('[') else { return text.starts_with(['*', '?']) };
    let set: Vec<char> = set.split(']').next().unwrap_or_default().chars().collect();
    let ranges = set.windows(3).any(|at| matches!(at, [from, '-', to] if from <= &'-' && &'-' <= to));
    let ends = [set.first(), set.last()].iter().any(|end| matches!(end, None | Some('-' | '!' | '^' | '[')));
    ranges || ends
}

/// `-f` is also in `-xf`, and `--follow` in `--follow=name`; `name` has no `=` any more.
fn is_option(name: &str, option: &str) -> bool {
    // Programs with long options of one dash take them with two as well.
    if let Some(exact) = option.strip_suffix('!') {
        return name == exact || name.strip_prefix('-') == Some(exact);
    }
    let letter = option.strip_prefix('-').filter(|letter| letter.len() == 1 && !letter.starts_with('-'));
    match letter {
        Some(letter) => {
            name.strip_prefix('-').is_some_and(|letters| !letters.starts_with('-') && letters.contains(letter))
        }
        // Long options may be cut short: `--fol`.
        None => name == option || (name.starts_with("--") && name.len() > 2 && option.starts_with(name)),
    }
}

fn is_number(option: &str) -> bool {
    option.trim_start_matches(['-', '+']).bytes().all(|b| b.is_ascii_digit())
}

/// Words that change something, after a subcommand that only looks.
fn changes(word: &str) -> bool {
    const WORDS: [&str; 24] = [
        "add",
        "del",
        "delete",
        "set",
        "change",
        "replace",
        "flush",
        "append",
        "up",
        "down",
        "modify",
        "edit",
        "connect",
        "disconnect",
        "reapply",
        "monitor",
        "import",
        "clone",
        "load",
        "reload",
        "on",
        "off",
        "save",
        "restore",
    ];
    // Cut short, they mean the same.
    word == "$" || (!word.is_empty() && WORDS.iter().any(|full| full.starts_with(word)))
}
