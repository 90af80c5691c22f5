//! Calls: by name in their own flavour, by the list's translation in another.

use super::{Level, Target, Writer, Written};
use crate::predicate::functions::Form;
use crate::predicate::refuse::no_translation;
use crate::predicate::tree::Node;
use domain::{Fault, Flavour};

impl Writer {
    pub(super) fn call(&self, form: &Form, args: &[Node]) -> Result<(Level, String), Fault> {
        let template = match (self.flavour, self.target) {
            (Flavour::BigQuery, Target::BigQuery) | (Flavour::DuckDb, Target::DuckDb | Target::BigQuery) => {
                return Ok((Level::Atom, self.by_name(form, args)?));
            }
            (Flavour::BigQuery, Target::DuckDb) => form.duckdb,
            (_, Target::Sqlite) => form.sqlite,
            (_, Target::Postgres) => form.in_postgres(args.len()),
        };
        let template = template.ok_or_else(|| no_translation(form.usage, self.target.name()))?;
        let level = if is_atom(template) { Level::Atom } else { Level::Or };
        // Each is written once, however often the template names it.
        let written = args.iter().map(|arg| self.argument(arg)).collect::<Result<Vec<_>, Fault>>()?;
        let arguments = Arguments { nodes: args, written: &written };
        Ok((level, self.filled(template, form, &arguments)?))
    }

    fn by_name(&self, form: &Form, args: &[Node]) -> Written {
        // DuckDB's are words, not calls.
        if self.target == Target::DuckDb && form.name.starts_with("current_") {
            return Ok(form.name.to_owned());
        }
        let args: Result<Vec<String>, Fault> = args.iter().map(|arg| self.write(arg)).collect();
        Ok(format!("{}({})", form.name, args?.join(", ")))
    }

    fn argument(&self, arg: &Node) -> Written {
        match arg {
            Node::Interval { .. } if self.target == Target::Sqlite => self.modifier(arg, false),
            other => self.at(Level::Atom, other),
        }
    }

    fn filled(&self, template: &str, form: &Form, args: &Arguments<'_>) -> Written {
        let mut text = String::new();
        let mut rest = template;
        while let Some((before, (inside, after))) =
            rest.split_once('{').and_then(|(b, a)| Some((b, a.split_once('}')?)))
        {
            text.push_str(before);
            text.push_str(&self.placeholder(inside, form, args)?);
            rest = after;
        }
        Ok(text + rest)
    }

    fn placeholder(&self, inside: &str, form: &Form, args: &Arguments<'_>) -> Written {
        let place = |digits: &str| digits.parse::<usize>().ok().and_then(|n| n.checked_sub(1));
        let nothing = || no_translation(form.usage, self.target.name());
        let node = |digits: &str| place(digits).and_then(|n| args.nodes.get(n)).ok_or_else(nothing);
        Ok(match inside {
            "*" => args.written.join(", "),
            "||" => args.written.join(" || "),
            "null" => {
                let tests: Vec<String> = args.written.iter().map(|arg| format!("{arg} IS NULL")).collect();
                tests.join(" OR ")
            }
            _ => match inside.split_once(' ') {
                Some(("group", digits)) => group(node(digits)?).to_string(),
                Some((_, digits)) => self.format(node(digits)?)?,
                None => match inside.strip_prefix('-') {
                    Some(digits) => self.modifier(node(digits)?, true)?,
                    None => place(inside).and_then(|n| args.written.get(n)).ok_or_else(nothing)?.clone(),
                },
            },
        })
    }
}

/// Elements of formats that mean the same everywhere, and those that DuckDB knows as well as BigQuery.
const EVERYWHERE: &str = "dHIjMmpSUWY%";
const NAMES: &str = "AaBby";
/// Elements that stand for several.
const SHORT: [(&str, &str); 4] = [("%F", "%Y-%m-%d"), ("%T", "%H:%M:%S"), ("%R", "%H:%M"), ("%D", "%m/%d/%y")];

impl Writer {
    /// A constant format of dates in the elements of the target.
    fn format(&self, format: &Node) -> Written {
        let Node::Text(format) = format else { return Err(no_translation("this format", self.target.name())) };
        if self.target == Target::Postgres {
            return self.postgres_format(format);
        }
        let long = SHORT.iter().fold(format.replace("%%", "%\0"), |text, (short, long)| text.replace(short, long));
        let long = long.replace("%\0", "%%");
        let mut characters = long.chars();
        while let Some(c) = characters.next() {
            let known = |element: char| {
                EVERYWHERE.contains(element) || (self.target == Target::DuckDb && NAMES.contains(element))
            };
            if c == '%' && !characters.next().is_some_and(known) {
                return Err(no_translation(format, self.target.name()));
            }
        }
        Ok(self.text(&long))
    }
}

/// The arguments of a call, and as they are written.
struct Arguments<'a> {
    nodes: &'a [Node],
    written: &'a [String],
}

/// Whether a template is one word, one call or one CASE.
fn is_atom(template: &str) -> bool {
    if template.starts_with("CASE ") && template.ends_with(" END") {
        return true;
    }
    let word = template.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
    let mut depth = 0_i32;
    for (at, c) in word.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1 == word.len();
        }
    }
    word.is_empty()
}

/// The group of a pattern that BigQuery gives: the first if there is one, else all of the match.
fn group(pattern: &Node) -> u8 {
    let Node::Text(pattern) = pattern else { return 0 };
    let bytes = pattern.as_bytes();
    let mut escaped = false;
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'(' if bytes.get(at + 1) != Some(&b'?') || bytes.get(at + 2) == Some(&b'P') => return 1,
            _ => {}
        }
    }
    0
}
