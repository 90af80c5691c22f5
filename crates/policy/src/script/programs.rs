//! Commands with a language of their own.

use super::arguments::{Call, Checker, has_flag, positional};
use super::words::Argument;
use regex::Regex;
use std::sync::LazyLock;

/// `test` and `[`: names of variables can hide code.
pub fn test(checker: &mut Checker<'_>, call: &Call<'_>) {
    if call.words.iter().any(|word| matches!(word.literal().as_deref(), Some("-v" | "-R"))) {
        let hint = "compare the value instead: [ -n \"$name\" ]";
        checker.refuse("hidden_code", call.line, call.name, "with `-v` evaluates a name, which can hide code", hint);
    }
}

/// Programs that run commands, or write or read files by themselves, are refused.
pub fn awk(checker: &mut Checker<'_>, call: &Call<'_>) {
    let mut words = call.words.iter();
    let mut program = None;
    while let Some(word) = words.next() {
        let text = word.prefix();
        match text.as_str() {
            "-F" | "-v" => drop(words.next()),
            _ if text.starts_with("-F") || text.starts_with("-v") => {}
            _ if text.starts_with('-') && text != "-" => {
                let hint = "use -F and -v only";
                checker.refuse("option_not_allowed", call.line, &text, "is no option that `awk` may have", hint);
            }
            _ => {
                program = Some(word);
                break;
            }
        }
    }
    let Some(program) = program else { return };
    let Some(text) = program.literal() else { return not_literal(checker, call, program) };
    if awk_reaches_out(&text) {
        let hint = "compute and print only: no system(), getline, pipes or files";
        checker.refuse("program_not_allowed", call.line, &text, "does more in awk than compute and print", hint);
    }
    words.for_each(|file| checker.read(call.line, file));
}

/// Text of strings and patterns left out, so that `"a|b"` is no pipe; what is in doubt counts as reaching out.
fn awk_reaches_out(program: &str) -> bool {
    let code = without_strings(program);
    let words: Vec<&str> = code.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).collect();
    let calls =
        ["system", "getline", "close", "fflush", "ENVIRON", "PROCINFO", "nextfile", "include", "load", "namespace"];
    let piped = code.replace("||", "").contains('|') || code.contains('@');
    let printed_to = code.split([';', '{', '}', '\n']).any(|statement| {
        let statement = statement.trim_start();
        // A condition before the braces may compare; after `print` the sign is a file.
        (statement.starts_with("print") || statement.contains(" print")) && outside_brackets(statement).contains('>')
    });
    piped || printed_to || words.iter().any(|word| calls.contains(word))
}

/// `print (a > b)` compares.
fn outside_brackets(text: &str) -> String {
    let mut depth = 0_usize;
    text.chars()
        .filter(|c| {
            match c {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                _ => return depth == 0,
            }
            false
        })
        .collect()
}

fn without_strings(program: &str) -> String {
    let mut code = String::new();
    let mut quoted = false;
    let mut characters = program.chars();
    while let Some(c) = characters.next() {
        match c {
            '"' => quoted = !quoted,
            '\\' if quoted => drop(characters.next()),
            _ if quoted => {}
            _ => code.push(c),
        }
    }
    code
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
        match program.literal() {
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

fn not_literal(checker: &mut Checker<'_>, call: &Call<'_>, program: &Argument) {
    let what = format!("is a program for `{}` that is only known when it runs", call.name);
    checker.refuse(
        "program_not_literal",
        call.line,
        &program.raw,
        &what,
        "write it in single quotes; pass values with -v",
    );
}

/// Fetches, and sends nothing but the request.
pub fn curl(checker: &mut Checker<'_>, call: &Call<'_>) {
    const FLAGS: [&str; 17] = [
        "-s", "-S", "-f", "-I", "-sS", "-sf", "-sSf", "-fsS", "-v", "-sI", "-k", "-4", "-6", "--silent", "--fail",
        "--head", "-sS4",
    ];
    const VALUED: [&str; 7] = ["-m", "--max-time", "--connect-timeout", "-w", "--write-out", "--retry", "--resolve"];
    let mut words = call.words.iter();
    while let Some(word) = words.next() {
        let text = word.prefix();
        let name = text.split('=').next().unwrap_or_default();
        match name {
            "-o" | "--output" => words.next().into_iter().for_each(|file| checker.write(call.line, file)),
            _ if VALUED.contains(&name) => drop(words.next()),
            _ if FLAGS.contains(&name) => {}
            _ if text.starts_with('-') => {
                let hint = "fetch with -s, -S, -f, -I, -m, -o and -w only";
                checker.refuse("option_not_allowed", call.line, name, "is no option that `curl` may have", hint);
            }
            _ => address(checker, call, word),
        }
    }
}

/// A whole address that is written out: nothing that was read goes out with it.
fn address(checker: &mut Checker<'_>, call: &Call<'_>, word: &Argument) {
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
        if !web || choice.contains('@') {
            let what = "is no address of the web without a password in it";
            checker.refuse("address_not_allowed", call.line, &choice, what, "use http:// or https://");
        }
    }
}

/// Names, no values.
pub fn sysctl(checker: &mut Checker<'_>, call: &Call<'_>) {
    if let Some(word) = positional(call.words).find(|word| word.literal().is_none_or(|text| text.contains('='))) {
        let raw = word.raw.clone();
        checker.refuse("option_not_allowed", call.line, &raw, "would set a value of the kernel", "read by name only");
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
