//! Commands that run other commands: what they run is checked as if it stood alone.

use super::arguments::{Call, Checker};
use super::commands::Meaning;
use super::find::LISTS;
use super::options::operands;
use super::words::{Argument, Part};

/// `env`, `nice`, `timeout`, `ionice`, `stdbuf`, `xargs`.
pub fn wrap(checker: &mut Checker<'_>, call: &Call<'_>) {
    // Options with a value of their own in the next word.
    let valued: &[&str] = match call.name {
        "env" => &[],
        "nice" => &["-n"],
        "ionice" => &["-c", "-n"],
        "stdbuf" => &["-i", "-o", "-e"],
        "timeout" => &["-k", "-s"],
        _ => &["-n", "-I", "-L", "-P", "-d", "-s"],
    };
    let mut words = call.words.iter().peekable();
    let mut taken = 0;
    // `timeout` takes one word before the command.
    let mut leading = usize::from(call.name == "timeout");
    while let Some(word) = words.peek() {
        let text = word.prefix();
        if text.starts_with('-') && text.len() > 1 {
            if call.name == "env" || !is_harmless(call.name, &text) {
                let what = format!("is no option that `{}` may have", call.name);
                checker.refuse("option_not_allowed", call.line, &text, &what, "leave the option out");
            }
            let value = usize::from(valued.contains(&text.as_str()));
            for _ in 0..=value {
                words.next();
            }
            taken += 1 + value;
        } else if call.name == "env" && word.raw.contains('=') {
            sets(checker, call.line, word);
            words.next();
            taken += 1;
        } else if leading > 0 {
            leading -= 1;
            words.next();
            taken += 1;
        } else {
            break;
        }
    }
    // What stands before the command must not become the command.
    for word in call.words.iter().take(taken).filter(|word| word.splits || word.has_wildcard()) {
        let hint = "put it in quotes";
        checker.refuse("option_not_certain", call.line, &word.raw, "may turn out to be a command", hint);
    }
    let (inner, placed) = match call.name {
        "xargs" => placed(checker, call, taken),
        _ => (call.words.get(taken..).unwrap_or_default().to_vec(), false),
    };
    match inner.split_first() {
        Some((name, words)) => run(checker, call.line, name, words),
        None if call.name == "env" => {}
        None => {
            checker.refuse("command_missing", call.line, call.name, "runs nothing", "name the command that it runs")
        }
    }
    if call.name == "xargs" {
        late(checker, call, &inner, placed);
    }
}

/// `env NAME=value`: the name without its quotes.
fn sets(checker: &mut Checker<'_>, line: usize, word: &Argument) {
    match word.prefix().split_once('=') {
        Some((name, _)) => super::review::environment(checker, line, name),
        None => {
            let hint = "name the variable itself";
            checker.refuse("indirection", line, &word.raw, "sets a variable that is only known when it runs", hint);
        }
    }
}

fn is_harmless(name: &str, option: &str) -> bool {
    let options: &[&str] = match name {
        "nice" => &["-n", "--adjustment"],
        "ionice" => &["-c", "-n"],
        "stdbuf" => &["-i", "-o", "-e", "-oL", "-o0", "-eL"],
        "timeout" => &["-k", "-s", "--kill-after", "--signal", "--foreground", "--preserve-status"],
        _ => &[
            "-0",
            "-r",
            "-n",
            "-I",
            "-L",
            "-P",
            "-d",
            "-s",
            "-n1",
            "-I{}",
            "-0r",
            "-r0",
            "--null",
            "--no-run-if-empty",
        ],
    };
    let number = option.trim_start_matches('-').bytes().all(|b| b.is_ascii_digit());
    options.contains(&option.split('=').next().unwrap_or_default())
        || (name == "nice" && number)
        || (name == "xargs" && option.len() > 2 && is_numbered(option))
}

/// `-n10`, `-P4`.
fn is_numbered(option: &str) -> bool {
    let rest = option.trim_start_matches('-');
    rest.starts_with(['n', 'P', 'L']) && rest.bytes().skip(1).all(|b| b.is_ascii_digit())
}

/// Words that come at run time are words of the command too: they must not be files that it changes, nor options of it,
/// nor what it is asked to do, nor names that other machines would see.
fn late(checker: &mut Checker<'_>, call: &Call<'_>, inner: &[Argument], placed: bool) {
    let (line, name) = (call.line, inner.first().map(|name| name.raw.as_str()).unwrap_or_default());
    let Some(command) = super::commands::find(name) else { return };
    if command.risk > domain::Risk::Low {
        let hint = "name the files, or loop over a pattern";
        checker.refuse("path_not_literal", line, name, "would change files that are only known when it runs", hint);
    }
    if command.spoken {
        let hint = "loop over names that are written out";
        checker.refuse("address_not_literal", line, name, "may tell other machines what the script has read", hint);
    }
    let language = matches!(
        command.meaning,
        Meaning::Find | Meaning::Sed | Meaning::Awk | Meaning::Wrap | Meaning::None | Meaning::Lookup
    );
    let ended = inner.last().is_some_and(|word| word.raw == "--") && !placed;
    let words = inner.get(1..).unwrap_or_default();
    let unsaid = command.sub.is_some() && operands(&Call { line, name, words }, command).next().is_none();
    let counted = command.exact.is_some() || command.args.is_some();
    if language || unsaid || counted || (command.known_words && !ended) {
        let hint = "let `xargs` run what only reads files, or end its options with `--`";
        checker.refuse("option_not_certain", line, name, "would take what comes for its own options", hint);
    }
    let reads = matches!(command.meaning, Meaning::Read | Meaning::Pattern);
    if reads && !LISTS.contains(&name) {
        let message = format!("`{name}` reads files that are only known when it runs");
        checker.reasons.add(domain::Risk::Medium, "path_known_late", line, message);
    }
}

/// A part of a word with something unknown for every `{}`.
fn put(part: &Part) -> Vec<Part> {
    let Part::Text { text, bare } = part else { return vec![part.clone()] };
    let texts = text.split("{}").map(|text| Part::Text { text: text.to_owned(), bare: *bare });
    texts.enumerate().flat_map(|(at, text)| (at > 0).then_some(Part::Unknown).into_iter().chain([text])).collect()
}

/// The words of the command with what `xargs -I{}` puts in, and whether it puts anything in.
fn placed(checker: &mut Checker<'_>, call: &Call<'_>, taken: usize) -> (Vec<Argument>, bool) {
    let (options, inner) = call.words.split_at_checked(taken).unwrap_or_default();
    let sign = options.iter().zip(options.iter().skip(1)).find(|(option, _)| option.prefix() == "-I");
    if let Some((_, sign)) = sign.filter(|(_, sign)| sign.literal().as_deref() != Some("{}")) {
        // Any other could be a part of its options and paths, and nobody would see it there.
        checker.refuse("option_not_allowed", call.line, &sign.raw, "would be replaced by what comes", "use -I {}");
    }
    if sign.is_none() && !options.iter().any(|option| option.prefix() == "-I{}") {
        return (inner.to_vec(), false);
    }
    let words = inner.iter().map(|word| Argument { parts: word.parts.iter().flat_map(put).collect(), ..word.clone() });
    (words.collect(), true)
}

/// One command that another one runs.
pub fn run(checker: &mut Checker<'_>, line: usize, name: &Argument, words: &[Argument]) {
    if name.is_plain() && !name.has_pattern() {
        checker.program(&Call { line, name: &name.raw, words });
    } else {
        super::review::not_plain(checker, line, name);
    }
}
