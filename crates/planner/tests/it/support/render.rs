//! A plan as one line that reads like SQL. For people: what runs is compiled by policy.

use domain::plan::{Condition, Direction, Expr, Operand, QueryPlan};

pub fn sql(plan: &QueryPlan) -> String {
    let select: Vec<String> = plan
        .select
        .iter()
        .map(|s| match &s.alias {
            Some(name) if expr(&s.expr).rsplit('.').next() != Some(name) => format!("{} as {name}", expr(&s.expr)),
            _ => expr(&s.expr),
        })
        .collect();
    let mut text = format!(
        "select {}{} from {}",
        if plan.distinct { "distinct " } else { "" },
        select.join(", "),
        table(&plan.from.resource, plan.from.alias.as_deref())
    );
    for join in &plan.joins {
        let on: Vec<String> = join.on.iter().map(|o| format!("{} = {}", o.left, o.right)).collect();
        text += &format!(" join {} on {}", table(&join.resource, join.alias.as_deref()), on.join(" and "));
    }
    if let Some(filter) = &plan.filter {
        text += &format!(" where {}", condition(filter));
    }
    if !plan.group_by.is_empty() {
        text += &format!(" group by {}", plan.group_by.iter().map(expr).collect::<Vec<_>>().join(", "));
    }
    if let Some(having) = &plan.having {
        text += &format!(" having {}", condition(having));
    }
    if !plan.order_by.is_empty() {
        let by = |o: &domain::plan::OrderItem| {
            format!("{}{}", expr(&o.expr), if o.dir == Direction::Desc { " desc" } else { "" })
        };
        text += &format!(" order by {}", plan.order_by.iter().map(by).collect::<Vec<_>>().join(", "));
    }
    for change in &plan.changes {
        let unit = if change.percent { " in percent" } else { "" };
        let per: String = change.per.iter().map(|name| format!(" per {name}")).collect();
        text += &format!(" change of {} along {}{per}{unit}", change.of, change.along);
    }
    if let Some(limit) = &plan.limit_per {
        text += &format!(" limit {} per {}", limit.k, limit.by.join(", "));
    }
    if let Some(limit) = plan.limit {
        text += &format!(" limit {limit}");
    }
    text
}

/// A table, with the name that it goes by where that is another.
fn table(resource: &str, alias: Option<&str>) -> String {
    alias.map_or_else(|| resource.to_owned(), |alias| format!("{resource} as {alias}"))
}

fn name(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default()
}

fn expr(e: &Expr) -> String {
    match e {
        Expr::Field(field) => field.clone(),
        Expr::Value(value) => serde_json::to_string(value).unwrap_or_default(),
        Expr::Aggregate(a) => format!("{}({})", name(&a.function), a.of.as_deref().map_or("*".to_owned(), expr)),
        Expr::Arithmetic(a) => format!("{} {} {}", expr(&a.left), name(&a.op), expr(&a.right)),
        Expr::Moment(of) => expr(of),
        Expr::Number(of) => format!("number({})", expr(of)),
        Expr::DateTrunc(t) => format!("{}({})", name(&t.unit), expr(&t.of)),
        Expr::Extract(x) => format!("{}({})", name(&x.part), expr(&x.of)),
        Expr::Plan(plan) => format!("({})", sql(plan)),
        Expr::Case(_) => "case".to_owned(),
    }
}

fn condition(c: &Condition) -> String {
    let all = |list: &[Condition], word: &str| list.iter().map(condition).collect::<Vec<_>>().join(word);
    match c {
        Condition::And(list) => all(list, " and "),
        Condition::Or(list) => format!("({})", all(list, " or ")),
        Condition::Not(inner) => format!("not ({})", condition(inner)),
        Condition::IsNull(e) => format!("{} is null", expr(e)),
        Condition::IsNotNull(e) => format!("{} is not null", expr(e)),
        Condition::Exists(plan) => format!("exists ({})", sql(plan)),
        Condition::Test(test) => {
            let right = match &test.right {
                Operand::Field(field) => field.clone(),
                Operand::Value(value) => serde_json::to_string(value).unwrap_or_default(),
                Operand::List(list) => serde_json::to_string(list).unwrap_or_default(),
                Operand::Plan(plan) => format!("({})", sql(plan)),
                Operand::Expr(e) => expr(e),
            };
            format!("{} {} {right}", expr(&test.left), name(&test.op).to_lowercase())
        }
    }
}
