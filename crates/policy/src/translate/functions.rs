//! The functions that an engine knows under a name of its own, or under the same.

use std::collections::HashMap;

/// How a function is called there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Called {
    /// By this name, with the same arguments: also as an aggregate, with FILTER or OVER.
    Named(&'static str),
    /// By this text, with `{1}` for the first argument and `{*}` for all of them.
    Template(&'static str),
}

/// What an engine knows. Names with a space in them are none of functions: `operator //`, `extract year`,
/// `difference day`, which DuckDB writes in a form of its own.
pub struct Functions(HashMap<(&'static str, Option<usize>), Called>);

impl Functions {
    /// How a function of DuckDB's with that many arguments is said.
    pub fn get(&self, name: &str, arguments: usize) -> Option<Called> {
        self.0.get(&(name, Some(arguments))).or_else(|| self.0.get(&(name, None))).copied()
    }

    /// Lines are words (`abs`), renames (`arg_max = max_by`) or translations of a call with so many arguments
    /// (`trim/2 = trim(BOTH {2} FROM {1})`).
    pub fn read(list: &'static str) -> Self {
        let mut functions = HashMap::new();
        for line in list.lines().filter(|line| !line.starts_with('#')) {
            match line.split_once(" = ") {
                None => functions.extend(line.split_whitespace().map(|word| ((word, None), Called::Named(word)))),
                Some((from, to)) => {
                    let (name, count) = match from.rsplit_once('/') {
                        Some((name, count)) => (name, count.parse().ok()),
                        None => (from, None),
                    };
                    let called =
                        if to.contains('{') || to.contains('(') { Called::Template(to) } else { Called::Named(to) };
                    functions.insert((name, count), called);
                }
            }
        }
        Self(functions)
    }
}
