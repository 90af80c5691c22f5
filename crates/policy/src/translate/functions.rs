//! The functions that an engine knows under a name of its own, or under the same.

use std::collections::HashMap;
use std::sync::OnceLock;

/// How a function is called there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Called {
    /// By this name, with the same arguments: also as an aggregate, with FILTER or OVER.
    Named(&'static str),
    /// By this text, with `{1}` for the first argument and `{*}` for all of them.
    Template(&'static str),
}

type Functions = HashMap<(&'static str, Option<usize>), Called>;

/// How Spark says a function of DuckDB's with that many arguments.
pub fn spark(name: &str, arguments: usize) -> Option<Called> {
    static SPARK: OnceLock<Functions> = OnceLock::new();
    let known = SPARK.get_or_init(|| read(include_str!("functions/spark.txt")));
    known.get(&(name, Some(arguments))).or_else(|| known.get(&(name, None))).copied()
}

/// Lines are words (`abs`), renames (`arg_max = max_by`) or translations of a call with so many arguments
/// (`trim/2 = trim(BOTH {2} FROM {1})`).
fn read(list: &'static str) -> Functions {
    let mut functions = Functions::new();
    for line in list.lines().filter(|line| !line.starts_with('#')) {
        match line.split_once(" = ") {
            None => functions.extend(line.split_whitespace().map(|word| ((word, None), Called::Named(word)))),
            Some((from, to)) => {
                let (name, count) = match from.split_once('/') {
                    Some((name, count)) => (name, count.parse().ok()),
                    None => (from, None),
                };
                let called =
                    if to.contains('{') || to.contains('(') { Called::Template(to) } else { Called::Named(to) };
                functions.insert((name, count), called);
            }
        }
    }
    functions
}
