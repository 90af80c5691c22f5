//! Predicates in the SQL of Postgres.

use super::{Writer, Written};
use crate::predicate::part::{MONDAYS, Part};
use crate::predicate::refuse::no_translation;
use crate::predicate::tree::{Arithmetic, Node};
use crate::predicate::types::Type;
use domain::Fault;

/// Divided by 0 is NULL, and whole numbers keep their rest, as where predicates come from.
pub fn divided(left: &str, op: Arithmetic, right: &str) -> String {
    match op {
        Arithmetic::Modulo => format!("{left} % NULLIF({right}, 0)"),
        _ => format!("CAST({left} AS DOUBLE PRECISION) / NULLIF({right}, 0)"),
    }
}

impl Writer {
    pub(super) fn postgres_extract(&self, part: Part, of: &str) -> Written {
        let word = self.postgres_part(part)?;
        Ok(match part {
            Part::Epoch => format!("CAST(EXTRACT(epoch FROM {of}) AS DOUBLE PRECISION)"),
            // What is below a second comes with the seconds there, as in DuckDB; only seconds themselves have a fraction.
            _ => format!("CAST(floor(EXTRACT({word} FROM {of})) AS BIGINT)"),
        })
    }

    pub(super) fn postgres_trunc(&self, part: Part, of: &str) -> Written {
        Ok(format!("date_trunc('{}', {of})", self.postgres_unit(part)?))
    }

    /// How many boundaries lie between: both are cut to the part first.
    pub(super) fn postgres_diff(&self, part: Part, from: &str, to: &str) -> Written {
        let difference = |of: &dyn Fn(&str) -> String| format!("{} - {}", of(to), of(from));
        let year = |of: &str| format!("EXTRACT(year FROM {of})");
        let seconds = |length: u32| {
            let unit = self.postgres_unit(part)?;
            let cut = |of: &str| format!("date_trunc('{unit}', CAST({of} AS TIMESTAMP))");
            Ok(format!("CAST(EXTRACT(epoch FROM {}) / {length} AS BIGINT)", difference(&cut)))
        };
        Ok(match part {
            Part::Day => difference(&|of| format!("CAST({of} AS DATE)")),
            Part::IsoWeek | Part::WeekFrom(MONDAYS) => {
                let monday = |of: &str| format!("CAST(date_trunc('week', {of}) AS DATE)");
                format!("({}) / 7", difference(&monday))
            }
            Part::Month => whole(&difference(&|of| format!("({} * 12 + EXTRACT(month FROM {of}))", year(of)))),
            Part::Quarter => whole(&difference(&|of| format!("({} * 4 + EXTRACT(quarter FROM {of}))", year(of)))),
            Part::Year => whole(&difference(&year)),
            Part::Hour => seconds(3600)?,
            Part::Minute => seconds(60)?,
            Part::Second => seconds(1)?,
            other => return Err(self.cannot(other)),
        })
    }

    pub(super) fn postgres_interval(&self, count: &Node, part: Part) -> Written {
        let (times, unit) = match part {
            Part::Quarter => (3, "MONTH"),
            Part::Week | Part::IsoWeek => (7, "DAY"),
            Part::WeekFrom(_) => return Err(self.cannot(part)),
            other => (1, self.postgres_unit(other)?),
        };
        let unit = unit.to_ascii_uppercase();
        Ok(match (count, times) {
            (Node::Number(digits), 1) => format!("INTERVAL '{digits} {unit}'"),
            (other, _) => format!("({} * INTERVAL '{times} {unit}')", self.at(super::Level::Atom, other)?),
        })
    }

    pub(super) fn postgres_cast(&self, text: &str, to: Type, safe: bool) -> Written {
        if safe {
            // An error there, where NULL is asked for.
            return Err(no_translation("TRY_CAST", self.target.name()));
        }
        let name = match to {
            Type::Int => "BIGINT".to_owned(),
            Type::Int32 => "INTEGER".to_owned(),
            Type::Int16 => "SMALLINT".to_owned(),
            Type::Float => "DOUBLE PRECISION".to_owned(),
            Type::Float32 => "REAL".to_owned(),
            Type::Numeric(Some((precision, scale))) => format!("NUMERIC({precision}, {scale})"),
            // As DuckDB means it.
            Type::Numeric(None) => "NUMERIC(18, 3)".to_owned(),
            Type::Text => "TEXT".to_owned(),
            Type::Bool => "BOOLEAN".to_owned(),
            Type::Date => "DATE".to_owned(),
            Type::Datetime => "TIMESTAMP".to_owned(),
            Type::Timestamp => "TIMESTAMPTZ".to_owned(),
            Type::Time => "TIME".to_owned(),
            Type::Int8 | Type::BigNumeric | Type::Bytes => {
                return Err(no_translation("CAST to this type", self.target.name()));
            }
        };
        Ok(format!("CAST({text} AS {name})"))
    }

    /// A constant format of dates as `to_char` takes it. What is no element stands in quotes.
    pub(super) fn postgres_format(&self, format: &str) -> Written {
        let mut elements = String::new();
        let mut plain = String::new();
        let mut characters = format.chars();
        while let Some(c) = characters.next() {
            let element = if c == '%' { characters.next() } else { None };
            match (c, element) {
                ('%', Some('%')) => plain.push('%'),
                ('%', element) => {
                    let known = element.and_then(element_of);
                    let known = known.ok_or_else(|| no_translation(format, self.target.name()))?;
                    push_plain(&mut elements, &mut plain);
                    elements.push_str(known);
                }
                (c, _) => plain.push(c),
            }
        }
        push_plain(&mut elements, &mut plain);
        Ok(self.text(&elements))
    }

    fn postgres_part(&self, part: Part) -> Result<&'static str, Fault> {
        match part {
            Part::Millisecond => Ok("milliseconds"),
            Part::Microsecond => Ok("microseconds"),
            other => self.word(other),
        }
    }

    fn postgres_unit(&self, part: Part) -> Result<&'static str, Fault> {
        if part.is_unit() { self.postgres_part(part) } else { Err(self.cannot(part)) }
    }
}

fn whole(text: &str) -> String {
    format!("CAST({text} AS BIGINT)")
}

fn push_plain(elements: &mut String, plain: &mut String) {
    if !plain.is_empty() {
        elements.push_str(&format!("\"{}\"", plain.replace('\\', "\\\\").replace('"', "\\\"")));
        plain.clear();
    }
}

fn element_of(letter: char) -> Option<&'static str> {
    Some(match letter {
        'Y' => "YYYY",
        'y' => "YY",
        'm' => "MM",
        'd' => "DD",
        'H' => "HH24",
        'I' => "HH12",
        'M' => "MI",
        'S' => "SS",
        'p' => "AM",
        'j' => "DDD",
        'A' => "FMDay",
        'a' => "Dy",
        'B' => "FMMonth",
        'b' => "Mon",
        'F' => "YYYY-MM-DD",
        'T' => "HH24:MI:SS",
        'R' => "HH24:MI",
        _ => return None,
    })
}
