//! Commands that speak to other machines, and what they may tell them.

use super::arguments::{Call, Checker, has_flag};
use super::words::Argument;

/// Fetches, and sends nothing but the request.
pub fn curl(checker: &mut Checker<'_>, call: &Call<'_>) {
    const FLAGS: [&str; 7] =
        ["--silent", "--show-error", "--fail", "--head", "--location", "--compressed", "--fail-with-body"];
    const VALUED: [&str; 6] = ["-m", "--max-time", "--connect-timeout", "--retry", "--resolve", "--retry-delay"];
    let mut words = call.words.iter();
    while let Some(word) = words.next() {
        let text = word.prefix();
        let name = text.split('=').next().unwrap_or_default();
        let letters = name.strip_prefix('-').filter(|letters| !letters.is_empty());
        match name {
            "-o" | "--output" => words.next().into_iter().for_each(|file| download(checker, call, file)),
            "-H" | "--header" | "-w" | "--write-out" => {
                words.next().into_iter().for_each(|header| said_openly(checker, call, header))
            }
            _ if VALUED.contains(&name) => drop(words.next()),
            _ if FLAGS.contains(&name) => {}
            _ if letters.is_some_and(|letters| letters.bytes().all(|b| b"sSfIivkL46".contains(&b))) => {}
            _ if text.starts_with('-') => {
                let hint = "fetch with -s, -S, -f, -I, -L, -H, -m, -o and -w only";
                checker.refuse("option_not_allowed", call.line, name, "is no option that `curl` may have", hint);
            }
            _ => address(checker, call, word),
        }
    }
}

/// What comes was seen by no approver: in a place that is the device's own, it counts for more than a file in /tmp.
fn download(checker: &mut Checker<'_>, call: &Call<'_>, file: &Argument) {
    checker.write(call.line, file);
    let paths = checker.variables.resolve(file).unwrap_or_default();
    // `#1` stands for a part of the address there, slashes and all.
    if paths.iter().any(|path| path.contains('#')) {
        let hint = "write the path itself, without `#`";
        checker.refuse("path_not_literal", call.line, &file.raw, "is a path that is only known when it runs", hint);
    }
    if paths.iter().any(|path| path.starts_with('/') && !path.starts_with("/tmp/") && !path.starts_with("/dev/")) {
        let message =
            format!("puts what it fetches into `{}`: nobody has read it", crate::sql::refuse::clip(&file.raw));
        checker.reasons.add(domain::Risk::High, "download", call.line, message);
    }
}

/// A header may tell what the script has read; it and what is written out may name a file.
fn said_openly(checker: &mut Checker<'_>, call: &Call<'_>, header: &Argument) {
    // `@file` takes it from a file, `%output{file}` writes one.
    let file = |text: &String| text.starts_with('@') || text.contains("%output");
    if checker.variables.resolve(header).is_none_or(|texts| texts.iter().any(file)) {
        let hint = "write it out, without `@` and `%output`";
        checker.refuse("address_not_literal", call.line, &header.raw, "may tell what the script has read", hint);
    }
}

/// Whether somebody answers, and no more: without `-z` it would send what it is given.
pub fn knock(checker: &mut Checker<'_>, call: &Call<'_>) {
    if !has_flag(call.words, 'z', "\0") {
        checker.refuse("option_missing", call.line, call.name, "sends what it reads", "use it with -z");
    }
}

/// A whole address that is written out: nothing that was read goes out with it.
pub fn address(checker: &mut Checker<'_>, call: &Call<'_>, word: &Argument) {
    let Some(choices) = checker.variables.resolve(word) else {
        let hint = "write the address itself";
        return checker.refuse(
            "address_not_literal",
            call.line,
            &word.raw,
            "is an address that is only known when it runs",
            hint,
        );
    };
    for choice in choices {
        let web = choice.starts_with("http://") || choice.starts_with("https://");
        if !web || choice.contains('@') || choice.contains(char::is_whitespace) {
            let what = "is no address of the web without a password in it";
            checker.refuse("address_not_allowed", call.line, &choice, what, "use http:// or https://");
        }
    }
}
