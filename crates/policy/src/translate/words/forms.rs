//! Expressions. Every kind that is not named here is refused.

use super::super::no_translation;
use super::super::notation::Notation;
use super::Words;
use super::numbers::{Number, is_whole};
use super::times;
use crate::sql::refuse::Walk;
use domain::{Fault, Value as Bound};
use sqlparser::ast::{
    AccessExpr, BinaryOperator, CastKind, DataType, DateTimeField, Expr, Function, FunctionArg, FunctionArgExpr,
    FunctionArgumentList, FunctionArguments, Ident, ObjectName, ObjectNamePart, Subscript, TrimWhereField, Value,
    ValueWithSpan,
};

impl Words<'_> {
    /// Rounds what is cast to a whole number: the engine would cut it off.
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
        **inner = call_of(round, whole);
        Ok(())
    }

    /// `//` of whole numbers cuts off everywhere; of others, engines do not agree.
    pub(super) fn divided(&mut self, expr: &Expr) -> Walk {
        let Expr::BinaryOp { left, op: BinaryOperator::DuckIntegerDivide, right } = expr else { return Ok(()) };
        let whole = |side: &Expr| self.names.number(side, self.params) == Some(Number::Whole);
        if whole(left) && whole(right) { Ok(()) } else { Err(no_translation(&expr.to_string())) }
    }

    /// The text of a form that is said differently; none of one that is not. What is not named here is refused.
    pub(super) fn other_words(&mut self, expr: &mut Expr) -> Walk<Option<String>> {
        match expr {
            Expr::Identifier(_) | Expr::CompoundIdentifier(_) | Expr::Nested(_) | Expr::Tuple(_) => Ok(None),
            Expr::Value(ValueWithSpan { value, .. }) => match value {
                Value::Number(digits, _) => Ok(self.speech.fraction(digits)),
                Value::SingleQuotedString(_) | Value::Boolean(_) | Value::Null => Ok(None),
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
            Expr::Like { .. } | Expr::ILike { .. } if self.speech.has_escapes() => Ok(None),
            Expr::BinaryOp { left, op, right } => self.operator(left, op, right),
            Expr::Cast { kind, data_type, .. } => {
                match kind {
                    CastKind::Cast | CastKind::TryCast => {}
                    CastKind::DoubleColon => *kind = CastKind::Cast,
                    CastKind::SafeCast => return Err(no_translation("SAFE_CAST")),
                }
                *data_type = self.speech.data_type(data_type)?;
                Ok(None)
            }
            Expr::TypedString(typed) => {
                if !matches!(typed.data_type, DataType::Date | DataType::Timestamp(..) | DataType::Datetime(_)) {
                    return Err(no_translation(&typed.to_string()));
                }
                let theirs = self.speech.data_type(&typed.data_type)?;
                self.in_notation(&format!("CAST({} AS {theirs})", typed.value)).map(Some)
            }
            Expr::Extract { field, expr, .. } => self.extract(field, expr).map(Some),
            Expr::Interval(interval) => times::interval(interval).map(Some),
            Expr::Function(function) => self.function(function),
            Expr::Ceil { expr, .. } => self.call("ceil", &[expr]).map(Some),
            Expr::Floor { expr, .. } => self.call("floor", &[expr]).map(Some),
            Expr::Position { expr, r#in } => self.call("instr", &[r#in, expr]).map(Some),
            Expr::Substring { expr, substring_from: Some(from), substring_for: None, .. } => {
                self.call("substring", &[expr, from]).map(Some)
            }
            Expr::Substring { expr, substring_from: Some(from), substring_for: Some(count), .. } => {
                self.call("substring", &[expr, from, count]).map(Some)
            }
            Expr::Trim { trim_where, trim_what, expr, trim_characters } => {
                let name = match trim_where {
                    None | Some(TrimWhereField::Both) => "trim",
                    Some(TrimWhereField::Leading) => "ltrim",
                    Some(TrimWhereField::Trailing) => "rtrim",
                };
                let what = trim_what.as_deref().or(trim_characters.as_ref().and_then(|all| all.first()));
                let args: Vec<&Expr> = [&**expr].into_iter().chain(what).collect();
                self.call(name, &args).map(Some)
            }
            Expr::CompoundFieldAccess { root, access_chain } => self.access(root, access_chain).map(Some),
            other => Err(no_translation(&other.to_string())),
        }
    }

    fn field(&self, of: &str, name: &str) -> Walk<String> {
        if name.contains('\0') { Err(no_translation("a NUL character")) } else { Ok(self.speech.field(of, name)) }
    }

    fn call(&self, name: &str, args: &[&Expr]) -> Walk<String> {
        let args = args.iter().map(|arg| self.written(arg)).collect::<Walk<Vec<_>>>()?;
        self.said(name, &args)
    }

    /// A backslash escapes in patterns there without being asked to.
    fn pattern(&mut self, pattern: &mut Box<Expr>) -> Walk {
        let doubled = |text: &str| text.replace('\\', "\\\\");
        let text = match pattern.as_ref() {
            Expr::Value(ValueWithSpan { value: Value::SingleQuotedString(text), .. }) => self.text(&doubled(text))?,
            Expr::Value(ValueWithSpan { value: Value::Placeholder(name), .. }) => {
                let place = name.trim_start_matches('$').parse::<usize>().ok().and_then(|n| n.checked_sub(1));
                match place.and_then(|place| self.params.get(place)) {
                    Some(Bound::Text(text)) => self.text(&doubled(text))?,
                    _ => return Err(no_translation("this pattern")),
                }
            }
            other => format!("replace({}, {}, {})", self.written(other)?, self.text("\\")?, self.text("\\\\")?),
        };
        **pattern = self.piece(text);
        Ok(())
    }

    fn operator(&self, left: &Expr, op: &BinaryOperator, right: &Expr) -> Walk<Option<String>> {
        use BinaryOperator as B;
        match op {
            B::Plus | B::Minus | B::Multiply | B::Modulo | B::StringConcat => Ok(None),
            B::Gt | B::Lt | B::GtEq | B::LtEq | B::Eq | B::NotEq | B::And | B::Or => Ok(None),
            B::BitwiseAnd | B::BitwiseOr => Ok(None),
            // `^` is not among them: the parser takes it to bind less closely than `*`, DuckDB more.
            B::Divide
            | B::DuckIntegerDivide
            | B::PGRegexMatch
            | B::PGRegexNotMatch
            | B::PGStartsWith
            | B::LongArrow => self.call(&format!("operator {op}"), &[left, right]).map(Some),
            other => Err(no_translation(&other.to_string())),
        }
    }

    pub(super) fn extract(&self, field: &DateTimeField, of: &Expr) -> Walk<String> {
        let field = field.to_string().trim_matches(['\'', '"']).to_ascii_lowercase();
        self.call(&format!("extract {field}"), &[of])
    }

    /// `list[1]`, counted from 1, and `struct['field']`.
    fn access(&self, root: &Expr, chain: &[AccessExpr]) -> Walk<String> {
        let mut text = self.written(root)?;
        for access in chain {
            text = match access {
                AccessExpr::Dot(Expr::Identifier(ident)) => self.field(&text, &ident.value)?,
                AccessExpr::Subscript(Subscript::Index { index }) => match index {
                    Expr::Value(ValueWithSpan { value: Value::SingleQuotedString(field), .. }) => {
                        self.field(&text, field)?
                    }
                    Expr::Value(ValueWithSpan { value: Value::Number(digits, _), .. }) => match digits.parse::<u32>() {
                        Ok(number @ 1..) => self.said("item", &[text, digits.clone(), (number - 1).to_string()])?,
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

fn call_of(name: &str, of: Expr) -> Expr {
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
