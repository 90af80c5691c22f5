//! Commands that run other commands: what they run is checked as if it stood alone.

use super::arguments::{Call, Checker};
use super::words::Argument;

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
            super::review::environment(checker, call.line, word.raw.split('=').next().unwrap_or_default());
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
    for word in call.words.iter().take(taken).filter(|word| word.splits) {
        let hint = "put it in quotes";
        checker.refuse("option_not_certain", call.line, &word.raw, "may turn out to be a command", hint);
    }
    let inner = call.words.get(taken..).unwrap_or_default();
    match inner.split_first() {
        Some((name, words)) => run(checker, call.line, name, words),
        None if call.name == "env" => {}
        None => {
            checker.refuse("command_missing", call.line, call.name, "runs nothing", "name the command that it runs")
        }
    }
    if call.name == "xargs" {
        late(checker, call.line, inner);
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

/// Words that come at run time are words of the command too: they must not be files that it changes.
fn late(checker: &mut Checker<'_>, line: usize, inner: &[Argument]) {
    use super::commands::Meaning;
    let name = inner.first().map(|name| name.raw.as_str()).unwrap_or_default();
    let Some(command) = super::commands::find(name) else { return };
    if command.risk > domain::Risk::Low {
        let hint = "name the files, or loop over a pattern";
        checker.refuse("path_not_literal", line, name, "would change files that are only known when it runs", hint);
    }
    let language = matches!(command.meaning, Meaning::Find | Meaning::Sed | Meaning::Awk | Meaning::Wrap);
    let ended = inner.last().is_some_and(|word| word.raw == "--");
    if language || (command.known_words && !ended) {
        let hint = "let `xargs` run what only reads files, or end its options with `--`";
        checker.refuse("option_not_certain", line, name, "would take what comes for its own options", hint);
    }
}

/// One command that another one runs.
pub fn run(checker: &mut Checker<'_>, line: usize, name: &Argument, words: &[Argument]) {
    if name.is_plain() && !name.has_pattern() {
        checker.program(&Call { line, name: &name.raw, words });
    } else {
        super::review::not_plain(checker, line, name);
    }
}
