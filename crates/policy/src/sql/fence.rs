//! Fences: a caller's expressions are evaluated over the rows that a filter leaves, and over no others.
//!
//! Engines merge the subquery that stands for a filtered table into the statement around it. A function that fails on a
//! hidden row would then tell of it. A LIMIT or OFFSET that changes nothing keeps most engines from that. DuckDB would
//! gather all rows for a LIMIT, so its columns are fenced instead: it neither moves conditions below a volatile expression,
//! nor evaluates functions over the dictionary of what `coalesce` gives, nor knows the smallest and largest value of what
//! `error` would give. By statistics of hidden rows it would leave out a condition that fails on the others.

use super::build::number;
use domain::{Dialect, FieldType};
use sqlparser::ast::helpers::attached_token::AttachedToken;
use sqlparser::ast::{
    AccessExpr, BinaryOperator, CaseWhen, DataType, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList,
    FunctionArguments, Ident, LimitClause, ObjectName, ObjectNamePart, Offset, OffsetRows, Query, Select, Subscript,
    UnaryOperator, Value, Visit, Visitor, visit_expressions,
};
use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::OnceLock;

/// All rows, said in a way that the engine does not look behind.
pub fn rows(dialect: Dialect) -> Option<LimitClause> {
    let (limit, offset) = match dialect {
        Dialect::DuckDb => return None,
        // More rows than there can be; none of these engines takes a caller's condition through a LIMIT. Sail takes the
        // bounds of a join or an ORDER BY through it, which cannot fail.
        Dialect::Spark | Dialect::DataFusion | Dialect::BigQuery => (Some(number(i64::MAX.unsigned_abs())), None),
        Dialect::Sqlite => (Some(Expr::UnaryOp { op: UnaryOperator::Minus, expr: Box::new(number(1)) }), None),
        Dialect::Postgres => (None, Some(Offset { value: number(0), rows: OffsetRows::None })),
    };
    Some(LimitClause::LimitOffset { limit, offset, limit_by: Vec::new() })
}

/// `coalesce(CASE WHEN random() < 0 THEN error('') END, column)`: the column, of which DuckDB cannot know that it is.
pub fn column(expr: Expr) -> Expr {
    let never = Expr::BinaryOp {
        left: Box::new(function("random", Vec::new())),
        op: BinaryOperator::Lt,
        right: Box::new(number(0)),
    };
    let nothing = Expr::Case {
        case_token: AttachedToken::empty(),
        end_token: AttachedToken::empty(),
        operand: None,
        conditions: vec![CaseWhen { condition: never, result: function("error", vec![text("")]) }],
        else_result: None,
    };
    function("coalesce", vec![nothing, expr])
}

/// `CASE WHEN now() IS NULL THEN NULL ELSE column END`: the column, of which Postgres' planner has no statistics. It would try
/// patterns on the values in them, those of hidden rows among them, and fail where one cannot be read to its end.
pub fn unknown_to_planner(expr: Expr, kind: FieldType) -> Expr {
    let takes_patterns = matches!(kind, FieldType::String | FieldType::Text | FieldType::Bytes | FieldType::Other);
    if !takes_patterns || !matches!(expr, Expr::Identifier(_)) {
        return expr;
    }
    let never = Expr::IsNull(Box::new(function("now", Vec::new())));
    Expr::Case {
        case_token: AttachedToken::empty(),
        end_token: AttachedToken::empty(),
        operand: None,
        conditions: vec![CaseWhen { condition: never, result: Expr::Value(Value::Null.into()) }],
        else_result: Some(Box::new(expr)),
    }
}

/// `nullif(column, NULL)`: the column, of which DataFusion has no statistics, on which Sail is built too. It estimates a condition by
/// computing it for the smallest and the largest value of all rows, and fails where that does: `-n < 0` on a hidden row with the
/// least integer.
pub fn unknown_to_estimates(expr: Expr, kind: FieldType) -> Expr {
    let is_estimated = match kind {
        FieldType::List | FieldType::Struct | FieldType::Json | FieldType::Bytes | FieldType::Other => false,
        FieldType::Uuid | FieldType::String | FieldType::Text | FieldType::Boolean => true,
        FieldType::Number | FieldType::Decimal | FieldType::Integer => true,
        FieldType::Date | FieldType::Time | FieldType::Timestamp => true,
    };
    if is_estimated { function("nullif", vec![expr, Expr::Value(Value::Null.into())]) } else { expr }
}

/// The column of [`unknown_to_estimates`]; any other expression as it is.
pub fn known_column(expr: &Expr) -> &Expr {
    let Expr::Function(Function { name, args: FunctionArguments::List(list), .. }) = expr else { return expr };
    match list.args.as_slice() {
        [
            FunctionArg::Unnamed(FunctionArgExpr::Expr(column)),
            FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::Value(null))),
        ] if null.value == Value::Null && name.to_string() == "nullif" => column,
        _ => expr,
    }
}

fn text(value: &str) -> Expr {
    Expr::Value(Value::SingleQuotedString(value.to_owned()).into())
}

fn function(name: &str, args: Vec<Expr>) -> Expr {
    let args = args.into_iter().map(|arg| FunctionArg::Unnamed(FunctionArgExpr::Expr(arg))).collect();
    Expr::Function(Function {
        name: ObjectName(vec![ObjectNamePart::Identifier(Ident::new(name))]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList { duplicate_treatment: None, args, clauses: Vec::new() }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    })
}

/// Whether a statement for DuckDB needs its columns fenced. It does not where all its expressions are of kinds that never
/// fail, or that DuckDB knows to fail and so keeps behind a filter by itself; then conditions may use statistics. A condition
/// that can fail may not: whether it is tried at all would tell of them.
pub fn is_needed(query: &Query) -> bool {
    let odd = |expr: &Expr| if is_plain(expr) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
    visit_expressions(query, odd).is_break() || query.visit(&mut FallibleConditions::default()).is_break()
}

/// Breaks at a condition that fails on some values of a column. It goes through a statement once, however deep that is.
#[derive(Default)]
struct FallibleConditions {
    /// Conditions around the current expression.
    conditions: usize,
    /// Fallible computations around it, inside a condition.
    computations: usize,
}

impl FallibleConditions {
    fn inside_condition() -> Self {
        FallibleConditions { conditions: 1, computations: 0 }
    }

    fn is_condition(expr: &Expr) -> bool {
        matches!(expr, Expr::BinaryOp { op: BinaryOperator::And | BinaryOperator::Or, .. })
    }
}

impl Visitor for FallibleConditions {
    type Break = ();

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<()> {
        if self.conditions > 0 {
            return ControlFlow::Continue(());
        }
        for join in select.from.iter().flat_map(|from| &from.joins) {
            join.join_operator.visit(&mut Self::inside_condition())?;
        }
        let Select { selection, having, qualify, .. } = select;
        let mut clauses = [selection, having, qualify].into_iter().flatten();
        clauses.try_for_each(|clause| clause.visit(&mut Self::inside_condition()))
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        self.conditions += usize::from(Self::is_condition(expr));
        match expr {
            Expr::Identifier(_) | Expr::CompoundIdentifier(_) if self.computations > 0 => return ControlFlow::Break(()),
            Expr::Function(Function { filter: Some(filter), .. }) if self.conditions == 0 => {
                filter.visit(&mut Self::inside_condition())?;
            }
            _ => {}
        }
        self.computations += usize::from(self.conditions > 0 && is_fallible(expr));
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        self.computations -= usize::from(self.conditions > 0 && is_fallible(expr));
        self.conditions -= usize::from(Self::is_condition(expr));
        ControlFlow::Continue(())
    }
}

/// Is `expr` computed in a way that not every value allows?
fn is_fallible(expr: &Expr) -> bool {
    use BinaryOperator as B;
    match expr {
        Expr::BinaryOp { op, .. } => matches!(op, B::Plus | B::Minus | B::Multiply | B::Divide | B::Modulo),
        Expr::UnaryOp { op: UnaryOperator::Minus, .. } | Expr::Cast { .. } => true,
        Expr::Function(function) => function.name.to_string().eq_ignore_ascii_case("abs"),
        _ => false,
    }
}

fn is_plain(expr: &Expr) -> bool {
    use BinaryOperator as B;
    match expr {
        Expr::Identifier(_) | Expr::CompoundIdentifier(_) | Expr::Value(_) | Expr::Nested(_) | Expr::Tuple(_) => true,
        Expr::IsNull(_) | Expr::IsNotNull(_) | Expr::IsTrue(_) | Expr::IsNotTrue(_) => true,
        Expr::IsFalse(_) | Expr::IsNotFalse(_) => true,
        Expr::InList { .. } | Expr::InSubquery { .. } | Expr::Between { .. } => true,
        Expr::Exists { .. } | Expr::Subquery(_) | Expr::Case { .. } => true,
        Expr::TypedString(_) | Expr::Interval(_) | Expr::Extract { .. } => true,
        Expr::Substring { .. } | Expr::Trim { .. } => true,
        Expr::UnaryOp { op, .. } => matches!(op, UnaryOperator::Not | UnaryOperator::Minus | UnaryOperator::Plus),
        Expr::BinaryOp { op, .. } => matches!(
            op,
            B::And
                | B::Or
                | B::Eq
                | B::NotEq
                | B::Lt
                | B::LtEq
                | B::Gt
                | B::GtEq
                | B::StringConcat
                | B::Plus
                | B::Minus
                | B::Multiply
                | B::Divide
                | B::Modulo
        ),
        Expr::Like { escape_char, .. } | Expr::ILike { escape_char, .. } => escape_char.is_none(),
        Expr::Cast { data_type, .. } => is_simple(data_type),
        Expr::CompoundFieldAccess { access_chain, .. } => access_chain.iter().all(|access| {
            matches!(access, AccessExpr::Dot(_) | AccessExpr::Subscript(Subscript::Index { index: Expr::Value(_) }))
        }),
        Expr::Function(function) => match function.name.0.as_slice() {
            [ObjectNamePart::Identifier(name)] => plain_functions().contains(name.value.to_lowercase().as_str()),
            _ => false,
        },
        _ => false,
    }
}

fn is_simple(kind: &DataType) -> bool {
    matches!(
        kind,
        DataType::Boolean
            | DataType::SmallInt(_)
            | DataType::Int(_)
            | DataType::Integer(_)
            | DataType::BigInt(_)
            | DataType::Real
            | DataType::Float(_)
            | DataType::Double(_)
            | DataType::Decimal(_)
            | DataType::Numeric(_)
            | DataType::Varchar(_)
            | DataType::Text
            | DataType::String(_)
            | DataType::Date
            | DataType::Time(..)
            | DataType::Timestamp(..)
    )
}

fn plain_functions() -> &'static HashSet<&'static str> {
    static PLAIN: OnceLock<HashSet<&'static str>> = OnceLock::new();
    PLAIN.get_or_init(|| {
        let lines = include_str!("functions/duckdb_unfenced.txt").lines().filter(|line| !line.starts_with('#'));
        lines.flat_map(str::split_whitespace).collect()
    })
}
