//! The values of a plan, each bound once.

use domain::Value;
use std::collections::HashMap;

/// Values in the order of their placeholders. Equal values share one, so that equal expressions stay equal.
#[derive(Default)]
pub struct Params {
    values: Vec<Value>,
    /// A plan may hold tens of thousands of values: they are found by their JSON, not one by one.
    places: HashMap<String, usize>,
}

impl Params {
    /// The number of the value's placeholder, from 1.
    pub fn number(&mut self, value: Value) -> usize {
        let key = serde_json::to_string(&value).unwrap_or_default();
        *self.places.entry(key).or_insert_with(|| {
            self.values.push(value);
            self.values.len()
        })
    }

    pub fn into_values(self) -> Vec<Value> {
        self.values
    }
}
