//! What a predicate may be made of, and nothing else: whatever can be said with these nodes is safe to run.
//!
//! [`super::lower`] makes such a tree from the parser's, or refuses; [`super::render`] writes it out for an engine.

use super::functions::Form;
use super::kind::Kind;
use super::part::Part;
use super::types::Type;

#[derive(Debug, Clone, PartialEq)]
pub enum Node {
    Path(Path),
    Null,
    Bool(bool),
    /// Digits as they were written.
    Number(String),
    Text(String),
    /// `DATE '…'`, `TIMESTAMP '…'`, `TIME '…'`.
    Temporal(Type, String),
    /// A text that stands for one of them, as what it is compared with tells.
    Meant(Type, String),
    Minus(Box<Node>),
    Not(Box<Node>),
    And(Vec<Node>),
    Or(Vec<Node>),
    Arithmetic {
        left: Box<Node>,
        op: Arithmetic,
        right: Box<Node>,
        /// What is on both sides.
        kinds: (Kind, Kind),
    },
    Compare {
        left: Box<Node>,
        op: Comparison,
        right: Box<Node>,
    },
    Is {
        of: Box<Node>,
        what: Is,
        negated: bool,
    },
    In {
        of: Box<Node>,
        list: Vec<Node>,
        negated: bool,
    },
    Between {
        of: Box<Node>,
        low: Box<Node>,
        high: Box<Node>,
        negated: bool,
    },
    Like {
        of: Box<Node>,
        pattern: Box<Node>,
        escape: Option<char>,
        /// ILIKE.
        any_case: bool,
        negated: bool,
    },
    Case {
        operand: Option<Box<Node>>,
        arms: Vec<(Node, Node)>,
        otherwise: Option<Box<Node>>,
    },
    Cast {
        of: Box<Node>,
        to: Type,
        /// NULL instead of an error.
        safe: bool,
    },
    Extract {
        part: Part,
        of: Box<Node>,
    },
    Trunc {
        part: Part,
        of: Box<Node>,
        kind: Kind,
    },
    /// How many boundaries of the part lie between two points in time.
    Diff {
        part: Part,
        from: Box<Node>,
        to: Box<Node>,
    },
    Interval {
        count: Box<Node>,
        part: Part,
    },
    /// A point in time moved by an interval.
    Shift {
        of: Box<Node>,
        by: Box<Node>,
        back: bool,
        kind: Kind,
    },
    Call {
        form: &'static Form,
        args: Vec<Node>,
    },
}

impl Node {
    /// Whether it is a date or a moment, where that can be seen.
    pub fn kind(&self) -> Option<Kind> {
        match self {
            Self::Path(path) => Some(path.kind),
            Self::Temporal(to, _) | Self::Meant(to, _) | Self::Cast { to, .. } => Some(to.kind()),
            Self::Trunc { kind, .. } | Self::Shift { kind, .. } => Some(*kind),
            Self::Arithmetic { kinds: (Kind::Date, Kind::Integer), .. } => Some(Kind::Date),
            Self::Call { form, args } => match form.gives_kind_of() {
                Some(from) => args.iter().skip(from).find_map(Self::kind),
                None => Some(form.gives(&[])),
            },
            Self::Case { arms, otherwise, .. } => {
                arms.iter().map(|(_, then)| then).chain(otherwise.as_deref()).find_map(Self::kind)
            }
            _ => None,
        }
    }
}

/// A column, or something inside it.
#[derive(Debug, Clone, PartialEq)]
pub struct Path {
    /// As the schema writes it.
    pub column: String,
    pub steps: Vec<Step>,
    pub kind: Kind,
}

impl Path {
    /// Whether it ends at a list or a struct.
    pub fn is_nested(&self) -> bool {
        matches!(self.kind, Kind::List | Kind::Struct)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    Field(String),
    /// An element of a list: from 0, or from the end where it is negative.
    Element {
        index: i64,
        /// NULL instead of an error where there is none.
        safe: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arithmetic {
    Plus,
    Minus,
    Times,
    Divide,
    Modulo,
    Concat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Distinct,
    NotDistinct,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Is {
    Null,
    True,
    False,
}

/// A node and what it gives.
#[derive(Debug, Clone, PartialEq)]
pub struct Typed {
    pub node: Node,
    pub kind: Kind,
}

impl Typed {
    pub fn new(node: Node, kind: Kind) -> Self {
        Self { node, kind }
    }

    pub fn bool(node: Node) -> Self {
        Self { node, kind: Kind::Bool }
    }

    pub fn is_text_literal(&self) -> bool {
        matches!(self.node, Node::Text(_))
    }
}
