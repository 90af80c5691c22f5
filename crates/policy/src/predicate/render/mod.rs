//! Our tree to text: in the flavour that it was written in, or in the SQL of the engine that will run it.
//!
//! One tree has one text: keywords in capitals, names in quotes, parentheses only where they are needed.

mod dates;
mod leaf;
mod postgres;
mod template;

use super::kind::Kind;
use super::refuse::refuse;
use super::tree::{Arithmetic, Comparison, Is, Node};
use crate::sql::guard::MAX_BYTES;
use domain::{Dialect, Fault, Flavour};

/// Whose SQL is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    BigQuery,
    DuckDb,
    Sqlite,
    Postgres,
}

impl Target {
    pub fn of(dialect: Dialect) -> Self {
        match dialect {
            Dialect::DuckDb | Dialect::Spark | Dialect::DataFusion => Self::DuckDb,
            Dialect::Sqlite => Self::Sqlite,
            Dialect::Postgres => Self::Postgres,
            Dialect::BigQuery => Self::BigQuery,
        }
    }

    pub fn own(flavour: Flavour) -> Self {
        match flavour {
            Flavour::BigQuery => Self::BigQuery,
            Flavour::DuckDb => Self::DuckDb,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::BigQuery => "BigQuery",
            Self::DuckDb => "DuckDB",
            Self::Sqlite => "SQLite",
            Self::Postgres => "Postgres",
        }
    }
}

/// How tightly a node holds together, loosest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Or,
    And,
    Not,
    Comparison,
    Operator,
    Atom,
}

/// Writes trees of one flavour for one engine.
pub struct Writer {
    pub flavour: Flavour,
    pub target: Target,
}

type Written = Result<String, Fault>;

impl Writer {
    pub fn write(&self, node: &Node) -> Written {
        self.at(Level::Or, node)
    }

    /// The node in parentheses, unless it holds together as tightly as needed.
    fn at(&self, least: Level, node: &Node) -> Written {
        let (level, text) = self.node(node)?;
        Ok(if level < least { format!("({text})") } else { text })
    }

    /// A translation may say an argument twice, and what holds it twice that: it stops here.
    fn node(&self, node: &Node) -> Result<(Level, String), Fault> {
        let (level, text) = self.any_node(node)?;
        if text.len() <= MAX_BYTES {
            return Ok((level, text));
        }
        let message = format!("the expression has more than {MAX_BYTES} bytes in the engine's SQL");
        Err(refuse("too_long", message, "send a shorter one"))
    }

    fn any_node(&self, node: &Node) -> Result<(Level, String), Fault> {
        let operand = |node: &Node| self.at(Level::Operator, node);
        let not = |negated: bool| if negated { " NOT" } else { "" };
        Ok(match node {
            Node::Not(inner) => (Level::Not, format!("NOT {}", self.at(Level::Comparison, inner)?)),
            Node::And(all) => (Level::And, self.joined(all, Level::Not, " AND ")?),
            Node::Or(all) => (Level::Or, self.joined(all, Level::And, " OR ")?),
            Node::Minus(inner) => (Level::Operator, format!("-{}", self.at(Level::Atom, inner)?)),
            Node::Arithmetic { left, op, right, kinds } => match self.days(left, *op, right, *kinds)? {
                Some(days) => (Level::Atom, days),
                None => (Level::Operator, self.arithmetic(left, *op, right)?),
            },
            Node::Compare { left, op, right } => {
                let moments = self.needs_moments(&[left, right]);
                let (left, right) = (self.compared(left, moments)?, self.compared(right, moments)?);
                (Level::Comparison, format!("{left} {} {right}", comparison(*op)))
            }
            Node::Is { of, what, negated } => {
                let what = match what {
                    Is::Null => "NULL",
                    Is::True => "TRUE",
                    Is::False => "FALSE",
                };
                (Level::Comparison, format!("{} IS{} {what}", operand(of)?, not(*negated)))
            }
            Node::In { of, list, negated } => {
                let all: Vec<&Node> = std::iter::once(of.as_ref()).chain(list).collect();
                let moments = self.needs_moments(&all);
                let items: Result<Vec<String>, Fault> = list.iter().map(|item| self.compared(item, moments)).collect();
                let (of, items) = (self.compared(of, moments)?, items?.join(", "));
                (Level::Comparison, format!("{of}{} IN ({items})", not(*negated)))
            }
            Node::Between { of, low, high, negated } => {
                let moments = self.needs_moments(&[of, low, high]);
                let [of, low, high] = [of, low, high].map(|node| self.compared(node, moments));
                (Level::Comparison, format!("{}{} BETWEEN {} AND {}", of?, not(*negated), low?, high?))
            }
            Node::Like { of, pattern, escape, any_case, negated } => {
                self.like(of, pattern, *escape, *any_case, *negated)?
            }
            Node::Case { operand, arms, otherwise } => {
                (Level::Atom, self.case(operand.as_deref(), arms, otherwise.as_deref())?)
            }
            Node::Call { form, args } => self.call(form, args)?,
            Node::Cast { of, to, safe } => (Level::Atom, self.cast(of, *to, *safe)?),
            Node::Extract { part, of } => self.extract(*part, of)?,
            Node::Trunc { part, of, kind } => (Level::Atom, self.trunc(*part, of, *kind)?),
            Node::Diff { part, from, to } => self.diff(*part, from, to)?,
            Node::Interval { count, part } => (Level::Atom, self.interval(count, *part)?),
            Node::Shift { of, by, back, kind: _ } => self.shift(of, by, *back)?,
            Node::Path(path) => (Level::Atom, self.path(path)?),
            Node::Null => (Level::Atom, "NULL".to_owned()),
            Node::Bool(true) => (Level::Atom, "TRUE".to_owned()),
            Node::Bool(false) => (Level::Atom, "FALSE".to_owned()),
            Node::Number(digits) => (Level::Atom, digits.clone()),
            Node::Text(text) => (Level::Atom, self.text(text)),
            Node::Temporal(to, text) => (Level::Atom, self.temporal(*to, text)?),
            // It takes such a text for what it is compared with, with a zone or without.
            Node::Meant(_, text) if self.target == Target::BigQuery => (Level::Atom, self.text(text)),
            Node::Meant(to, text) => (Level::Atom, self.temporal(*to, text)?),
        })
    }

    fn joined(&self, nodes: &[Node], least: Level, by: &str) -> Written {
        let parts: Result<Vec<String>, Fault> = nodes.iter().map(|node| self.at(least, node)).collect();
        Ok(parts?.join(by))
    }

    fn arithmetic(&self, left: &Node, op: Arithmetic, right: &Node) -> Written {
        let symbol = match op {
            Arithmetic::Plus => "+",
            Arithmetic::Minus => "-",
            Arithmetic::Times => "*",
            Arithmetic::Divide => "/",
            Arithmetic::Modulo => "%",
            Arithmetic::Concat => "||",
        };
        // A chain of one precedence leans left; anything else is put in parentheses.
        let chained = matches!(left, Node::Arithmetic { op: inner, .. } if precedence(*inner) == precedence(op));
        let left = self.at(if chained { Level::Operator } else { Level::Atom }, left)?;
        let right = self.at(Level::Atom, right)?;
        Ok(match (self.target, op) {
            // Whole numbers would be divided without the rest there.
            (Target::Sqlite, Arithmetic::Divide) => format!("CAST({left} AS REAL) / {right}"),
            (Target::Postgres, Arithmetic::Divide | Arithmetic::Modulo) => postgres::divided(&left, op, &right),
            _ => format!("{left} {symbol} {right}"),
        })
    }

    fn case(&self, operand: Option<&Node>, arms: &[(Node, Node)], otherwise: Option<&Node>) -> Written {
        let mut text = "CASE".to_owned();
        if let Some(operand) = operand {
            text.push_str(&format!(" {}", self.at(Level::Operator, operand)?));
        }
        for (when, then) in arms {
            text.push_str(&format!(" WHEN {} THEN {}", self.write(when)?, self.write(then)?));
        }
        if let Some(otherwise) = otherwise {
            text.push_str(&format!(" ELSE {}", self.write(otherwise)?));
        }
        text.push_str(" END");
        Ok(text)
    }

    /// SQLite keeps dates and moments as text of different length: among moments, a date must become one.
    fn needs_moments(&self, nodes: &[&Node]) -> bool {
        self.target == Target::Sqlite && nodes.iter().any(|node| node.kind() == Some(Kind::Moment))
    }

    fn compared(&self, node: &Node, moments: bool) -> Written {
        let text = self.at(Level::Operator, node)?;
        let is_date = node.kind() == Some(Kind::Date);
        Ok(if moments && is_date { crate::plan::instant(&text) } else { text })
    }
}

fn precedence(op: Arithmetic) -> u8 {
    match op {
        Arithmetic::Concat => 0,
        Arithmetic::Plus | Arithmetic::Minus => 1,
        Arithmetic::Times | Arithmetic::Divide | Arithmetic::Modulo => 2,
    }
}

fn comparison(op: Comparison) -> &'static str {
    match op {
        Comparison::Equal => "=",
        Comparison::NotEqual => "<>",
        Comparison::Less => "<",
        Comparison::LessOrEqual => "<=",
        Comparison::Greater => ">",
        Comparison::GreaterOrEqual => ">=",
        Comparison::Distinct => "IS DISTINCT FROM",
        Comparison::NotDistinct => "IS NOT DISTINCT FROM",
    }
}
