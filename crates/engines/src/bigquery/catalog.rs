//! What tables there are, from the catalog itself: that is read for nothing.

use super::ask::Api;
use super::job::number;
use domain::{Column, Fault, FieldType, ForeignKey, Table};
use futures_util::{StreamExt, TryStreamExt, stream};
use serde_json::Value as Json;

/// Tables that are looked at at the same time.
const AT_ONCE: usize = 8;
/// Nobody nests records deeper.
const DEEPEST: usize = 16;

/// The tables of the datasets, those of the first by their plain names.
pub async fn tables(api: &Api, datasets: &[String]) -> Result<Vec<Table>, Fault> {
    let mut tables = Vec::new();
    for (place, dataset) in datasets.iter().enumerate() {
        let found = stream::iter(names(api, dataset).await?).map(async |name| {
            let path = format!("datasets/{dataset}/tables/{name}");
            let json = api.get(&path, &[]).await;
            match json {
                Ok(json) => Ok(Some(table(&json, if place == 0 { name } else { format!("{dataset}.{name}") }))),
                // Dropped since it was listed.
                Err(fault) if fault.code == "source.table_gone" => Ok(None),
                Err(fault) => Err(fault),
            }
        });
        let found: Vec<Option<Table>> = found.buffered(AT_ONCE).try_collect().await?;
        tables.extend(found.into_iter().flatten());
    }
    Ok(tables)
}

async fn names(api: &Api, dataset: &str) -> Result<Vec<String>, Fault> {
    let (mut names, mut page) = (Vec::new(), None::<String>);
    loop {
        let mut query = vec![("maxResults", "1000".to_owned())];
        query.extend(page.take().map(|token| ("pageToken", token)));
        let answer = api.get(&format!("datasets/{dataset}/tables"), &query).await?;
        let found = list(&answer, "tables").filter_map(|table| table.pointer("/tableReference/tableId")?.as_str());
        // A name that cannot be quoted, or would be taken for two, is not shown.
        let plain =
            found.filter(|name| !name.contains(['`', '"', '\\', '.', '/']) && !name.chars().any(char::is_control));
        names.extend(plain.map(str::to_owned));
        match answer.get("nextPageToken").and_then(Json::as_str) {
            Some(token) => page = Some(token.to_owned()),
            None => return Ok(names),
        }
    }
}

fn table(json: &Json, name: String) -> Table {
    let is_table = text(json, "type") == "TABLE";
    let partition = ["/timePartitioning/field", "/rangePartitioning/field"];
    Table {
        name,
        description: text(json, "description").to_owned(),
        columns: json.get("schema").into_iter().flat_map(|schema| list(schema, "fields")).map(column).collect(),
        primary_key: json.pointer("/tableConstraints/primaryKey").map(|key| texts(key, "columns")).unwrap_or_default(),
        foreign_keys: json
            .get("tableConstraints")
            .into_iter()
            .flat_map(|c| list(c, "foreignKeys"))
            .filter_map(key)
            .collect(),
        // Rows on their way into it are not counted yet; those of a view are nowhere.
        row_count: if is_table { number(json.get("numRows")) } else { None },
        partition_by: partition.iter().find_map(|path| json.pointer(path)?.as_str()).map(str::to_owned),
        clustered_by: json.get("clustering").map(|clustering| texts(clustering, "fields")).unwrap_or_default(),
        ..Table::default()
    }
}

fn key(json: &Json) -> Option<ForeignKey> {
    let target = json.pointer("/referencedTable/tableId")?.as_str()?.to_owned();
    let side = |name: &str| -> Vec<String> {
        list(json, "columnReferences").map(|column| text(column, name).to_owned()).collect()
    };
    Some(ForeignKey { columns: side("referencingColumn"), target, target_columns: side("referencedColumn") })
}

fn column(field: &Json) -> Column {
    Column {
        native: native(field, 0),
        nullable: text(field, "mode") != "REQUIRED",
        description: text(field, "description").to_owned(),
        ..Column::new(text(field, "name"), kind(field))
    }
}

fn kind(field: &Json) -> FieldType {
    if text(field, "mode") == "REPEATED" {
        return FieldType::List;
    }
    match text(field, "type") {
        "INTEGER" | "INT64" => FieldType::Integer,
        "FLOAT" | "FLOAT64" => FieldType::Number,
        "NUMERIC" | "BIGNUMERIC" => FieldType::Decimal,
        "STRING" => FieldType::String,
        "BYTES" => FieldType::Bytes,
        "BOOLEAN" | "BOOL" => FieldType::Boolean,
        "DATE" => FieldType::Date,
        "TIME" => FieldType::Time,
        "DATETIME" | "TIMESTAMP" => FieldType::Timestamp,
        "JSON" => FieldType::Json,
        "RECORD" | "STRUCT" => FieldType::Struct,
        _ => FieldType::Other,
    }
}

/// The type as SQL writes it: the catalog has names of its own for some.
fn native(field: &Json, depth: usize) -> String {
    let one = match text(field, "type") {
        "INTEGER" => "INT64".to_owned(),
        "FLOAT" => "FLOAT64".to_owned(),
        "BOOLEAN" => "BOOL".to_owned(),
        "RECORD" | "STRUCT" if depth < DEEPEST => {
            let fields = list(field, "fields");
            let fields: Vec<String> =
                fields.map(|inner| format!("`{}` {}", text(inner, "name"), native(inner, depth + 1))).collect();
            format!("STRUCT<{}>", fields.join(", "))
        }
        decimal @ ("NUMERIC" | "BIGNUMERIC") => match (text(field, "precision"), text(field, "scale")) {
            ("", _) => decimal.to_owned(),
            (precision, "") => format!("{decimal}({precision})"),
            (precision, scale) => format!("{decimal}({precision}, {scale})"),
        },
        other => other.to_owned(),
    };
    if text(field, "mode") == "REPEATED" { format!("ARRAY<{one}>") } else { one }
}

fn text<'j>(json: &'j Json, name: &str) -> &'j str {
    json.get(name).and_then(Json::as_str).unwrap_or_default()
}

fn texts(json: &Json, name: &str) -> Vec<String> {
    list(json, name).filter_map(Json::as_str).map(str::to_owned).collect()
}

fn list<'j>(json: &'j Json, name: &str) -> impl Iterator<Item = &'j Json> {
    json.get(name).and_then(Json::as_array).into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::Shape;
    use serde_json::json;

    /// As `tables.get` answers.
    #[test]
    fn a_table_is_read_with_all_that_is_known_of_it() {
        let found = table(
            &json!({
                "type": "TABLE", "numRows": "12", "description": "what was sold",
                "timePartitioning": { "type": "DAY", "field": "at" },
                "clustering": { "fields": ["region", "id"] },
                "tableConstraints": {
                    "primaryKey": { "columns": ["id"] },
                    "foreignKeys": [{
                        "referencedTable": { "projectId": "p", "datasetId": "d", "tableId": "customers" },
                        "columnReferences": [{ "referencingColumn": "customer_id", "referencedColumn": "id" }],
                    }],
                },
                "schema": { "fields": [
                    { "name": "id", "type": "INTEGER", "mode": "REQUIRED" },
                    { "name": "price", "type": "NUMERIC", "precision": "10", "scale": "2" },
                    { "name": "at", "type": "TIMESTAMP" },
                    { "name": "items", "type": "RECORD", "mode": "REPEATED", "fields": [
                        { "name": "sku", "type": "STRING" }, { "name": "tags", "type": "STRING", "mode": "REPEATED" },
                    ] },
                ] },
            }),
            "orders".to_owned(),
        );
        let natives: Vec<&str> = found.columns.iter().map(|column| column.native.as_str()).collect();
        assert_eq!(
            natives,
            ["INT64", "NUMERIC(10, 2)", "TIMESTAMP", "ARRAY<STRUCT<`sku` STRING, `tags` ARRAY<STRING>>>"]
        );
        let shape = Shape::of(found.column("items").unwrap());
        let Shape::List(item) = shape else { panic!("{shape:?}") };
        assert_eq!(item.field("tags").unwrap().1.kind(), FieldType::List);
        assert!(!found.columns[0].nullable && found.columns[1].nullable);
        assert_eq!((found.row_count, found.partition_by.as_deref()), (Some(12), Some("at")));
        assert_eq!(
            (found.clustered_by, found.primary_key),
            (vec!["region".into(), "id".into()], vec!["id".to_owned()])
        );
        assert_eq!(found.foreign_keys[0].target, "customers");
    }

    #[test]
    fn a_view_has_no_count() {
        assert_eq!(table(&json!({ "type": "VIEW", "numRows": "0" }), "v".into()).row_count, None);
    }
}
