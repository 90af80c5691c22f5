//! FROM: tables become their readable columns and rows; the rest is walked or refused.

use super::functions::TableFunction;
use super::literal::{identifier, plain};
use super::query::cte_name;
use super::refuse::{Walk, at_ident, at_node, clip, ensure, invalid, refuse, syntax_not_allowed};
use super::scope::{Column, Columns};
use super::select::single;
use super::walk::{Origin, Walker};
use super::{bigquery, build};
use crate::suggest::did_you_mean;
use domain::Dialect;
use sqlparser::ast::{
    Expr, ExprWithAlias, FunctionArg, Ident, Join, JoinConstraint, JoinOperator, ObjectName, ObjectNamePart,
    PivotValueSource, TableAlias, TableFactor, TableFunctionArgs, TableSample, TableSampleKind, TableSampleMethod,
    TableSampleQuantity, TableSampleSeed, TableWithJoins,
};

impl<'a> Walker<'a> {
    pub(super) fn table_with_joins(&mut self, item: &mut TableWithJoins) -> Walk {
        let TableWithJoins { relation, joins } = item;
        self.table_factor(relation)?;
        for Join { relation, global, join_operator: _ } in joins.iter_mut() {
            ensure(!*global, "GLOBAL JOIN")?;
            self.table_factor(relation)?;
        }
        // SQLite lets a condition name tables that are joined after it.
        joins.iter_mut().try_for_each(|join| self.join_operator(&mut join.join_operator))
    }

    fn join_operator(&mut self, operator: &mut JoinOperator) -> Walk {
        match operator {
            JoinOperator::Join(constraint)
            | JoinOperator::Inner(constraint)
            | JoinOperator::Left(constraint)
            | JoinOperator::LeftOuter(constraint)
            | JoinOperator::Right(constraint)
            | JoinOperator::RightOuter(constraint)
            | JoinOperator::FullOuter(constraint)
            | JoinOperator::CrossJoin(constraint)
            | JoinOperator::Semi(constraint)
            | JoinOperator::Anti(constraint) => match constraint {
                JoinConstraint::On(expr) => self.condition(expr),
                JoinConstraint::Using(columns) => columns.iter().try_for_each(|name| {
                    let ident = single(name)?;
                    self.personal.named(ident);
                    self.unjoined(ident)
                }),
                JoinConstraint::Natural => self.unnamed(),
                JoinConstraint::None => Ok(()),
            },
            _ => Err(syntax_not_allowed("this kind of JOIN")),
        }
    }

    fn table_factor(&mut self, factor: &mut TableFactor) -> Walk {
        self.table_kind(factor).map_err(|fault| at_node(fault, factor))
    }

    fn table_kind(&mut self, factor: &mut TableFactor) -> Walk {
        match factor {
            TableFactor::Table { .. } => self.table(factor),
            TableFactor::Derived { lateral: _, subquery, alias, sample } => {
                if let Some(sample) = sample {
                    self.sample(sample)?;
                }
                let columns = self.query(subquery, None)?;
                self.add_aliased(alias.as_ref(), columns)
            }
            TableFactor::Function { lateral: _, name, args, with_ordinality, alias } => {
                ensure(!*with_ordinality, "WITH ORDINALITY")?;
                self.table_function(name, args)?;
                self.add_function(alias.as_ref())
            }
            TableFactor::UNNEST { alias, array_exprs, with_offset: _, with_offset_alias, with_ordinality } => {
                ensure(self.dialect == Dialect::BigQuery && !*with_ordinality, "UNNEST")?;
                self.exprs(array_exprs)?;
                with_offset_alias.iter().try_for_each(identifier)?;
                alias.iter().try_for_each(|alias| self.alias_columns(alias).map(drop))?;
                // An element is known by the alias itself, which then is a column and a table.
                self.scopes.open();
                alias.iter().try_for_each(|alias| self.scopes.add_relation(&alias.name.value, None))
            }
            TableFactor::NestedJoin { table_with_joins, alias } => {
                if alias.is_some() {
                    return Err(syntax_not_allowed("alias of a join in parentheses"));
                }
                self.table_with_joins(table_with_joins)
            }
            TableFactor::Pivot { .. } | TableFactor::Unpivot { .. } => self.pivot(factor),
            _ => Err(syntax_not_allowed("this kind of table")),
        }
    }

    /// A plain name: a CTE, a resource, or with arguments a function.
    fn table(&mut self, factor: &mut TableFactor) -> Walk {
        let TableFactor::Table {
            name,
            alias,
            args,
            with_hints,
            version,
            with_ordinality,
            partitions,
            json_path,
            sample,
            index_hints,
        } = factor
        else {
            return Err(syntax_not_allowed("this kind of table"));
        };
        ensure(with_hints.is_empty() && index_hints.is_empty(), "table hints")?;
        ensure(version.is_none(), "table versions")?;
        ensure(partitions.is_empty() && json_path.is_none(), "this kind of table")?;
        ensure(!*with_ordinality, "WITH ORDINALITY")?;
        if let Some(TableFunctionArgs { args, settings }) = args {
            ensure(settings.is_none() && sample.is_none(), "SETTINGS")?;
            self.table_function(name, args)?;
            return self.add_function(alias.as_ref());
        }
        if let Some(sample) = sample {
            self.sample(sample)?;
        }
        let ident = self.table_name(name)?;
        let named = alias.as_ref().map(|alias| self.alias_columns(alias)).transpose()?.unwrap_or_default();
        let (known, sample) = (self.scopes.cte(&ident.value).cloned(), sample.take());
        let mut alias = alias.take().unwrap_or_else(|| build::alias(own_alias(&ident)));
        alias.explicit = true;
        let columns = if let Some(columns) = known {
            let name = ObjectName(vec![ObjectNamePart::Identifier(cte_name(&ident.value))]);
            *factor = build::table_factor(name, Some(alias.clone()));
            if let TableFactor::Table { sample: place, .. } = factor {
                *place = sample;
            }
            columns
        } else {
            let (columns, derived) = self.resource(&ident, alias.clone(), sample)?;
            *factor = derived;
            Some(columns)
        };
        let columns = self.renamed(columns, &named)?;
        self.scopes.add_relation(&alias.name.value, columns)
    }

    /// A resource as a subquery over its readable columns and rows.
    fn resource(
        &mut self,
        ident: &Ident,
        alias: TableAlias,
        sample: Option<TableSampleKind>,
    ) -> Walk<(Vec<Column>, TableFactor)> {
        let readable = self.reader.as_ref().and_then(|reader| reader.resource(&ident.value));
        let Some(readable) = readable else { return Err(self.unknown_table(ident)) };
        let rows = self.read(&readable)?;
        self.personal.table(&readable, &alias.name.value);
        if !alias.columns.is_empty() {
            self.personal.unnamed();
        }
        let engine = self.reader.as_ref().map(|reader| reader.source.dialect);
        let fenced = engine.filter(|engine| match (self.origin, engine) {
            (Origin::Key, _) => false,
            (_, Dialect::DuckDb) => self.fence_columns,
            _ => true,
        });
        let subquery = Box::new(build::readable_rows(self.dialect, &readable, rows, fenced)?);
        let columns = readable.fields.iter().map(|field| self.personal.column(field)).collect();
        Ok((columns, TableFactor::Derived { lateral: false, subquery, alias: Some(alias), sample }))
    }

    fn unknown_table(&self, ident: &Ident) -> domain::Fault {
        let names = self.reader.as_ref().map(|reader| reader.resource_names()).unwrap_or_default();
        let hint = did_you_mean(&ident.value, names.iter().map(String::as_str), "tables");
        at_ident(invalid("sql.unknown_table", format!("unknown table `{}`", clip(&ident.value)), hint), ident)
    }

    /// One part, and an identifier: a string in FROM would be a file.
    fn table_name(&self, name: &ObjectName) -> Walk<Ident> {
        if self.dialect == Dialect::BigQuery
            && let Some(path) = bigquery::path(name)?
        {
            return Ok(path);
        }
        match name.0.as_slice() {
            [ObjectNamePart::Identifier(ident)] if ident.quote_style != Some('\'') => {
                identifier(ident).map(|()| ident.clone())
            }
            _ => Err(refuse(
                "sql.table_name",
                format!("`{}` is not a plain table name", clip(&name.to_string())),
                "name tables as the schema lists them, without catalog, schema or quotes of a string",
            )),
        }
    }

    fn table_function(&mut self, name: &ObjectName, args: &mut [FunctionArg]) -> Walk {
        let function = TableFunction::find(self.dialect, name)?;
        if function.is_series() {
            self.series(&name.to_string(), args, true)?;
        }
        args.iter_mut().try_for_each(|arg| self.function_arg(arg))
    }

    fn add_function(&mut self, alias: Option<&TableAlias>) -> Walk {
        match alias {
            None => {
                self.scopes.open();
                Ok(())
            }
            Some(_) => self.add_aliased(alias, None),
        }
    }

    fn add_aliased(&mut self, alias: Option<&TableAlias>, columns: Columns) -> Walk {
        match alias {
            Some(alias) => {
                let names = self.alias_columns(alias)?;
                let columns = self.renamed(columns, &names)?;
                self.scopes.add_relation(&alias.name.value, columns)
            }
            None => self.scopes.add_relation("", columns),
        }
    }

    fn pivot(&mut self, factor: &mut TableFactor) -> Walk {
        ensure(self.dialect == Dialect::DuckDb, "PIVOT")?;
        // What comes out of a pivot has other columns than what goes in.
        self.scopes.open();
        match factor {
            TableFactor::Pivot { table, aggregate_functions, value_column, value_source, default_on_null, alias } => {
                self.table_factor(table)?;
                self.unnamed()?;
                self.aliased_exprs(aggregate_functions)?;
                self.exprs(value_column)?;
                match value_source {
                    PivotValueSource::List(values) => self.aliased_exprs(values)?,
                    PivotValueSource::Any(_) | PivotValueSource::Subquery(_) => {
                        return Err(syntax_not_allowed("PIVOT … IN (ANY or subquery)"));
                    }
                }
                ensure(default_on_null.is_none(), "DEFAULT ON NULL")?;
                alias.iter().try_for_each(|alias| self.alias_columns(alias).map(drop))
            }
            TableFactor::Unpivot { table, value, name, columns, null_inclusion: _, alias } => {
                self.table_factor(table)?;
                self.unnamed()?;
                self.expr(value)?;
                identifier(name)?;
                self.aliased_exprs(columns)?;
                alias.iter().try_for_each(|alias| self.alias_columns(alias).map(drop))
            }
            _ => Err(syntax_not_allowed("this kind of table")),
        }
    }

    fn aliased_exprs(&mut self, exprs: &mut [ExprWithAlias]) -> Walk {
        exprs.iter_mut().try_for_each(|ExprWithAlias { expr, alias }| {
            alias.iter().try_for_each(identifier)?;
            self.expr(expr)
        })
    }

    /// A share or a number of rows, and a fixed seed if any.
    fn sample(&mut self, kind: &mut TableSampleKind) -> Walk {
        let (TableSampleKind::BeforeTableAlias(sample) | TableSampleKind::AfterTableAlias(sample)) = kind;
        let TableSample { modifier: _, name, quantity, seed, bucket, offset } = sample.as_ref();
        ensure(bucket.is_none() && offset.is_none(), "BUCKET")?;
        let method = matches!(name, None | Some(TableSampleMethod::Bernoulli | TableSampleMethod::System));
        ensure(method, "this sampling method")?;
        if let Some(TableSampleSeed { modifier: _, value }) = seed {
            plain(value)?;
        }
        match quantity {
            Some(TableSampleQuantity { parenthesized: _, value: Expr::Value(value), unit: _ }) => plain(value),
            _ => Err(syntax_not_allowed("a sample without a constant size")),
        }
    }
}

/// What a table is called where nothing else is said: of `dataset.table`, the table.
fn own_alias(ident: &Ident) -> Ident {
    let last = ident.value.rsplit('.').next().unwrap_or(&ident.value);
    if ident.quote_style == Some('`') { Ident { value: last.to_owned(), ..ident.clone() } } else { ident.clone() }
}
