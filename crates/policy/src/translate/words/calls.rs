//! Calls of functions: only those that the list names.

use super::super::functions::Called;
use super::super::no_translation;
use super::super::notation::Notation;
use super::Words;
use crate::sql::refuse::Walk;
use sqlparser::ast::{
    CastKind, DataType, DateTimeField, ExactNumberInfo, Expr, Function, FunctionArg, FunctionArgExpr,
    FunctionArguments, Ident, ObjectName, ObjectNamePart, Value, ValueWithSpan,
};

impl Words<'_> {
    pub(super) fn function(&mut self, function: &mut Function) -> Walk<Option<String>> {
        let name = match function.name.0.as_slice() {
            [ObjectNamePart::Identifier(ident)] => ident.value.to_ascii_lowercase(),
            _ => return Err(no_translation(&function.name.to_string())),
        };
        let plain = function.over.is_none() && function.filter.is_none() && function.within_group.is_empty();
        let (args, distinct) = arguments(&function.args)?;
        if let (Some(text), true) = (self.formatted(&name, &args)?, plain) {
            return Ok(Some(text));
        }
        if let (Some(text), true) = (self.with_unit(&name, &args)?, plain) {
            return Ok(Some(text));
        }
        match self.speech.functions().get(&name, args.len()).ok_or_else(|| no_translation(&name))? {
            Called::Named(theirs) => {
                function.name = ObjectName(vec![ObjectNamePart::Identifier(Ident::new(theirs))]);
                // Of decimals it would give decimals, cut off; elsewhere it gives floating point.
                if matches!(theirs, "avg" | "median") {
                    reckoned_in_floats(&mut function.args);
                }
                self.in_notation(&function.to_string()).map(Some)
            }
            Called::Template(template) if plain && !distinct => {
                let written = args.iter().map(|arg| self.in_notation(&arg.to_string())).collect::<Walk<Vec<_>>>()?;
                Ok(Some(fill(template, &written)))
            }
            Called::Template(_) => Err(no_translation(&function.to_string())),
        }
    }

    /// `strftime` with a constant format.
    fn formatted(&self, name: &str, args: &[&Expr]) -> Walk<Option<String>> {
        let ("strftime", [of, format]) = (name, args) else { return Ok(None) };
        let known = text_of(format).and_then(|format| self.speech.format(format));
        let (function, format) = known.ok_or_else(|| no_translation(&format.to_string()))?;
        Ok(Some(format!("{function}({}, {})", self.written(of)?, self.text(&format)?)))
    }

    /// Functions whose first argument is a word for a unit of time.
    fn with_unit(&self, name: &str, args: &[&Expr]) -> Walk<Option<String>> {
        let (Some(unit), rest) = (args.first().and_then(|arg| text_of(arg)), args.get(1..).unwrap_or_default()) else {
            return Ok(None);
        };
        let unit = unit.to_ascii_lowercase();
        let rest = rest.iter().map(|arg| self.written(arg)).collect::<Walk<Vec<_>>>()?;
        match (name, unit.as_str(), rest.len()) {
            ("date_trunc" | "datetrunc", "year" | "quarter" | "month" | "week" | "day" | "hour" | "minute", 1) => {
                Ok(Some(format!("date_trunc('{}', {})", unit.to_ascii_uppercase(), rest.concat())))
            }
            ("date_diff" | "datediff", unit, 2) => self.said(&format!("difference {unit}"), &rest).map(Some),
            ("date_part" | "datepart", part, 1) => {
                let field = DateTimeField::Custom(Ident::new(part));
                let of = args.get(1).ok_or_else(|| no_translation(name))?;
                self.extract(&field, of).map(Some)
            }
            ("date_trunc" | "datetrunc" | "date_diff" | "datediff" | "date_part" | "datepart", other, _) => {
                Err(no_translation(other))
            }
            _ => Ok(None),
        }
    }

    /// What the list says for this, with these arguments.
    pub(super) fn said(&self, name: &str, args: &[String]) -> Walk<String> {
        match self.speech.functions().get(name, args.len()) {
            Some(Called::Named(theirs)) => Ok(format!("{theirs}({})", args.join(", "))),
            Some(Called::Template(template)) => Ok(fill(template, args)),
            None => Err(no_translation(name.split_once(' ').map_or(name, |(_, what)| what))),
        }
    }
}

/// The arguments of a call, without names; and whether equal ones count once.
fn arguments(args: &FunctionArguments) -> Walk<(Vec<&Expr>, bool)> {
    match args {
        FunctionArguments::None => Ok((Vec::new(), false)),
        FunctionArguments::Subquery(_) => Err(no_translation("a query as an argument")),
        FunctionArguments::List(list) => {
            if !list.clauses.is_empty() {
                return Err(no_translation("ORDER BY or NULLS in a call"));
            }
            let one = |arg: &'_ FunctionArg| matches!(arg, FunctionArg::Unnamed(FunctionArgExpr::Wildcard));
            if list.args.iter().any(one) {
                return Ok((Vec::new(), false));
            }
            let exprs =
                list.args.iter().map(|arg| crate::sql::argument(arg).ok_or_else(|| no_translation(&arg.to_string())));
            Ok((exprs.collect::<Walk<_>>()?, list.duplicate_treatment.is_some()))
        }
    }
}

fn reckoned_in_floats(args: &mut FunctionArguments) {
    let FunctionArguments::List(list) = args else { return };
    for arg in &mut list.args {
        if let FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) = arg {
            let inner = std::mem::replace(expr, Expr::Value(Value::Null.into()));
            *expr = cast(inner, DataType::Double(ExactNumberInfo::None));
        }
    }
}

fn text_of(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Value(ValueWithSpan { value: Value::SingleQuotedString(text), .. }) => Some(text),
        _ => None,
    }
}

/// A template with its arguments. What is filled in is not looked at again.
fn fill(template: &str, args: &[String]) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some((before, (inside, after))) = rest.split_once('{').and_then(|(b, a)| Some((b, a.split_once('}')?))) {
        out.push_str(before);
        let arg = inside.parse::<usize>().ok().and_then(|n| n.checked_sub(1)).and_then(|n| args.get(n));
        match inside {
            "*" => out.push_str(&args.join(", ")),
            _ => out.push_str(arg.map_or("NULL", String::as_str)),
        }
        rest = after;
    }
    out + rest
}

pub fn cast(expr: Expr, data_type: DataType) -> Expr {
    Expr::Cast { kind: CastKind::Cast, expr: Box::new(expr), data_type, format: None }
}
