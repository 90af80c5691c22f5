//! Commands with words of their own kind.

use super::arguments::{Call, Checker, has_flag, positional};
use super::words::Argument;
use regex::Regex;
use std::sync::LazyLock;

/// `set -o NAME`: options that change what is a variable, or who sees it, are not among them.
pub fn set(checker: &mut Checker<'_>, call: &Call<'_>) {
    const NAMES: [&str; 6] = ["pipefail", "errexit", "nounset", "xtrace", "noglob", "noclobber"];
    let options = call.words.iter().take_while(|word| word.raw != "--" && word.raw != "-");
    let names = options.clone().zip(call.words.iter().skip(1)).filter(|(option, _)| {
        checker.beginnings(option).iter().any(|text| text.starts_with(['-', '+']) && text.contains('o'))
    });
    let odd =
        names.map(|(_, name)| name).find(|name| name.literal().is_none_or(|name| !NAMES.contains(&name.as_str())));
    if let Some(odd) = odd {
        let hint = format!("use one of: {}", NAMES.join(" "));
        checker.refuse("option_not_allowed", call.line, &odd.raw, "is no option that `set` may have", &hint);
    }
}

/// `test` and `[`: names of variables can hide code.
pub fn test(checker: &mut Checker<'_>, call: &Call<'_>) {
    let names = |word: &Argument| checker.beginnings(word).iter().any(|text| matches!(text.as_str(), "-v" | "-R"));
    if call.words.iter().any(names) {
        let hint = "compare the value instead: [ -n \"$name\" ]";
        checker.refuse("hidden_code", call.line, call.name, "with `-v` evaluates a name, which can hide code", hint);
    }
}

/// One of the plain commands of sed, with its address: `1,5p`, `/x/d`, `s/a/b/g`, `$=`, `q`.
static SED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let address = r"(?:\d+|\$|/(?:[^/\\]|\\.)*/I?)";
    let range = format!("(?:{address}(?:,(?:{address}|\\+\\d+))?!?)?");
    let substitutes = r"s/(?:[^/\\\n]|\\[^\n])*/(?:[^/\\\n]|\\[^\n])*/[gpiI0-9]*|s\|(?:[^|\\\n]|\\[^\n])*\|(?:[^|\\\n]|\\[^\n])*\|[gpiI0-9]*|s#(?:[^#\\\n]|\\[^\n])*#(?:[^#\\\n]|\\[^\n])*#[gpiI0-9]*|s,(?:[^,\\\n]|\\[^\n])*,(?:[^,\\\n]|\\[^\n])*,[gpiI0-9]*";
    let changes = r"[aic]\\?\s?[^\n\\]*";
    let one = format!(r"\s*{range}\s*(?:[pdqD=gGhHxnNl]|{substitutes}|y/[^/\\]*/[^/\\]*/)\s*");
    Regex::new(&format!(r"^(?:{one}(?:[;\n]{one})*;?\s*|{range}\s*{changes})$")).ok()
});

pub fn sed(checker: &mut Checker<'_>, call: &Call<'_>) {
    let in_place = has_flag(call.words, 'i', "in-place");
    let mut programs: Vec<&Argument> = Vec::new();
    let mut files: Vec<&Argument> = Vec::new();
    let mut words = call.words.iter();
    let by_option = call.words.iter().any(|word| matches!(word.prefix().as_str(), "-e" | "-ne" | "-Ee" | "-nEe"));
    while let Some(word) = words.next() {
        let text = word.prefix();
        match text.as_str() {
            "-e" | "-ne" | "-Ee" | "-nEe" => programs.extend(words.next()),
            "-n" | "-E" | "-r" | "-nE" | "-En" | "-nr" | "-i" | "-Ei" | "-s" | "-z" | "-u" | "--" | "--in-place"
            | "--quiet" | "--regexp-extended" => {}
            // A copy of what was there, beside it.
            _ if text.strip_prefix("-i.").is_some_and(|end| end.bytes().all(|b| b.is_ascii_alphanumeric())) => {}
            _ if text.starts_with('-') && text.len() > 1 => {
                let hint = "use -n, -E, -e and -i only";
                checker.refuse("option_not_allowed", call.line, &text, "is no option that `sed` may have", hint);
            }
            _ if programs.is_empty() && !by_option => programs.push(word),
            _ => files.push(word),
        }
    }
    for program in programs {
        let plain = |text: &str| SED.as_ref().is_some_and(|pattern| pattern.is_match(text));
        match program.literal().filter(|_| !program.has_wildcard()) {
            None => not_literal(checker, call, program),
            Some(text) if !plain(&text) => {
                let hint = "use addresses with p, d, q, s///, y///, a, i, c; no files, no `e`";
                checker.refuse("program_not_allowed", call.line, &text, "is no plain program of sed", hint);
            }
            Some(_) => {}
        }
    }
    for file in files {
        if in_place { checker.write(call.line, file) } else { checker.read(call.line, file) }
    }
}

pub fn not_literal(checker: &mut Checker<'_>, call: &Call<'_>, program: &Argument) {
    let what = format!("is a program for `{}` that is only known when it runs", call.name);
    checker.refuse(
        "program_not_literal",
        call.line,
        &program.raw,
        &what,
        "write it in single quotes; pass values with -v",
    );
}

/// Nobody may run what a script leaves behind as somebody else.
pub fn mode(checker: &mut Checker<'_>, call: &Call<'_>) {
    let modes = positional(call.words).next().filter(|_| call.name == "chmod");
    let Some(mode) = modes else { return };
    let octal = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let special = |text: &str| text.len() > 4 || (text.len() == 4 && !text.starts_with('0'));
    let texts = checker.variables.resolve(mode).unwrap_or_else(|| vec!["s".to_owned()]);
    if texts.iter().any(|text| if octal(text) { special(text) } else { text.contains('s') }) {
        let hint = "use modes without setuid and setgid";
        checker.refuse("mode_not_allowed", call.line, &mode.raw, "may let a file run as somebody else", hint);
    }
}

/// Names, no values.
pub fn sysctl(checker: &mut Checker<'_>, call: &Call<'_>) {
    if let Some(word) = positional(call.words).find(|word| word.literal().is_none_or(|text| text.contains('='))) {
        let raw = word.raw.clone();
        checker.refuse("option_not_allowed", call.line, &raw, "would set a value of the kernel", "read by name only");
    }
}

/// Programs of jq may take in others, and data, from files that nobody has looked at.
pub fn jq(checker: &mut Checker<'_>, call: &Call<'_>) {
    let takes_in = |text: &String| {
        text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|word| matches!(word, "import" | "include"))
    };
    let program = call.words.iter().find(|word| checker.beginnings(word).iter().any(takes_in));
    if let Some(program) = program {
        let hint = "write the whole program";
        checker.refuse("program_not_allowed", call.line, &program.raw, "takes in a file in jq", hint);
    }
}

/// Less than the time that it has.
pub fn sleep(checker: &mut Checker<'_>, call: &Call<'_>) {
    let most = checker.paths.manifest.timeout_seconds.0;
    let seconds = positional(call.words).next().and_then(Argument::literal).and_then(|text| text.parse::<f64>().ok());
    if !seconds.is_some_and(|seconds| (0.0..=most as f64).contains(&seconds)) {
        let what = format!("sleeps longer than the {most} s that the script has, or nobody knows how long");
        checker.refuse("sleep_too_long", call.line, call.name, &what, "write a number of seconds");
    }
}
