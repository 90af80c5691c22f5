//! Personal values on their way to a model and back.

use domain::Fault;
use planner::Placeholders;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

#[derive(Default)]
pub struct Masks {
    pub placeholders: Placeholders,
}

/// A result as tools tell it to models.
#[derive(Serialize, Deserialize)]
struct Told {
    columns: Vec<String>,
    #[serde(default)]
    rows: Vec<Vec<Value>>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl Masks {
    /// A result with a placeholder for each value. All of them: a value may have been made of a personal one.
    pub fn mask(&mut self, result: &str) -> Result<String, Fault> {
        let mut told: Told = serde_json::from_str(result).map_err(|_| Fault::internal("tool.masks"))?;
        if let Some(error) = told.rest.get_mut("error").and_then(Value::as_object_mut) {
            error.retain(|key, _| ["code", "type"].contains(&key.as_str()));
        }
        let names: Vec<String> = told.columns.iter().map(|name| self.placeholders.hide(name)).collect();
        for row in &mut told.rows {
            for (cell, column) in row.iter_mut().zip(&told.columns) {
                let text = match &*cell {
                    Value::Null => continue,
                    Value::String(text) => text.clone(),
                    other => other.to_string(),
                };
                *cell = Value::String(self.placeholders.mask(column, &text));
            }
        }
        told.columns = names;
        serde_json::to_string(&told).map_err(|_| Fault::internal("tool.masks"))
    }

    /// What a model sends, with the values in the place of their placeholders, and whether there were any. Only in
    /// statements, and in SQL as a string is written there: nothing else needs a value, and some tools repeat what they are
    /// given.
    pub fn unmask(&self, input: Value) -> (Value, bool) {
        let unmasked = self.unmasked(input.clone());
        let restored = unmasked != input;
        (unmasked, restored)
    }

    fn unmasked(&self, input: Value) -> Value {
        match input {
            Value::Object(fields) => {
                Value::Object(fields.into_iter().map(|(key, value)| self.field(key, value)).collect())
            }
            other => other,
        }
    }

    fn field(&self, key: String, value: Value) -> (String, Value) {
        let value = match value {
            Value::String(sql) if key == "sql" => Value::String(self.placeholders.restore_quoted(&sql)),
            plan if key == "plan_json" => self.restore(plan),
            other => other,
        };
        (key, value)
    }

    fn restore(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.placeholders.restore(&text)),
            Value::Array(items) => Value::Array(items.into_iter().map(|item| self.restore(item)).collect()),
            Value::Object(fields) => Value::Object(fields.into_iter().map(|(k, v)| (k, self.restore(v))).collect()),
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_go_out_as_placeholders_and_come_back_as_values() {
        let mut masks = Masks::default();
        let told = json!({ "columns": ["email", "n"], "rows": [["o'b@x.org", 3], [null, 3]], "row_count": 2 });
        let masked: Value = serde_json::from_str(&masks.mask(&told.to_string()).unwrap()).unwrap();
        assert_eq!(masked["rows"], json!([["⟦email 1⟧", "⟦n 2⟧"], [null, "⟦n 2⟧"]]));
        assert_eq!(masked["row_count"], 2);
        let sent = json!({
            "sql": "SELECT 1 WHERE email = '⟦email 1⟧'", "plan_json": ["⟦email 1⟧", 1], "table": "⟦email 1⟧",
        });
        let (back, restored) = masks.unmask(sent);
        let expected = json!({
            "sql": "SELECT 1 WHERE email = 'o''b@x.org'", "plan_json": ["o'b@x.org", 1], "table": "⟦email 1⟧",
        });
        assert_eq!((back, restored), (expected, true));
        let named =
            json!({ "columns": ["is o'b@x.org"], "rows": [], "error": { "code": "c", "message": "o'b@x.org" } });
        let masked = masks.mask(&named.to_string()).unwrap();
        assert!(!masked.contains("x.org") && masked.contains("⟦value 1⟧"), "{masked}");
    }
}
