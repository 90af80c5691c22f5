//! What a statement would read and give, from the engine's own plan.
//!
//! `EXPLAIN COST` writes statistics behind each step of the plan, the outermost first:
//! `…, statistics=[Rows=Inexact(6), Bytes=Inexact(48), [(Col[0]: … ScanBytes=Inexact(48)) …]]`. What is not known is
//! `Absent`, and stays unknown here.

use crate::protocol::Estimate;

/// The figures of a plan.
pub fn read(plan: &str) -> Estimate {
    let steps: Vec<&str> = plan.lines().filter(|line| line.contains("statistics=[")).collect();
    let outermost = steps.first().copied().unwrap_or_default();
    let sources = steps.iter().filter(|step| is_source(step));
    let scanned: Vec<Option<u64>> = sources.map(|step| scan_bytes(step)).collect();
    Estimate {
        // Of several sources, all must be known.
        scan_bytes: (!scanned.is_empty()).then(|| scanned.into_iter().sum::<Option<u64>>()).flatten(),
        result_rows: figure(outermost, "Rows="),
        result_bytes: figure(outermost, "Bytes="),
    }
}

/// A step that reads, as opposed to one that works on what was read.
fn is_source(step: &str) -> bool {
    let name = step.trim_start();
    name.starts_with("DataSourceExec") || name.starts_with("MemoryExec")
}

/// What its columns take, or the step as a whole where they do not say.
fn scan_bytes(step: &str) -> Option<u64> {
    let columns: Vec<&str> = step.split("ScanBytes=").skip(1).collect();
    let all = columns.iter().map(|column| number(column)).sum::<Option<u64>>();
    all.filter(|_| !columns.is_empty()).or_else(|| figure(step, "Bytes="))
}

fn figure(step: &str, name: &str) -> Option<u64> {
    let (_, statistics) = step.split_once("statistics=[")?;
    number(statistics.split_once(name)?.1)
}

/// `Exact(6)` or `Inexact(6)`, but not `Absent`.
fn number(text: &str) -> Option<u64> {
    let (word, rest) = text.split_once('(')?;
    let known = word == "Exact" || word == "Inexact";
    rest.split_once(')').filter(|_| known)?.0.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: &str = "== Physical Plan ==
ProjectionExec: expr=[id@0 as id], statistics=[Rows=Inexact(6), Bytes=Inexact(48), [(Col[0]: Min=Inexact(Int64(4)) ScanBytes=Inexact(48))]]
  FilterExec: id@0 > 3, statistics=[Rows=Inexact(6), Bytes=Inexact(48), [(Col[0]: Null=Exact(0) ScanBytes=Inexact(48))]]
    DataSourceExec: file_groups={1 group: [[t1.parquet]]}, statistics=[Rows=Exact(10), Bytes=Inexact(160), [(Col[0]: ScanBytes=Inexact(80)),(Col[1]: ScanBytes=Exact(40))]]
";

    #[test]
    fn figures_are_those_of_the_plan() {
        let seen = read(PLAN);
        assert_eq!(seen, Estimate { scan_bytes: Some(120), result_rows: Some(6), result_bytes: Some(48) });
    }

    #[test]
    fn what_is_not_known_stays_unknown() {
        assert_eq!(read(""), Estimate::default());
        let absent = "DataSourceExec: x, statistics=[Rows=Absent, Bytes=Absent, [(Col[0]: ScanBytes=Absent)]]";
        assert_eq!(read(absent), Estimate::default());
        let one_of_two = format!("{PLAN}    DataSourceExec: y, statistics=[Rows=Absent, Bytes=Absent, []]\n");
        assert_eq!(read(&one_of_two).scan_bytes, None);
    }
}
