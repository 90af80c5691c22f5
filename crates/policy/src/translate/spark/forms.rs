//! Expressions. Every kind that is not named here is refused.

use super::super::no_translation;
use super::super::notation::{Notation, escaped};
use super::Words;
use super::calls::fill;
use super::numbers::{Number, is_whole};
use super::times;
use super::types::type_of;
use crate::sql::refuse::Walk;
use domain::{Fault, Value as Bound};
use sqlparser::ast::{
    AccessExpr, BinaryOperator, CastKind, DataType, DateTimeField, Expr, Function, FunctionArg, FunctionArgExpr,
    FunctionArgumentList, FunctionArguments, Ident, ObjectName, ObjectNamePart, Subscript, Value, ValueWithSpan,
};

impl Words<'_> {
    /// Rounds what is cast to a whole number: Spark would cut it off.
    pub(super) fn rounded(&mut self, expr: &mut Expr) -> Walk {
        let Expr::Cast { kind, expr: inner, data_type, .. } = expr else { return Ok(()) };
        if !is_whole(data_type) {
            return Ok(());
        }
        let round = match self.names.number(inner, self.params) {
            Some(Number::Whole) => return Ok(()),
            // Digits are read alike; a fraction in a text is an error there, but would be nothing where it is only tried.
            Some(Number::Text) if *kind != CastKind::TryCast => return Ok(()),
            Some(Number::Decimal) => "round",
            Some(Number::Float) => "round_even",
            Some(Number::Text) | None => return Err(unknown_number(inner)),
        };
        let whole = std::mem::replace(inner.as_mut(), Expr::Value(Value::Null.into()));
        **inner = call(round, whole);
        Ok(())
    }

    /// The text of a form that is said differently; none of one that is not. What is not named here is refused.
    pub(super) fn other_words(&mut self, expr: &mut Expr) -> Walk<Option<String>> {
        match expr {
            Expr::Identifier(_) | Expr::CompoundIdentifier(_) | Expr::Nested(_) | Expr::Tuple(_) => Ok(None),
            Expr::Value(ValueWithSpan { value, .. }) => match value {
                Value::Number(..) | Value::SingleQuotedString(_) | Value::Boolean(_) | Value::Null => Ok(None),
                Value::Placeholder(_) => Ok(None),
                other => Err(no_translation(&other.to_string())),
            },
            Expr::UnaryOp { .. } | Expr::Case { .. } | Expr::Exists { .. } | Expr::Subquery(_) => Ok(None),
            Expr::IsNull(_) | Expr::IsNotNull(_) | Expr::IsTrue(_) | Expr::IsNotTrue(_) => Ok(None),
            Expr::IsFalse(_) | Expr::IsNotFalse(_) => Ok(None),
            Expr::IsDistinctFrom(..) | Expr::IsNotDistinctFrom(..) => Ok(None),
            Expr::InList { .. } | Expr::InSubquery { .. } | Expr::Between { .. } => Ok(None),
            Expr::Like { pattern, escape_char: None, .. } | Expr::ILike { pattern, escape_char: None, .. } => {
                self.pattern(pattern).map(|()| None)
            }
            Expr::Like { .. } | Expr::ILike { .. } => Ok(None),
            Expr::BinaryOp { left, op, right } => self.operator(left, op, right),
            Expr::Cast { kind, data_type, .. } => {
                match kind {
                    CastKind::Cast | CastKind::TryCast => {}
                    CastKind::DoubleColon => *kind = CastKind::Cast,
                    CastKind::SafeCast => return Err(no_translation("SAFE_CAST")),
                }
                *data_type = type_of(data_type)?;
                Ok(None)
            }
            Expr::TypedString(typed) => {
                let word = match typed.data_type {
                    DataType::Date => "DATE",
                    DataType::Timestamp(..) | DataType::Datetime(_) => "TIMESTAMP_NTZ",
                    _ => return Err(no_translation(&typed.to_string())),
                };
                self.in_spark(&format!("CAST({} AS {word})", typed.value)).map(Some)
            }
            Expr::Extract { field, expr, .. } => self.extract(field, expr).map(Some),
            Expr::Interval(interval) => times::interval(interval).map(Some),
            Expr::Function(function) => self.function(function),
            Expr::Ceil { expr, .. } => Ok(Some(format!("ceil({})", self.written(expr)?))),
            Expr::Floor { expr, .. } => Ok(Some(format!("floor({})", self.written(expr)?))),
            Expr::Position { expr, r#in } => {
                Ok(Some(format!("instr({}, {})", self.written(r#in)?, self.written(expr)?)))
            }
            Expr::Substring { expr, substring_from: Some(from), substring_for, .. } => {
                let mut text = format!("substring({}, {}", self.written(expr)?, self.written(from)?);
                if let Some(count) = substring_for {
                    text.push_str(&format!(", {}", self.written(count)?));
                }
                Ok(Some(text + ")"))
            }
            Expr::Trim { trim_where, trim_what, expr, trim_characters } => {
                let side = trim_where.as_ref().map_or_else(|| "BOTH".to_owned(), ToString::to_string);
                let of = self.written(expr)?;
                let what = trim_what.as_deref().or(trim_characters.as_ref().and_then(|all| all.first()));
                Ok(Some(match what {
                    Some(what) => format!("trim({side} {} FROM {of})", self.written(what)?),
                    None => format!("trim({side} FROM {of})"),
                }))
            }
            Expr::CompoundFieldAccess { root, access_chain } => self.access(root, access_chain).map(Some),
            other => Err(no_translation(&other.to_string())),
        }
    }

    /// A backslash escapes in Spark's patterns without being asked to.
    fn pattern(&mut self, pattern: &mut Box<Expr>) -> Walk {
        let doubled = |text: &str| text.replace('\\', "\\\\");
        let text = match pattern.as_ref() {
            Expr::Value(ValueWithSpan { value: Value::SingleQuotedString(text), .. }) => escaped(&doubled(text)),
            Expr::Value(ValueWithSpan { value: Value::Placeholder(name), .. }) => {
                let place = name.trim_start_matches('$').parse::<usize>().ok().and_then(|n| n.checked_sub(1));
                match place.and_then(|place| self.params.get(place)) {
                    Some(Bound::Text(text)) => escaped(&doubled(text)),
                    _ => return Err(no_translation("this pattern")),
                }
            }
            other => format!("replace({}, {}, {})", self.written(other)?, escaped("\\"), escaped("\\\\")),
        };
        **pattern = self.piece(text);
        Ok(())
    }

    fn operator(&self, left: &Expr, op: &BinaryOperator, right: &Expr) -> Walk<Option<String>> {
        use BinaryOperator as B;
        let template = match op {
            B::Plus | B::Minus | B::Multiply | B::Modulo | B::StringConcat => return Ok(None),
            B::Gt | B::Lt | B::GtEq | B::LtEq | B::Eq | B::NotEq | B::And | B::Or => return Ok(None),
            B::BitwiseAnd | B::BitwiseOr => return Ok(None),
            // Of decimals it would give decimals, cut off.
            B::Divide => "(CAST({1} AS DOUBLE) / CAST({2} AS DOUBLE))",
            B::DuckIntegerDivide => "({1} DIV {2})",
            B::PGExp => "power({1}, {2})",
            B::PGRegexMatch => "({1} RLIKE concat('^(?:', {2}, ')$'))",
            B::PGRegexNotMatch => "(NOT {1} RLIKE concat('^(?:', {2}, ')$'))",
            B::PGStartsWith => "startswith({1}, {2})",
            B::LongArrow => "get_json_object({1}, {2})",
            other => return Err(no_translation(&other.to_string())),
        };
        Ok(Some(fill(template, &[self.written(left)?, self.written(right)?])))
    }

    pub(super) fn extract(&self, field: &DateTimeField, of: &Expr) -> Walk<String> {
        let of = self.written(of)?;
        let template = match field.to_string().trim_matches(['\'', '"']).to_ascii_lowercase().as_str() {
            "year" => "year({1})",
            "quarter" => "quarter({1})",
            "month" => "month({1})",
            "week" | "weekofyear" => "weekofyear({1})",
            "day" => "dayofmonth({1})",
            "dow" | "dayofweek" | "weekday" => "(dayofweek({1}) - 1)",
            // Not by weekday(): Sail takes a Sunday for -1.
            "isodow" => "((dayofweek({1}) + 5) % 7 + 1)",
            "doy" | "dayofyear" => "dayofyear({1})",
            "hour" => "hour({1})",
            "minute" => "minute({1})",
            "second" => "CAST(second({1}) AS BIGINT)",
            "epoch" => "CAST(unix_timestamp(CAST({1} AS TIMESTAMP)) AS DOUBLE)",
            other => return Err(no_translation(other)),
        };
        Ok(fill(template, &[of]))
    }

    /// `list[1]`, counted from 1, and `struct['field']`.
    fn access(&self, root: &Expr, chain: &[AccessExpr]) -> Walk<String> {
        let mut text = self.written(root)?;
        for access in chain {
            text = match access {
                AccessExpr::Dot(Expr::Identifier(ident)) => format!("{text}.{}", self.name(&ident.value)?),
                AccessExpr::Subscript(Subscript::Index { index }) => match index {
                    Expr::Value(ValueWithSpan { value: Value::SingleQuotedString(field), .. }) => {
                        format!("{text}.{}", self.name(field)?)
                    }
                    Expr::Value(ValueWithSpan { value: Value::Number(digits, _), .. }) => match digits.parse::<u32>() {
                        Ok(number @ 1..) => format!("get({text}, {})", number - 1),
                        _ => return Err(no_translation(digits)),
                    },
                    other => return Err(no_translation(&other.to_string())),
                },
                other => return Err(no_translation(&other.to_string())),
            };
        }
        Ok(text)
    }
}

fn unknown_number(expr: &Expr) -> Fault {
    let hint = "say how it is rounded: CAST(round(…) AS BIGINT), CAST(floor(…) AS BIGINT)";
    Fault { hint: hint.to_owned(), ..no_translation(&format!("CAST({expr} AS a whole number)")) }
}

fn call(name: &str, of: Expr) -> Expr {
    let list = FunctionArgumentList {
        duplicate_treatment: None,
        args: vec![FunctionArg::Unnamed(FunctionArgExpr::Expr(of))],
        clauses: Vec::new(),
    };
    Expr::Function(Function {
        name: ObjectName(vec![ObjectNamePart::Identifier(Ident::new(name))]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(list),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    })
}
