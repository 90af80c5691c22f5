//! Conditions on rows of other tables: "customers who ordered in 2024", "with more than 5 orders",
//! "without tickets".
//!
//! A condition that can be reached without repeating rows is joined. One that would repeat them
//! becomes `IN` (or `NOT IN`) a subplan, so that no count or sum meets a row twice.

use super::catalog::TableId;
use super::compile::{Compiler, Joined, aggregate, and};
use super::joins::{self, Step};
use super::output::Names;
use super::query::{BoundFilter, Query, RelatedRows, Side, Test, Trouble};
use domain::Value;
use domain::plan::{AggregateFn, Condition, Expr, Operand, Operator, SelectItem};

/// Rows of the plan that have (or lack) rows on the far side of a join.
#[derive(Debug)]
pub(crate) struct Semi {
    step: Step,
    negated: bool,
    /// Rows of a table, counted.
    count: Option<(TableId, Operator, u64)>,
    filters: Vec<BoundFilter>,
    /// Tables that must take part on the far side.
    tables: Vec<TableId>,
    side: Side,
}

impl Semi {
    /// The join that it stands for.
    pub fn step(&self) -> &Step {
        &self.step
    }
}

/// Joins what can be joined without repeating rows, and returns the rest as semi-joins.
pub(crate) fn place(compiler: &Compiler<'_>, query: &Query, joined: &mut Joined) -> Result<Vec<Semi>, Trouble> {
    let mut semis: Vec<Semi> = Vec::new();
    // "average age of gymnasts" where the age is in another table: only those that are gymnasts.
    if let Some(table) = query.subject {
        let related = RelatedRows { table, negated: false, count: None, inner: Vec::new() };
        place_related(compiler, &related, joined, &mut semis)?;
    }
    for filter in &query.filters {
        match &filter.test {
            test if test.is_of_groups() => {}
            test if filter.side == Side::Share => {
                let nested = matches!(test, Test::Related(_));
                if nested || !joined.contains(filter.table) && reach(compiler, filter.table, joined)?.is_some() {
                    return Err(Trouble::Unsupported("a share by what each row has several of"));
                }
            }
            Test::Related(related) => place_related(compiler, related, joined, &mut semis)?,
            _ if joined.contains(filter.table) => {}
            _ if behind_named(compiler, query, filter, &mut semis) => {}
            _ => {
                if let Some(step) = reach(compiler, filter.table, joined)? {
                    if filter.side == Side::Except {
                        except(&mut semis, step, filter);
                        continue;
                    }
                    if let Test::In { values, negated: true, .. } = &filter.test {
                        semis.push(lacking(&semis, step, filter, values)?);
                        continue;
                    }
                    let semi = shared(&mut semis, step, filter.side);
                    semi.filters.push(filter.clone());
                    semi.tables.push(filter.table);
                }
            }
        }
    }
    Ok(semis)
}

/// "physicians affiliated with surgery": where rows between the two are named, the condition is of
/// what those rows point at, even if there is a shorter way.
fn behind_named(compiler: &Compiler<'_>, query: &Query, filter: &BoundFilter, semis: &mut [Semi]) -> bool {
    let named = |t: TableId| query.filters.iter().any(|f| f.table == t && matches!(f.test, Test::Related(_)));
    let points = |t: TableId| compiler.catalog.edges.iter().any(|e| e.many == t && e.one == filter.table);
    let open = |s: &&mut Semi| s.side == filter.side && !s.negated && s.count.is_none();
    let negated = matches!(filter.test, Test::In { negated: true, .. }) || filter.side == Side::Except;
    let between = semis.iter_mut().filter(open).find(|s| named(s.step.to) && points(s.step.to));
    match between.filter(|_| !negated) {
        Some(semi) => {
            semi.filters.push(filter.clone());
            semi.tables.push(filter.table);
            true
        }
        None => false,
    }
}

/// "patients who are not on X" have no row with X; another row without it proves nothing.
fn lacking(semis: &[Semi], step: Step, filter: &BoundFilter, values: &[String]) -> Result<Semi, Trouble> {
    if semis.iter().any(|s| s.step == step) {
        return Err(Trouble::Unsupported("a condition and its opposite on the same rows"));
    }
    let test = Test::In { values: values.to_vec(), negated: false, all: false };
    let filters = vec![BoundFilter { test, ..filter.clone() }];
    Ok(Semi { step, negated: true, count: None, filters, tables: vec![filter.table], side: Side::Common })
}

/// "but not in 2010": all such conditions are of one row that there must not be.
fn except(semis: &mut Vec<Semi>, step: Step, filter: &BoundFilter) {
    let same = |s: &&mut Semi| s.step == step && s.side == Side::Except;
    match semis.iter_mut().find(same) {
        Some(semi) => {
            semi.filters.push(filter.clone());
            semi.tables.push(filter.table);
        }
        None => semis.push(Semi {
            step,
            negated: true,
            count: None,
            filters: vec![filter.clone()],
            tables: vec![filter.table],
            side: Side::Except,
        }),
    }
}

fn place_related(
    compiler: &Compiler<'_>,
    related: &RelatedRows,
    joined: &mut Joined,
    semis: &mut Vec<Semi>,
) -> Result<(), Trouble> {
    if related.negated || related.count.is_some() {
        let step = match reach(compiler, related.table, joined)? {
            Some(step) => step,
            None => return Err(Trouble::Unsupported("counting what each row has at most one of")),
        };
        let count = related.count.map(|(op, n)| (related.table, op, n));
        let tables = std::iter::once(related.table).chain(related.inner.iter().map(|f| f.table)).collect();
        let filters = related.inner.clone();
        semis.push(Semi { step, negated: related.negated, count, filters, tables, side: Side::Common });
    } else if let Some(semi) = pointed_at(compiler, related.table, semis) {
        semi.tables.push(related.table);
    } else if !joined.contains(related.table)
        && let Some(step) = reach(compiler, related.table, joined)?
    {
        shared(semis, step, Side::Common).tables.push(related.table);
    }
    Ok(())
}

/// The rows, named before, that point at a table.
fn pointed_at<'s>(compiler: &Compiler<'_>, table: TableId, semis: &'s mut [Semi]) -> Option<&'s mut Semi> {
    let points = |t: TableId| compiler.catalog.edges.iter().any(|e| e.many == t && e.one == table);
    semis.iter_mut().find(|s| !s.negated && s.count.is_none() && points(s.step.to) && s.step.from != table)
}

/// Conditions over one and the same join speak of the same rows behind it.
fn shared(semis: &mut Vec<Semi>, step: Step, side: Side) -> &mut Semi {
    let same = |s: &Semi| s.step == step && !s.negated && s.count.is_none() && s.side == side;
    let at = match semis.iter().position(same) {
        Some(at) => at,
        None => {
            semis.push(Semi { step, negated: false, count: None, filters: Vec::new(), tables: Vec::new(), side });
            semis.len() - 1
        }
    };
    #[allow(clippy::indexing_slicing, reason = "the position was just found or made")]
    &mut semis[at]
}

/// Joins towards a table as far as no row repeats; returns the step that would repeat them, if any.
fn reach(compiler: &Compiler<'_>, table: TableId, joined: &mut Joined) -> Result<Option<Step>, Trouble> {
    let reached: Vec<TableId> = joined.tables().collect();
    let targets: Vec<TableId> = reached.iter().copied().chain([table]).collect();
    let all = joins::tree(compiler.catalog, joined.root, &targets, compiler.hints)?;
    for step in path_to(&all, table, &reached) {
        if step.fans_out() && !reached.contains(&step.from) {
            return Err(Trouble::Unsupported("tying things together by what they merely share"));
        }
        if step.fans_out() {
            return Ok(Some(step));
        }
        joined.steps.push(step);
    }
    Ok(None)
}

/// The steps of a tree that lead from what is reached to a table.
fn path_to(steps: &[Step], table: TableId, reached: &[TableId]) -> Vec<Step> {
    let mut path = Vec::new();
    let mut at = table;
    while !reached.contains(&at) {
        let Some(step) = steps.iter().find(|s| s.to == at) else { break };
        path.push(step.clone());
        at = step.from;
    }
    path.reverse();
    path
}

pub(crate) fn condition(compiler: &Compiler<'_>, semi: &Semi, names: &Names<'_>) -> Result<Condition, Trouble> {
    let [(many, one)] = semi.step.edge.on.as_slice() else {
        return Err(Trouble::Unsupported("a condition behind a key of several columns"));
    };
    let root = semi.step.to;
    let kind = |table: TableId, name: &str| {
        compiler.catalog.column_named(table, name).map(|c| compiler.catalog.column(c)).map(|c| (c.kind, c.is_text))
    };
    if kind(root, many) != kind(semi.step.from, one) {
        return Err(Trouble::Unsupported("a condition behind a key whose two sides differ in type"));
    }
    let joined = Joined { root, steps: joins::tree(compiler.catalog, root, &semi.tables, compiler.hints)? };
    if joined.contains(semi.step.from) {
        return Err(Trouble::Unsupported("a condition that leads back to where it started"));
    }
    let inner = Names::new(compiler.catalog, &joined);
    let key = inner.named(root, many);
    let mut plan = compiler.from(&joined);
    plan.select = vec![SelectItem { expr: key.clone(), alias: None }];
    let mut conditions = Vec::new();
    for filter in semi.filters.iter().filter(|f| !matches!(f.test, Test::Related(_))) {
        conditions.push(compiler.condition(filter, &inner)?);
    }
    let mut negated = semi.negated;
    if let Some((table, op, n)) = semi.count {
        let (op, inverted) = at_least(op, n);
        negated = inverted;
        plan.group_by = vec![key.clone()];
        let count = counted(compiler, table, &joined, &inner);
        plan.having = Some(super::conditions::test(count, op, Value::Int(i64::try_from(n).unwrap_or(i64::MAX))));
    }
    if negated {
        // One NULL in the set would make NOT IN true of nothing.
        conditions.push(Condition::IsNotNull(key));
    }
    plan.filter = and(conditions);
    let op = if negated { Operator::NotIn } else { Operator::In };
    let left = names.named(semi.step.from, one);
    Ok(Condition::Test(domain::plan::Test { left, op, right: Operand::Plan(Box::new(plan)) }))
}

/// "fewer than 3" holds for those with none, whom no group shows: it is "not at least 3".
fn at_least(op: Operator, n: u64) -> (Operator, bool) {
    match op {
        Operator::Less => (Operator::GreaterOrEqual, true),
        Operator::LessOrEqual => (Operator::Greater, true),
        Operator::Equal if n == 0 => (Operator::Greater, true),
        other => (other, false),
    }
}

fn counted(compiler: &Compiler<'_>, table: TableId, joined: &Joined, names: &Names<'_>) -> Expr {
    match compiler.catalog.table(table).key {
        Some(key) if table != joined.root => aggregate(AggregateFn::CountDistinct, Some(names.field(key))),
        _ => aggregate(AggregateFn::Count, None),
    }
}
