//! One SELECT: FROM first, so that its names are known to the rest.

use super::literal::identifier;
use super::refuse::{Walk, at_node, ensure, syntax_not_allowed};
use super::scope::{Column, Columns};
use super::walk::Walker;
use domain::Dialect;
use sqlparser::ast::{
    Distinct, ExceptSelectItem, ExcludeSelectItem, Expr, GroupByExpr, GroupByWithModifier, Ident, IdentWithAlias,
    IlikeSelectItem, NamedWindowDefinition, NamedWindowExpr, ObjectName, ObjectNamePart, RenameSelectItem,
    ReplaceSelectElement, ReplaceSelectItem, Select, SelectItem, SelectItemQualifiedWildcardKind,
    WildcardAdditionalOptions,
};

impl Walker<'_> {
    pub(super) fn select(&mut self, select: &mut Select) -> Walk<Columns> {
        self.select_parts(select).map_err(|fault| at_node(fault, select))
    }

    fn select_parts(&mut self, select: &mut Select) -> Walk<Columns> {
        let Select {
            select_token: _,
            optimizer_hints,
            distinct,
            select_modifiers,
            top,
            top_before_distinct: _,
            projection,
            exclude,
            into,
            from,
            lateral_views,
            prewhere,
            selection,
            connect_by,
            group_by,
            cluster_by,
            distribute_by,
            sort_by,
            having,
            named_window,
            qualify,
            window_before_qualify: _,
            value_table_mode,
            flavor: _,
        } = select;
        ensure(into.is_none(), "SELECT … INTO")?;
        ensure(optimizer_hints.is_empty(), "optimizer hints")?;
        ensure(select_modifiers.is_none() && value_table_mode.is_none(), "SELECT modifiers")?;
        ensure(top.is_none(), "TOP")?;
        ensure(exclude.is_none(), "EXCLUDE after the list")?;
        ensure(lateral_views.is_empty() && prewhere.is_none() && connect_by.is_empty(), "this clause")?;
        ensure(
            cluster_by.is_empty() && distribute_by.is_empty() && sort_by.is_empty(),
            "CLUSTER, DISTRIBUTE or SORT BY",
        )?;
        for item in from.iter_mut() {
            self.table_with_joins(item)?;
        }
        let columns = self.projection(projection)?;
        if let Some(distinct) = distinct {
            self.uncompared(distinct, &columns)?;
            self.distinct(distinct)?;
        }
        selection.iter_mut().try_for_each(|expr| self.condition(expr))?;
        for expr in having.iter_mut().chain(qualify) {
            self.expr(expr)?;
        }
        self.ungrouped(group_by, &columns)?;
        self.group_by(group_by)?;
        self.named_windows(named_window)?;
        Ok(columns)
    }

    /// Aliases may be named from the next item of the list on; how widely, the engine says.
    fn add_alias(&mut self, item: &SelectItem, columns: &Columns) {
        match item {
            SelectItem::ExprWithAlias { alias, .. } => {
                self.scopes.add_name(&alias.value);
                if let Some(field) = columns.iter().flatten().find_map(Column::personal) {
                    self.scopes.add_personal_name(&alias.value, field);
                }
            }
            SelectItem::Wildcard(options) | SelectItem::QualifiedWildcard(_, options)
                if options.opt_rename.is_some() =>
            {
                self.scopes.open();
            }
            _ => {}
        }
    }

    /// Walks the list and gives the names of its columns, if all are known.
    fn projection(&mut self, projection: &mut [SelectItem]) -> Walk<Columns> {
        let mut columns = (!projection.is_empty()).then(Vec::new);
        if columns.is_none() {
            self.unnamed()?;
        }
        for item in projection {
            let named: Columns = match item {
                SelectItem::UnnamedExpr(expr) => {
                    let field = self.listed(expr)?;
                    Some(vec![Column::new(own_name(expr).unwrap_or_default(), field)])
                }
                SelectItem::ExprWithAlias { expr, alias } => {
                    let field = self.listed(expr)?;
                    // `AS 'label'` means a name.
                    alias.quote_style = alias.quote_style.map(|quote| if quote == '\'' { '"' } else { quote });
                    identifier(alias)?;
                    Some(vec![Column::new(&alias.value, field)])
                }
                SelectItem::Wildcard(options) => {
                    self.wildcard_options(options)?;
                    let all = if options.opt_rename.is_some() { None } else { self.scopes.all_columns() };
                    self.starred(options, all)?
                }
                SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(name), options) => {
                    self.wildcard_options(options)?;
                    let relation = single(name)?.value.clone();
                    let all = if options.opt_rename.is_some() { None } else { self.scopes.columns_of(&relation) };
                    self.starred(options, all)?
                }
                SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::Expr(expr), options) => {
                    self.wildcard_options(options)?;
                    self.expr(expr)?;
                    None
                }
                SelectItem::ExprWithAliases { .. } => return Err(syntax_not_allowed("AS (several aliases)")),
            };
            self.add_alias(item, &named);
            if matches!(item, SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..)) {
                self.scopes.reach(&named)?;
            }
            columns = self.joined(columns, named)?;
        }
        Ok(columns)
    }

    pub(super) fn wildcard_options(&mut self, options: &mut WildcardAdditionalOptions) -> Walk {
        self.personal.unnamed();
        let WildcardAdditionalOptions {
            wildcard_token: _,
            opt_ilike,
            opt_exclude,
            opt_except,
            opt_replace,
            opt_rename,
            opt_alias,
        } = options;
        if let Some(ExceptSelectItem { first_element, additional_elements }) = opt_except {
            ensure(self.dialect == Dialect::BigQuery, "* EXCEPT")?;
            std::iter::once(&*first_element).chain(additional_elements.iter()).try_for_each(identifier)?;
        }
        ensure(opt_alias.is_none(), "* AS")?;
        if let Some(IlikeSelectItem { pattern }) = opt_ilike {
            ensure(!pattern.contains('\''), "* ILIKE")?;
        }
        match opt_exclude {
            None => {}
            Some(ExcludeSelectItem::Single(name)) => single(name).map(drop)?,
            Some(ExcludeSelectItem::Multiple(names)) => names.iter().try_for_each(|n| single(n).map(drop))?,
        }
        if let Some(ReplaceSelectItem { items }) = opt_replace {
            for item in items {
                let ReplaceSelectElement { expr, column_name, as_keyword: _ } = item.as_mut();
                identifier(column_name)?;
                self.expr(expr)?;
            }
        }
        let renames = match opt_rename {
            None => &[][..],
            Some(RenameSelectItem::Single(one)) => std::slice::from_ref(one),
            Some(RenameSelectItem::Multiple(many)) => many,
        };
        renames
            .iter()
            .try_for_each(|IdentWithAlias { ident, alias }| identifier(ident).and_then(|()| identifier(alias)))
    }

    fn distinct(&mut self, distinct: &mut Distinct) -> Walk {
        match distinct {
            Distinct::All | Distinct::Distinct => Ok(()),
            Distinct::On(exprs) => self.exprs(exprs),
        }
    }

    fn group_by(&mut self, group_by: &mut GroupByExpr) -> Walk {
        let modifiers = match group_by {
            GroupByExpr::All(modifiers) => modifiers,
            GroupByExpr::Expressions(exprs, modifiers) => {
                self.exprs(exprs)?;
                modifiers
            }
        };
        modifiers.iter_mut().try_for_each(|modifier| match modifier {
            GroupByWithModifier::GroupingSets(expr) => self.expr(expr),
            GroupByWithModifier::Rollup | GroupByWithModifier::Cube | GroupByWithModifier::Totals => {
                Err(syntax_not_allowed("GROUP BY … WITH"))
            }
        })
    }

    fn named_windows(&mut self, windows: &mut [NamedWindowDefinition]) -> Walk {
        for NamedWindowDefinition(name, window) in windows {
            identifier(name)?;
            match window {
                NamedWindowExpr::NamedWindow(other) => identifier(other)?,
                NamedWindowExpr::WindowSpec(spec) => self.window_spec(spec)?,
            }
        }
        Ok(())
    }
}

/// The name that an unaliased column has in both engines.
fn own_name(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Identifier(ident) => Some(&ident.value),
        Expr::CompoundIdentifier(parts) => parts.last().map(|ident| ident.value.as_str()),
        _ => None,
    }
}

/// The one part of a name that may not be qualified.
pub fn single(name: &ObjectName) -> Walk<&Ident> {
    match name.0.as_slice() {
        [ObjectNamePart::Identifier(ident)] => identifier(ident).map(|()| ident),
        _ => Err(syntax_not_allowed(&name.to_string())),
    }
}
