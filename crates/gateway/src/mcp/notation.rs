//! A JSON Schema in the notation of TypeScript, which models read as well, at less than half of the words.

use serde_json::{Map, Value, json};

/// The schema of a tool's input, its definitions in words. They are checked when the tool is called, and by nobody before.
pub fn abridged(mut schema: Value) -> Map<String, Value> {
    let types = types(&schema);
    let Some(keys) = schema.as_object_mut() else { return Map::new() };
    if keys.remove("$defs").is_some()
        && let Some(properties) = keys.get_mut("properties").and_then(Value::as_object_mut)
    {
        for property in properties.values_mut().filter(|property| property.get("$ref").is_some()) {
            let said = format!("{}, in TypeScript:\n{types}", shape(property));
            *property = json!({ "type": "object", "description": said });
        }
    }
    std::mem::take(keys)
}

/// The definitions of a schema, one a line.
fn types(schema: &Value) -> String {
    let definitions = schema.get("$defs").and_then(Value::as_object).into_iter().flatten();
    definitions.map(|(name, schema)| format!("{name}={}", noted(schema))).collect::<Vec<_>>().join("\n")
}

/// A schema with what is said about it.
fn noted(schema: &Value) -> String {
    match schema.get("description").and_then(Value::as_str) {
        Some(said) => format!("{} /* {} */", shape(schema), said.split_whitespace().collect::<Vec<_>>().join(" ")),
        None => shape(schema),
    }
}

fn shape(schema: &Value) -> String {
    let get = |key: &str| schema.get(key);
    if let Some(name) = get("$ref").and_then(Value::as_str) {
        return name.rsplit('/').next().unwrap_or_default().to_owned();
    }
    if let Some(only) = get("const") {
        return only.to_string();
    }
    if let Some(values) = get("enum").and_then(Value::as_array) {
        return either(values.iter().map(Value::to_string));
    }
    if let Some(choices) = get("oneOf").or(get("anyOf")).and_then(Value::as_array) {
        return either(choices.iter().filter(|choice| !is_null(choice)).map(noted));
    }
    match get("type") {
        Some(Value::Array(types)) => {
            either(types.iter().filter_map(Value::as_str).filter(|t| *t != "null").map(str::to_owned))
        }
        Some(Value::String(kind)) if kind == "array" => list(get("items")),
        Some(Value::String(kind)) if kind == "object" => object(schema),
        Some(Value::String(kind)) => kind.clone(),
        _ => "any".to_owned(),
    }
}

fn either(shapes: impl Iterator<Item = String>) -> String {
    shapes.collect::<Vec<_>>().join("|")
}

/// What may be null may be left out, which is said once.
fn is_null(schema: &Value) -> bool {
    schema.get("type").is_some_and(|kind| kind == "null")
}

fn list(items: Option<&Value>) -> String {
    let item = items.map_or_else(|| "any".to_owned(), shape);
    if item.contains('|') { format!("({item})[]") } else { format!("{item}[]") }
}

fn object(schema: &Value) -> String {
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|n| n == name));
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    let property = |(name, schema): (&String, &Value)| {
        format!("{name}{}:{}", if is_required(name) { "" } else { "?" }, noted(schema))
    };
    format!("{{{}}}", properties.map(property).collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    use super::types;
    use serde_json::json;

    #[test]
    fn each_kind_of_schema_has_its_notation() {
        let text = json!({ "type": "string" });
        let cases = [
            (text.clone(), "string"),
            (json!({ "type": ["string", "null"] }), "string"),
            (json!({ "anyOf": [{ "$ref": "#/$defs/B" }, { "type": "null" }] }), "B"),
            (json!({ "enum": ["a", 1] }), "\"a\"|1"),
            (json!({ "const": "1", "description": "One\n  version." }), "\"1\" /* One version. */"),
            (json!({ "type": "array", "items": { "enum": ["a", "b"] } }), "(\"a\"|\"b\")[]"),
            (json!({ "type": "array", "items": text }), "string[]"),
            (json!({ "type": "object", "properties": { "x": text, "y": {} }, "required": ["x"] }), "{x:string,y?:any}"),
        ];
        for (schema, notation) in cases {
            assert_eq!(types(&json!({ "$defs": { "A": schema } })), format!("A={notation}"));
        }
    }
}
