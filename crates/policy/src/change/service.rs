//! The requests that a step comes to, where its resource is a service's.

use super::rules::Rules;
use super::{invalid, values};
use crate::access::Reader;
use crate::contract::rest::{Rest, slot};
use crate::service::{Fetch, Member, Method, Send, Service};
use domain::change::{InsertStep, Predicate, Step, UpdateStep};
use domain::{ChangePlan, Fault, FieldType, FilterOperator, Value, sha256_hex};
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;

/// A part of an address is not a place for documents.
const MAX_PART: usize = 512;

/// The requests of a plan that was checked; none where its resource is not a service's. With the path of one row, as the
/// contract has it.
pub fn service(reader: Reader<'_>, plan: &ChangePlan) -> Result<Option<(Service, String)>, Fault> {
    let Some(step) = plan.step() else { return Ok(None) };
    let rules = Rules::of(reader, step.resource())?;
    let Some(rest) = &rules.contract.rest else { return Ok(None) };
    let at = At { rules: &rules, rest };
    let (fetch, send) = match step {
        Step::Read(step) => (Some(at.look(&step.filter)?), None),
        Step::Update(step) => at.update(step)?,
        Step::Insert(step) => at.insert(step)?,
    };
    let member = |name: &str, kind| Member { column: name.to_owned(), member: rest.member(name).to_owned(), kind };
    let columns = rules.contract.fields.iter().map(|field| member(&field.name, field.kind)).collect();
    let (table, key) = (rules.readable.table.name.clone(), rules.contract.key.clone());
    Ok(Some((Service { table, columns, key, rows: rest.rows.clone(), fetch, send }, rest.item.clone())))
}

struct At<'a> {
    rules: &'a Rules<'a>,
    rest: &'a Rest,
}

impl At<'_> {
    /// By its key where all of it is given; otherwise by what the service can filter by.
    fn look(&self, filter: &[Predicate]) -> Result<Fetch, Fault> {
        let mut given = BTreeMap::new();
        for predicate in filter {
            let known = self.rules.field(&predicate.field)?;
            if predicate.op != FilterOperator::Equal || predicate.value.is_null() {
                return Err(self.cannot(&known.field.name));
            }
            given.insert(known.field.name.clone(), text(&values::take(known.field, &predicate.value)?));
        }
        if self.rules.contract.key.iter().all(|name| given.contains_key(name)) {
            return self.item(&given).map(|path| Fetch { path, item: true, query: Vec::new(), pages: None });
        }
        let mut query = Vec::new();
        for (name, value) in given {
            let parameter = self.rest.parameter(&name).ok_or_else(|| self.cannot(&name))?;
            query.push((parameter.to_owned(), value));
        }
        Ok(Fetch { path: self.rest.path.clone(), item: false, query, pages: self.rest.pages.clone() })
    }

    fn update(&self, step: &UpdateStep) -> Result<(Option<Fetch>, Option<Send>), Fault> {
        let is_key = |p: &&Predicate| self.rules.contract.key.iter().any(|name| name.eq_ignore_ascii_case(&p.field));
        let key: Vec<Predicate> = step.filter.iter().filter(is_key).cloned().collect();
        let fetch = self.look(&key)?;
        let send = Send {
            method: Method::from(self.rest.update),
            path: fetch.path.clone(),
            body: self.body(&step.update)?,
            idempotency_key: None,
            version: self.rules.contract.version_field.clone(),
        };
        Ok((Some(fetch), Some(send)))
    }

    fn insert(&self, step: &InsertStep) -> Result<(Option<Fetch>, Option<Send>), Fault> {
        let natural = &self.rules.contract.natural_key;
        let of_key = |name: &String| natural.iter().any(|key| key.eq_ignore_ascii_case(name));
        let twin: Vec<Predicate> = step
            .values
            .iter()
            .filter(|(name, _)| of_key(name) && self.rest.parameter(name).is_some())
            .map(|(name, value)| Predicate::new(name, FilterOperator::Equal, value.clone()))
            .collect();
        // Where the service cannot look for it, the service itself must tell a retry from a new row.
        let fetch = (!natural.is_empty() && twin.len() == natural.len()).then(|| self.look(&twin)).transpose()?;
        let body = self.body(&step.values)?;
        let caller = self.rules.reader.caller;
        // Without a natural key two rows may be alike: only the same request is a retry.
        let unique = if natural.is_empty() { caller.request_id.as_str() } else { "" };
        let told = [&self.rules.contract.resource, &caller.actor, unique, &Json::from(body.clone()).to_string()];
        let idempotency_key = Some(sha256_hex(told.map(str::as_bytes).join(&0).as_slice()));
        let (method, path) = (Method::Post, self.rest.path.clone());
        Ok((fetch, Some(Send { method, path, body, idempotency_key, version: None })))
    }

    fn body(&self, given: &BTreeMap<String, Json>) -> Result<Map<String, Json>, Fault> {
        let mut body = Map::new();
        for (name, value) in given {
            let known = self.rules.writable(name)?;
            let value = match (known.field.kind, values::take(known.field, value)?) {
                (FieldType::Json, _) => value.clone(),
                (_, Value::Null) => Json::Null,
                (_, Value::Bool(truth)) => Json::from(truth),
                (_, Value::Int(number)) => Json::from(number),
                (_, Value::Float(number)) => Json::from(number),
                (_, Value::Text(text)) => Json::from(text),
            };
            body.insert(self.rest.member(&known.field.name).to_owned(), value);
        }
        Ok(body)
    }

    /// The path of one row, its values as parts of their own.
    fn item(&self, given: &BTreeMap<String, String>) -> Result<String, Fault> {
        let mut path = String::new();
        for part in self.rest.item.split('/').skip(1) {
            path.push('/');
            let Some(field) = slot(part) else {
                path.push_str(part);
                continue;
            };
            let value =
                given.iter().find(|(name, _)| name.eq_ignore_ascii_case(field)).map(|(_, value)| value.as_str());
            let value = value.filter(|v| v.len() <= MAX_PART && v.chars().any(|c| c != '.')).ok_or_else(|| {
                invalid("change.key", format!("the value of `{field}` names no row"), "give the key of one row")
            })?;
            path.push_str(&encoded(value));
        }
        Ok(path)
    }

    fn cannot(&self, field: &str) -> Fault {
        let contract = self.rules.contract;
        let fields = contract.key.iter().chain(self.rest.query.keys()).map(String::as_str).collect::<Vec<_>>();
        let message = format!("`{}` cannot be filtered by `{field}` so", contract.resource);
        invalid("change.operator", message, format!("with `=` by: {}", fields.join(", ")))
    }
}

/// As it stands in an address.
fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Bool(truth) => truth.to_string(),
        Value::Int(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Text(text) => text.clone(),
    }
}

/// Everything but what is plain in every address.
fn encoded(text: &str) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(byte);
    text.bytes().map(|b| if plain(&b) { char::from(b).to_string() } else { format!("%{b:02X}") }).collect()
}
