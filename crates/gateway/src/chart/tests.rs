#![allow(clippy::unwrap_used, reason = "a test that fails should say so at once")]

use super::{Chart, choose};
use domain::FieldType;
use serde_json::value::RawValue;

/// Lines of `cases.txt`: what it is → columns with types → rows → the picture.
#[test]
fn the_picture_follows_from_the_shape() {
    let mut wrong = Vec::new();
    for case in include_str!("cases.txt").lines().filter(|l| !l.is_empty() && !l.starts_with('#')) {
        let [what, columns, rows, wanted] = case.split('|').map(str::trim).collect::<Vec<_>>().try_into().unwrap();
        let (names, types): (Vec<String>, Vec<FieldType>) = columns
            .split_whitespace()
            .map(|c| c.split_once(':').unwrap())
            .map(|(name, kind)| (name.to_owned(), serde_json::from_str::<FieldType>(&format!("\"{kind}\"")).unwrap()))
            .unzip();
        let rows = written_out(rows);
        let count = serde_json::from_str::<Vec<serde_json::Value>>(&rows).unwrap().len() as u64;
        let rows = RawValue::from_string(rows).unwrap();
        let seen = choose(&names, &types, &rows, count).map_or("none".to_owned(), shown);
        if seen != wanted {
            wrong.push(format!("{what}: {seen}, not {wanted}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// `61 × ["v#", #]` stands for so many rows, `#` for their number.
fn written_out(rows: &str) -> String {
    let Some((times, row)) = rows.split_once('×') else { return rows.to_owned() };
    let all: Vec<String> =
        (0..times.trim().parse().unwrap()).map(|i: usize| row.trim().replace('#', &i.to_string())).collect();
    format!("[{}]", all.join(","))
}

fn shown(chart: Chart) -> String {
    let place = |i: Option<usize>| i.map_or("-".to_owned(), |i| i.to_string());
    let kind = serde_json::to_value(chart.kind).unwrap();
    format!("{} {} {} {}", kind.as_str().unwrap(), place(chart.x), chart.y, place(chart.series))
}
