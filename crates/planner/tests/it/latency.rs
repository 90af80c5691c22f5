//! How long a question takes with a warm index, over a schema of twenty tables.

use crate::support::schemas::{Source, energy, sales, shop, support as help_desk};
use crate::support::{TODAY, questions};
use planner::offline::{Context, Index, plan};
use std::hint::black_box;
use std::time::{Duration, Instant};

const ASKED: [&str; 4] = [
    include_str!("cases/shop_answered.txt"),
    include_str!("cases/sales_answered.txt"),
    include_str!("cases/support_answered.txt"),
    include_str!("cases/energy_answered.txt"),
];

/// All four trades in one source, and again under other names until there are twenty tables.
fn company() -> Source {
    let mut company = shop();
    for source in [sales(), help_desk(), energy()] {
        company.schema.tables.extend(source.schema.tables);
        company.values.extend(source.values);
    }
    let (tables, values) = (company.schema.tables.clone(), company.values.clone());
    for mut table in tables.into_iter().cycle().take(20 - company.schema.tables.len()) {
        let name = format!("archived_{}", table.name);
        let copied = values.iter().filter(|v| v.table == table.name).cloned();
        company.values.extend(copied.map(|v| planner::offline::ColumnValues { table: name.clone(), ..v }));
        table.name = name;
        table.foreign_keys.clear();
        company.schema.tables.push(table);
    }
    company
}

#[test]
fn a_question_takes_milliseconds() {
    let company = company();
    assert_eq!(company.schema.tables.len(), 20);
    let index: Index = company.index();
    let mut times: Vec<Duration> = Vec::new();
    for question in ASKED.iter().flat_map(|text| questions(text)) {
        let start = Instant::now();
        black_box(plan(&index, question, &Context { history: &[], today: TODAY }));
        times.push(start.elapsed());
    }
    times.sort();
    let at = |part: usize| times[(times.len() - 1) * part / 100];
    println!("{} questions: p50 {:?}, p99 {:?}", times.len(), at(50), at(99));
    assert!(at(50) <= Duration::from_millis(20), "p50 is {:?}", at(50));
    assert!(at(99) <= Duration::from_millis(150), "p99 is {:?}", at(99));
}
