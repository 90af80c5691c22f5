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

fn run(checker: &mut Checker<'_>, line: usize, name: &Argument, words: &[Argument]) {
    if name.is_plain() && !name.has_pattern() {
        checker.program(&Call { line, name: &name.raw, words });
    } else {
        super::review::not_plain(checker, line, name);
    }
}

/// `find` with its own language. `-exec` is unwrapped; `{}` is below the paths that are searched.
pub fn find(checker: &mut Checker<'_>, call: &Call<'_>) {
    const TESTS: [&str; 61] = [
        "-name",
        "-iname",
        "-path",
        "-ipath",
        "-wholename",
        "-type",
        "-size",
        "-mtime",
        "-mmin",
        "-atime",
        "-amin",
        "-ctime",
        "-cmin",
        "-newer",
        "-perm",
        "-user",
        "-group",
        "-uid",
        "-gid",
        "-empty",
        "-maxdepth",
        "-mindepth",
        "-depth",
        "-xdev",
        "-mount",
        "-print",
        "-print0",
        "-printf",
        "-ls",
        "-prune",
        "-quit",
        "-not",
        "-a",
        "-o",
        "-and",
        "-or",
        "-true",
        "-false",
        "-links",
        "-inum",
        "-readable",
        "-writable",
        "-executable",
        "-regex",
        "-iregex",
        "-regextype",
        "-daystart",
        "-samefile",
        "-newermt",
        "-nouser",
        "-nogroup",
        "-L",
        "-P",
        "-H",
        "-delete",
        "-exec",
        "-noleaf",
        "-used",
        "-fstype",
        "-lname",
        "-xtype",
    ];
    let roots = call.words.iter().take_while(|word| !word.prefix().starts_with(['-', '(', '!']));
    let roots: Vec<&Argument> = roots.collect();
    for root in &roots {
        // A root in a variable must not turn out to be a test: `-exec` would run what was never looked at.
        if let Some(test) = checker.beginnings(root).into_iter().find(|text| text.starts_with(['-', '(', '!'])) {
            let hint = "write the tests of `find` out";
            checker.refuse("option_not_allowed", call.line, &test, "comes out of a variable", hint);
        }
    }
    for word in call.words.iter().filter(|word| word.literal().is_none() && checker.variables.resolve(word).is_none()) {
        // What begins with text is a path or a value; anything else may be a test, and `-exec` among them.
        if word.splits || word.prefix().is_empty() {
            let hint = "write it out, or set the variable in the script";
            checker.refuse("option_not_certain", call.line, &word.raw, "may turn out to be a test of `find`", hint);
        }
    }
    roots.iter().for_each(|root| checker.read(call.line, root));
    let mut words = call.words.iter().skip(roots.len());
    while let Some(word) = words.next() {
        let text = word.prefix();
        if text.is_empty()
            && let Some(test) = checker.beginnings(word).into_iter().find(|text| {
                text.starts_with("-exec")
                    || text.starts_with("-ok")
                    || text.starts_with("-delete")
                    || text.starts_with("-f")
            })
        {
            let hint = "write the tests of `find` out";
            checker.refuse("option_not_allowed", call.line, &test, "comes out of a variable", hint);
        }
        // `-mtime -30` is a number.
        let number = text.get(1..).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        if text.starts_with('-') && !number && !TESTS.contains(&text.as_str()) {
            checker.refuse(
                "option_not_allowed",
                call.line,
                &text,
                "is no option that `find` may have",
                "use its tests, -print, -exec and -delete",
            );
        }
        match text.as_str() {
            "-delete" => {
                roots.iter().for_each(|root| checker.write(call.line, root));
                checker.reasons.add(
                    domain::Risk::High,
                    "recursive",
                    call.line,
                    "`find -delete` goes through whole directories".to_owned(),
                );
            }
            "-exec" => {
                let inner: Vec<Argument> = words
                    .by_ref()
                    .take_while(|w| !matches!(w.literal().as_deref(), Some(";" | "+")))
                    .cloned()
                    .collect();
                exec(checker, call.line, &roots, &inner);
            }
            _ => {}
        }
    }
}

fn exec(checker: &mut Checker<'_>, line: usize, roots: &[&Argument], inner: &[Argument]) {
    let Some((name, words)) = inner.split_first() else {
        return checker.refuse("command_missing", line, "-exec", "runs nothing", "name the command that it runs");
    };
    // What is found is below one of the roots: each of them stands for it.
    for root in roots {
        let found = |w: &Argument| w.literal().as_deref() == Some("{}");
        // To list names below a root takes no more than to find them.
        let lists =
            ["ls", "stat", "du", "readlink", "realpath", "echo", "basename", "dirname"].contains(&name.raw.as_str());
        let below = if lists { (*root).clone() } else { root.below() };
        let words: Vec<Argument> = words.iter().map(|w| if found(w) { below.clone() } else { w.clone() }).collect();
        run(checker, line, name, &words);
    }
    if roots.is_empty() {
        run(checker, line, name, words);
    }
    if let Some(word) = inner.iter().find(|w| w.raw.contains("{}") && w.literal().as_deref() != Some("{}")) {
        let hint = "let `{}` be a word of its own";
        checker.refuse("path_not_literal", line, &word.raw, "is a path that is only known when it runs", hint);
    }
}
