//! Functions: by full name from a list, in one of the forms that the list gives.

use super::{Lowered, Lowering};
use crate::predicate::functions::{self, Form};
use crate::predicate::refuse::{ensure, invalid, nested_select, refuse, syntax_not_allowed};
use crate::predicate::tree::{Node, Typed};
use crate::sql::refuse::{at_ident, clip};
use crate::suggest::did_you_mean_or;
use domain::{Fault, Flavour};
use sqlparser::ast::{
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList, FunctionArguments, Ident, ObjectName,
    ObjectNamePart,
};

/// Functions of whole groups of rows. They would be unknown anyway; that is not what helps whoever wrote them.
const AGGREGATES: &[&str] = &[
    "any_value",
    "approx_count_distinct",
    "approx_quantiles",
    "array_agg",
    "array_concat_agg",
    "avg",
    "bit_and",
    "bit_or",
    "bit_xor",
    "bool_and",
    "bool_or",
    "corr",
    "count",
    "count_if",
    "countif",
    "covar_pop",
    "covar_samp",
    "first",
    "group_concat",
    "last",
    "list",
    "logical_and",
    "logical_or",
    "max",
    "max_by",
    "median",
    "min",
    "min_by",
    "mode",
    "product",
    "quantile",
    "quantile_cont",
    "stddev",
    "stddev_pop",
    "stddev_samp",
    "string_agg",
    "sum",
    "var_pop",
    "var_samp",
    "variance",
];

const WINDOWS: &[&str] = &[
    "cume_dist",
    "dense_rank",
    "first_value",
    "lag",
    "last_value",
    "lead",
    "nth_value",
    "ntile",
    "percent_rank",
    "rank",
    "row_number",
];

impl Lowering<'_> {
    pub(super) fn function(&self, function: &Function) -> Lowered {
        let Function { name, uses_odbc_syntax, parameters, args, filter, null_treatment, over, within_group } =
            function;
        let ident = self.function_name(name)?;
        let lower = ident.value.to_ascii_lowercase();
        if over.is_some() || WINDOWS.contains(&lower.as_str()) {
            let message = format!("the window function `{}` is not allowed", clip(&ident.value));
            return Err(at_ident(refuse("window_function", message, "a predicate looks at one row"), ident));
        }
        if AGGREGATES.contains(&lower.as_str()) {
            let message = format!("the aggregate `{}` is not allowed", clip(&ident.value));
            return Err(at_ident(refuse("aggregate", message, "a predicate looks at one row"), ident));
        }
        let plain = !*uses_odbc_syntax
            && matches!(parameters, FunctionArguments::None)
            && filter.is_none()
            && null_treatment.is_none()
            && within_group.is_empty();
        let is_temporal = self.is_temporal_call(&lower);
        if functions::find(self.flavour, &lower).is_none() && !is_temporal {
            return Err(at_ident(self.unknown_function(&ident.value), ident));
        }
        ensure(plain, &function.to_string())?;
        let args = arguments(args)?;
        if is_temporal {
            return self.temporal_call(&lower, &args);
        }
        self.call(&ident.value, &args).map_err(|fault| at_ident(fault, ident))
    }

    /// A function by its name, with what the parser found as its arguments.
    pub(super) fn call(&self, name: &str, args: &[&Expr]) -> Lowered {
        let forms = functions::find(self.flavour, name).ok_or_else(|| self.unknown_function(name))?;
        if !forms.iter().any(|form| form.takes_count(args.len())) {
            return Err(wrong_arguments(name, forms));
        }
        let mut args = args.iter().map(|arg| self.expr(arg)).collect::<Result<Vec<Typed>, Fault>>()?;
        let form = forms.iter().find(|form| form.takes(self.flavour, &mut args));
        let form = form.ok_or_else(|| wrong_arguments(name, forms))?;
        let kind = form.gives(&args);
        Ok(Typed::new(Node::Call { form, args: args.into_iter().map(|arg| arg.node).collect() }, kind))
    }

    /// One plain word. `mydataset.length` is somebody's own function.
    fn function_name<'n>(&self, name: &'n ObjectName) -> Result<&'n Ident, Fault> {
        match name.0.as_slice() {
            [ObjectNamePart::Identifier(ident)] if ident.quote_style.is_none() => Ok(ident),
            _ => Err(self.unknown_function(&name.to_string())),
        }
    }

    fn unknown_function(&self, name: &str) -> Fault {
        let name = clip(name);
        if name.eq_ignore_ascii_case("external_query") {
            let message = "`EXTERNAL_QUERY` is not allowed";
            return refuse("external_query", message, "a predicate reads one table").detail("function", name);
        }
        let general = "use the listed functions of dates, text, numbers and conditions, by their plain names";
        let hint = did_you_mean_or(&name, functions::names(self.flavour), general);
        let message = format!("the function `{name}` is not among those that a predicate may call");
        refuse("unknown_function", message, hint).detail("function", name)
    }

    pub(super) fn is_bigquery(&self) -> bool {
        self.flavour == Flavour::BigQuery
    }
}

/// Plain expressions, and nothing else that may stand in parentheses.
fn arguments(args: &FunctionArguments) -> Result<Vec<&Expr>, Fault> {
    let FunctionArgumentList { duplicate_treatment, args, clauses } = match args {
        FunctionArguments::None => return Ok(Vec::new()),
        FunctionArguments::Subquery(_) => return Err(nested_select()),
        FunctionArguments::List(list) => list,
    };
    ensure(duplicate_treatment.is_none(), "DISTINCT or ALL in a call")?;
    if let Some(clause) = clauses.first() {
        return Err(syntax_not_allowed(&clause.to_string()));
    }
    let plain = |arg| match arg {
        &FunctionArg::Unnamed(FunctionArgExpr::Expr(ref expr)) => Ok(expr),
        FunctionArg::Unnamed(_) => Err(crate::predicate::parse::wildcard()),
        named => Err(syntax_not_allowed(&named.to_string())),
    };
    args.iter().map(plain).collect()
}

pub fn wrong_arguments(name: &str, forms: &[Form]) -> Fault {
    let usage: Vec<&str> = forms.iter().map(|form| form.usage).collect();
    bad_arguments(name, &usage.join(" or "))
}

pub fn bad_arguments(name: &str, usage: &str) -> Fault {
    let name = clip(name);
    let message = format!("`{name}` does not take these arguments");
    invalid("wrong_arguments", message, format!("write {usage}")).detail("function", name)
}
