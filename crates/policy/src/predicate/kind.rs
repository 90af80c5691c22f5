//! Types, as coarse as a predicate needs them: enough to know that it is true or false, and that what is compared can be.

use domain::FieldType;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Bool,
    Integer,
    Number,
    Text,
    Bytes,
    Date,
    /// DATETIME or TIMESTAMP: the engines turn one into the other.
    Moment,
    Time,
    Interval,
    List,
    Struct,
    /// A type of the engine's own (uuid, json …): compared with what the engine likes, true or false never.
    Opaque,
    /// NULL: may be anything.
    Any,
}

impl Kind {
    pub fn of(field: FieldType) -> Self {
        match field {
            FieldType::Boolean => Self::Bool,
            FieldType::Integer => Self::Integer,
            FieldType::Number | FieldType::Decimal => Self::Number,
            FieldType::String | FieldType::Text => Self::Text,
            FieldType::Bytes => Self::Bytes,
            FieldType::Date => Self::Date,
            FieldType::Timestamp => Self::Moment,
            FieldType::Time => Self::Time,
            FieldType::List => Self::List,
            FieldType::Struct => Self::Struct,
            FieldType::Uuid | FieldType::Json | FieldType::Other => Self::Opaque,
        }
    }

    /// As refusals call it.
    pub fn noun(self) -> &'static str {
        match self {
            Self::Bool => "a boolean",
            Self::Integer => "an integer",
            Self::Number => "a number",
            Self::Text => "text",
            Self::Bytes => "bytes",
            Self::Date => "a date",
            Self::Moment => "a timestamp",
            Self::Time => "a time",
            Self::Interval => "an interval",
            Self::List => "a list",
            Self::Struct => "a struct",
            Self::Opaque => "a value of the engine's own type",
            Self::Any => "NULL",
        }
    }

    pub fn is_numeric(self) -> bool {
        matches!(self, Self::Integer | Self::Number)
    }

    pub fn is_temporal(self) -> bool {
        matches!(self, Self::Date | Self::Moment)
    }

    pub fn may_be_bool(self) -> bool {
        matches!(self, Self::Bool | Self::Any)
    }

    /// Whether values of both kinds can be told apart or put in order.
    pub fn compares_with(self, other: Self) -> bool {
        let unknown = |kind| matches!(kind, Self::Any | Self::Opaque);
        self == other
            || unknown(self)
            || unknown(other)
            || (self.is_numeric() && other.is_numeric())
            || (self.is_temporal() && other.is_temporal())
    }
}
