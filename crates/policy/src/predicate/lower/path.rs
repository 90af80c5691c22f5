//! Columns, and paths into structs and lists, against the schema.

use super::{Lowered, Lowering};
use crate::predicate::kind::Kind;
use crate::predicate::literal;
use crate::predicate::refuse::{invalid, refuse, syntax_not_allowed};
use crate::predicate::tree::{Node, Path, Step, Typed};
use crate::sql::refuse::{at_ident, at_node, clip};
use crate::suggest::did_you_mean;
use domain::{Fault, FieldType, Flavour, Shape};
use sqlparser::ast::{
    AccessExpr, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList, FunctionArguments, Ident,
    ObjectNamePart, Subscript, UnaryOperator, Value, ValueWithSpan,
};

/// A place on the way into a column.
struct Cursor {
    path: Path,
    shape: Shape,
}

impl Lowering<'_> {
    pub(super) fn column(&self, expr: &Expr) -> Lowered {
        let path = self.path(expr)?;
        let kind = path.kind;
        Ok(Typed::new(Node::Path(path), kind))
    }

    /// A column or a path into one, and nothing else.
    pub fn path(&self, expr: &Expr) -> Result<Path, Fault> {
        let cursor = match expr {
            Expr::Identifier(ident) => self.start(std::slice::from_ref(ident))?,
            Expr::CompoundIdentifier(parts) => self.start(parts)?,
            Expr::CompoundFieldAccess { root, access_chain } => self.chain(root, access_chain)?,
            other => {
                let message = format!("`{}` is not a column", clip(&other.to_string()));
                return Err(at_node(invalid("not_a_column", message, "name a column, or a field inside one"), other));
            }
        };
        Ok(Path { kind: Kind::of(cursor.shape.kind()), ..cursor.path })
    }

    /// `column.field.field`, perhaps with the table's own name before it.
    fn start(&self, parts: &[Ident]) -> Result<Cursor, Fault> {
        parts.iter().try_for_each(|part| self.name(part))?;
        let (first, rest) = parts.split_first().ok_or_else(|| syntax_not_allowed("a name without parts"))?;
        if let Some(mut cursor) = self.top(first) {
            let is_table = first.value.eq_ignore_ascii_case(self.readable.name);
            let inside = rest.iter().try_fold(&mut cursor, |cursor, part| cursor.field(part).map(|()| cursor));
            match inside.map(drop) {
                Err(fault) if !is_table || rest.is_empty() => return Err(fault),
                Err(_) => {}
                Ok(()) => return Ok(cursor),
            }
        }
        match rest.split_first() {
            Some((column, fields)) if first.value.eq_ignore_ascii_case(self.readable.name) => {
                let mut cursor = self.top(column).ok_or_else(|| self.unknown(column))?;
                fields.iter().try_for_each(|field| cursor.field(field))?;
                Ok(cursor)
            }
            Some(_) => Err(at_ident(self.cross_table(first), first)),
            None => Err(self.unknown(first)),
        }
    }

    fn chain(&self, root: &Expr, chain: &[AccessExpr]) -> Result<Cursor, Fault> {
        // `table.column[0]` comes as a chain with a dot in it.
        let mut names: Vec<Ident> = match root {
            Expr::Identifier(ident) => vec![ident.clone()],
            Expr::CompoundIdentifier(parts) => parts.clone(),
            other => return Err(at_node(syntax_not_allowed(&other.to_string()), other)),
        };
        let dots = chain.iter().map_while(|access| match access {
            AccessExpr::Dot(Expr::Identifier(ident)) => Some(ident.clone()),
            _ => None,
        });
        let before = names.len();
        names.extend(dots);
        let dotted = names.len() - before;
        let mut cursor = self.start(&names)?;
        for access in chain.iter().skip(dotted) {
            match access {
                AccessExpr::Dot(Expr::Identifier(ident)) => cursor.field(ident)?,
                AccessExpr::Dot(other) => return Err(at_node(syntax_not_allowed(&other.to_string()), other)),
                AccessExpr::Subscript(Subscript::Index { index }) => {
                    self.subscript(&mut cursor, index).map_err(|fault| at_node(fault, index))?;
                }
                AccessExpr::Subscript(slice @ Subscript::Slice { .. }) => {
                    return Err(array_offset(&slice.to_string()));
                }
            }
        }
        Ok(cursor)
    }

    fn subscript(&self, cursor: &mut Cursor, index: &Expr) -> Result<(), Fault> {
        if let (Flavour::DuckDb, Expr::Value(ValueWithSpan { value: value @ Value::SingleQuotedString(_), .. })) =
            (self.flavour, index)
        {
            let name = literal::text(self.flavour, value)?;
            return cursor.field(&Ident::new(name));
        }
        let step = match self.flavour {
            Flavour::BigQuery => bigquery_offset(index),
            Flavour::DuckDb => duckdb_offset(index),
        };
        cursor.element(step.ok_or_else(|| array_offset(&index.to_string()))?, index)
    }

    fn top(&self, ident: &Ident) -> Option<Cursor> {
        let field = self.readable.field(&ident.value)?;
        let shape = match Shape::of(field.column) {
            // What the engine has no word for, the contract may know.
            Shape::Scalar(FieldType::Other) => Shape::Scalar(field.field.map_or(FieldType::Other, |f| f.kind)),
            shape => shape,
        };
        let path = Path { column: field.name.to_owned(), steps: Vec::new(), kind: Kind::Any };
        Some(Cursor { path, shape })
    }

    /// A name in the flavour's own quotes or in none. `@p` and `@@project_id` come as names as well.
    fn name(&self, ident: &Ident) -> Result<(), Fault> {
        let shown = clip(&ident.value);
        let quote = if self.is_bigquery() { '`' } else { '"' };
        let fault = match (ident.value.strip_prefix("@@"), ident.value.strip_prefix('@')) {
            (Some(_), _) => {
                let message = format!("the system variable `{shown}` is not allowed");
                refuse("system_variable", message, "write the value itself").detail("variable", shown)
            }
            (None, Some(_)) => literal::parameter(&ident.value),
            (None, None) if ident.quote_style.is_some_and(|q| q != quote) => {
                let message = format!("the name `{shown}` stands in quotes that are not this flavour's");
                invalid("identifier", message, format!("write names in {quote}{quote} or without quotes"))
            }
            (None, None) => return Ok(()),
        };
        Err(at_ident(fault, ident))
    }

    fn unknown(&self, ident: &Ident) -> Fault {
        let known = self.readable.fields.iter().map(|f| f.name);
        let mut hint = did_you_mean(&ident.value, known, "columns");
        if ident.quote_style.is_some() && self.flavour == Flavour::DuckDb {
            hint.push_str("; text is written in 'single quotes'");
        }
        let name = clip(&ident.value);
        at_ident(invalid("unknown_column", format!("unknown column `{name}`"), hint).detail("column", name), ident)
    }

    fn cross_table(&self, ident: &Ident) -> Fault {
        let name = clip(&ident.value);
        let message = format!("`{name}` is neither a column of this table nor its name");
        let hint = format!("a predicate reads one table; its columns may be written with `{}.`", self.readable.name);
        refuse("cross_table_ref", message, hint).detail("table", name)
    }
}

impl Cursor {
    fn field(&mut self, ident: &Ident) -> Result<(), Fault> {
        let name = clip(&ident.value);
        let found = self.shape.field(&ident.value).map(|(name, shape)| (name.to_owned(), shape.clone()));
        let Some((found, shape)) = found.filter(|(found, _)| crate::names::is_quotable(found) && !found.contains('\''))
        else {
            let fault = match &self.shape {
                Shape::Struct(fields) => {
                    let hint = did_you_mean(&ident.value, fields.iter().map(|(n, _)| n.as_str()), "fields");
                    invalid("unknown_field", format!("`{}` has no field `{name}`", self.path.column), hint)
                }
                _ => {
                    let message = format!("`{name}` is asked of a value that is no struct");
                    invalid("not_a_struct", message, "name the column alone")
                }
            };
            return Err(at_ident(fault.detail("field", name), ident));
        };
        self.path.steps.push(Step::Field(found));
        self.shape = shape;
        Ok(())
    }

    fn element(&mut self, step: Step, index: &Expr) -> Result<(), Fault> {
        let Shape::List(element) = &self.shape else {
            let message = format!("`[{}]` is asked of a value that is no list", clip(&index.to_string()));
            return Err(invalid("not_a_list", message, "name the column alone"));
        };
        self.shape = element.as_ref().clone();
        self.path.steps.push(step);
        Ok(())
    }
}

fn array_offset(index: &str) -> Fault {
    let message = format!("the subscript `{}` is not a plain number", clip(index));
    refuse("array_offset", message, "write a constant: items[OFFSET(0)] in BigQuery, items[1] in DuckDB")
}

/// `[0]`, `[OFFSET(0)]`, `[ORDINAL(1)]` and their SAFE_ forms.
fn bigquery_offset(index: &Expr) -> Option<Step> {
    let Expr::Function(Function { name, args: FunctionArguments::List(list), .. }) = index else {
        return constant(index).filter(|n| *n >= 0).map(|index| Step::Element { index, safe: false });
    };
    let (FunctionArgumentList { args, clauses, .. }, [ObjectNamePart::Identifier(name)]) = (list, name.0.as_slice())
    else {
        return None;
    };
    let [FunctionArg::Unnamed(FunctionArgExpr::Expr(number))] = args.as_slice() else { return None };
    let number = constant(number).filter(|_| clauses.is_empty())?;
    let (index, safe) = match name.value.to_ascii_uppercase().as_str() {
        "OFFSET" => (number, false),
        "SAFE_OFFSET" => (number, true),
        "ORDINAL" => (number.checked_sub(1)?, false),
        "SAFE_ORDINAL" => (number.checked_sub(1)?, true),
        _ => return None,
    };
    (index >= 0).then_some(Step::Element { index, safe })
}

/// `[1]` is the first, `[-1]` the last.
fn duckdb_offset(index: &Expr) -> Option<Step> {
    let number = constant(index).filter(|n| *n != 0)?;
    let index = if number > 0 { number - 1 } else { number };
    Some(Step::Element { index, safe: true })
}

fn constant(expr: &Expr) -> Option<i64> {
    match expr {
        Expr::Value(ValueWithSpan { value: Value::Number(digits, false), .. }) => {
            digits.parse::<u32>().ok().map(i64::from)
        }
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => constant(expr).map(|n| -n),
        _ => None,
    }
}
