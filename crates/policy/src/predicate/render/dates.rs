//! What is said with parts of dates, in each engine's way.

use super::{Level, Target, Writer, Written};
use crate::plan::{instant, trunc};
use crate::predicate::kind::Kind;
use crate::predicate::part::{MONDAYS, Part};
use crate::predicate::refuse::no_translation;
use crate::predicate::tree::{Arithmetic, Node};
use domain::plan::DateUnit;
use domain::{Dialect, Fault, Flavour};

impl Writer {
    pub(super) fn extract(&self, part: Part, of: &Node) -> Result<(Level, String), Fault> {
        let text = self.at(Level::Atom, of)?;
        let whole = |format: &str| format!("CAST(strftime('{format}', {text}) AS INTEGER)");
        let atom = |text: String| Ok((Level::Atom, text));
        match (self.target, self.flavour, part) {
            (Target::Postgres, ..) => atom(self.postgres_extract(part, &text)?),
            (Target::BigQuery, ..) => atom(format!("EXTRACT({} FROM {text})", self.word(part)?)),
            (Target::Sqlite, Flavour::BigQuery, Part::DayOfWeek) => {
                Ok((Level::Operator, format!("{} + 1", whole("%w"))))
            }
            (Target::Sqlite, ..) => match sqlite_format(part) {
                Some(format) => atom(whole(format)),
                None if part == Part::Quarter => Ok((Level::Operator, format!("({} + 2) / 3", whole("%m")))),
                None => Err(self.cannot(part)),
            },
            (Target::DuckDb, Flavour::BigQuery, Part::Week) => atom(format!("CAST(strftime({text}, '%U') AS BIGINT)")),
            // From Sunday as 1, and below a second only what is below it.
            (Target::DuckDb, Flavour::BigQuery, Part::DayOfWeek) => {
                Ok((Level::Operator, self.plus(part, &text, "+ 1")?))
            }
            (Target::DuckDb, Flavour::BigQuery, Part::Millisecond) => {
                Ok((Level::Operator, self.plus(part, &text, "% 1000")?))
            }
            (Target::DuckDb, Flavour::BigQuery, Part::Microsecond) => {
                Ok((Level::Operator, self.plus(part, &text, "% 1000000")?))
            }
            (Target::DuckDb, ..) => atom(format!("EXTRACT({} FROM {text})", self.word(part)?)),
        }
    }

    fn plus(&self, part: Part, of: &str, what: &str) -> Written {
        Ok(format!("EXTRACT({} FROM {of}) {what}", self.word(part)?))
    }

    pub(super) fn trunc(&self, part: Part, of: &Node, kind: Kind) -> Written {
        let text = self.at(Level::Atom, of)?;
        let cut = match (self.target, part) {
            (Target::BigQuery, _) => return Ok(format!("DATE_TRUNC({text}, {})", self.word(part)?)),
            (Target::Postgres, _) => return self.postgres_trunc(part, &text),
            (Target::Sqlite, _) => {
                let cut = trunc(Dialect::Sqlite, sqlite_unit(part).ok_or_else(|| self.cannot(part))?, &text);
                return Ok(if kind == Kind::Moment { instant(&cut) } else { cut });
            }
            (Target::DuckDb, Part::Week) => format!("(date_trunc('week', {text} + INTERVAL 1 DAY) - INTERVAL 1 DAY)"),
            (Target::DuckDb, _) => format!("date_trunc('{}', {text})", self.word(part)?),
        };
        let is_date = self.flavour == Flavour::BigQuery && kind == Kind::Date;
        Ok(if is_date { format!("CAST({cut} AS DATE)") } else { cut })
    }

    pub(super) fn diff(&self, part: Part, from: &Node, to: &Node) -> Result<(Level, String), Fault> {
        let (from, to) = (self.at(Level::Atom, from)?, self.at(Level::Atom, to)?);
        let text = match (self.target, part) {
            (Target::Postgres, _) => return Ok((Level::Operator, self.postgres_diff(part, &from, &to)?)),
            (Target::BigQuery, _) => format!("DATE_DIFF({to}, {from}, {})", self.word(part)?),
            // Weeks from Sunday are those from Monday of a day later.
            (Target::DuckDb, Part::Week) => {
                format!("date_diff('week', {from} + INTERVAL 1 DAY, {to} + INTERVAL 1 DAY)")
            }
            (Target::DuckDb, _) => format!("date_diff('{}', {from}, {to})", self.word(part)?),
            (Target::Sqlite, Part::Day) => {
                format!("CAST(julianday(date({to})) - julianday(date({from})) AS INTEGER)")
            }
            (Target::Sqlite, Part::Month | Part::Year) => {
                let months = |of: &str| {
                    let [year, month] = ["%Y", "%m"].map(|f| format!("CAST(strftime('{f}', {of}) AS INTEGER)"));
                    if part == Part::Year { year } else { format!("({year} * 12 + {month})") }
                };
                return Ok((Level::Operator, format!("{} - {}", months(&to), months(&from))));
            }
            (Target::Sqlite, _) => return Err(self.cannot(part)),
        };
        Ok((Level::Atom, text))
    }

    pub(super) fn interval(&self, count: &Node, part: Part) -> Written {
        if self.target == Target::Sqlite {
            return Err(no_translation("INTERVAL", self.target.name()));
        }
        if self.target == Target::Postgres {
            return self.postgres_interval(count, part);
        }
        let word = self.unit(part)?;
        Ok(match count {
            Node::Number(digits) => format!("INTERVAL {digits} {word}"),
            other => format!("INTERVAL ({}) {word}", self.write(other)?),
        })
    }

    pub(super) fn shift(&self, of: &Node, by: &Node, back: bool) -> Result<(Level, String), Fault> {
        let of = self.at(Level::Atom, of)?;
        if self.target == Target::Sqlite {
            let modifier = self.modifier(by, back)?;
            return Ok((Level::Atom, format!("strftime('%Y-%m-%d %H:%M:%f', {of}, {modifier})")));
        }
        let sign = if back { '-' } else { '+' };
        Ok((Level::Operator, format!("{of} {sign} {}", self.at(Level::Atom, by)?)))
    }

    /// Arithmetic of days, which are text in SQLite; none where numbers are meant.
    pub(super) fn days(
        &self,
        left: &Node,
        op: Arithmetic,
        right: &Node,
        kinds: (Kind, Kind),
    ) -> Result<Option<String>, Fault> {
        let plain = |kind| matches!(kind, Kind::Integer | Kind::Number | Kind::Text | Kind::Opaque | Kind::Any);
        if self.target != Target::Sqlite || (plain(kinds.0) && plain(kinds.1)) {
            return Ok(None);
        }
        let date = self.at(Level::Atom, left)?;
        match (kinds, right) {
            ((Kind::Date, Kind::Integer), Node::Number(days)) => {
                let sign = if op == Arithmetic::Minus { '-' } else { '+' };
                Ok(Some(format!("date({date}, '{sign}{days} days')")))
            }
            ((Kind::Date, Kind::Date), _) => {
                let other = self.at(Level::Atom, right)?;
                Ok(Some(format!("CAST(julianday(date({date})) - julianday(date({other})) AS INTEGER)")))
            }
            _ => Err(no_translation("arithmetic with times", self.target.name())),
        }
    }

    /// An interval as SQLite's date functions take it: `'-30 days'`.
    pub(super) fn modifier(&self, interval: &Node, back: bool) -> Written {
        let Node::Interval { count, part } = interval else {
            return Err(no_translation("INTERVAL", self.target.name()));
        };
        let (digits, negative) = match count.as_ref() {
            Node::Number(digits) => (digits, back),
            Node::Minus(inner) => match inner.as_ref() {
                Node::Number(digits) => (digits, !back),
                _ => return Err(no_translation("INTERVAL with an expression", self.target.name())),
            },
            _ => return Err(no_translation("INTERVAL with an expression", self.target.name())),
        };
        let number: u32 = digits.parse().map_err(|_| no_translation(digits, self.target.name()))?;
        let (times, unit) = match part {
            Part::Second => (1, "seconds"),
            Part::Minute => (1, "minutes"),
            Part::Hour => (1, "hours"),
            Part::Day => (1, "days"),
            Part::Week | Part::IsoWeek => (7, "days"),
            Part::Month => (1, "months"),
            Part::Quarter => (3, "months"),
            Part::Year => (1, "years"),
            other => return Err(self.cannot(*other)),
        };
        let sign = if negative { '-' } else { '+' };
        Ok(format!("'{sign}{} {unit}'", u64::from(number) * times))
    }

    /// The part as the target calls it.
    pub(super) fn word(&self, part: Part) -> Result<&'static str, Fault> {
        let word = match self.target {
            Target::BigQuery => part.word(Flavour::BigQuery),
            _ if part == Part::WeekFrom(MONDAYS) => Some("week"),
            _ => part.word(Flavour::DuckDb),
        };
        word.ok_or_else(|| self.cannot(part))
    }

    /// The part as a unit of intervals. A week has seven days wherever it begins.
    fn unit(&self, part: Part) -> Result<String, Fault> {
        let week = matches!(part, Part::Week | Part::IsoWeek);
        if week { Ok("WEEK".to_owned()) } else { self.word(part).map(str::to_ascii_uppercase) }
    }

    pub(super) fn cannot(&self, part: Part) -> Fault {
        let word = part.word(self.flavour).unwrap_or("this part");
        no_translation(word, self.target.name())
    }
}

/// The format of SQLite's strftime that gives a part as digits.
fn sqlite_format(part: Part) -> Option<&'static str> {
    Some(match part {
        Part::Second => "%S",
        Part::Minute => "%M",
        Part::Hour => "%H",
        Part::Day => "%d",
        Part::DayOfWeek => "%w",
        Part::IsoDayOfWeek => "%u",
        Part::DayOfYear => "%j",
        Part::Week => "%U",
        Part::IsoWeek => "%V",
        Part::Month => "%m",
        Part::Year => "%Y",
        Part::IsoYear => "%G",
        _ => return None,
    })
}

fn sqlite_unit(part: Part) -> Option<DateUnit> {
    Some(match part {
        Part::Year => DateUnit::Year,
        Part::Quarter => DateUnit::Quarter,
        Part::Month => DateUnit::Month,
        Part::IsoWeek | Part::WeekFrom(MONDAYS) => DateUnit::Week,
        Part::Day => DateUnit::Day,
        Part::Hour => DateUnit::Hour,
        _ => return None,
    })
}
