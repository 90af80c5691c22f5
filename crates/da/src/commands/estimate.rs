//! What a fetch would read and give, in words.

use crate::client::Estimate;
use crate::units;

/// One line: `reads about 4.2 GB, gives about 250 000 rows, 12 MB; costs about $0.02`.
pub fn words(estimate: &Estimate) -> String {
    let about = |figure: Option<u64>, show: fn(u64) -> String| {
        figure.map_or_else(|| "an unknown amount".to_owned(), |n| format!("about {}", show(n)))
    };
    let rows = match estimate.estimated_result_rows {
        Some(rows) => format!("about {}", units::plural(rows, "row")),
        None => "an unknown number of rows".to_owned(),
    };
    let cost = estimate.bq_cost_estimate_usd.map_or_else(String::new, |usd| format!("; costs about ${usd:.4}"));
    format!(
        "reads {}, gives {rows}, {} here{cost}",
        about(estimate.estimated_scan_bytes, units::bytes),
        about(estimate.estimated_result_bytes, units::bytes),
    )
}

/// The names and figures of the API, for people who asked for nothing else.
pub fn lines(estimate: &Estimate) -> Vec<String> {
    let shown = |figure: Option<u64>, show: fn(u64) -> String| figure.map_or_else(|| "unknown".to_owned(), show);
    let cost = estimate.bq_cost_estimate_usd.map_or_else(|| "none known".to_owned(), |usd| format!("${usd:.4}"));
    vec![
        format!("estimated_scan_bytes:   {}", shown(estimate.estimated_scan_bytes, units::bytes)),
        format!("estimated_result_rows:  {}", shown(estimate.estimated_result_rows, units::count)),
        format!("estimated_result_bytes: {}", shown(estimate.estimated_result_bytes, units::bytes)),
        format!("bq_cost_estimate_usd:   {cost}"),
    ]
}
