//! `GET /api/v2/catalog`: the tables that a caller may read, §3.1.

use super::cache::Kept;
use super::registry::{self, Entry};
use crate::House;
use crate::http::HttpFault;
use crate::http::identify::Identified;
use axum::Json;
use axum::extract::State;
use domain::{Caller, Fault, Proposal, Scan};
use jiff::Timestamp;
use policy::Op;
use serde_json::{Value, json};
use std::sync::Arc;

pub async fn catalog(
    State(house): State<Arc<House>>,
    Identified(caller): Identified,
) -> Result<Json<Value>, HttpFault> {
    let policy = house.policy().fingerprint().to_owned();
    let kept = Kept { what: "catalog", id: "", ttl: house.config.scan.catalog_ttl };
    let data = house.data_versions();
    let tables = house.shelf.get_or(&policy, &caller, kept, &data, async || {
        let entries = registry::all(&house, &caller).await;
        Ok::<_, Fault>(entries.iter().map(|entry| listed(&house, &caller, entry)).collect())
    });
    let now = Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    Ok(Json(json!({ "tables": tables.await?, "server_time": now })))
}

fn listed(house: &House, caller: &Caller, entry: &Entry<'_>) -> Value {
    let flavour = entry.flavour().as_str();
    let remote = entry.is_remote();
    let mut table = json!({
        "id": entry.id(),
        "name": entry.id(),
        "description": entry.table.description,
        "source_type": entry.source_type(),
        "query_mode": if remote { "remote" } else { "local" },
        "sql_flavor": flavour,
        "where_examples": where_examples(house, caller, entry),
        "fetch_via": fetch_via(entry.id(), flavour, remote),
        "rough_size_hint": size_hint(entry),
        "policy": policy_hints(caller, entry),
    });
    if let (true, Some(object)) = (entry.table.filtered, table.as_object_mut()) {
        object.insert("filtered_by".into(), json!([entry.id()]));
    }
    table
}

/// Only examples that this caller could send.
fn where_examples(house: &House, caller: &Caller, entry: &Entry<'_>) -> Vec<String> {
    let examples = entry.contract().map(|contract| contract.where_examples.as_slice()).unwrap_or_default();
    let works = |example: &&String| {
        let scan = Scan {
            table: entry.id().to_owned(),
            filter: Some((*example).clone()),
            flavour: entry.flavour(),
            ..Scan::default()
        };
        let proposal = Proposal::Scan { source: entry.dataset.id.clone(), scan: Box::new(scan) };
        house.policy().check(caller, &entry.schema, &proposal, &house.config.scan.limits).is_ok()
    };
    examples.iter().filter(works).cloned().collect()
}

fn fetch_via(id: &str, flavour: &str, remote: bool) -> String {
    match remote {
        true => {
            let dialect = if flavour == "bigquery" { "BQ" } else { "DuckDB" };
            format!("da fetch {id} --select <cols> --where '<{dialect} predicate>' --limit <N>")
        }
        false => "already local — query directly via `da query`".to_owned(),
    }
}

/// `1.2k rows / 180 KB`. Nothing where the caller sees only some of the rows: it would tell of the others.
/// A file's size is told to who sees all that is in it.
fn size_hint(entry: &Entry<'_>) -> Option<String> {
    let rows = entry.table.row_count.filter(|_| !entry.table.hides_rows)?;
    let rows = format!("{} rows", short(rows, 1_000, &["", "k", "M", "G", "T"], ""));
    let bytes = entry
        .file_bytes()
        .filter(|_| entry.is_whole())
        .map(|bytes| short(bytes, 1_024, &["B", "KB", "MB", "GB", "TB"], " "));
    Some(bytes.map_or(rows.clone(), |bytes| format!("{rows} / {bytes}")))
}

fn short(number: u64, step: u64, units: &[&str], space: &str) -> String {
    #[allow(clippy::cast_precision_loss, reason = "a rough size")]
    let (mut size, step) = (number as f64, step as f64);
    let mut unit = 0;
    while size >= step && unit + 1 < units.len() {
        size /= step;
        unit += 1;
    }
    let digits = if unit == 0 || size >= 100.0 { format!("{size:.0}") } else { format!("{size:.1}") };
    let digits = digits.strip_suffix(".0").unwrap_or(&digits).to_owned();
    format!("{digits}{space}{}", units.get(unit).unwrap_or(&""))
}

/// What this role may and may not do here. Columns that are hidden from it are not spoken of.
pub fn policy_hints(caller: &Caller, entry: &Entry<'_>) -> Value {
    let ops = entry.contract().and_then(|contract| {
        let role = contract.role_of(&caller.actor, &caller.role);
        contract.roles.get(role).map(|role| role.ops.clone())
    });
    let ops = ops.unwrap_or_else(|| vec![Op::Read]);
    let (may, may_not): (Vec<Op>, Vec<Op>) = [Op::Read, Op::Insert, Op::Update].iter().partition(|op| ops.contains(op));
    let rows = if entry.table.filtered { "some" } else { "all" };
    let mut hints = json!({ "may": may, "may_not": may_not, "rows": rows });
    if let (true, Some(object)) = (entry.table.filtered, hints.as_object_mut()) {
        let hint = "policy shows you only some rows: say so when you count them or find none";
        object.insert("hint".into(), json!(hint));
    }
    hints
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn sizes_are_short() {
        let bytes = |n| short(n, 1_024, &["B", "KB", "MB", "GB", "TB"], " ");
        let rows = |n| short(n, 1_000, &["", "k", "M", "G", "T"], "");
        assert_eq!([bytes(0), bytes(1023), bytes(184_320), bytes(3 << 30)], ["0 B", "1023 B", "180 KB", "3 GB"]);
        assert_eq!([rows(7), rows(1_200), rows(12_345), rows(10_000_000)], ["7", "1.2k", "12.3k", "10M"]);
    }
}
