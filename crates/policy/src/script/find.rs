//! `find`, which has a language of its own.

use super::arguments::{Call, Checker, number_after};
use super::paths::meets;
use super::words::Argument;
use super::wrappers::run;

/// Its tests and options, and the two of its actions that are looked into.
const TESTS: &str = "\
    -name -iname -path -ipath -wholename -type -size -mtime -mmin -atime -amin -ctime -cmin -newer -perm \
    -user -group -uid -gid -empty -maxdepth -mindepth -depth -xdev -mount -print -print0 -printf -ls \
    -prune -quit -not -a -o -and -or -true -false -links -inum -readable -writable -executable -regex \
    -iregex -regextype -daystart -samefile -newermt -nouser -nogroup -L -P -H -delete -exec -noleaf \
    -used -fstype -lname -xtype";

/// To list names takes no more than to find them.
pub const LISTS: [&str; 8] = ["ls", "stat", "du", "readlink", "realpath", "echo", "basename", "dirname"];

/// What runs or writes.
const ACTIONS: &str = "-exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls -files0-from";

/// `find` with its own language. `-exec` is unwrapped; `{}` is below the paths that are searched.
pub fn find(checker: &mut Checker<'_>, call: &Call<'_>) {
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
    for word in call.words.iter().filter(|word| word.has_wildcard() || checker.variables.is_found(word)) {
        let patterns = checker.variables.resolve(word).unwrap_or_default();
        if patterns.iter().any(|pattern| ACTIONS.split(' ').any(|action| meets(action.as_bytes(), pattern))) {
            let hint = "quote the pattern, or put `./` before it";
            checker.refuse("option_not_certain", call.line, &word.raw, "may find a file with the name of a test", hint);
        }
    }
    roots.iter().for_each(|root| checker.read(call.line, root));
    checker.nothing_denied_below(call.line, &roots, number_after(call.words, &["-maxdepth"]));
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
        if text.starts_with('-') && !number && !TESTS.split(' ').any(|test| test == text) {
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
                // `+` ends it only behind `{}`; anywhere else it is a word like any other.
                let mut inner: Vec<Argument> = Vec::new();
                for word in words.by_ref() {
                    let found = inner.last().is_some_and(|last| last.literal().as_deref() == Some("{}"));
                    match word.literal().as_deref() {
                        Some(";") => break,
                        Some("+") if found => break,
                        _ => inner.push(word.clone()),
                    }
                }
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
    // What is found is below one of the roots, or of where the script is: each of them stands for it.
    let here = Argument::text(".");
    let here = [&here];
    for root in if roots.is_empty() { here.as_slice() } else { roots } {
        let found = |w: &Argument| w.literal().as_deref() == Some("{}");
        let lists = LISTS.contains(&name.raw.as_str());
        let below = if lists { (*root).clone() } else { root.below() };
        let words: Vec<Argument> = words.iter().map(|w| if found(w) { below.clone() } else { w.clone() }).collect();
        run(checker, line, name, &words);
    }
    if let Some(word) = inner.iter().find(|w| w.raw.contains("{}") && w.literal().as_deref() != Some("{}")) {
        let hint = "let `{}` be a word of its own";
        checker.refuse("path_not_literal", line, &word.raw, "is a path that is only known when it runs", hint);
    }
}
