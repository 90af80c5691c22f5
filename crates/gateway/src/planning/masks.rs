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
        serde_json::to_string(&told).map_err(|_| Fault::internal("tool.masks"))
    }

    /// What a model sends, with the values in the place of their placeholders: in SQL as a string is written there.
    pub fn unmask(&self, input: Value) -> Value {
        match input {
            Value::Object(fields) => {
                Value::Object(fields.into_iter().map(|(key, value)| self.field(key, value)).collect())
            }
            other => self.restore(other),
        }
    }

    fn field(&self, key: String, value: Value) -> (String, Value) {
        let value = match value {
            Value::String(sql) if key == "sql" => Value::String(self.placeholders.restore_quoted(&sql)),
            other => self.restore(other),
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
        let back = masks.unmask(json!({ "sql": "SELECT 1 WHERE email = '⟦email 1⟧'", "of": ["⟦email 1⟧", 1] }));
        assert_eq!(back, json!({ "sql": "SELECT 1 WHERE email = 'o''b@x.org'", "of": ["o'b@x.org", 1] }));
    }
}
