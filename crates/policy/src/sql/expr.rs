//! Expressions. Every kind that is not named here, or in `forms`, is refused.

use super::bigquery;
use super::literal::{identifier, in_expression, plain};
use super::postgres;
use super::refuse::{Walk, at, at_node, clip, ensure, invalid, refuse, syntax_not_allowed};
use super::scope::Columns;
use super::walk::{Origin, Walker};
use domain::Dialect;
use sqlparser::ast::{
    AccessExpr, Array, BinaryOperator, CaseWhen, DictionaryField, Expr, LambdaFunction, LambdaFunctionParameter, Map,
    MapEntry, OneOrManyWithParens, Query, Subscript, UnaryOperator, Value, ValueWithSpan,
};

impl Walker<'_> {
    pub(super) fn exprs(&mut self, exprs: &mut [Expr]) -> Walk {
        exprs.iter_mut().try_for_each(|expr| self.expr(expr))
    }

    pub(super) fn expr(&mut self, expr: &mut Expr) -> Walk {
        self.expr_kind(expr).map_err(|fault| at_node(fault, expr))
    }

    fn expr_kind(&mut self, expr: &mut Expr) -> Walk {
        match expr {
            Expr::Identifier(_) | Expr::CompoundIdentifier(_) => {
                self.unpersonal(expr)?;
                self.column(expr)
            }
            Expr::Value(value) => {
                if let Some(split) = self.value(value)? {
                    *expr = split;
                }
                Ok(())
            }
            Expr::Nested(inner) => self.expr(inner),
            Expr::BinaryOp { left, op, right } => {
                self.binary_operator(op)?;
                self.expr(left)?;
                self.expr(right)
            }
            Expr::UnaryOp { op, expr } => self.unary(*op, expr),
            Expr::Function(function) => self.function(function),
            Expr::Case { case_token: _, end_token: _, operand, conditions, else_result } => {
                for CaseWhen { condition, result } in conditions {
                    self.expr(condition)?;
                    self.expr(result)?;
                }
                operand.iter_mut().chain(else_result).try_for_each(|e| self.expr(e))
            }
            // Only whether there are rows is asked.
            Expr::Exists { subquery, negated: _ } => self.rows_of(subquery).map(drop),
            Expr::Subquery(subquery) => self.subquery(subquery),
            Expr::Tuple(exprs) => self.exprs(exprs),
            Expr::GroupingSets(sets) | Expr::Cube(sets) | Expr::Rollup(sets) => {
                sets.iter_mut().try_for_each(|set| self.exprs(set))
            }
            Expr::Array(Array { elem, named: _ }) => self.exprs(elem),
            Expr::CompoundFieldAccess { root, access_chain } => {
                ensure_has_fields(root, access_chain)?;
                self.expr(root)?;
                access_chain.iter_mut().try_for_each(|access| self.access(access))
            }
            Expr::Dictionary(fields) => fields.iter_mut().try_for_each(|DictionaryField { key, value }| {
                identifier_or_text(key)?;
                self.expr(value)
            }),
            Expr::Map(Map { entries }) => entries.iter_mut().try_for_each(|MapEntry { key, value }| {
                self.expr(key)?;
                self.expr(value)
            }),
            Expr::Lambda(lambda) => self.lambda(lambda),
            other => match self.predicate_form(other) {
                Some(result) => result,
                None => self.special_form(other),
            },
        }
    }

    /// A column by its name, wherever it may stand.
    pub(super) fn column(&mut self, expr: &Expr) -> Walk {
        match expr {
            Expr::Identifier(ident) => {
                identifier(ident)?;
                postgres::no_keyword(self.dialect, ident)?;
                self.personal.named(ident);
                self.scopes.column(ident)
            }
            Expr::CompoundIdentifier(parts) => {
                parts.iter().try_for_each(identifier)?;
                // The first one is the table, or else a column with fields of its own.
                let (first, rest) = (parts.first(), parts.iter().skip(1));
                let column = first.filter(|first| self.scopes.is_column(&first.value));
                column.into_iter().chain(rest).for_each(|part| self.personal.named(part));
                self.scopes.compound(parts)
            }
            other => Err(at_node(syntax_not_allowed(&other.to_string()), other)),
        }
    }

    /// A query whose values the expression around it works with.
    pub(super) fn subquery(&mut self, query: &mut Query) -> Walk {
        let columns = self.rows_of(query)?;
        self.unworked(&columns)
    }

    fn rows_of(&mut self, query: &mut Query) -> Walk<Columns> {
        if self.origin == Origin::Rows {
            return Err(refuse(
                "sql.subquery",
                "a `rows` predicate may not hold a subquery",
                "compare fields with values and $claims",
            ));
        }
        self.query(query, None)
    }

    fn value(&mut self, value: &ValueWithSpan) -> Walk<Option<Expr>> {
        match (&value.value, self.origin) {
            (Value::Placeholder(name), Origin::Plan | Origin::Key) if self.is_own_placeholder(name) => Ok(None),
            (Value::Placeholder(name), Origin::Rows) if is_claim(name) => Ok(None),
            (Value::Placeholder(name), _) => {
                let message = format!("the placeholder `{}` is not allowed", clip(name));
                Err(super::refuse::at(refuse("sql.placeholder", message, "write the value itself"), value.span))
            }
            _ if self.dialect == Dialect::BigQuery && self.origin != Origin::Rows => bigquery::literal(value),
            _ => in_expression(value),
        }
    }

    fn is_own_placeholder(&self, name: &str) -> bool {
        number_of(name).is_some_and(|n| (1..=self.param_count()).contains(&n))
    }

    fn unary(&mut self, op: UnaryOperator, operand: &mut Box<Expr>) -> Walk {
        match op {
            UnaryOperator::Plus | UnaryOperator::Minus | UnaryOperator::Not | UnaryOperator::BitwiseNot => {}
            _ => return Err(operator_not_allowed(&op.to_string())),
        }
        self.expr(operand)?;
        // `- -1` would be rendered as a comment.
        if matches!(operand.as_ref(), Expr::UnaryOp { .. }) && op != UnaryOperator::Not {
            let inner = std::mem::replace(operand, Box::new(Expr::Value(Value::Null.into())));
            **operand = Expr::Nested(inner);
        }
        Ok(())
    }

    pub(super) fn binary_operator(&self, op: &BinaryOperator) -> Walk {
        use BinaryOperator as B;
        let duckdb = self.dialect == Dialect::DuckDb;
        let postgres = self.dialect == Dialect::Postgres;
        let bigquery = self.dialect == Dialect::BigQuery;
        let allowed = match op {
            B::Plus | B::Minus | B::Multiply | B::Divide | B::StringConcat => true,
            // It has MOD and DIV, its JSON functions, and REGEXP_CONTAINS instead.
            B::Modulo | B::Arrow | B::LongArrow | B::Glob | B::Regexp => !bigquery,
            B::Gt | B::Lt | B::GtEq | B::LtEq | B::Eq | B::NotEq | B::And | B::Or => true,
            B::BitwiseOr | B::BitwiseAnd | B::PGBitwiseShiftLeft | B::PGBitwiseShiftRight => true,
            B::DuckIntegerDivide => duckdb,
            B::PGExp | B::BitwiseXor | B::PGOverlap | B::AtArrow | B::ArrowAt => duckdb || postgres,
            B::PGRegexMatch | B::PGRegexNotMatch | B::PGLikeMatch | B::PGNotLikeMatch => duckdb || postgres,
            B::PGILikeMatch | B::PGNotILikeMatch | B::PGStartsWith => duckdb || postgres,
            B::PGRegexIMatch | B::PGRegexNotIMatch | B::HashArrow | B::HashLongArrow | B::PGBitwiseXor => postgres,
            _ => false,
        };
        if allowed { Ok(()) } else { Err(operator_not_allowed(&op.to_string())) }
    }

    fn access(&mut self, access: &mut AccessExpr) -> Walk {
        match access {
            AccessExpr::Dot(Expr::Identifier(ident)) => identifier(ident),
            AccessExpr::Dot(other) => Err(at_node(syntax_not_allowed(&other.to_string()), other)),
            AccessExpr::Subscript(Subscript::Index { index }) => self.expr(index),
            AccessExpr::Subscript(Subscript::Slice { lower_bound, upper_bound, stride }) => {
                lower_bound.iter_mut().chain(upper_bound).chain(stride).try_for_each(|e| self.expr(e))
            }
        }
    }

    fn lambda(&mut self, lambda: &mut LambdaFunction) -> Walk {
        ensure(self.dialect == Dialect::DuckDb, "lambda")?;
        let LambdaFunction { params, body, syntax: _ } = lambda;
        let params = match params {
            OneOrManyWithParens::One(one) => std::slice::from_ref(one),
            OneOrManyWithParens::Many(many) => many.as_slice(),
        };
        self.scopes.enter();
        for LambdaFunctionParameter { name, data_type } in params {
            ensure(data_type.is_none(), "typed lambda parameter")?;
            identifier(name)?;
            self.scopes.add_name(&name.value);
        }
        let result = self.expr(body);
        self.scopes.leave();
        result
    }
}

/// A number has no fields. The parser reads `1 .x` as a field all the same, and writes it as `1.x`: a number with a name.
fn ensure_has_fields(root: &Expr, chain: &[AccessExpr]) -> Walk {
    match (root, chain) {
        (Expr::Value(ValueWithSpan { value: Value::Number(..), span }), [AccessExpr::Dot(_), ..]) => {
            let message = format!("the statement does not parse: `{}` has no fields", clip(&root.to_string()));
            Err(at(invalid("sql.syntax", message, "remove the dot and the name after it"), *span))
        }
        _ => Ok(()),
    }
}

/// The number of a placeholder of ours.
pub fn number_of(placeholder: &str) -> Option<usize> {
    placeholder.strip_prefix("@p").or(placeholder.strip_prefix(['$', '?'])).and_then(|n| n.parse().ok())
}

/// `$name`: not `$1`, which no token carries.
fn is_claim(placeholder: &str) -> bool {
    placeholder.strip_prefix('$').is_some_and(|name| name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))
}

pub fn operator_not_allowed(op: &str) -> domain::Fault {
    let message = format!("the operator `{}` is not allowed", clip(op));
    refuse(
        "sql.operator_not_allowed",
        message,
        "use arithmetic, comparison, LIKE, IN, BETWEEN, AND, OR, NOT, ||, -> and ->>",
    )
}

/// Keys of `{'a': 1}` come as identifiers in single quotes.
fn identifier_or_text(key: &sqlparser::ast::Ident) -> Walk {
    if key.quote_style == Some('\'') {
        return plain(&Value::SingleQuotedString(key.value.clone()).into())
            .and_then(|()| ensure(!key.value.contains('\''), "'"));
    }
    identifier(key)
}
