//! QueryPlan: the analytic read plan that planners write and callers may send.
//!
//! A plan names resources and fields, never SQL. Every object refuses keys that it does not know,
//! and each choice (expression, condition) is an object with exactly one key, so that an error
//! names the exact place. `policy::plan` compiles it.

mod window;

pub use window::{Change, LimitPer};

use crate::Value;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One read: `from` … `limit`, optionally combined with another plan by `set`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QueryPlan {
    pub version: Version,
    pub from: TableRef,
    /// Only along joins of the contracts or foreign keys of the source.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub joins: Vec<Join>,
    /// What each row of the answer holds; at least one.
    pub select: Vec<SelectItem>,
    #[serde(default, skip_serializing_if = "is_false")]
    pub distinct: bool,
    #[serde(default, rename = "where", skip_serializing_if = "Option::is_none")]
    pub filter: Option<Condition>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub group_by: Vec<Expr>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub having: Option<Condition>,
    /// Combines these rows with those of another plan; `order_by`, `limit` and `offset` then apply
    /// to the combination.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set: Option<Box<SetOperation>>,
    /// Columns that compare each row with the one before it. `order_by` may name them, too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
    /// A `field` here may also be the name (`as`) of a selected item.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub order_by: Vec<OrderItem>,
    /// Before `limit` and `offset`; the groups then come in the order of its `by`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_per: Option<LimitPer>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

/// The one version of the plan language that there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub enum Version {
    #[default]
    #[serde(rename = "1")]
    V1,
}

/// A resource, and the name that it goes by in this plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TableRef {
    pub resource: String,
    /// Needed only when one resource takes part twice.
    #[serde(default, rename = "as", skip_serializing_if = "Option::is_none")]
    pub alias: Option<String>,
}

impl TableRef {
    pub fn new(resource: impl Into<String>) -> Self {
        Self { resource: resource.into(), alias: None }
    }
    /// What fields are qualified with.
    pub fn name(&self) -> &str {
        self.alias.as_deref().unwrap_or(&self.resource)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Join {
    pub resource: String,
    #[serde(default, rename = "as", skip_serializing_if = "Option::is_none")]
    pub alias: Option<String>,
    #[serde(default, rename = "type")]
    pub kind: JoinKind,
    /// Pairs of qualified fields that must be equal; at least one.
    pub on: Vec<JoinOn>,
}

impl Join {
    pub fn name(&self) -> &str {
        self.alias.as_deref().unwrap_or(&self.resource)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JoinOn {
    /// A field of a table that stands before this join, as `table.field`.
    pub left: String,
    /// A field of the joined table, as `table.field`.
    pub right: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum JoinKind {
    #[default]
    Inner,
    Left,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SelectItem {
    pub expr: Expr,
    /// The name of the column in the answer.
    #[serde(default, rename = "as", skip_serializing_if = "Option::is_none")]
    pub alias: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OrderItem {
    pub expr: Expr,
    #[serde(default)]
    pub dir: Direction,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    #[default]
    Asc,
    Desc,
}

/// A value in a row: `{"field": "region"}`, `{"value": 5}`, `{"aggregate": {"fn": "sum", "of": …}}` ….
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Expr {
    /// `field` or `table.field`; inside a struct `column.member` or `table.column.member`.
    Field(String),
    Value(Value),
    Aggregate(Aggregate),
    Arithmetic(Arithmetic),
    /// Text that holds numbers, as a number.
    Number(Box<Expr>),
    /// Text that holds ISO dates, as a timestamp.
    Moment(Box<Expr>),
    DateTrunc(DateTrunc),
    Extract(Extract),
    Case(Case),
    /// A plan with one column and at most one row, as a scalar.
    Plan(Box<QueryPlan>),
}

impl Expr {
    pub fn field(name: impl Into<String>) -> Self {
        Self::Field(name.into())
    }
    pub fn value(value: impl Into<Value>) -> Self {
        Self::Value(value.into())
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Aggregate {
    #[serde(rename = "fn")]
    pub function: AggregateFn,
    /// Left out only with `count`, which then counts rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<Box<Expr>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AggregateFn {
    Count,
    CountDistinct,
    Sum,
    Avg,
    Min,
    Max,
    Median,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arithmetic {
    pub op: ArithmeticOp,
    pub left: Box<Expr>,
    pub right: Box<Expr>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ArithmeticOp {
    #[serde(rename = "+")]
    Add,
    #[serde(rename = "-")]
    Subtract,
    #[serde(rename = "*")]
    Multiply,
    /// True division: whole numbers too, and NULL where the divisor is 0.
    #[serde(rename = "/")]
    Divide,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DateTrunc {
    pub unit: DateUnit,
    pub of: Box<Expr>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DateUnit {
    Year,
    Quarter,
    Month,
    Week,
    Day,
    Hour,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Extract {
    pub part: DatePart,
    pub of: Box<Expr>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DatePart {
    Year,
    Quarter,
    Month,
    /// 1 (Monday) to 7.
    Weekday,
    Day,
    Hour,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Case {
    pub when: Vec<CaseWhen>,
    #[serde(default, rename = "else", skip_serializing_if = "Option::is_none")]
    pub otherwise: Option<Box<Expr>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CaseWhen {
    #[serde(rename = "if")]
    pub condition: Condition,
    pub then: Expr,
}

/// True or false of a row: `{"and": […]}`, `{"test": {"left": …, "op": "=", "right": …}}` ….
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    And(Vec<Condition>),
    Or(Vec<Condition>),
    Not(Box<Condition>),
    Test(Test),
    IsNull(Expr),
    IsNotNull(Expr),
    /// True where the plan, which may name fields of the plan around it, has a row.
    Exists(Box<QueryPlan>),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Test {
    pub left: Expr,
    pub op: Operator,
    pub right: Operand,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub enum Operator {
    #[serde(rename = "=")]
    Equal,
    #[serde(rename = "!=")]
    NotEqual,
    #[serde(rename = ">")]
    Greater,
    #[serde(rename = ">=")]
    GreaterOrEqual,
    #[serde(rename = "<")]
    Less,
    #[serde(rename = "<=")]
    LessOrEqual,
    #[serde(rename = "IN")]
    In,
    #[serde(rename = "NOT IN")]
    NotIn,
    /// Both ends included.
    #[serde(rename = "BETWEEN")]
    Between,
    #[serde(rename = "LIKE")]
    Like,
    #[serde(rename = "ILIKE")]
    ILike,
}

/// The right side of a test: a value in a row, a list (`IN`, `BETWEEN`), or the rows of a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Operand {
    Field(String),
    Value(Value),
    List(Vec<Value>),
    /// A plan with one column: a set for `IN` and `NOT IN`, a scalar for the others.
    Plan(Box<QueryPlan>),
    Expr(Box<Expr>),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SetOperation {
    pub op: SetOp,
    /// Keeps duplicates; otherwise rows are distinct.
    #[serde(default, skip_serializing_if = "is_false")]
    pub all: bool,
    pub plan: QueryPlan,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SetOp {
    Union,
    Intersect,
    Except,
}

impl QueryPlan {
    /// The smallest plan over a resource; callers fill in the rest.
    pub fn over(resource: impl Into<String>) -> Self {
        Self {
            version: Version::V1,
            from: TableRef::new(resource),
            joins: Vec::new(),
            select: Vec::new(),
            distinct: false,
            filter: None,
            group_by: Vec::new(),
            having: None,
            set: None,
            changes: Vec::new(),
            order_by: Vec::new(),
            limit_per: None,
            limit: None,
            offset: None,
        }
    }
}
