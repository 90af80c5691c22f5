//! The change of a figure from one period to the next: "growth of revenue month over month".

use super::catalog::Catalog;
use super::first::names;
use super::query::{BoundBy, BoundKey, Query, Steps, Trouble};
use domain::QueryPlan;
use domain::plan::{Change, Expr};

/// Puts the changes of the one figure beside it, along the one period that it is asked for by.
pub(crate) fn apply(catalog: &Catalog, query: &Query, steps: Steps, plan: &mut QueryPlan) -> Result<(), Trouble> {
    let ranked = query.orders.iter().any(|o| matches!(o.by, BoundBy::Change(_)));
    if query.limit.is_some() && !ranked {
        return Err(Trouble::Unsupported("ranking periods by how much something changed"));
    }
    let (periods, others): (Vec<BoundKey>, Vec<BoundKey>) =
        query.keys.iter().cloned().partition(|key| is_period(catalog, key));
    let figures = || plan.select.iter().filter(|s| matches!(s.expr, Expr::Aggregate(_)));
    let (Some(figure), 1) = (figures().next().and_then(|s| s.alias.clone()), figures().count()) else {
        return Err(Trouble::Unsupported("the change of several figures at once"));
    };
    let unsupported = || Trouble::Unsupported("a change along something other than one period");
    let along = names(catalog, plan, &periods).filter(|found| found.len() == 1).ok_or_else(unsupported)?;
    let along = along.into_iter().next().ok_or_else(unsupported)?;
    let per = names(catalog, plan, &others).ok_or_else(unsupported)?;
    let change = |percent: bool| Change {
        of: figure.clone(),
        along: along.clone(),
        per: per.clone(),
        percent,
        alias: name(&figure, percent),
    };
    plan.changes = match steps {
        Steps::Difference => vec![change(false)],
        Steps::Percent => vec![change(true)],
        Steps::Both => vec![change(false), change(true)],
    };
    Ok(())
}

fn name(figure: &str, percent: bool) -> String {
    format!("{figure}_{}", if percent { "change_percent" } else { "change" })
}

/// The column that the change of a selected figure will have.
pub(crate) fn column(figure: &Expr, percent: bool) -> Option<Expr> {
    if let Expr::Field(figure) = figure { Some(Expr::Field(name(figure, percent))) } else { None }
}

fn is_period(catalog: &Catalog, key: &BoundKey) -> bool {
    match key {
        BoundKey::Bucket(..) => true,
        BoundKey::Column(column) => catalog.column(*column).is_year,
        BoundKey::Entity(_) => false,
    }
}
