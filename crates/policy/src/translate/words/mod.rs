//! DuckDB's SQL in an engine's own words.

mod calls;
mod forms;
mod numbers;
mod order;
mod spelling;
mod times;

use super::no_translation;
use super::notation::{Notation, literal, written};
use super::speech::Speech;
use crate::sql::guard::MAX_BYTES;
use crate::sql::refuse::Walk;
use crate::sql::walk::Used;
use domain::{Fault, SourceSchema, Value as Bound};
use numbers::Names;
use spelling::Spelling;
use sqlparser::ast::{
    Distinct, Expr, GroupByExpr, Ident, ObjectName, ObjectNamePart, OrderBy, OrderByExpr, OrderByKind, Query, Select,
    SelectFlavor, SelectItem, SetExpr, SetQuantifier, TableFactor, Value, VisitMut, VisitorMut,
    WildcardAdditionalOptions,
};
use std::ops::ControlFlow;

/// The whole statement, its values written into it.
pub fn statement(speech: &dyn Speech, mut query: Query, source: &SourceSchema, used: &Used) -> Walk<String> {
    let names = Names::of(&query, source, &used.tables);
    let spelling = if speech.folds_case() { None } else { Some(Spelling::of(&query, source, &used.tables)?) };
    let mut words = Words { speech, params: &used.params, names, spelling, pieces: Vec::new() };
    match query.visit(&mut words) {
        ControlFlow::Break(fault) => Err(*fault),
        ControlFlow::Continue(()) => words.in_notation(&query.to_string()),
    }
}

/// Puts a tree into an engine's words, from its leaves up.
struct Words<'a> {
    speech: &'a dyn Speech,
    params: &'a [Bound],
    names: Names,
    /// Needed where names that differ only by case are not one.
    spelling: Option<Spelling>,
    /// Text in the engine's notation already. In the tree stands a placeholder, counted on from the values.
    pieces: Vec<String>,
}

impl Notation for Words<'_> {
    fn name(&self, name: &str) -> Walk<String> {
        Ok(self.speech.name(name))
    }

    fn text(&self, text: &str) -> Walk<String> {
        if text.contains('\0') { Err(no_translation("a NUL character")) } else { Ok(self.speech.text(text)) }
    }

    fn value(&self, number: usize) -> Walk<String> {
        let place = number.checked_sub(1).ok_or_else(unknown_piece)?;
        match self.params.get(place) {
            Some(value) => literal(value, |text| self.text(text)),
            None => self.pieces.get(place - self.params.len()).cloned().ok_or_else(unknown_piece),
        }
    }
}

fn unknown_piece() -> Fault {
    Fault::internal("sql.piece")
}

impl Words<'_> {
    /// What was rendered from a tree, in the engine's notation.
    fn in_notation(&self, rendered: &str) -> Walk<String> {
        written(rendered, self)
    }

    /// A node that is written as this text.
    fn piece(&mut self, text: String) -> Expr {
        self.pieces.push(text);
        let number = self.params.len() + self.pieces.len();
        Expr::Value(Value::Placeholder(format!("${number}")).into())
    }

    fn written(&self, expr: &Expr) -> Walk<String> {
        self.in_notation(&expr.to_string())
    }

    fn expr(&mut self, expr: &mut Expr) -> Walk {
        if let Some(text) = self.other_words(expr)? {
            if text.len() > MAX_BYTES {
                return Err(no_translation("an expression of this size"));
            }
            *expr = self.piece(text);
        }
        Ok(())
    }
}

impl VisitorMut for Words<'_> {
    type Break = Box<Fault>;

    /// Every name in quotes, so that none is taken for a word of the language.
    fn post_visit_ident(&mut self, ident: &mut Ident) -> ControlFlow<Self::Break> {
        ident.quote_style = Some('"');
        if let Some(spelling) = &self.spelling {
            spelling.put_right(ident);
        }
        ControlFlow::Continue(())
    }

    /// Before what is inside is in the engine's words, and nothing can be told of it any more.
    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Self::Break> {
        flow(self.rounded(expr).and_then(|()| self.divided(expr)).map(|()| times::with_hours(expr)))
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Self::Break> {
        flow(self.expr(expr))
    }

    /// A table of the source, by its database.
    fn post_visit_relation(&mut self, relation: &mut ObjectName) -> ControlFlow<Self::Break> {
        if let [ObjectNamePart::Identifier(schema), ObjectNamePart::Identifier(table)] = relation.0.as_mut_slice() {
            let (place, name) = table.value.split_once('.').unwrap_or((self.speech.usual(), &table.value));
            (schema.value, table.value) = (place.to_owned(), name.to_owned());
        }
        ControlFlow::Continue(())
    }

    /// NULLs come last in DuckDB, whatever the direction.
    fn post_visit_order_by_expr(&mut self, order: &mut OrderByExpr) -> ControlFlow<Self::Break> {
        order.options.nulls_first.get_or_insert(false);
        ControlFlow::Continue(())
    }

    fn post_visit_order_by(&mut self, order_by: &mut OrderBy) -> ControlFlow<Self::Break> {
        match order_by.kind {
            OrderByKind::Expressions(_) => ControlFlow::Continue(()),
            OrderByKind::All(_) => ControlFlow::Break(Box::new(no_translation("ORDER BY ALL"))),
        }
    }

    fn post_visit_group_by(&mut self, group_by: &mut GroupByExpr) -> ControlFlow<Self::Break> {
        match group_by {
            GroupByExpr::Expressions(_, modifiers) if modifiers.is_empty() => ControlFlow::Continue(()),
            _ => ControlFlow::Break(Box::new(no_translation("GROUP BY ALL"))),
        }
    }

    fn post_visit_select(&mut self, select: &mut Select) -> ControlFlow<Self::Break> {
        flow(plain_select(select))
    }

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<Self::Break> {
        if !self.speech.orders_by_aggregates() {
            order::within(query);
        }
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, query: &mut Query) -> ControlFlow<Self::Break> {
        flow(plain_sets(&query.body))
    }

    fn post_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<Self::Break> {
        let plain = match factor {
            TableFactor::Table { args, sample, .. } => args.is_none() && sample.is_none(),
            TableFactor::Derived { lateral, sample, .. } => !*lateral && sample.is_none(),
            TableFactor::NestedJoin { .. } => true,
            _ => false,
        };
        flow(if plain { Ok(()) } else { Err(no_translation(&factor.to_string())) })
    }
}

fn flow(walked: Walk) -> ControlFlow<Box<Fault>> {
    match walked {
        Ok(()) => ControlFlow::Continue(()),
        Err(fault) => ControlFlow::Break(Box::new(fault)),
    }
}

fn plain_select(select: &mut Select) -> Walk {
    if select.qualify.is_some() {
        return Err(no_translation("QUALIFY"));
    }
    if matches!(select.distinct, Some(Distinct::On(_))) {
        return Err(no_translation("DISTINCT ON"));
    }
    if !select.named_window.is_empty() {
        return Err(no_translation("WINDOW"));
    }
    select.flavor = SelectFlavor::Standard;
    for item in &select.projection {
        if let SelectItem::Wildcard(options) | SelectItem::QualifiedWildcard(_, options) = item
            && options.to_string() != WildcardAdditionalOptions::default().to_string()
        {
            return Err(no_translation(&format!("*{options}")));
        }
    }
    Ok(())
}

fn plain_sets(set: &SetExpr) -> Walk {
    match set {
        SetExpr::SetOperation { left, set_quantifier, right, .. } => {
            if !matches!(set_quantifier, SetQuantifier::All | SetQuantifier::Distinct | SetQuantifier::None) {
                return Err(no_translation("BY NAME"));
            }
            plain_sets(left)?;
            plain_sets(right)
        }
        SetExpr::Select(_) | SetExpr::Query(_) | SetExpr::Values(_) => Ok(()),
        other => Err(no_translation(&other.to_string())),
    }
}
