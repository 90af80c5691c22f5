//! One command against the table: may it run, with these options, on these files?

mod files;

use super::commands::{self, Command, Meaning};
use super::options::operands;
use super::paths::Paths;
use super::refuse::refuse;
use super::risk::Reasons;
use super::variables::Variables;
use super::words::{Argument, Part};
use super::{awk, fetch, find, programs, wrappers};
use domain::{Fault, Interpreter, Network, Risk};
use std::collections::BTreeSet;

/// Everything that a command is checked against.
pub struct Checker<'a> {
    pub paths: Paths<'a>,
    pub variables: &'a Variables,
    pub functions: &'a BTreeSet<String>,
    /// Directories that the script may be in, as far as it says.
    pub places: Vec<String>,
    pub refusals: Vec<Fault>,
    pub reasons: Reasons,
    /// Every command that may run.
    pub used: BTreeSet<String>,
}

/// A command with its words, wherever it was found.
pub struct Call<'a> {
    pub line: usize,
    pub name: &'a str,
    pub words: &'a [Argument],
}

impl Checker<'_> {
    pub fn refuse(&mut self, code: &str, line: usize, part: &str, what: &str, hint: &str) {
        self.refusals.push(refuse(code, line, part, what, hint));
    }

    /// A command of the shell itself: a function, or a program.
    pub fn call(&mut self, call: &Call<'_>) {
        match call.name {
            "unset" => self.unset(call),
            "set" => programs::set(self, call),
            _ => {}
        }
        let function = self.functions.contains(call.name);
        // What a function or `set` is given comes back as `$1`, which nobody can follow.
        if function || call.name == "set" {
            let texts: Vec<String> =
                call.words.iter().filter_map(|word| self.variables.resolve(word)).flatten().collect();
            texts.iter().for_each(|text| self.never(call.line, text));
        }
        if !function {
            self.program(call);
        }
    }

    /// `unset` takes functions too, and then a program answers to the name.
    fn unset(&mut self, call: &Call<'_>) {
        for word in call.words {
            if word.literal().is_none_or(|name| self.functions.contains(&name)) {
                let hint = "unset variables only, by names that no function has";
                self.refuse("function_not_certain", call.line, &word.raw, "may be a function's name", hint);
            }
        }
    }

    /// A program by its name, which no function can stand for: what other programs start, too.
    pub fn program(&mut self, call: &Call<'_>) {
        let settings = self.paths.settings;
        if settings.denied_binaries.iter().any(|denied| denied == call.name) {
            return self.refuse("command_denied", call.line, call.name, "is denied by setting", "do without it");
        }
        let listed = settings.allowed_binaries.as_ref().map(|names| names.iter().any(|name| name == call.name));
        let Some(command) = commands::find(call.name) else {
            return self.unknown(call, listed == Some(true));
        };
        let of_the_shell =
            matches!(command.meaning, Meaning::Declare | Meaning::Cd | Meaning::Test) || is_builtin(call.name);
        if listed == Some(false) && !of_the_shell {
            let hint = "use one of `AI_ORCH_ALLOWED_BINARIES`";
            return self.refuse("command_not_allowed", call.line, call.name, "is not among the allowed commands", hint);
        }
        self.used.insert(call.name.to_owned());
        self.known(call, command);
    }

    fn unknown(&mut self, call: &Call<'_>, allowed: bool) {
        if !allowed {
            let hint = "use commands that look or that change files; what runs other code is not among them";
            return self.refuse("command_not_allowed", call.line, call.name, "is not among the allowed commands", hint);
        }
        self.used.insert(call.name.to_owned());
        self.reasons.add(
            Risk::High,
            "unknown_command",
            call.line,
            format!("runs `{}`, which nobody has described", call.name),
        );
        call.words.iter().for_each(|word| self.read(call.line, word));
    }

    fn known(&mut self, call: &Call<'_>, command: &Command) {
        if command.network && self.paths.manifest.network == Network::None {
            let hint = "ask for `\"network\": \"host\"` in the manifest";
            self.refuse("network_not_granted", call.line, call.name, "needs the network", hint);
        }
        if command.risk > Risk::Low {
            self.reasons.add(
                command.risk,
                "changes",
                call.line,
                format!(
                    "`{}` {}",
                    call.name,
                    match command.network {
                        true => "speaks to other machines",
                        false => "changes files",
                    }
                ),
            );
        }
        self.options(call, command);
        let recursive = self.flag(call, 'r', "recursive")
            || self.flag(call, 'R', "dereference-recursive")
            || (call.name == "cp" && self.flag(call, 'a', "archive"));
        match command.meaning {
            Meaning::Any => {}
            Meaning::None => self.at_most(call, 0),
            Meaning::Read => call.words.iter().for_each(|word| self.read(call.line, word)),
            Meaning::Pattern => self.pattern(call),
            Meaning::Write | Meaning::Move => self.write_all(call, 0),
            Meaning::Mode => {
                programs::mode(self, call);
                self.write_all(call, 1);
            }
            Meaning::Copy => self.copy(call),
            Meaning::Test => programs::test(self, call),
            Meaning::Cd => self.at_most(call, 1),
            Meaning::Declare => self.names(call),
            Meaning::Lookup => self.lookup(call),
            Meaning::Awk => awk::awk(self, call),
            Meaning::Sed => programs::sed(self, call),
            Meaning::Find => find::find(self, call),
            Meaning::Curl => fetch::curl(self, call),
            Meaning::Fetch => operands(call, command).for_each(|word| fetch::address(self, call, word)),
            Meaning::Knock => fetch::knock(self, call),
            Meaning::Sysctl => programs::sysctl(self, call),
            Meaning::Sleep => programs::sleep(self, call),
            Meaning::Wrap => wrappers::wrap(self, call),
        }
        if command.spoken {
            self.told_nobody(call, command);
        }
        if self.goes_down(call) {
            self.whole_directories(call, command);
        }
        if matches!(call.name, "read" | "unset") {
            self.names(call);
        }
        if let Some(most) = command.args {
            self.at_most(call, most);
        }
        if recursive && matches!(call.name, "rm" | "chmod" | "chown" | "chgrp" | "cp" | "mv") {
            self.reasons.add(
                Risk::High,
                "recursive",
                call.line,
                format!("`{}` goes through whole directories", call.name),
            );
        }
    }

    /// Names of variables that it sets, makes or takes away.
    fn names(&mut self, call: &Call<'_>) {
        let words: Vec<&Argument> = positional(call.words).collect();
        for word in words {
            let prefix = word.prefix();
            let (name, assigned) = prefix.split_once('=').map_or((prefix.as_str(), false), |(name, _)| (name, true));
            // A file may have the name of a variable, and `=` in it.
            let found = matches!(word.parts.first(), Some(Part::Text { text, bare: true }) if is_wild(text));
            if (!assigned && word.literal().is_none()) || found {
                let hint = "name the variable itself";
                self.refuse("indirection", call.line, &word.raw, "is a variable that is only known when it runs", hint);
            }
            if word.splits && self.paths.manifest.interpreter == Interpreter::Sh {
                let hint = "put the value in quotes";
                self.refuse("option_not_certain", call.line, &word.raw, "sets more than one variable in `sh`", hint);
            }
            super::review::environment(self, call.line, name.trim_end_matches('+'));
        }
    }

    /// What was read must not go out as a name that is looked up, nor as a part of one.
    fn told_nobody(&mut self, call: &Call<'_>, command: &Command) {
        // The resolver answers on a socket of its own, with a network and without.
        if self.paths.manifest.network == Network::None && !command.network && call.name != "resolvectl" {
            return;
        }
        for word in call.words.iter().filter(|word| !self.variables.may_be_told(word)).cloned().collect::<Vec<_>>() {
            let what = "may tell other machines what the script has read";
            self.refuse("address_not_literal", call.line, &word.raw, what, "write the address itself");
        }
        let asks = positional(call.words).next().is_some_and(|word| word.raw != "-");
        if call.name == "nslookup" && !asks {
            let what = "looks up what comes from its input";
            self.refuse("address_not_literal", call.line, call.name, what, "write the address itself");
        }
    }

    /// Whether it goes into directories, and on into those that are in them.
    fn goes_down(&self, call: &Call<'_>) -> bool {
        let small = self.flag(call, 'r', "recursive");
        let large = self.flag(call, 'R', "recursive") || self.flag(call, 'R', "dereference-recursive");
        match call.name {
            "grep" | "egrep" | "fgrep" | "zgrep" | "rm" => small || large,
            "cp" => small || large || self.flag(call, 'a', "archive"),
            "diff" => small,
            "ls" | "chmod" | "chown" | "chgrp" => large,
            "du" | "tree" | "mv" => true,
            _ => false,
        }
    }

    /// Those that go into directories read what is in them: to be allowed to list one is not enough.
    fn whole_directories(&mut self, call: &Call<'_>, command: &Command) {
        let mut roots: Vec<&Argument> = operands(call, command).collect();
        // Its first word is a pattern, unless an option has given one.
        if command.meaning == Meaning::Pattern && !self.flag(call, 'e', "regexp") && !roots.is_empty() {
            roots.remove(0);
        }
        if matches!(call.name, "grep" | "egrep" | "fgrep" | "zgrep" | "diff" | "cp") {
            let here = Argument::text(".");
            let roots = if roots.is_empty() { vec![&here] } else { roots.clone() };
            roots.iter().for_each(|root| self.read(call.line, &root.below()));
        }
        let depth = match call.name {
            "du" if self.flag(call, 's', "summarize") => Some(0),
            "du" => number_after(call.words, &["-d", "--max-depth"]),
            "tree" => number_after(call.words, &["-L"]),
            _ => None,
        };
        self.nothing_denied_below(call.line, &roots, depth);
    }

    /// What is denied by setting must not lie below what is gone through. Without a root that is where the script is.
    pub fn nothing_denied_below(&mut self, line: usize, roots: &[&Argument], depth: Option<usize>) {
        let mut below: Vec<String> = roots.iter().map(|root| root.pattern()).collect();
        below.extend(roots.iter().filter_map(|root| self.variables.resolve(root)).flatten());
        if roots.is_empty() {
            below.push(".".to_owned());
        }
        for path in below.iter().flat_map(|path| self.candidates(path)).collect::<Vec<_>>() {
            if let Err(no) = self.paths.below(&path, depth) {
                return self.no(no, line, &path, "read");
            }
        }
    }

    /// Whether it has this option, written out or in a variable.
    fn flag(&self, call: &Call<'_>, letter: char, long: &str) -> bool {
        call.words.iter().flat_map(|word| self.beginnings(word)).any(|text| is_flag(&text, letter, long))
    }

    /// `command -v NAME` looks; without `-v` it would run.
    fn lookup(&mut self, call: &Call<'_>) {
        if !has_flag(call.words, 'v', "\0") && !has_flag(call.words, 'V', "\0") {
            self.refuse("command_not_allowed", call.line, call.name, "runs what it is given", "run it by its own name");
        }
    }

    fn at_most(&mut self, call: &Call<'_>, most: usize) {
        // A pattern, and a value outside of quotes, can be many.
        let several = |word: &&Argument| {
            let values = self.variables.resolve(word);
            let split = values.as_ref().is_none_or(|all| all.iter().any(|value| value.contains(char::is_whitespace)));
            word.has_pattern() || (word.splits && split)
        };
        let words = positional(call.words).count() + positional(call.words).filter(several).count();
        if words > most {
            let what = format!("takes at most {most} words here");
            self.refuse("too_many_arguments", call.line, call.name, &what, "leave out the others");
        }
    }

    fn pattern(&mut self, call: &Call<'_>) {
        if call.name == "jq" {
            programs::jq(self, call);
        }
        let by_option = has_flag(call.words, 'e', "regexp");
        let mut words = positional(call.words);
        if !by_option {
            words.next();
        }
        let files: Vec<&Argument> = words.collect();
        files.into_iter().for_each(|file| self.read(call.line, file));
    }

    fn write_all(&mut self, call: &Call<'_>, skip: usize) {
        let files: Vec<&Argument> = positional(call.words).skip(skip).collect();
        files.into_iter().for_each(|file| self.write(call.line, file));
    }

    fn copy(&mut self, call: &Call<'_>) {
        let files: Vec<&Argument> = positional(call.words).collect();
        if let Some((last, others)) = files.split_last() {
            others.iter().for_each(|file| self.read(call.line, file));
            self.write(call.line, last);
        }
    }
}

/// Words that are neither options nor after a lone `--`… as options go.
pub fn positional(words: &[Argument]) -> impl Iterator<Item = &Argument> {
    words.iter().filter(|word| {
        let prefix = word.prefix();
        !prefix.starts_with('-')
            || prefix == "-"
            || !matches!(word.parts.first(), Some(super::words::Part::Text { .. }))
    })
}

pub fn has_flag(words: &[Argument], letter: char, long: &str) -> bool {
    words.iter().any(|word| is_flag(&word.prefix(), letter, long))
}

fn is_wild(assignment: &str) -> bool {
    assignment.split('=').next().is_some_and(|name| name.contains(['*', '?', '[']))
}

fn is_flag(word: &str, letter: char, long: &str) -> bool {
    match word.strip_prefix('-') {
        Some(rest) if rest.starts_with('-') => rest
            .strip_prefix('-')
            .is_some_and(|name| !name.is_empty() && long.starts_with(name.split('=').next().unwrap_or_default())),
        Some(letters) => letters.contains(letter),
        None => false,
    }
}

/// The number that one of these options has, in the same word or the next.
pub fn number_after(words: &[Argument], options: &[&str]) -> Option<usize> {
    let next = words.iter().skip(1).map(Some).chain([None]);
    words.iter().zip(next).find_map(|(word, next)| {
        let text = word.literal()?;
        let rest = options.iter().find_map(|option| text.strip_prefix(option))?;
        let value = if rest.is_empty() { next?.literal()? } else { rest.trim_start_matches('=').to_owned() };
        value.parse().ok()
    })
}

fn is_builtin(name: &str) -> bool {
    [
        ":", "true", "false", "echo", "printf", "pwd", "return", "break", "continue", "exit", "shift", "wait", "read",
        "set", "unset", "command", "type", "umask", "times",
    ]
    .contains(&name)
}
