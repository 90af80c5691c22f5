//! Operators, and the forms that compare: IS, IN, BETWEEN, LIKE.

use super::{Lowered, Lowering};
use crate::predicate::kind::Kind;
use crate::predicate::literal::{self, as_temporal};
use crate::predicate::refuse::{ensure, invalid, refuse, syntax_not_allowed};
use crate::predicate::tree::{Arithmetic, Comparison, Is, Node, Typed};
use crate::sql::refuse::{at_node, clip};
use domain::{Fault, Flavour};
use sqlparser::ast::{BinaryOperator, Expr, UnaryOperator};

impl Lowering<'_> {
    pub(super) fn binary(&self, left: &Expr, op: &BinaryOperator, right: &Expr) -> Lowered {
        use BinaryOperator as B;
        let comparison = match op {
            B::And | B::Or => return self.logical(left, op, right),
            B::Eq => Comparison::Equal,
            B::NotEq => Comparison::NotEqual,
            B::Lt => Comparison::Less,
            B::LtEq => Comparison::LessOrEqual,
            B::Gt => Comparison::Greater,
            B::GtEq => Comparison::GreaterOrEqual,
            // Of two truths exactly one: they differ.
            B::Xor if self.is_bigquery() => {
                let (left, right) = (Box::new(self.condition(left)?), Box::new(self.condition(right)?));
                return Ok(Typed::bool(Node::Compare { left, op: Comparison::NotEqual, right }));
            }
            _ => return self.arithmetic(left, op, right),
        };
        self.compare(left, comparison, right)
    }

    /// Chains lean left; ours are flat.
    fn logical(&self, left: &Expr, op: &BinaryOperator, right: &Expr) -> Lowered {
        let (left, right) = (self.condition(left)?, self.condition(right)?);
        let joined = match (op, left) {
            (BinaryOperator::And, Node::And(mut all)) => {
                all.push(right);
                Node::And(all)
            }
            (BinaryOperator::And, left) => Node::And(vec![left, right]),
            (_, Node::Or(mut all)) => {
                all.push(right);
                Node::Or(all)
            }
            (_, left) => Node::Or(vec![left, right]),
        };
        Ok(Typed::bool(joined))
    }

    fn compare(&self, left: &Expr, op: Comparison, right: &Expr) -> Lowered {
        let (mut a, mut b) = (self.operand(left)?, self.operand(right)?);
        self.comparable(&mut a, &mut b)?;
        Ok(Typed::bool(Node::Compare { left: Box::new(a.node), op, right: Box::new(b.node) }))
    }

    /// What is compared. The engines do not agree on `a = b = c` and `a = b LIKE c`: parentheses must say it.
    fn operand(&self, expr: &Expr) -> Lowered {
        if !is_comparison(expr) {
            return self.expr(expr);
        }
        let message = format!("`{}` is compared again without parentheses", clip(&expr.to_string()));
        Err(at_node(invalid("chained_comparison", message, "put the inner comparison in parentheses"), expr))
    }

    /// Makes both sides comparable, or refuses; text that stands for a date becomes one.
    pub(super) fn comparable(&self, a: &mut Typed, b: &mut Typed) -> Result<(), Fault> {
        self.coerce(a, b.kind)?;
        self.coerce(b, a.kind)?;
        if a.kind.compares_with(b.kind) || self.stands_for(a, b.kind) || self.stands_for(b, a.kind) {
            return Ok(());
        }
        let message = format!("{} cannot be compared with {}", a.kind.noun(), b.kind.noun());
        Err(invalid("type_mismatch", message, "compare like with like; CAST one of them if need be"))
    }

    /// DuckDB takes a text literal for what it is compared with, if it reads like that.
    fn stands_for(&self, literal: &Typed, kind: Kind) -> bool {
        let Node::Text(text) = &literal.node else { return false };
        let reads = match kind {
            Kind::Integer => text.parse::<i32>().is_ok(),
            Kind::Number => text.parse::<f32>().is_ok_and(f32::is_finite),
            Kind::Bool => ["true", "false"].contains(&text.as_str()),
            _ => false,
        };
        reads && self.flavour == Flavour::DuckDb
    }

    fn coerce(&self, literal: &mut Typed, kind: Kind) -> Result<(), Fault> {
        if literal.is_text_literal() && matches!(kind, Kind::Date | Kind::Moment | Kind::Time) {
            // A day's name may be compared with a moment; a moment with a date is compared as moments.
            let moment = matches!(&literal.node, Node::Text(text) if text.contains(':'));
            as_temporal(self.flavour, literal, if kind == Kind::Date && moment { Kind::Moment } else { kind });
            if let Node::Temporal(to, text) = &literal.node {
                literal::temporal(*to, text.clone())?;
                literal.node = Node::Meant(*to, text.clone());
            }
        }
        Ok(())
    }

    fn arithmetic(&self, left: &Expr, op: &BinaryOperator, right: &Expr) -> Lowered {
        use BinaryOperator as B;
        let op = match op {
            B::Plus => Arithmetic::Plus,
            B::Minus => Arithmetic::Minus,
            B::Multiply => Arithmetic::Times,
            B::Divide => Arithmetic::Divide,
            B::Modulo if self.flavour == Flavour::DuckDb => Arithmetic::Modulo,
            B::StringConcat => Arithmetic::Concat,
            other => return Err(operator_not_allowed(&other.to_string())),
        };
        let (a, b) = (self.expr(left)?, self.expr(right)?);
        if let Some(moved) = self.shifted(&a, op, &b) {
            return Ok(moved);
        }
        let kind = result(self.flavour, op, a.kind, b.kind).ok_or_else(|| {
            let message = format!("`{}` does not go with {} and {}", symbol(op), a.kind.noun(), b.kind.noun());
            invalid("type_mismatch", message, "CAST one of them if need be")
        })?;
        let (left, right, kinds) = (Box::new(a.node), Box::new(b.node), (a.kind, b.kind));
        Ok(Typed::new(Node::Arithmetic { left, op, right, kinds }, kind))
    }

    /// A date or a moment, and an interval.
    fn shifted(&self, a: &Typed, op: Arithmetic, b: &Typed) -> Option<Typed> {
        let back = match op {
            Arithmetic::Plus => false,
            Arithmetic::Minus => true,
            _ => return None,
        };
        let (of, by) = match (a.kind, b.kind) {
            (kind, Kind::Interval) if kind.is_temporal() => (a, b),
            (Kind::Interval, kind) if kind.is_temporal() && !back => (b, a),
            _ => return None,
        };
        let (of, by) = (Box::new(of.node.clone()), Box::new(by.node.clone()));
        Some(Typed::new(Node::Shift { of, by, back, kind: Kind::Moment }, Kind::Moment))
    }

    pub(super) fn unary(&self, op: UnaryOperator, operand: &Expr) -> Lowered {
        match op {
            UnaryOperator::Not => self.condition(operand).map(|node| Typed::bool(Node::Not(Box::new(node)))),
            UnaryOperator::Minus | UnaryOperator::Plus => {
                let typed = self.expr(operand)?;
                let minus = op == UnaryOperator::Minus;
                // An interval may go back; `+` is of numbers.
                let signed =
                    typed.kind.is_numeric() || typed.kind == Kind::Any || (minus && typed.kind == Kind::Interval);
                if !signed {
                    let message = format!("`{op}` does not go with {}", typed.kind.noun());
                    return Err(invalid("type_mismatch", message, "put a sign before numbers only"));
                }
                let node = if minus { Node::Minus(Box::new(typed.node)) } else { typed.node };
                Ok(Typed::new(node, typed.kind))
            }
            other => Err(operator_not_allowed(&other.to_string())),
        }
    }

    /// Forms that are true or false; none if it is not one of them.
    pub(super) fn comparison_form(&self, expr: &Expr) -> Option<Lowered> {
        let lowered = match expr {
            Expr::IsNull(e) => self.is(e, Is::Null, false),
            Expr::IsNotNull(e) => self.is(e, Is::Null, true),
            Expr::IsTrue(e) => self.is(e, Is::True, false),
            Expr::IsNotTrue(e) => self.is(e, Is::True, true),
            Expr::IsFalse(e) => self.is(e, Is::False, false),
            Expr::IsNotFalse(e) => self.is(e, Is::False, true),
            Expr::IsDistinctFrom(a, b) => self.compare(a, Comparison::Distinct, b),
            Expr::IsNotDistinctFrom(a, b) => self.compare(a, Comparison::NotDistinct, b),
            Expr::InList { expr, list, negated } => self.in_list(expr, list, *negated),
            Expr::Between { expr, negated, low, high } => self.between(expr, low, high, *negated),
            Expr::Like { negated, any, expr, pattern, escape_char } => {
                self.like(expr, pattern, escape_char.as_deref(), *any, false, *negated)
            }
            Expr::ILike { negated, any, expr, pattern, escape_char } if self.flavour == Flavour::DuckDb => {
                self.like(expr, pattern, escape_char.as_deref(), *any, true, *negated)
            }
            _ => return None,
        };
        Some(lowered)
    }

    fn is(&self, of: &Expr, what: Is, negated: bool) -> Lowered {
        let typed = self.operand(of)?;
        let of = if what == Is::Null { typed.node } else { self.truth(typed, of)? };
        Ok(Typed::bool(Node::Is { of: Box::new(of), what, negated }))
    }

    fn in_list(&self, of: &Expr, list: &[Expr], negated: bool) -> Lowered {
        ensure(!list.is_empty(), "IN ()")?;
        let mut of = self.operand(of)?;
        let mut items = Vec::with_capacity(list.len());
        for item in list {
            let mut lowered = self.expr(item)?;
            self.comparable(&mut of, &mut lowered).map_err(|fault| at_node(fault, item))?;
            items.push(lowered.node);
        }
        Ok(Typed::bool(Node::In { of: Box::new(of.node), list: items, negated }))
    }

    fn between(&self, of: &Expr, low: &Expr, high: &Expr, negated: bool) -> Lowered {
        let (mut of, mut a, mut b) = (self.operand(of)?, self.operand(low)?, self.operand(high)?);
        self.comparable(&mut of, &mut a).map_err(|fault| at_node(fault, low))?;
        self.comparable(&mut of, &mut b).map_err(|fault| at_node(fault, high))?;
        let (of, low, high) = (Box::new(of.node), Box::new(a.node), Box::new(b.node));
        Ok(Typed::bool(Node::Between { of, low, high, negated }))
    }

    fn like(
        &self,
        of: &Expr,
        pattern: &Expr,
        escape: Option<&Expr>,
        any: bool,
        any_case: bool,
        negated: bool,
    ) -> Lowered {
        ensure(!any, "LIKE ANY")?;
        let escape = escape.map(|e| self.escape(e).map_err(|fault| at_node(fault, e))).transpose()?;
        let of = Box::new(self.text(of)?);
        let pattern = Box::new(self.text(pattern)?);
        Ok(Typed::bool(Node::Like { of, pattern, escape, any_case, negated }))
    }

    fn text(&self, expr: &Expr) -> Result<Node, Fault> {
        let typed = self.operand(expr)?;
        if matches!(typed.kind, Kind::Text | Kind::Opaque | Kind::Any) {
            return Ok(typed.node);
        }
        let message = format!("LIKE compares text, not {}", typed.kind.noun());
        Err(at_node(invalid("type_mismatch", message, "CAST it to text"), expr))
    }

    /// One character that cannot be mistaken for a quote. BigQuery has no ESCAPE.
    fn escape(&self, expr: &Expr) -> Result<char, Fault> {
        ensure(self.flavour == Flavour::DuckDb, "ESCAPE")?;
        let Expr::Value(value) = expr else { return Err(syntax_not_allowed("ESCAPE with an expression")) };
        let text = literal::text(self.flavour, &value.value)?;
        let mut characters = text.chars();
        match (characters.next(), characters.next()) {
            (Some(c), None) if c.is_ascii_punctuation() && c != '\'' => Ok(c),
            _ => Err(invalid("literal", "ESCAPE needs one punctuation character", "write ESCAPE '!'")),
        }
    }
}

/// Whether it compares, and no parentheses are around it.
fn is_comparison(expr: &Expr) -> bool {
    use BinaryOperator as B;
    match expr {
        Expr::BinaryOp { op, .. } => matches!(op, B::Eq | B::NotEq | B::Lt | B::LtEq | B::Gt | B::GtEq),
        Expr::IsNull(_) | Expr::IsNotNull(_) | Expr::IsTrue(_) | Expr::IsNotTrue(_) => true,
        Expr::IsFalse(_) | Expr::IsNotFalse(_) | Expr::IsDistinctFrom(..) | Expr::IsNotDistinctFrom(..) => true,
        Expr::InList { .. } | Expr::Between { .. } | Expr::Like { .. } | Expr::ILike { .. } => true,
        _ => false,
    }
}

/// What comes out of arithmetic; none if it does not go together.
fn result(flavour: Flavour, op: Arithmetic, a: Kind, b: Kind) -> Option<Kind> {
    use Arithmetic as A;
    let either = |kind| a == kind || b == kind;
    let numeric = |kind: Kind| kind.is_numeric() || kind == Kind::Any;
    match op {
        A::Concat => {
            let text = |kind| matches!(kind, Kind::Text | Kind::Opaque | Kind::Any);
            (text(a) && text(b)).then_some(Kind::Text)
        }
        A::Divide if numeric(a) && numeric(b) => Some(Kind::Number),
        _ if numeric(a) && numeric(b) => Some(if either(Kind::Number) { Kind::Number } else { Kind::Integer }),
        // Days between dates (an interval in BigQuery, of no use in a predicate), and days added to one.
        A::Minus if a == Kind::Date && b == Kind::Date => (flavour == Flavour::DuckDb).then_some(Kind::Integer),
        A::Plus | A::Minus if a == Kind::Date && b == Kind::Integer => Some(Kind::Date),
        A::Minus if a == Kind::Moment && b == Kind::Moment => Some(Kind::Interval),
        A::Plus | A::Minus if a == Kind::Interval && b == Kind::Interval => Some(Kind::Interval),
        _ => None,
    }
}

fn symbol(op: Arithmetic) -> &'static str {
    match op {
        Arithmetic::Plus => "+",
        Arithmetic::Minus => "-",
        Arithmetic::Times => "*",
        Arithmetic::Divide => "/",
        Arithmetic::Modulo => "%",
        Arithmetic::Concat => "||",
    }
}

fn operator_not_allowed(op: &str) -> Fault {
    let message = format!("the operator `{}` is not allowed", clip(op));
    refuse("operator_not_allowed", message, "use + - * / ||, comparisons, LIKE, IN, BETWEEN, AND, OR, NOT, XOR")
        .detail("operator", clip(op))
}
