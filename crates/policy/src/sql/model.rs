//! The rules for statements that a model writes.
//!
//! A model is told placeholders for what it reads of personal fields. Anything else that depends on their values (which
//! rows there are, their order and number, what an expression gives, that one fails) would tell it the values bit by bit.
//! So such a field may stand in a select list by itself, and in `=` or `IN` with values that the user wrote, in WHERE and
//! ON; nowhere else. Columns carry the field that they are through subqueries and CTEs, whatever they are called.

use super::expr::number_of;
use super::personal::{Author, Personal};
use super::query;
use super::refuse::{Walk, at_node, clip, refuse};
use super::scope::{self, Column, Columns, Field};
use super::walk::Walker;
use domain::{Fault, FieldType, Value as Bound};
use sqlparser::ast::{
    BinaryOperator, Distinct, ExceptSelectItem, ExcludeSelectItem, Expr, GroupByExpr, Ident, ObjectName, OrderBy,
    OrderByKind, UnaryOperator, Value, WildcardAdditionalOptions,
};
use std::rc::Rc;

const CODE: &str = "model.personal";
const HINT: &str = "select personal fields by themselves, each row with its key; compare them only by `=` or IN with \
                    values that the user wrote, in WHERE; group, order, join and aggregate by other fields, in a subquery \
                    that the personal field is joined to";

impl Walker<'_> {
    /// A column may not be a personal field where its value would decide something.
    pub(super) fn unpersonal(&self, expr: &Expr) -> Walk {
        if !self.personal.is_models() {
            return Ok(());
        }
        match self.scopes.personal(expr) {
            scope::Personal::No => Ok(()),
            scope::Personal::Row => {
                Err(at_node(stands_wrong(&format!("a row of `{expr}`, which has personal fields,")), expr))
            }
            scope::Personal::Field(field) => Err(at_node(wrong_place(&field), expr)),
        }
    }

    /// An item of a select list, and the field that it is.
    pub(super) fn listed(&mut self, expr: &mut Expr) -> Walk<Option<Rc<Field>>> {
        if !self.personal.is_models() || !matches!(expr, Expr::Identifier(_) | Expr::CompoundIdentifier(_)) {
            self.expr(expr)?;
            return Ok(None);
        }
        match self.scopes.personal(expr) {
            scope::Personal::Field(field) => {
                self.column(expr).map_err(|fault| at_node(fault, expr))?;
                Ok(Some(field))
            }
            _ => {
                self.expr(expr)?;
                Ok(self.scopes.field(expr))
            }
        }
    }

    /// WHERE and ON.
    pub(super) fn condition(&mut self, expr: &mut Expr) -> Walk {
        if !self.personal.is_models() {
            return self.expr(expr);
        }
        self.condition_parts(expr).map_err(|fault| at_node(fault, expr))
    }

    fn condition_parts(&mut self, expr: &mut Expr) -> Walk {
        match expr {
            Expr::Nested(inner) | Expr::UnaryOp { op: UnaryOperator::Not, expr: inner } => self.condition(inner),
            Expr::BinaryOp { left, op: BinaryOperator::And | BinaryOperator::Or, right } => {
                self.condition(left)?;
                self.condition(right)
            }
            Expr::BinaryOp { left, op: BinaryOperator::Eq, right } => {
                match (self.compared(left), self.compared(right)) {
                    (Some(field), _) => self.equal(&field, left, std::slice::from_mut(right)),
                    (None, Some(field)) => self.equal(&field, right, std::slice::from_mut(left)),
                    (None, None) => self.expr(expr),
                }
            }
            Expr::InList { expr: left, list, negated: false } => match self.compared(left) {
                Some(field) => self.equal(&field, left, list),
                None => self.expr(expr),
            },
            other => self.expr(other),
        }
    }

    fn compared(&self, expr: &Expr) -> Option<Rc<Field>> {
        match self.scopes.personal(expr) {
            scope::Personal::Field(field) => Some(field),
            _ => None,
        }
    }

    /// A personal field beside values, all of which the user must have written.
    fn equal<E: AsMutExpr>(&mut self, field: &Field, column: &Expr, values: &mut [E]) -> Walk {
        for value in &mut *values {
            self.written(field, value.as_mut_expr())?;
        }
        self.column(column)?;
        values.iter_mut().try_for_each(|value| self.expr(value.as_mut_expr()))
    }

    fn written(&self, field: &Field, value: &Expr) -> Walk {
        let Author::Model { words: Some(words) } = self.personal.author else { return Err(wrong_place(field)) };
        let Expr::Value(literal) = value else { return Err(wrong_place(field)) };
        let (text, is_text) = match &literal.value {
            Value::SingleQuotedString(text) => (text.clone(), true),
            Value::Number(number, _) => (number.to_string(), false),
            Value::Placeholder(name) => match number_of(name).and_then(|number| self.param(number)) {
                Some(Bound::Text(text)) => (text.clone(), true),
                Some(Bound::Int(number)) => (number.to_string(), false),
                _ => return Err(wrong_place(field)),
            },
            _ => return Err(wrong_place(field)),
        };
        // An engine would turn each value of the field into a number, and fail on the first that is none.
        let fits = is_text || matches!(field.kind, FieldType::Integer | FieldType::Number | FieldType::Decimal);
        if !fits {
            let message = format!("the personal field `{}` is compared with a number", clip(&field.name));
            return Err(refuse(CODE, message, "write the value as text, in quotes"));
        }
        if !is_among(words, &text) {
            let message = format!("the user did not write the value that `{}` is compared with", clip(&field.name));
            return Err(refuse(CODE, message, HINT));
        }
        Ok(())
    }

    /// Columns are read that have no names here.
    pub(super) fn unnamed(&mut self) -> Walk {
        self.personal.unnamed();
        if self.personal.is_models() && self.scopes.reaches_personal() {
            return Err(stands_wrong("a list of columns that are not named, some of them personal,"));
        }
        Ok(())
    }

    /// The columns of a `*`.
    pub(super) fn starred(&self, options: &WildcardAdditionalOptions, columns: Columns) -> Walk<Columns> {
        if !self.personal.is_models() {
            return Ok(columns);
        }
        let changed = options.opt_replace.is_some() || options.opt_rename.is_some() || options.opt_ilike.is_some();
        if (changed || columns.is_none()) && self.scopes.reaches_personal() {
            return Err(stands_wrong("a `*` whose columns are changed or unknown, some of them personal,"));
        }
        if self.scopes.has_using() && columns.iter().flatten().any(|column| column.personal().is_some()) {
            return Err(stands_wrong("a `*` over JOIN … USING, with personal fields in it,"));
        }
        let left_out = left_out(options);
        let is_left = |column: &Column| !left_out.iter().any(|name| name.eq_ignore_ascii_case(&column.name));
        Ok(columns.map(|columns| columns.into_iter().filter(is_left).collect()))
    }

    /// A select list so far, and what comes next.
    pub(super) fn joined(&self, columns: Columns, next: Columns) -> Walk<Columns> {
        match (columns, next) {
            (Some(mut columns), Some(next)) => {
                columns.extend(next);
                Ok(Some(columns))
            }
            (columns, next) => {
                self.unworked(&columns)?;
                self.unworked(&next)?;
                Ok(None)
            }
        }
    }

    /// New names by place. An engine may have more columns at fewer places than we know of.
    pub(super) fn renamed(&mut self, columns: Columns, names: &[String]) -> Walk<Columns> {
        if !names.is_empty() {
            self.each_unpersonal(&columns, "in a list of new names for columns")?;
        }
        Ok(query::renamed(columns, names))
    }

    pub(super) fn unjoined(&mut self, column: &Ident) -> Walk {
        self.scopes.add_using();
        if self.personal.is_models() && self.scopes.has_personal(Some(&column.value)) {
            return Err(stands_wrong(&format!("the personal field `{}`", clip(&column.value))));
        }
        Ok(())
    }

    /// Values that are worked with.
    pub(super) fn unworked(&self, columns: &Columns) -> Walk {
        self.each_unpersonal(columns, "in a subquery whose values are worked with")
    }

    /// UNION, INTERSECT and EXCEPT put values into one column with others, and compare them.
    pub(super) fn uncombined(&self, columns: &Columns) -> Walk {
        self.each_unpersonal(columns, "in UNION, INTERSECT or EXCEPT")
    }

    pub(super) fn uncompared(&self, distinct: &Distinct, columns: &Columns) -> Walk {
        match distinct {
            Distinct::Distinct => self.each_unpersonal(columns, "beside DISTINCT"),
            Distinct::All => Ok(()),
            Distinct::On(exprs) => self.places(exprs.iter(), columns),
        }
    }

    pub(super) fn ungrouped(&self, group_by: &GroupByExpr, columns: &Columns) -> Walk {
        match group_by {
            GroupByExpr::All(_) => self.each_unpersonal(columns, "in GROUP BY ALL"),
            GroupByExpr::Expressions(exprs, _) => self.places(exprs.iter(), columns),
        }
    }

    pub(super) fn unordered(&self, order_by: &OrderBy, columns: &Columns) -> Walk {
        match &order_by.kind {
            OrderByKind::All(_) => self.each_unpersonal(columns, "in ORDER BY ALL"),
            OrderByKind::Expressions(exprs) => self.places(exprs.iter().map(|order| &order.expr), columns),
        }
    }

    /// A constant may mean a column of the list, by its place.
    fn places<'e>(&self, exprs: impl Iterator<Item = &'e Expr>, columns: &Columns) -> Walk {
        for expr in exprs {
            match expr {
                Expr::Value(place) => self.place(&place.value, columns)?,
                Expr::Nested(inner) => self.places(std::iter::once(inner.as_ref()), columns)?,
                Expr::Tuple(inner) => self.places(inner.iter(), columns)?,
                Expr::GroupingSets(sets) | Expr::Cube(sets) | Expr::Rollup(sets) => {
                    self.places(sets.iter().flatten(), columns)?;
                }
                Expr::Collate { expr, .. } => self.places(std::iter::once(expr.as_ref()), columns)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn place(&self, place: &Value, columns: &Columns) -> Walk {
        let at = match place {
            Value::Number(number, _) => number.to_string().parse::<usize>().ok().and_then(|n| n.checked_sub(1)),
            _ => None,
        };
        let column = columns.as_ref().zip(at).and_then(|(columns, at)| columns.get(at));
        let meant = column.map(|column| vec![column.clone()]).or_else(|| columns.clone());
        self.each_unpersonal(&meant, "by its place in a list")
    }

    fn each_unpersonal(&self, columns: &Columns, place: &str) -> Walk {
        match columns.iter().flatten().find_map(Column::personal) {
            Some(field) if self.personal.is_models() => {
                let message =
                    format!("the personal field `{}` may not stand {place} of a model's statement", clip(&field.name));
                Err(refuse(CODE, message, HINT))
            }
            _ => Ok(()),
        }
    }
}

impl Personal<'_> {
    /// Where nothing puts values back, a model's statement reads none.
    pub fn allow(&self, is_read: bool) -> Walk {
        match self.author {
            Author::Model { words: None } if is_read => {
                let message = "the query may read personal fields, which are not shown to a model";
                Err(refuse(CODE, message, "name the columns that you need, and leave out personal ones"))
            }
            _ => Ok(()),
        }
    }
}

trait AsMutExpr {
    fn as_mut_expr(&mut self) -> &mut Expr;
}

impl AsMutExpr for Expr {
    fn as_mut_expr(&mut self) -> &mut Expr {
        self
    }
}

impl AsMutExpr for Box<Expr> {
    fn as_mut_expr(&mut self) -> &mut Expr {
        self
    }
}

fn left_out(options: &WildcardAdditionalOptions) -> Vec<String> {
    let last = |name: &ObjectName| name.0.last().and_then(|part| part.as_ident()).map(|ident| ident.value.clone());
    let mut names: Vec<String> = match &options.opt_exclude {
        None => Vec::new(),
        Some(ExcludeSelectItem::Single(name)) => last(name).into_iter().collect(),
        Some(ExcludeSelectItem::Multiple(names)) => names.iter().filter_map(last).collect(),
    };
    if let Some(ExceptSelectItem { first_element, additional_elements }) = &options.opt_except {
        names.extend(std::iter::once(first_element).chain(additional_elements).map(|ident| ident.value.clone()));
    }
    names
}

fn wrong_place(field: &Field) -> Fault {
    stands_wrong(&format!("the personal field `{}`", clip(&field.name)))
}

fn stands_wrong(what: &str) -> Fault {
    refuse(CODE, format!("{what} may not stand here in a model's statement"), HINT)
}

/// Whether a text has this value in it, as a word or words of its own and in any case.
fn is_among(text: &str, value: &str) -> bool {
    let (text, value) = (text.to_lowercase(), value.trim().to_lowercase());
    !value.is_empty()
        && text.match_indices(&value).any(|(at, found)| {
            let before = text.get(..at).is_some_and(|before| is_end(before.chars().rev()));
            before && text.get(at + found.len()..).is_some_and(|after| is_end(after.chars()))
        })
}

/// Whether a word ends where this follows: `.com` goes on with it, the point of a sentence does not.
fn is_end(mut following: impl Iterator<Item = char>) -> bool {
    match following.next() {
        None => true,
        Some(c) if c.is_alphanumeric() => false,
        Some(c) => !".@-_+/:'&".contains(c) || !following.next().is_some_and(char::is_alphanumeric),
    }
}

#[cfg(test)]
mod tests {
    use super::is_among;

    #[test]
    fn only_whole_words_of_the_user_count() {
        let text = "What did Marek@X.org (no. 4711) buy with O'Neill?";
        for value in ["marek@x.org", "Marek@X.org", "4711", "o'neill", "What did"] {
            assert!(is_among(text, value), "{value}");
        }
        for value in ["", " ", "m", "marek@x.or", "marek@x", "marek", "x.org", "471", "arek@x.org", "ann@x.org"] {
            assert!(!is_among(text, value), "{value}");
        }
    }
}
