//! The functions that a predicate may call, by full name, in the argument forms that they really have.

use super::kind::Kind;
use super::tree::{Node, Typed};
use domain::Flavour;
use std::collections::HashMap;
use std::sync::OnceLock;

/// One way to call a function.
#[derive(Debug, PartialEq)]
pub struct Form {
    /// As it is written out.
    pub name: &'static str,
    args: Vec<Arg>,
    /// How many of them must be there.
    required: usize,
    /// The last may be repeated.
    variadic: bool,
    result: Gives,
    /// As the list writes it: `ROUND(number, int?)`.
    pub usage: &'static str,
    /// How DuckDB says it, where the flavour is another.
    pub duckdb: Option<&'static str>,
    pub sqlite: Option<&'static str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Arg {
    Any,
    /// A date or a moment.
    Temporal,
    /// A constant text.
    Format,
    /// Letters that say how a pattern is meant.
    Options,
    Number,
    Of(Kind),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gives {
    Kind(Kind),
    /// What the arguments from this place on are.
    Same(usize),
}

type Functions = HashMap<String, Vec<Form>>;

/// The forms of a function, by its name in any case.
pub fn find(flavour: Flavour, name: &str) -> Option<&'static [Form]> {
    all(flavour).get(&name.to_ascii_lowercase()).map(Vec::as_slice)
}

/// The names of all of them.
pub fn names(flavour: Flavour) -> impl Iterator<Item = &'static str> {
    all(flavour).values().filter_map(|forms| forms.first()).map(|form| form.name)
}

fn all(flavour: Flavour) -> &'static Functions {
    static BIGQUERY: OnceLock<Functions> = OnceLock::new();
    static DUCKDB: OnceLock<Functions> = OnceLock::new();
    match flavour {
        Flavour::BigQuery => BIGQUERY.get_or_init(|| read(include_str!("functions/bigquery.txt"), flavour)),
        Flavour::DuckDb => DUCKDB.get_or_init(|| read(include_str!("functions/duckdb.txt"), flavour)),
    }
}

fn read(list: &'static str, flavour: Flavour) -> Functions {
    let mut functions = Functions::new();
    for form in list.lines().filter(|line| !line.starts_with('#')).filter_map(|line| Form::read(line, flavour)) {
        functions.entry(form.name.to_ascii_lowercase()).or_default().push(form);
    }
    functions
}

/// Forms of all flavours in Postgres, by how the lists write them; where it matters, by the number of arguments too.
fn in_postgres() -> &'static HashMap<&'static str, &'static str> {
    static POSTGRES: OnceLock<HashMap<&'static str, &'static str>> = OnceLock::new();
    POSTGRES.get_or_init(|| {
        let lines = include_str!("functions/postgres.txt").lines().filter(|line| !line.starts_with('#'));
        lines.filter_map(|line| line.split_once(" | ")).map(|(usage, says)| (usage.trim(), says.trim())).collect()
    })
}

impl Form {
    /// How Postgres says it with this many arguments.
    pub fn in_postgres(&self, count: usize) -> Option<&'static str> {
        let exact = format!("{} of {count}", self.usage);
        in_postgres().get(exact.as_str()).or_else(|| in_postgres().get(self.usage)).copied()
    }

    fn read(line: &'static str, flavour: Flavour) -> Option<Self> {
        // `||` is an operator, and `{||}` a placeholder: columns have a space on both sides.
        let mut columns = line.split(" | ").map(str::trim);
        let (usage, result) = columns.next()?.rsplit_once(' ')?;
        let (name, args) = usage.strip_suffix(')')?.split_once('(')?;
        let mut translations = columns.map(|text| (text != "-").then_some(text));
        let duckdb = if flavour == Flavour::BigQuery { translations.next().flatten() } else { None };
        let words: Vec<&str> = args.split(", ").filter(|word| !word.is_empty()).collect();
        let bare = words.iter().map(|word| word.trim_end_matches(['?', '.']));
        Some(Self {
            name,
            args: bare.map(Arg::read).collect::<Option<_>>()?,
            required: words.iter().filter(|word| !word.ends_with('?')).count(),
            variadic: words.last().is_some_and(|word| word.ends_with("...")),
            result: Gives::read(result)?,
            usage,
            duckdb,
            sqlite: translations.next().flatten(),
        })
    }

    pub fn takes_count(&self, count: usize) -> bool {
        count >= self.required && (self.variadic || count <= self.args.len())
    }

    /// Whether it takes these arguments; text that stands for a date becomes one.
    pub fn takes(&self, flavour: Flavour, args: &mut [Typed]) -> bool {
        if !self.takes_count(args.len()) {
            return false;
        }
        let expected = |place: usize| self.args.get(place).or(self.args.last()).copied().unwrap_or(Arg::Any);
        let each = args.iter().enumerate().all(|(place, arg)| expected(place).takes(flavour, arg));
        let fits = each && self.goes_together(args);
        if fits {
            for (place, arg) in args.iter_mut().enumerate() {
                expected(place).coerce(flavour, arg);
            }
        }
        fits
    }

    /// Whether those arguments that decide the result are of one kind.
    fn goes_together(&self, args: &[Typed]) -> bool {
        let Gives::Same(from) = self.result else { return true };
        let kind = self.gives(args);
        let like = |arg: &Typed| arg.kind.compares_with(kind) || super::literal::reads_as(arg, kind);
        args.iter().skip(from).all(like)
    }

    /// The place from which on the arguments decide what it gives, if they do.
    pub fn gives_kind_of(&self) -> Option<usize> {
        match self.result {
            Gives::Kind(_) => None,
            Gives::Same(from) => Some(from),
        }
    }

    pub fn gives(&self, args: &[Typed]) -> Kind {
        match self.result {
            Gives::Kind(kind) => kind,
            Gives::Same(from) => {
                let kinds = args.iter().skip(from).map(|arg| arg.kind);
                kinds.fold(Kind::Any, |kind, next| if kind == Kind::Any { next } else { kind })
            }
        }
    }
}

impl Arg {
    fn read(word: &str) -> Option<Self> {
        Some(match word {
            "any" => Self::Any,
            "temporal" => Self::Temporal,
            "format" => Self::Format,
            "options" => Self::Options,
            "number" => Self::Number,
            other => Self::Of(kind(other)?),
        })
    }

    fn takes(self, flavour: Flavour, arg: &Typed) -> bool {
        let is = |wanted: Kind| {
            // DuckDB would not know which of its functions is meant.
            let temporal = flavour == Flavour::BigQuery && super::literal::reads_as(arg, wanted);
            // The engines take a date for its first moment.
            let date = wanted == Kind::Moment && arg.kind == Kind::Date;
            arg.kind == wanted || arg.kind == Kind::Any || date || temporal
        };
        match self {
            Self::Any => true,
            Self::Temporal => is(Kind::Date) || is(Kind::Moment),
            Self::Format => arg.is_text_literal(),
            Self::Options => matches!(&arg.node, Node::Text(text) if text.chars().all(|c| "cilmnps".contains(c))),
            Self::Number => arg.kind.is_numeric() || arg.kind == Kind::Any,
            Self::Of(Kind::Text) => is(Kind::Text) || arg.kind == Kind::Opaque,
            Self::Of(kind) => is(kind),
        }
    }

    fn coerce(self, flavour: Flavour, arg: &mut Typed) {
        let wanted = match self {
            Self::Temporal => Kind::Moment,
            Self::Of(kind @ (Kind::Date | Kind::Moment | Kind::Time)) => kind,
            _ => return,
        };
        if let Node::Text(_) = arg.node {
            super::literal::as_temporal(flavour, arg, wanted);
        }
    }
}

impl Gives {
    fn read(word: &str) -> Option<Self> {
        match word.strip_prefix("same(").and_then(|n| n.strip_suffix(')')) {
            Some(place) => place.parse::<usize>().ok()?.checked_sub(1).map(Self::Same),
            None => kind(word).or((word == "number").then_some(Kind::Number)).map(Self::Kind),
        }
    }
}

fn kind(word: &str) -> Option<Kind> {
    Some(match word {
        "bool" => Kind::Bool,
        "int" => Kind::Integer,
        "text" => Kind::Text,
        "bytes" => Kind::Bytes,
        "date" => Kind::Date,
        "moment" => Kind::Moment,
        "time" => Kind::Time,
        "interval" => Kind::Interval,
        "list" => Kind::List,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_lists_is_read() {
        for (flavour, list) in [
            (Flavour::BigQuery, include_str!("functions/bigquery.txt")),
            (Flavour::DuckDb, include_str!("functions/duckdb.txt")),
        ] {
            for line in list.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
                assert!(Form::read(line, flavour).is_some(), "{line}");
            }
        }
    }
}
