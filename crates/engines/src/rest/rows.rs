//! What a service sent, as rows.

use domain::Value;
use policy::{Member, Service};
use serde_json::{Map, Value as Json};

/// Rows that a service may give for one request: more is not a page, but a table.
pub const MOST_ROWS: usize = 1_000;

/// Rows as they came, and the tag of the one that was asked for by itself.
#[derive(Debug, Default)]
pub struct Found {
    pub objects: Vec<Map<String, Json>>,
    pub etag: Option<String>,
}

impl Found {
    /// The rows of a reply; none if it does not hold any.
    pub fn read(service: &Service, json: Json) -> Option<Vec<Map<String, Json>>> {
        let rows = match (service.rows(), json) {
            (Some(member), Json::Object(mut reply)) => reply.remove(member)?,
            (Some(_), _) => return None,
            (None, reply) => reply,
        };
        match rows {
            Json::Object(row) => Some(vec![row]),
            Json::Array(rows) => {
                rows.into_iter().map(|row| if let Json::Object(row) = row { Some(row) } else { None }).collect()
            }
            _ => None,
        }
    }

    /// The values of the columns, in their order. A member that is not there has no value.
    pub fn rows(&self, service: &Service) -> Vec<Vec<Value>> {
        let value = |row: &Map<String, Json>, member: &Member| row.get(&member.member).map_or(Value::Null, value);
        self.objects.iter().map(|row| service.columns().iter().map(|member| value(row, member)).collect()).collect()
    }
}

fn value(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(truth) => Value::Bool(*truth),
        Json::Number(number) => match number.as_i64() {
            Some(whole) => Value::Int(whole),
            None => number.as_f64().map_or(Value::Null, Value::Float),
        },
        Json::String(text) => Value::Text(text.clone()),
        Json::Array(_) | Json::Object(_) => Value::Text(json.to_string()),
    }
}
