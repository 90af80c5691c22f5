//! Whatever is asked: no panic, and no plan that names what is not there.

use crate::support::TODAY;
use crate::support::schemas::{Source, energy, sales, shop, support as help_desk};
use domain::plan::{Condition, Expr, Operand, QueryPlan};
use domain::{SourceSchema, Turn};
use planner::offline::{Context, Index, Planned, plan};
use proptest::prelude::*;
use std::sync::LazyLock;

static SOURCES: LazyLock<Vec<(Source, Index)>> = LazyLock::new(|| {
    [shop(), sales(), help_desk(), energy()]
        .into_iter()
        .map(|s| {
            let index = s.index();
            (s, index)
        })
        .collect()
});

/// Words of every kind that the planner knows, to be thrown together.
const WORDS: &str = "how many number of total average median maximum minimum what which who show list top 5 10 3 first best \
    highest lowest most least fewest cheapest latest oldest by per each for every sorted ordered descending ascending \
    alphabetically and or not without never with whose that in from of the a is are between more than less over under \
    at least above average 2024 2023 march q3 last month past 6 months since before year to date monthly trend distinct \
    different both only instead also what about customers customer orders order products items revenue price quantity \
    category tier status enterprise completed Lighting 'Ann Miller' sales amount region North channel online tickets \
    agents team priority urgent opened closed satisfaction active sites readings consumption temperature capacity \
    founded Oslo transfers name names email unknown xyzzy 100 $1,000 10% 5k , ? starts contains 'x' common cost id";

fn jumble() -> impl Strategy<Value = String> {
    let words: Vec<&str> = WORDS.split_whitespace().collect();
    prop::collection::vec(prop::sample::select(words), 0..14).prop_map(|w| w.join(" "))
}

/// Everything that is wrong with a plan over a schema.
fn faults(schema: &SourceSchema, plan: &QueryPlan) -> Vec<String> {
    let mut found = Vec::new();
    let root = (plan.from.name(), plan.from.resource.as_str());
    let tables: Vec<(&str, &str)> =
        std::iter::once(root).chain(plan.joins.iter().map(|j| (j.name(), j.resource.as_str()))).collect();
    let has = |table: &str, column: &str| schema.table(table).is_some_and(|t| t.column(column).is_some());
    let is_field = |name: &str| match name.split_once('.') {
        Some((table, column)) => tables.iter().any(|(alias, of)| *alias == table && has(of, column)),
        None => plan.joins.is_empty() && has(&plan.from.resource, name),
    };
    for (_, table) in &tables {
        if schema.table(table).is_none() {
            found.push(format!("no table {table}"));
        }
    }
    for join in &plan.joins {
        for on in &join.on {
            if !is_field(&on.left) || !is_field(&on.right) {
                found.push(format!("join on {} = {}", on.left, on.right));
            }
        }
    }
    let names: Vec<&str> = plan.select.iter().filter_map(|s| s.alias.as_deref()).collect();
    for (at, name) in names.iter().enumerate() {
        let snake = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        if !snake || names.iter().skip(at + 1).any(|n| n == name) {
            found.push(format!("output name {name}"));
        }
    }
    let mut fields = Vec::new();
    plan.select.iter().for_each(|s| expr(&s.expr, &mut fields));
    plan.group_by.iter().for_each(|e| expr(e, &mut fields));
    let mut subplans = Vec::new();
    plan.filter.iter().chain(&plan.having).for_each(|c| condition(c, &mut fields, &mut subplans));
    let mut ordered = Vec::new();
    plan.order_by.iter().for_each(|o| expr(&o.expr, &mut ordered));
    found.extend(fields.iter().filter(|f| !is_field(f)).map(|f| format!("field {f}")));
    found.extend(ordered.iter().filter(|f| !is_field(f) && !names.contains(&f.as_str())).map(|f| format!("order {f}")));
    let aggregated = plan.select.iter().any(|s| matches!(s.expr, Expr::Aggregate(_))) || !plan.group_by.is_empty();
    let loose =
        plan.select.iter().filter(|s| !matches!(s.expr, Expr::Aggregate(_)) && !plan.group_by.contains(&s.expr));
    if aggregated && loose.count() > 0 {
        found.push("a plain field beside an aggregate".to_owned());
    }
    found.extend(subplans.into_iter().flat_map(|p| faults(schema, p)));
    found
}

fn expr(e: &Expr, fields: &mut Vec<String>) {
    match e {
        Expr::Field(name) => fields.push(name.clone()),
        Expr::Aggregate(a) => a.of.iter().for_each(|e| expr(e, fields)),
        Expr::Arithmetic(a) => [&a.left, &a.right].into_iter().for_each(|e| expr(e, fields)),
        Expr::Number(of) | Expr::Moment(of) => expr(of, fields),
        Expr::DateTrunc(t) => expr(&t.of, fields),
        Expr::Extract(x) => expr(&x.of, fields),
        Expr::Value(_) | Expr::Case(_) | Expr::Plan(_) => {}
    }
}

fn condition<'p>(c: &'p Condition, fields: &mut Vec<String>, subplans: &mut Vec<&'p QueryPlan>) {
    match c {
        Condition::And(all) | Condition::Or(all) => all.iter().for_each(|c| condition(c, fields, subplans)),
        Condition::Not(inner) => condition(inner, fields, subplans),
        Condition::IsNull(e) | Condition::IsNotNull(e) => expr(e, fields),
        Condition::Exists(plan) => subplans.push(plan),
        Condition::Test(test) => {
            expr(&test.left, fields);
            if let Operand::Plan(plan) = &test.right {
                subplans.push(plan);
            }
        }
    }
}

fn check(question: &str, history: &[Turn]) -> Result<(), TestCaseError> {
    for (source, index) in SOURCES.iter() {
        if let Planned::Plan { plan, reading, .. } = plan(index, question, &Context { history, today: TODAY }) {
            let faults = faults(&source.schema, &plan);
            prop_assert!(faults.is_empty(), "{question}: {faults:?}\n{}", crate::support::render::sql(&plan));
            prop_assert!(!reading.is_empty());
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_text_is_survived(question in "\\PC{0,80}") {
        check(&question, &[])?;
    }

    #[test]
    fn plans_name_only_what_is_there(question in jumble()) {
        check(&question, &[])?;
    }

    #[test]
    fn threads_too(before in jumble(), question in jumble(), asked in any::<bool>()) {
        let clarification = asked.then(|| domain::Clarification { question: "?".into(), choices: vec!["a".into(), "b".into()] });
        let turn = Turn { question: before, plan: None, clarification, answer: String::new() };
        check(&question, &[turn])?;
    }
}
